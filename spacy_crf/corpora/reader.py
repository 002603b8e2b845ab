"""The corpus reader that `spacy train` is given in the config."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.training.augment import dont_augment
from spacy.util import registry
from spacy.vocab import Vocab

from ..annotation.extensions import register_stored
from ..annotation.gold_tags import GOLD_TAGS
from ..core.errors import CRFError
from .columns import read_columns
from .conllu import read_conllu
from .cora import CoraSettings, read_cora
from .docbin import read_docbin
from .docs import DocMaker
from .errors import CorpusErrors
from .files import find_files, is_review, pick_kind
from .historical import HistoricalText, apply_text
from .inputs import align_annotation, copy_tokens
from .kinds import extension_name, validate_columns, validate_input
from .names import name_file, number_name, register_doc_name, write_doc_name
from .references import ReferenceSettings, read_references
from .review import read_review
from .sentence import Group, Sentence, group_sentences
from .tagsets import resolve_gold_tags
from .tokens_tsv import read_tokens_tsv
from .webanno import read_webanno

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
Paths = Path | str | Sequence[Path | str]
Block = TypeVar("Block")
Augmenter = Callable[[Language, Example], Iterator[Example]]
# several tags per token
SET_FORMATS: dict[str, Callable[[Path], Iterator[Sentence]]] = {
    "tagsets": read_tokens_tsv,
    "cora": read_cora,
    "webanno": read_webanno,
}
WHOLE_FORMATS = ("spacy", "conllu", "review", "references", *SET_FORMATS)


@registry.readers("spacy_crf.Corpus.v1")
def make_corpus(
    path: Path | str | list[Path | str] | None,
    format: Format | None = None,
    columns: list[str] | None = None,
    input: list[str] | None = None,
    group: Group = "auto",
    separator: str | None = None,
    retokenize: bool = False,
    limit: int = 0,
    augmenter: Callable[..., Any] | None = None,
    cora: CoraSettings | None = None,
    text: HistoricalText | None = None,
    references: ReferenceSettings | None = None,
) -> "Corpus":
    """Make a reader of annotated files. The settings are those of Corpus.

    RETURNS (Corpus): The reader.
    """
    return Corpus(
        path,
        format=format,
        columns=columns,
        input=input,
        group=group,
        separator=separator,
        retokenize=retokenize,
        limit=limit,
        augmenter=augmenter,
        cora=cora,
        text=text,
        references=references,
    )


class Corpus:
    """Reads training examples from CoNLL-U, column, `.spacy` and corrected review files, plain or compressed with gzip.

    The format is told from the suffix, then from the content. Column files may hold the columns "word",
    "lemma", "pos", "tag", "morph", "ner" (`doc.ents`), "chunk" (`doc.spans["chunks"]`), "spans:KEY"
    (`doc.spans[KEY]`), "ext:NAME" (`token._.NAME`, a string) and "_" (skipped); the value "_" or "" is
    unknown. Spans are read from IOB1, IOB2, BILUO or BIOES tags, with the label on either side of the letter.
    """

    def __init__(
        self,
        path: Paths | None,
        *,
        format: Format | None = None,
        columns: Sequence[str] | None = None,
        input: Sequence[str] | None = None,
        group: Group = "auto",
        separator: str | None = None,
        retokenize: bool = False,
        limit: int = 0,
        augmenter: Augmenter | None = None,
        cora: CoraSettings | None = None,
        text: HistoricalText | None = None,
        references: ReferenceSettings | None = None,
    ) -> None:
        """Check the settings; nothing is read yet.

        path (Path | str | Sequence[Path | str] | None): A file, a folder that is searched with its subfolders, or
            several of them. None is an error.
        format (Format | None): The format of all files; None to pick it for each file. "conll2000" is word,
            tag, chunk; "conll2002" is word, tag, ner or word, ner; "conll2003" is word, tag, chunk, ner.
            "columns" is word, ner or the layout of "conll2003", by the number of columns, unless `columns`
            says otherwise. "review" is a corrected file of `crf review`, which is told from its first line
            beside column files of any format. "tagsets" is `form<TAB>tags` with sets such as A|B, "cora" is
            CorA-XML, and "webanno" is WebAnno TSV 3; these three fill `token._.gold_tags`. "references" is
            bibliographic references with tagged fields, as of Cora, ParsCit and AnyStyle; each is a document.
        columns (Sequence[str] | None): The names of the columns of column files.
        input (Sequence[str] | None): Kinds of annotation that the pipeline gets to see: they are written to
            `eg.predicted` as well.
        group (Group): What becomes a Doc: "document" (the whole file if it marks none), "sentence", a number
            of sentences, or "auto" for documents where the file marks them and sentences otherwise.
        separator (str | None): What separates columns; None for a tab if the first token line has one, else
            blanks.
        retokenize (bool): Let the pipeline's tokenizer make `eg.predicted` from the text, instead of taking
            the tokens and sentence starts of the file.
        limit (int): Number of Docs to read at most; 0 for all.
        augmenter (Augmenter | None): Makes examples of each example, as for spaCy's own Corpus.
        cora (CoraSettings | None): What is taken from CorA-XML, spacy_crf.CoraXML.v1 in a config; only for that.
        text (HistoricalText | None): What is made of historical text, spacy_crf.HistoricalText.v1 in a config; only
            for the three formats with several tags per token.
        references (ReferenceSettings | None): What becomes of tagged references, spacy_crf.References.v1 in a config;
            only for that format.
        """
        self.paths = _check_paths(path)
        self.format = _check_format(format, columns, separator)
        self.columns = columns
        self.input = list(input or ())
        self.group = _check_group(group)
        self.separator = separator
        self.retokenize = retokenize
        self.limit = limit
        self.augmenter = augmenter or dont_augment
        self.cora = _check_owner("cora", cora, format, ("cora",))
        self.text = _check_owner("text", text, format, tuple(SET_FORMATS))
        self.references = _check_owner("references", references, format, ("references",))
        validate_input(self.input)

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """Yield the examples of the corpus.

        nlp (Language): The current pipeline.
        YIELDS (Example): Gold annotation in `reference`, what the pipeline starts from in `predicted`.
        """
        for reference in self.read_docs(nlp.vocab):
            yield from self.augmenter(nlp, self._make_example(nlp, reference))

    def read_docs(self, vocab: Vocab) -> Iterator[Doc]:
        """Yield the Docs of the corpus with their gold annotation, reading file by file.

        vocab (Vocab): The shared vocab.
        YIELDS (Doc): One document, or a part of one; `doc._.doc_name` says of which.
        """
        for name in filter(None, map(extension_name, [*(self.columns or ()), *self.input])):
            register_stored(name)
        kind = self.format if self.format is None or self.format in WHOLE_FORMATS else "columns"
        register_doc_name()
        files = ((file, path) for path in self.paths for file in find_files(path, kind))
        docs = (doc for file, path in files for doc in self._read_file(file, name_file(file, path, self.paths), vocab))
        is_empty = True
        for doc in islice(docs, self.limit or None):
            is_empty = False
            yield doc
        if is_empty:
            raise CRFError(CorpusErrors.CRF520.format(path=", ".join(map(str, self.paths))))

    def _make_example(self, nlp: Language, reference: Doc) -> Example:
        if not self.retokenize:
            return Example(copy_tokens(reference, self.input), reference)
        example = Example(nlp.make_doc(reference.text), reference)
        align_annotation(example, self.input)
        return example

    def _read_file(self, file: Path, name: str, vocab: Vocab) -> Iterator[Doc]:
        format = self.format or pick_kind(file)
        if format not in WHOLE_FORMATS and is_review(file):
            format = "review"
        if format == "spacy":
            yield from read_docbin(file, vocab, self.group, name)
            return
        if format == "conllu":
            sentences = read_conllu(file)
        elif format == "review":
            sentences = read_review(file)
        elif format == "references":
            sentences = read_references(file, self.references)
        elif format in SET_FORMATS:
            sentences = read_cora(file, self.cora) if format == "cora" else SET_FORMATS[format](file)
            if self.text is not None:
                sentences = apply_text(sentences, self.text, GOLD_TAGS)
        else:
            sentences = read_columns(file, format=format, columns=self.columns, separator=self.separator)
        make_doc, number, is_first = DocMaker(vocab), 1, True
        for grouped in group_sentences(self._check_input(file, sentences), self.group):
            number += grouped[0].starts_document and not is_first
            is_first = False
            doc = write_doc_name(make_doc(grouped), number_name(name, number))
            if format in SET_FORMATS or f"ext:{GOLD_TAGS}" in (self.columns or ()):
                resolve_gold_tags(doc)
            yield doc

    def _check_input(self, file: Path, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        for sentence in sentences:
            for kind in self.input:
                if kind not in sentence.columns:
                    has = ", ".join(sentence.columns)
                    raise CRFError(CorpusErrors.CRF519.format(path=file, kind=kind, has=has))
            yield sentence


def _check_paths(paths: Paths | None) -> list[Path]:
    if paths is None:
        raise CRFError(CorpusErrors.CRF501)
    found = [Path(path) for path in ([paths] if isinstance(paths, Path | str) else paths)]
    if not found:
        raise CRFError(CorpusErrors.CRF501)
    for path in found:
        if not path.exists():
            raise CRFError(CorpusErrors.CRF502.format(path=path))
    return found


def _check_format(format: Format | None, columns: Sequence[str] | None, separator: str | None) -> Format | None:
    if format is not None and format not in get_args(Format):
        raise CRFError(CorpusErrors.CRF523.format(format=format, known=", ".join(get_args(Format))))
    if separator is not None and (format in WHOLE_FORMATS or not separator):
        raise CRFError(CorpusErrors.CRF510.format(setting="separator", value=separator, format=format))
    if columns is None:
        return format
    if format not in (None, "columns"):
        raise CRFError(CorpusErrors.CRF510.format(setting="columns", value=columns, format=format))
    validate_columns(columns)
    return "columns"


def _check_owner(setting: str, value: Block, format: Format | None, owners: Sequence[str]) -> Block:
    """A block that only some formats read, which must be named then: the content of a file could mean another."""
    if value is not None and format not in owners:
        known = " or ".join(map(repr, owners))
        raise CRFError(CorpusErrors.CRF552.format(setting=setting, format=format, known=known))
    return value


def _check_group(group: Group) -> Group:
    is_name = group in ("auto", "document", "sentence")
    if not is_name and not (isinstance(group, int) and group > 0):
        raise CRFError(CorpusErrors.CRF518.format(group=group))
    return group
