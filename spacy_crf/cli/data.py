"""Corpora that commands read: one table of all formats, over the readers of all components."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from inspect import Parameter
from itertools import count
from pathlib import Path
from typing import Any, cast, get_args

import typer
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import registry
from thinc.api import Config

from ..annotation.documents import read_doc_name, write_doc_name
from ..annotation.extensions import register_stored
from ..core.errors import CRFError
from ..corpora.block import HistoricalText, ReferenceSettings
from ..corpora.cas import is_cas
from ..corpora.docs import RawFormat, read_raw
from ..corpora.errors import CorpusErrors
from ..corpora.exchange import Place
from ..corpora.files import data_suffix, name_files, visible_files
from ..corpora.formats import COLUMNS, WITH_SETS, Format, is_untold, list_files, takes_text, tell_format, tell_unread
from ..corpora.formats import FORMATS as CORPUS_FORMATS
from ..corpora.historical import prepare_gold
from ..corpora.pieces import TEXT, find_raw, tell_raw
from ..corpora.reader import Corpus
from ..corpora.review import is_review
from ..corpora.sentence import extension_name
from ..corpora.tagsets import GOLD_KINDS
from ..corpora.tasks import is_doccano, is_label_studio
from ..lab.training import corpus_block
from ..punctuation.reader import PunctuationCorpus, PunctuationFormat, fitting_format
from ..reading.files import first_line
from ..reading.records import parse_json
from ..sections.formats import root_of
from ..sections.formats.annotated import ROOT
from ..sections.formats.rechtspraak import ROOTS
from ..sections.reader import SectionCorpus
from .options import OptionGroup, parameter, split_names, watched
from .surface import tell_progress

SECTIONS, RESTORER, REFERENCES = "sections", "punctuation_restorer", "references"
CORPUS, SECTION_CORPUS = "spacy_crf.Corpus.v1", "spacy_crf.SectionCorpus.v1"
# Suffixes of files that tell what a folder holds, the surest first; those of a licence or a README do not
TELLING = (".spacy", ".conllu", *COLUMNS, ".xmi", ".xlsx", ".xml", ".srt", ".vtt", ".sbv", ".ctm", ".jsonl", ".json")
# Settings that say which files are read, and how much of them: not what becomes of a document
OF_FILES = ("path", "limit", "augmenter")
# Formats of a corpus that blocks of its settings are about, which want the format to be named
WITH_BLOCKS = (*WITH_SETS, REFERENCES)
BLOCKS = ("cora", "text", REFERENCES)


@dataclass(frozen=True)
class Data:
    """A corpus that a command reads.

    path (Path): A file or a folder. format (str | None): One of `FORMATS`; None to have it told.
    columns (list[str]), input (list[str]), settings (Mapping): Settings of `Corpus`, which other readers refuse.

    What else a reader does to documents is a property of the pipeline that they are for: they are read in the way of
    the dev corpus that it was trained with. See `trained_settings`.
    """

    path: Path
    format: str | None = None
    columns: list[str] = field(default_factory=list)
    input: list[str] = field(default_factory=list)
    settings: Mapping[str, Any] = field(default_factory=dict)

    def at(self, path: Path) -> "Data":
        """Another corpus of the same format."""
        return replace(self, path=path)

    def reader(self, nlp: Language, factory: str = "") -> Any:
        """The reader of the corpus. factory (str): Component that it is for, "" for any."""
        family = self._family(factory)
        lists = {"columns": self.columns, "input": self.input}
        own = {**{name: value for name, value in lists.items() if value}, **self.settings}
        trained = trained_settings(nlp, family.reader)
        if not family.factory:
            format = self._told_format(trained)
            return family.make(self.path, format, {**self._fitting(trained, format), **own})
        for setting, value in own.items():
            known = self.format or family.formats[0]
            raise CRFError(CorpusErrors.CRF510.format(setting=setting, value=value, format=known))
        return family.make(self.path, self.format, trained)

    def examples(self, nlp: Language, name: str | None = None) -> list[Example]:
        """All examples. name (str | None): Component that they are for: what only it reads comes first."""
        reader = self.reader(nlp, nlp.get_pipe_meta(name).factory if name else "")
        text, examples = _text_of_training(nlp, reader), list(watched(reader(nlp), "Reading"))
        if text is not None:
            for example in examples:
                prepare_gold(example.reference, text)
        return examples

    def with_punctuation(self, nlp: Language) -> list[Doc] | None:
        """The documents of `examples` with the gold of punctuation too; None where that is there or has no tokens."""
        reader = self.reader(nlp)
        text = getattr(reader, "text", None) or _text_of_training(nlp, reader)
        return list(_with_marks(reader).read_docs(nlp.vocab)) if text and text.punctuation == "context" else None

    def docs(self, nlp: Language) -> Iterator[Doc]:
        """Documents with all of their gold: fields of references are entities, beside tags."""
        reader = self.reader(nlp)
        if getattr(reader, "format", None) == REFERENCES and reader.references is None:
            reader = replace(reader, references=ReferenceSettings(ents=True))
        text = _text_of_training(nlp, reader)
        docs = reader.read_texts(nlp) if isinstance(reader, PunctuationCorpus) else reader.read_docs(nlp.vocab)
        for doc in watched(docs, "Reading"):
            if text is not None:
                prepare_gold(doc, text)
            yield doc

    def trained_on(self, nlp: Language, name: str) -> list[Doc]:
        """Gold documents in the words that training shows a component: bare ones, where marks are restored."""
        is_bare = nlp.get_pipe_meta(name).factory == RESTORER
        return [example.predicted for example in self.examples(nlp, name)] if is_bare else list(self.docs(nlp))

    def raw(self, nlp: Language) -> Iterator[tuple[Doc, Place]]:
        """Documents without gold, with their places; of raw text, each line, sentence or paragraph is a part of one."""
        if self._texts():
            yield from self._lines(nlp)
            return
        reader, number = self.reader(nlp), count(1)
        if not isinstance(reader, Corpus):
            is_bare = trained_settings(nlp, CORPUS).get("bare") or not isinstance(reader, PunctuationCorpus)
            docs = (example.predicted for example in reader(nlp)) if is_bare else reader.read_raw(nlp)
            yield from ((doc, Place("document", next(number), self.path.stem)) for doc in docs)
            return
        tell_unread(self.path, reader.format)
        if not set(GOLD_KINDS).intersection(reader.input or ()):  # which are to be as they were in training
            reader = _with_marks(reader, untagged="")  # what somebody has marked stays, learned from or not
        for path, name, docs in reader.read_files(nlp.vocab):
            for reference in docs:
                doc = write_doc_name(reader.make_example(nlp, reference).predicted, read_doc_name(reference))
                yield doc, Place("document", next(number), name, path, reference)

    def _lines(self, nlp: Language) -> Iterator[tuple[Doc, Place]]:
        for setting, value in {"columns": self.columns, "input": self.input}.items():
            if value:
                raise CRFError(CorpusErrors.CRF510.format(setting=setting, value=value, format=TEXT))
        for name in filter(None, map(extension_name, self.inputs(nlp))):
            register_stored(name)
        for file, own in name_files(((file, self.path) for file in self._texts()), [self.path]):
            format = cast(RawFormat, self.format) or tell_raw(file)
            if format != (self.format or TEXT):
                tell_progress(f"{file} is read as words, one on each line. With --format text, each is a text.")
            for number, doc in read_raw(nlp, file, format):
                yield write_doc_name(doc, own), Place("line", number, own, file)

    def inputs(self, nlp: Language) -> list[str]:
        """Kinds of annotation that the component sees in the documents of `raw`: asked for, or as it was trained."""
        if self._texts():
            return list(trained_settings(nlp, CORPUS).get("input") or ())
        return list(getattr(self.reader(nlp), "input", None) or ())

    def _told_format(self, settings: Mapping[str, Any]) -> str | None:
        """The format that is asked for, or that all files tell and a corpus has settings of its own for.

        settings (Mapping): Those of training. Their format is that of files whose content tells no other.
        """
        trained = _trained_format(settings)
        if self.format is not None or self.columns or not self.path.exists():
            return self.format or ("columns" if self.columns else None)
        if is_untold(trained, self.path):
            return trained
        told = set(map(tell_format, list_files(self.path, None)))
        formats = sorted(format or "columns" for format in told)
        if len(formats) > 1:  # each file tells its own, and no block of settings holds for all of them
            kept = "text" if self._takes_text(settings, None) else ""
            for setting in (name for name in BLOCKS if settings.get(name) and name != kept):
                found = {"path": self.path, "formats": ", ".join(formats), "setting": setting}
                raise CRFError(CorpusErrors.CRF544.format(**found))
            return None
        return formats[0] if formats and formats[0] in WITH_BLOCKS else None

    def _fitting(self, trained: Mapping[str, Any], format: str | None) -> dict[str, Any]:
        """The settings of a trained `Corpus` that hold for the files, whose format need not be the one of training."""
        fitting = {"input", "group", "retokenize", "bare"} | ({"text"} if self._takes_text(trained, format) else set())
        own = CORPUS_FORMATS.get(format or "")
        if own is not None and (format == _trained_format(trained) or format in own.settings):
            fitting |= set(own.settings)
        return {name: value for name, value in trained.items() if name in fitting and value is not None}

    def _takes_text(self, trained: Mapping[str, Any], format: str | None) -> bool:
        return bool(trained.get("text")) and all(takes_text(file, format) for file in list_files(self.path, format))

    def _texts(self) -> list[Path]:
        return [] if self.columns and self.format is None else find_raw(self.path, self.format)

    def _family(self, factory: str) -> "FormatFamily":
        for family in FAMILIES:
            if family.factory and family.factory == factory:
                return family
        if self.format is not None:
            if self.format not in FORMATS:
                raise CRFError(CorpusErrors.CRF523.format(format=self.format, known=", ".join(FORMATS)))
            return next(family for family in FAMILIES if self.format in family.formats)
        file = None if self.columns else _telling_file(self.path)
        return next((family for family in FAMILIES if file and family.recognises(file)), FAMILIES[0])


def _with_marks(reader: Any, **changed: str) -> Any:
    """A reader whose gold has that of punctuation which is context. changed (str): More settings of its texts."""
    own = reader.text
    return replace(reader, text=own and replace(own, punctuation=own.punctuation.replace("context", "gold"), **changed))


def _text_of_training(nlp: Language, reader: Any) -> HistoricalText | None:
    """What was made of the texts of training, where a reader of files without tag sets does not do it itself."""
    is_done = not isinstance(reader, Corpus) or reader.text is not None
    return None if is_done else cast(HistoricalText | None, trained_settings(nlp, CORPUS).get("text"))


def trained_settings(nlp: Language, reader: str) -> dict[str, Any]:
    """What a registered reader does to the files of the dev corpus, or the corpus of its folds, that a pipeline was
    trained with, by its config.

    Without where they are, how many are read and what multiplies them. Nothing where another reader has read them.
    """
    config = nlp.config.interpolate()
    block = corpus_block(config, config["training"]["dev_corpus"])
    if block.pop("@readers", None) != reader:
        return {}
    kept = Config({"settings": {name: value for name, value in block.items() if name not in OF_FILES}})
    return cast(dict[str, Any], registry.resolve(kept, validate=False)["settings"])


def _trained_format(trained: Mapping[str, Any]) -> str | None:
    """The format that settings of a `Corpus` name; None where each file told its own."""
    settings = [name for name in CORPUS_FORMATS["columns"].settings if trained.get(name)]
    return trained.get("format") or ("columns" if settings else None)


def _telling_file(path: Path) -> Path | None:
    """A file itself; of a folder, the first one that is not hidden of those whose suffix tells most."""
    if not path.is_dir():
        return path if path.exists() else None
    return min(visible_files(path, TELLING), key=lambda file: (TELLING.index(data_suffix(file)), file), default=None)


# -- formats -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FormatFamily:
    """The formats that one reader reads, and the component whose gold they hold, "" for all others.

    reader (str): The name of the reader in configs. recognises (Callable): Whether a file is one of theirs, and of no
    other family. make (Callable): The reader of a path and a format, with other settings.
    """

    formats: tuple[str, ...]
    factory: str
    reader: str
    recognises: Callable[[Path], bool]
    make: Callable[[Path, str | None, dict[str, Any]], Any]


def _has_sections(file: Path) -> bool:
    suffix = data_suffix(file)
    if suffix == ".xml":
        return root_of(file) in (ROOT, *ROOTS)
    is_json = suffix == ".json" and not (is_cas(file) or is_label_studio(file))
    return is_json or (suffix == ".jsonl" and (_has_key(file, "tree") or _has_key(file, "blocks")))


def _has_marks(file: Path) -> bool:
    suffix = data_suffix(file)
    is_text = suffix == ".jsonl" and not (is_review(file) or is_doccano(file)) and _has_key(file, "text")
    return suffix in (".srt", ".vtt", ".sbv", ".ctm", ".md") or is_text


def _has_key(file: Path, key: str) -> bool:
    """Whether the first line is a JSON object with a key."""
    try:
        found = parse_json(first_line(file), str(file))
    except CRFError:
        return False
    return isinstance(found, dict) and found.get(key) is not None


def _read_corpus(path: Path, format: str | None, settings: dict[str, Any]) -> Corpus:
    return Corpus(path, format=cast(Format | None, format), **settings)


def _read_sections(path: Path, format: str | None, settings: dict[str, Any]) -> SectionCorpus:
    if format not in (None, "spacy", SECTIONS):
        raise CRFError(CorpusErrors.CRF523.format(format=format, known=SECTIONS))
    return SectionCorpus(path, **settings)


def _read_marks(path: Path, format: str | None, settings: dict[str, Any]) -> PunctuationCorpus:
    told = format or (fitting_format(path, settings.get("format")) if path.exists() else None)
    return PunctuationCorpus(path, **{**settings, "format": told})


# Where two families have a format of one name, it is that of the first, unless a component asks for its own
FAMILIES = (
    FormatFamily(get_args(Format), "", CORPUS, lambda _: False, _read_corpus),
    FormatFamily((SECTIONS,), "section_parser", SECTION_CORPUS, _has_sections, _read_sections),
    FormatFamily(get_args(PunctuationFormat), RESTORER, "spacy_crf.PunctuationCorpus.v1", _has_marks, _read_marks),
)
FORMATS = tuple(dict.fromkeys(format for family in FAMILIES for format in family.formats))


# -- options -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DataOptions(OptionGroup):
    """Annotates a parameter of type `Data`: makes its path, format, columns and input.

    metavar (str), help (str): Of the path. told (str): Help for its format. has_input (bool): Whether
    there is a pipeline that columns could be input for.
    """

    metavar: str
    help: str
    told: str = ""
    has_input: bool = True

    def parameters(self, name: str) -> list[Parameter]:
        told = self.told or f"Format of {self.metavar}; otherwise picked by file"
        texts = {"format": told, "columns": "Names of the columns of column files, e.g. word,tag"}
        if self.has_input:
            texts["input"] = "Columns that are input, not gold, e.g. tag"
        options = [parameter(key, str | None, typer.Option(help=text), None) for key, text in texts.items()]
        return [parameter(name, Path, typer.Argument(metavar=self.metavar, help=self.help)), *options]

    def make(self, name: str, values: dict[str, Any]) -> Data:
        columns, input = (split_names(values.pop(key, None)) for key in ("columns", "input"))
        return Data(values.pop(name), values.pop("format"), columns, input)


TO_ANNOTATE = DataOptions(
    "FILE",
    "Raw text, a text or a word on each line, or any format that training reads",
    "Format of FILE: text (a text on each line), words (a word on each), prose (paragraphs), or one of training; "
    "otherwise picked by file",
)
