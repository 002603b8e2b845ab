"""The corpus reader that `spacy train` is given in the config."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, get_args

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.training.augment import dont_augment
from spacy.util import registry
from spacy.vocab import Vocab

from ..annotation.documents import copy_truncated, read_doc_name, register_doc_name, write_doc_name, write_text_settings
from ..annotation.extensions import copy_values, register_stored, stored_names, stored_values
from ..annotation.gold import GOLD_POS, GOLD_TAGS
from ..core.errors import (
    CoreErrors,
    CRFError,
    CRFWarning,
    excerpt,
    require_blocks,
    require_count,
    require_numbers,
)
from .block import CoraSettings, HistoricalText, ReferenceSettings
from .docbin import read_docbin
from .docs import (
    DocMaker,
    admit,
    align_annotation,
    copy_sentences,
    copy_text_notes,
    copy_tokens,
    count_characters,
    make_doc,
)
from .errors import CorpusErrors, CorpusWarnings
from .exchange import Unchecked, forget_unchecked
from .files import FaultyFiles, OnError, check_paths, data_suffix, name_files, number_name
from .formats import ANY, BINARY, FORMATS, WITH_SETS, WITH_TEXT, Format, find_files, pick_format, tell_unread
from .historical import apply_text
from .review import is_review
from .sentence import (
    ENTITIES,
    Group,
    Sentence,
    bare_sentences,
    extension_name,
    group_sentences,
    spans_key,
    validate_columns,
    validate_input,
)
from .tagsets import CHECKED, GOLD_COLUMN, GOLD_POS_COLUMN, resolve_gold_tags

BLOCKS: dict[str, tuple[type, str]] = {
    "cora": (CoraSettings, "spacy_crf.CoraXML.v1"),
    "text": (HistoricalText, "spacy_crf.HistoricalText.v1"),
    "references": (ReferenceSettings, "spacy_crf.References.v1"),
}
NO_GOLD = ("CRF520", "CRF527")  # errors for files without words, and for those in which nobody has written a tag


@registry.readers("spacy_crf.Corpus.v1")
@dataclass(eq=False)
class Corpus:
    """Reads training examples from CoNLL-U, column, `.spacy` and corrected review files, plain or compressed with gzip.

    The format is told from the suffix, then from the content. Column files may hold the columns "word",
    "lemma", "pos", "tag", "morph", "ner" (`doc.ents`), "chunk" (`doc.spans["chunks"]`), "spans:KEY"
    (`doc.spans[KEY]`), "ext:NAME" (`token._.NAME`, a string) and "_" (skipped); the value "_" or "" is
    unknown. Spans are read from IOB1, IOB2, BILUO or BIOES tags, with the label on either side of the letter. Behind an
    unknown tag, an inside tag goes on with what is unknown; in a column of IOB1, where it may begin a span as well, it
    is unknown too.

    path (Path | str | Sequence | None): A file, a folder that is searched with its subfolders, or several of
        them; a file is read once. Files of a folder that are called .tsv, .txt or .jsonl are read where their content
        tells the format, or where no file has a suffix that says more. None is an error.
    format (str | None): The format of all files; None to pick it for each file. "conll2000" is word, tag, chunk;
        "conll2002" is word, tag, ner or word, ner; "conll2003" is word, tag, chunk, ner. "columns" is word, ner or the
        layout of "conll2003", by the number of columns, unless `columns` says otherwise. "review" is a corrected file
        of `crf review`, which is told from its first line beside text files of any format. "tagsets" is
        `form<TAB>tags<TAB>checked` with sets such as A|B, "cora" is CorA-XML, "webanno" is WebAnno TSV 3, "cas" is UIMA
        CAS as XMI or JSON, "label_studio" and "doccano" are exports of these, and "xlsx" is a spreadsheet; these fill
        `token._.gold_tags`. "references" is bibliographic references with tagged fields, as of Cora, ParsCit and
        AnyStyle, or as `word<TAB>label` lines; each is a document.
    columns (list[str] | None): The names of the columns of column files. All files are such then, as with `format`:
        others in a folder are not read, and told (CRFW473).
    input (list[str] | None): Kinds of annotation that the pipeline gets to see: they are written to `eg.predicted` as
        well. Not what a component of the pipeline is to learn: annotation that is there stays, so that scores would
        judge it, and come out perfect (CRFW289).
    group (str | int): What becomes a Doc: "document" (the whole file if it marks none), "sentence", a number of
        sentences, or "auto" for documents where the file marks them and sentences otherwise.
    separator (str | None): What separates columns; None for a tab if the first token line has one, else blanks.
    retokenize (bool): Let the pipeline's tokenizer make `eg.predicted` from the text, instead of taking the tokens and
        sentence starts of the file. Where a component finds sentences, figures are those of its own sentences then.
    bare (bool): Leave out punctuation and write words in lower case, of files of any format but "spacy": what a
        punctuation_restorer shows to a tagger before it, which is to be trained so.
    unchecked (str): What becomes of tags that a tagger has filled in, in files that say which tokens a person has
        checked. "unknown": nothing is learned of them. "soft": they are taken for gold, with their probabilities as
        weights; not for a corpus that scores are made of.
    on_error (str): What a file does that cannot be read. "raise": it ends the run with an error that names the place.
        "skip": it is left out whole, and a warning at the end counts such files and tells their faults.
    limit (int): Number of Docs to read at most; 0 for all.
    augmenter (Callable | None): Makes examples of each example, as for spaCy's own Corpus. Where custom attributes of
        tokens hold gold, as several tags do, it must leave the number of tokens as it is.
    cora (CoraSettings | None): What is taken from CorA-XML, spacy_crf.CoraXML.v1 in a config; only for that format.
    text (HistoricalText | None): What is made of historical text, spacy_crf.HistoricalText.v1 in a config; only for
        formats with several tags per token and checked CoNLL-U, which may be mixed if `format` is null.
    references (ReferenceSettings | None): What becomes of tagged references, spacy_crf.References.v1 in a config; only
        for that format.

    >>> import spacy
    >>> from spacy_crf import Corpus
    >>> nlp = spacy.blank("en")
    >>> example = next(Corpus("corpus/crf_tagger/dev.conllu")(nlp))
    >>> [token.tag_ for token in example.reference][:4]
    ['CD', 'NNS', 'VBD', 'VBN']
    """

    path: Path | str | Sequence[Path | str] | None
    format: Format | None = None
    columns: list[str] | None = None
    input: list[str] | None = None
    group: Group = "auto"
    separator: str | None = None
    retokenize: bool = False
    bare: bool = False
    unchecked: Unchecked = "unknown"
    on_error: OnError = "raise"
    limit: int = 0
    augmenter: Callable[..., Any] | None = None
    cora: CoraSettings | None = None
    text: HistoricalText | None = None
    references: ReferenceSettings | None = None

    def __post_init__(self) -> None:
        """Check the settings; nothing is read yet."""
        require_numbers(self)
        self.paths = check_paths(self.path)
        require_count(0, limit=self.limit)
        self._check_format()
        if self.group not in ("auto", "document", "sentence") and not (isinstance(self.group, int) and self.group > 0):
            raise CRFError(CorpusErrors.CRF518.format(group=self.group))
        for name, kind in (("unchecked", Unchecked), ("on_error", OnError)):
            if getattr(self, name) not in get_args(kind):
                known = " or ".join(map(repr, get_args(kind)))
                raise CRFError(CoreErrors.CRF549.format(name=name, value=getattr(self, name), expected=known))
        require_blocks(self, BLOCKS)
        for setting, owners in (("cora", ["cora"]), ("text", [None, *WITH_TEXT]), ("references", ["references"])):
            # The format must be named: the content of a file could mean another one.
            if getattr(self, setting) is not None and self.format not in owners:
                known = " or ".join(repr(owner) for owner in owners if owner)
                raise CRFError(CorpusErrors.CRF552.format(setting=setting, format=self.format, known=known))
        validate_input(self.input or ())

    def _check_format(self) -> None:
        format, separator = self.format, self.separator
        if format is not None and format not in FORMATS:
            raise CRFError(CorpusErrors.CRF523.format(format=format, known=", ".join(get_args(Format))))
        has_separator = format is None or "separator" in FORMATS[format].settings
        if separator is not None and not (has_separator and separator):
            raise CRFError(CorpusErrors.CRF510.format(setting="separator", value=separator, format=format))
        if self.columns is not None:
            if format not in (None, "columns"):
                raise CRFError(CorpusErrors.CRF510.format(setting="columns", value=self.columns, format=format))
            validate_columns(self.columns)
            self.format = "columns"

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """Yield examples with gold annotation in `reference`, and what the pipeline starts from in `predicted`.

        nlp (Language): The pipeline; `nlp.max_length` grows to the longest document.
        """
        augment = self.augmenter or dont_augment
        is_told, marks = self.retokenize, set[bool]()
        tell_perfect(nlp, self.input or ())
        for reference in self.read_docs(nlp.vocab):
            if True not in marks:
                marks |= {bool(mark) for mark in stored_values(reference, CHECKED) if mark is not None}
            if not is_told and reference.has_annotation("SENT_START"):
                tell_kept_sentences(nlp)
                is_told = True
            example = self.make_example(nlp, reference)
            for made in augment(nlp, example):
                yield made if made is example else self._complete(nlp, made, reference)
        if marks == {False} and self.unchecked == "unknown" and not self.limit:
            message = CorpusWarnings.CRFW288.format(path=", ".join(map(str, self.paths)))
            warnings.warn(message, CRFWarning, stacklevel=2)

    def make_example(self, nlp: Language, reference: Doc) -> Example:
        """The example of a gold Doc, before it is augmented."""
        admit(nlp, count_characters(reference))
        if not self.retokenize:
            return Example(copy_tokens(reference, self.input or ()), reference)
        example = Example(make_doc(nlp, reference.text), reference)
        copy_truncated(reference, example.predicted)
        align_annotation(example, self.input or ())
        return example

    def _complete(self, nlp: Language, made: Example, original: Doc) -> Example:
        """An example that an augmenter has made, with what spaCy's augmenters know nothing of."""
        names = stored_names(original)
        if len(made.reference) == len(original):
            copy_values(original, made.reference, names)
        elif names:
            known = {"name": read_doc_name(original), "attributes": ", ".join(sorted(names))}
            raise CRFError(CorpusErrors.CRF543.format(before=len(original), after=len(made.reference), **known))
        copy_text_notes(original, made.reference)
        copy_sentences(original, made.reference)
        own_text = made.predicted.text == made.reference.text
        return self.make_example(nlp, made.reference) if own_text else made

    def read_docs(self, vocab: Vocab) -> Iterator[Doc]:
        """Yield documents, or parts of them, with their gold, reading file by file; `doc._.doc_name` says of which."""
        is_empty = True
        for doc in islice(chain.from_iterable(docs for *_, docs in self.read_files(vocab)), self.limit or None):
            is_empty = False
            yield doc
        if is_empty:
            raise CRFError(CorpusErrors.CRF520.format(path=", ".join(map(str, self.paths))))

    def read_files(self, vocab: Vocab) -> Iterator[tuple[Path, str, Iterator[Doc]]]:
        """Yield files, their names, which documents without one get, and what `read_docs` gives of each."""
        for name in filter(None, map(extension_name, [*(self.columns or ()), *(self.input or ())])):
            register_stored(name)
        register_doc_name()
        for path in self.paths:
            tell_unread(path, self.format, (*ANY[0], ".tsv", ".jsonl"))
        files = ((file, path) for path in self.paths for file in find_files(path, self.format))
        faulty, known, have_entities = FaultyFiles(self.on_error), set[str](), dict[Path, bool]()
        for file, name in name_files(files, self.paths):
            yield file, name, faulty.docs(self._read_file(file, name, vocab, known, have_entities))
        faulty.tell()
        tell_unknown_entities(have_entities)

    def _read_file(
        self, file: Path, name: str, vocab: Vocab, known: set[str], have_entities: dict[Path, bool]
    ) -> Iterator[Doc]:
        format = self.format or pick_format(file)
        if data_suffix(file) == ".spacy" and format not in BINARY:
            raise CRFError(CorpusErrors.CRF491.format(path=file, format=format))
        format = "review" if format not in BINARY and is_review(file) else format
        own = FORMATS[format]
        if self.format is None and self.separator and "separator" not in own.settings:
            raise CRFError(CorpusErrors.CRF510.format(setting="separator", value=self.separator, format=format))
        # sequences of a review do not follow each other in the text
        text = replace(self.text, join_segments=False) if self.text and format == "review" else self.text
        if own.read is None:
            for setting, value in (("bare", self.bare), ("text", text)):
                if value:
                    raise CRFError(CorpusErrors.CRF510.format(setting=setting, value=value, format=format))
            yield from read_docbin(file, vocab, self.group, name)
            return
        sentences = own.read(file, **{name: getattr(self, name) for name in own.settings})
        sentences = forget_unchecked(sentences, self.unchecked)
        if text is not None:
            sentences = apply_text(self._with_sets(file, format, sentences), text, self.input or ())
        if self.bare:
            sentences = bare_sentences(sentences)
        make_reference, number, is_second = DocMaker(vocab), 1, False
        for first, grouped in enumerate(group_sentences(self._check_input(file, sentences), self.group)):
            document = grouped[0].document
            if format == "conllu":
                have_entities[file] = ENTITIES in grouped[0].columns
            if grouped[0].starts_document:
                number += first > 0
                is_second = document in known  # of this name
                known.add(document)
            named = document if document and not is_second else number_name(name, number)
            doc = write_doc_name(make_reference(grouped), named)
            if text is not None:
                write_text_settings(doc, asdict(text))
            for column, name_of_gold in ((GOLD_COLUMN, GOLD_TAGS), (GOLD_POS_COLUMN, GOLD_POS)):
                if column in grouped[0].columns:
                    resolve_gold_tags(doc, name_of_gold)
            yield doc

    def _with_sets(self, file: Path, format: str, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        """Sentences that the block `text` can be applied to."""
        for sentence in sentences:
            has_sets = not {GOLD_COLUMN, GOLD_POS_COLUMN}.isdisjoint(sentence.columns)
            if not has_sets and format != "review":
                known = " or ".join([*map(repr, WITH_SETS), "checked CoNLL-U"])
                raise CRFError(CorpusErrors.CRF552.format(setting="text", format=f"{format} of {file}", known=known))
            yield sentence

    def _check_input(self, file: Path, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        for sentence in sentences:
            for kind in self.input or ():
                if kind not in sentence.columns:
                    has = ", ".join(sentence.columns)
                    raise CRFError(CorpusErrors.CRF519.format(path=file, kind=kind, has=has))
            yield sentence


def tell_unknown_entities(have_entities: Mapping[Path, bool]) -> None:
    """Warn of files of CoNLL-U without entities beside others that have some: where there are none is not known."""
    files = [file.name for file, has_some in have_entities.items() if not has_some]
    if 0 < len(files) < len(have_entities):
        message = CorpusWarnings.CRFW290.format(count=len(files), files=excerpt(", ".join(files)))
        warnings.warn(message, CRFWarning, stacklevel=3)


def tell_perfect(nlp: Language, kinds: Sequence[str]) -> None:
    """Warn of components that would find annotation which documents have already. kinds (Sequence[str]): of it."""
    given = {{ENTITIES: "ent"}.get(kind, spans_key(kind) or extension_name(kind) or kind) for kind in kinds}
    for name, pipe in nlp.pipeline if given else ():
        cfg = getattr(pipe, "cfg", None)
        own = cfg if isinstance(cfg, Mapping) else {}
        kind = own.get("spans_key") if own.get("target") == "spans" else own.get("target")
        if kind in given and not own.get("overwrite") and not own.get("given"):
            warnings.warn(CorpusWarnings.CRFW289.format(name=name, target=own["target"]), CRFWarning, stacklevel=3)


def tell_kept_sentences(nlp: Language) -> None:
    """Warn of components that would find sentences, and are measured on documents which have those of the file."""
    for name, pipe in nlp.pipeline:
        cfg = getattr(pipe, "cfg", None)  # of components of one's own, anything
        overwrites = getattr(pipe, "overwrite", False) or (isinstance(cfg, Mapping) and cfg.get("overwrite"))
        if "sents_f" in (nlp.get_pipe_meta(name).default_score_weights or ()) and not overwrites:
            warnings.warn(CorpusWarnings.CRFW498.format(name=name), CRFWarning, stacklevel=3)


def refuse_gold(path: Path, vocab: Vocab) -> None:
    """Raise an error if a file that is to be written is there, and has gold tags or check marks: they would be lost."""
    try:
        docs = Corpus(path).read_docs(vocab) if path.is_file() else ()
        is_list = path.is_file() and pick_format(path) not in BINARY and is_review(path)
        has_gold = any(is_list or _is_filled_in(doc) for doc in docs)
    except CRFError as error:
        has_gold = error.code not in NO_GOLD
    if has_gold:
        raise CRFError(CorpusErrors.CRF493.format(path=path))


def _is_filled_in(doc: Doc) -> bool:
    """Whether a person has seen some token, or if the file does not say which ones, whether some have tags."""
    marks = stored_values(doc, CHECKED)
    if any(mark is not None for mark in marks):
        return any(marks)
    return any(token.tag_ or token.pos_ for token in doc)
