"""The corpus reader that `spacy train` is given in the config."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal, get_args

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.training.augment import dont_augment
from spacy.util import registry
from spacy.vocab import Vocab

from ..annotation.extensions import register_stored
from ..annotation.gold import GOLD_TAGS
from ..core.errors import CRFError
from .block import CoraSettings, HistoricalText, ReferenceSettings
from .docbin import read_docbin
from .docs import DocMaker, register_doc_name, write_doc_name
from .errors import CorpusErrors
from .files import check_paths, name_file, number_name
from .formats import FORMATS, find_files, pick_format, read_sentences
from .historical import apply_text
from .inputs import align_annotation, copy_tokens
from .kinds import extension_name, validate_columns, validate_input
from .review import is_review
from .sentence import Group, Sentence, group_sentences
from .tagsets import resolve_gold_tags

Format = Literal[
    "spacy",
    "conllu",
    "columns",
    "conll2000",
    "conll2002",
    "conll2003",
    "review",
    "tagsets",
    "cora",
    "webanno",
    "references",
]


@registry.readers("spacy_crf.Corpus.v1")
@dataclass(eq=False)
class Corpus:
    """Reads training examples from CoNLL-U, column, `.spacy` and corrected review files, plain or compressed with gzip.

    The format is told from the suffix, then from the content. Column files may hold the columns "word",
    "lemma", "pos", "tag", "morph", "ner" (`doc.ents`), "chunk" (`doc.spans["chunks"]`), "spans:KEY"
    (`doc.spans[KEY]`), "ext:NAME" (`token._.NAME`, a string) and "_" (skipped); the value "_" or "" is
    unknown. Spans are read from IOB1, IOB2, BILUO or BIOES tags, with the label on either side of the letter.

    path (Path | str | Sequence | None): A file, a folder that is searched with its subfolders, or several of
        them. None is an error.
    format (str | None): The format of all files; None to pick it for each file. "conll2000" is word, tag, chunk;
        "conll2002" is word, tag, ner or word, ner; "conll2003" is word, tag, chunk, ner. "columns" is word, ner or the
        layout of "conll2003", by the number of columns, unless `columns` says otherwise. "review" is a corrected file
        of `crf review`, which is told from its first line beside column files of any format. "tagsets" is
        `form<TAB>tags` with sets such as A|B, "cora" is CorA-XML, and "webanno" is WebAnno TSV 3; these three fill
        `token._.gold_tags`. "references" is bibliographic references with tagged fields, as of Cora, ParsCit and
        AnyStyle; each is a document.
    columns (list[str] | None): The names of the columns of column files.
    input (list[str] | None): Kinds of annotation that the pipeline gets to see: they are written to `eg.predicted` as
        well.
    group (str | int): What becomes a Doc: "document" (the whole file if it marks none), "sentence", a number of
        sentences, or "auto" for documents where the file marks them and sentences otherwise.
    separator (str | None): What separates columns; None for a tab if the first token line has one, else blanks.
    retokenize (bool): Let the pipeline's tokenizer make `eg.predicted` from the text, instead of taking the tokens and
        sentence starts of the file.
    limit (int): Number of Docs to read at most; 0 for all.
    augmenter (Callable | None): Makes examples of each example, as for spaCy's own Corpus.
    cora (CoraSettings | None): What is taken from CorA-XML, spacy_crf.CoraXML.v1 in a config; only for that format.
    text (HistoricalText | None): What is made of historical text, spacy_crf.HistoricalText.v1 in a config; only for the
        three formats with several tags per token.
    references (ReferenceSettings | None): What becomes of tagged references, spacy_crf.References.v1 in a config; only
        for that format.
    """

    path: Path | str | Sequence[Path | str] | None
    format: Format | None = None
    columns: list[str] | None = None
    input: list[str] | None = None
    group: Group = "auto"
    separator: str | None = None
    retokenize: bool = False
    limit: int = 0
    augmenter: Callable[..., Any] | None = None
    cora: CoraSettings | None = None
    text: HistoricalText | None = None
    references: ReferenceSettings | None = None

    def __post_init__(self) -> None:
        """Check the settings; nothing is read yet."""
        self.paths = check_paths(self.path)
        self._check_format()
        if self.group not in ("auto", "document", "sentence") and not (isinstance(self.group, int) and self.group > 0):
            raise CRFError(CorpusErrors.CRF518.format(group=self.group))
        with_sets = [name for name, format in FORMATS.items() if format.has_tag_sets]
        for setting, owners in (("cora", ["cora"]), ("text", with_sets), ("references", ["references"])):
            # The format must be named: the content of a file could mean another one.
            if getattr(self, setting) is not None and self.format not in owners:
                known = " or ".join(map(repr, owners))
                raise CRFError(CorpusErrors.CRF552.format(setting=setting, format=self.format, known=known))
        validate_input(self.input or ())

    def _check_format(self) -> None:
        """Refuse formats that are not known, and columns and separators with others than column files."""
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
        """Yield the examples of the corpus.

        nlp (Language): The current pipeline.
        YIELDS (Example): Gold annotation in `reference`, what the pipeline starts from in `predicted`.
        """
        augment = self.augmenter or dont_augment
        for reference in self.read_docs(nlp.vocab):
            yield from augment(nlp, self._make_example(nlp, reference))

    def read_docs(self, vocab: Vocab) -> Iterator[Doc]:
        """Yield the Docs of the corpus with their gold annotation, reading file by file.

        vocab (Vocab): The shared vocab.
        YIELDS (Doc): One document, or a part of one; `doc._.doc_name` says of which.
        """
        for name in filter(None, map(extension_name, [*(self.columns or ()), *(self.input or ())])):
            register_stored(name)
        register_doc_name()
        files = ((file, path) for path in self.paths for file in find_files(path, self.format))
        docs = (doc for file, path in files for doc in self._read_file(file, name_file(file, path, self.paths), vocab))
        is_empty = True
        for doc in islice(docs, self.limit or None):
            is_empty = False
            yield doc
        if is_empty:
            raise CRFError(CorpusErrors.CRF520.format(path=", ".join(map(str, self.paths))))

    def _make_example(self, nlp: Language, reference: Doc) -> Example:
        if not self.retokenize:
            return Example(copy_tokens(reference, self.input or ()), reference)
        example = Example(nlp.make_doc(reference.text), reference)
        align_annotation(example, self.input or ())
        return example

    def _read_file(self, file: Path, name: str, vocab: Vocab) -> Iterator[Doc]:
        format = self.format or pick_format(file)
        if "columns" in FORMATS[format].settings and is_review(file):
            format = "review"
        if format == "spacy":
            yield from read_docbin(file, vocab, self.group, name)
            return
        sentences, has_sets = read_sentences(file, format, vars(self)), FORMATS[format].has_tag_sets
        if has_sets and self.text is not None:
            sentences = apply_text(sentences, self.text, GOLD_TAGS)
        make_doc, number, is_first = DocMaker(vocab), 1, True
        for grouped in group_sentences(self._check_input(file, sentences), self.group):
            number += grouped[0].starts_document and not is_first
            is_first = False
            doc = write_doc_name(make_doc(grouped), number_name(name, number))
            if has_sets or f"ext:{GOLD_TAGS}" in (self.columns or ()):
                resolve_gold_tags(doc)
            yield doc

    def _check_input(self, file: Path, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        for sentence in sentences:
            for kind in self.input or ():
                if kind not in sentence.columns:
                    has = ", ".join(sentence.columns)
                    raise CRFError(CorpusErrors.CRF519.format(path=file, kind=kind, has=has))
            yield sentence
