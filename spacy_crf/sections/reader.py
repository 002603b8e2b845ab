"""Documents in files of all formats, as layouts; and with labelled elements and section trees, as a corpus."""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from pathlib import Path
from random import Random
from typing import Any, Literal

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import registry
from spacy.vocab import Vocab

from ..annotation.documents import register_doc_name, write_doc_name
from ..core.errors import CoreErrors, CRFError, CRFWarning, require, require_count, require_numbers
from ..corpora.docbin import read_docbin
from ..corpora.docs import admit, copy_tokens, count_characters
from ..corpora.errors import CorpusErrors
from ..corpora.files import check_paths, data_suffix, name_files, number_name, visible_files, warn_of_unread
from ..reading.files import open_binary, spell_path
from ..reading.records import parse_json, read_json_lines
from .errors import SectionErrors, SectionWarnings
from .formats import HEAD, read_text, refuse_magic, root_of
from .formats.annotated import ROOT, read_annotated
from .formats.docling import is_docling, read_docling
from .formats.docx import read_docx
from .formats.latex import read_latex
from .formats.markdown import read_markdown
from .formats.markup import read_html
from .formats.pdf import read_pdf
from .formats.rechtspraak import ROOTS, read_rechtspraak_gold
from .formats.xml import read_xml
from .layout import NAME, DocumentLayout, attach_layout, runs_of, to_doc
from .rendering import (
    RENDERINGS,
    BlockDocument,
    blocks_of_json,
    blocks_of_layout,
    choose_rendering,
    is_block_document,
    render,
)
from .segment import PARAGRAPH, Run
from .spans import ELEMENTS, SECTIONS, Elements, drop_sections, register_extensions, write_elements, write_sections
from .starts import RULE, find_mark, find_numbering
from .tree import SectionTree, from_json


def read_json(path: Path) -> DocumentLayout:
    """Read a DoclingDocument, or JSON of blocks, whose text is made anew with headings as formatting.

    RAISES (ValueError): for other JSON, and what is none, with the line; for several documents.
    """
    (entry, where), *others = [*_read_json(path)] or [([], str(path))]  # which is no document either
    if others:
        raise CRFError(SectionErrors.CRF958.format(path=path, found=1 + len(others)))
    if is_block_document(entry):
        return render(_read_blocks(entry, where), RENDERINGS["marked"]).layout
    return read_docling(entry, path)


def _read_blocks(entry: Any, where: str) -> BlockDocument:
    try:
        return blocks_of_json(entry)
    except (KeyError, TypeError, ValueError) as error:
        raise CRFError(SectionErrors.CRF970.format(path=where, problem=f"not JSON of blocks: {error}")) from error


READERS: dict[str, Callable[[Path], DocumentLayout]] = {  # by the suffix of a file
    **dict.fromkeys((".html", ".htm", ".xhtml"), read_html),
    **dict.fromkeys((".md", ".markdown", ".mdown"), read_markdown),
    **dict.fromkeys((".tex", ".ltx", ".latex", ".bbl"), read_latex),
    **dict.fromkeys((".json", ".jsonl"), read_json),
    ".pdf": read_pdf,
    ".docx": read_docx,
}
WITHOUT_GOLD = frozenset({".pdf"})
MARKED_UP = READERS.keys() - WITHOUT_GOLD - {".json", ".jsonl"}
SUFFIXES = (".jsonl", ".spacy", ".xml", ".json", *MARKED_UP)  # of files with gold
RenderingName = Literal["plain", "dense", "marked", "mixed"]


def read_layout(path: Path | str, paragraphs: bool = False, hidden: bool = False) -> DocumentLayout:
    r"""Read a document by the suffix of its file, XML by its root as well; what has no other format is plain text.

    path (Path | str): .txt, .md, .html, .docx, .tex, .pdf, .json or .jsonl with one document (DoclingDocument, or
        blocks, see `SectionCorpus`), or .xml (Rechtspraak, annotated XML, or any other), which may be packed by gzip,
        with .gz behind its name.
    paragraphs (bool): of plain text, see `read_plain`.
    hidden (bool): of Rechtspraak XML, see `read_rechtspraak_gold`.
    RETURNS (DocumentLayout): the document, without a look at gold.
    RAISES (ValueError): for binary files, encodings other than those of the format, malformed XML and JSON, with file
        and line. RAISES (OSError): if there is no such file.

    >>> from pathlib import Path
    >>> from spacy_crf import read_layout
    >>> _ = Path("ferry.md").write_text("# Scope\n\nAll ferries.\n")
    >>> layout = read_layout("ferry.md")
    >>> layout.text
    'Scope\n\nAll ferries.\n'
    """
    path = Path(path)
    suffix = data_suffix(path)
    if suffix == ".xml":
        layout = _read_xml(path, hidden)
    else:
        layout = read_plain(path, paragraphs) if is_plain(path) else READERS[suffix](path)
    return replace(layout, name=spell_path(layout.name))


def is_plain(path: Path) -> bool:
    """Whether a file is read as plain text."""
    return (suffix := data_suffix(path)) != ".xml" and suffix not in READERS


def _read_xml(path: Path, hidden: bool) -> DocumentLayout:
    with open_binary(path) as file_:
        refuse_magic(path, file_.read(HEAD))
    root = root_of(path)
    if root in ROOTS:
        return read_rechtspraak_gold(path, hidden).layout
    if root == ROOT:
        return read_annotated(path).layout
    return read_html(path) if root == "html" else read_xml(path)


def read_plain(path: Path, paragraphs: bool = False) -> DocumentLayout:
    """Read plain text in UTF-8, or UTF-16 with a byte order mark.

    paragraphs (bool): for text with hard line breaks: an element ends at a blank line, or before a line that begins
        with a list mark or a numbering with a sign, or that underlines; without, each line is an element.
    RAISES (ValueError): for binary files and other encodings, with the line.
    """
    text = read_text(path)
    found = _paragraphs(text) if paragraphs else ()
    runs: list[Run] = [(start, end, PARAGRAPH) for start, end in found if "\n" in text[start:end].strip()]
    return DocumentLayout(text, tuple(runs), path.stem)


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    """Stretches of lines that are one element."""
    start = place = 0
    for before, line in pairwise(["", *text.split("\n")]):
        end = place + len(line)
        if not line.strip() or _begins(line) or RULE.fullmatch(before.strip()):
            if start < place:
                yield start, place
            start = place if line.strip() else end + 1
        place = end + 1
    if start < len(text):
        yield start, len(text)


def _begins(line: str) -> bool:
    start = len(line) - len(line.lstrip())
    is_item = find_mark(line, start, len(line)) > start or find_numbering(line, start, len(line), first=False) > start
    return is_item or RULE.fullmatch(line.strip()) is not None


# -- a corpus ------------------------------------------------------------------------------------------------


@registry.readers("spacy_crf.SectionCorpus.v1")
@dataclass(frozen=True)
class SectionCorpus:
    """Reads documents with gold elements (`doc.spans["elements"]`) and trees (`doc.spans["sections"]`, the tree).

    By suffix and content: annotated XML (root `document`), Rechtspraak XML with labels of elements (`manualAnnotation`)
    and the sections of the court, `.spacy` files, and JSON: {"text": .., "layout": [[start, end, style], ..], "tree":
    what `SectionTree.to_json` gives} for each document; a list of these, or a line for each in `.jsonl`.

    Of Markdown, HTML, DOCX, LaTeX, DoclingDocuments, and JSON of blocks ({"id": .., "lang": .., "blocks": [[kind,
    level, text], ..]}, where kind is "heading", "text", "item", "term" or "code") the headings are the gold, and the
    text is made anew.

    path (Path | str | list | None): A file, which may be packed by gzip, a folder that is searched with its
        subfolders, or several of them; hidden files of a folder are left out, and documents whose headings would be
        the gold beside annotated ones.
    hidden (bool): Of Rechtspraak XML, hide the mark-up by which courts say what the structure is.
    trees (bool): Take gold trees; those of courts have no lists and no quoted articles.
    rendering (str): Of documents whose headings are the gold, the text that is made: "plain", a line for each block and
        blank lines between them; "dense", without blank lines; "marked", plain, with headings as formatting; "mixed",
        a look that a seed chooses for each: numbers kept, left out or made, headings underlined, bold or in capitals,
        blank lines here and there, hard line breaks, heads of pages, a table of contents.
    copies (int): Texts that are made of each of them, which differ where the rendering is "mixed".
    seed (int): Of what is chosen there.
    limit (int): Number of documents to read at most; 0 for all.

    >>> import spacy
    >>> from spacy_crf import SectionCorpus
    >>> example = next(SectionCorpus("corpus/section_parser/dev")(spacy.blank("en")))
    >>> len(example.reference.spans["sections"]) > 0
    True
    """

    path: Path | str | list[Path | str] | None
    hidden: bool = False
    trees: bool = True
    rendering: RenderingName = "plain"
    copies: int = 1
    seed: int = 0
    limit: int = 0

    def __post_init__(self) -> None:
        require_numbers(self)
        check_paths(self.path)
        require_count(0, limit=self.limit)
        require(CoreErrors.CRF549, "copies", self.copies, self.copies >= 1, "at least 1")

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """Yield the examples of the corpus.

        nlp (Language): The pipeline, of which the vocabulary is used; `nlp.max_length` grows to the longest document.
        YIELDS (Example): Gold in `reference`; in `predicted` the text and its formatting.
        """
        for reference in self.read_docs(nlp.vocab):
            predicted = copy_tokens(reference, [])
            attach_layout(predicted, runs_of(reference))
            predicted.user_data[NAME] = reference.user_data.get(NAME, "")
            admit(nlp, count_characters(reference))
            yield Example(predicted, reference)

    def read_docs(self, vocab: Vocab) -> Iterator[Doc]:
        """Yield the Docs of the corpus with their gold, reading file by file; `doc._.doc_name` says which each is.

        Of several files, those that cannot be read are left out with a warning. RAISES (ValueError): For a single one
        that cannot be read, or where there is none.
        """
        register_doc_name()
        register_extensions()
        paths = check_paths(self.path)
        files = list(name_files(((file, path) for path in paths for file in _find_files(path)), paths))
        is_empty, read = True, self._read_file if len(files) == 1 else self._read_one_of_many
        for doc in islice((doc for found in files for doc in read(*found, vocab)), self.limit or None):
            is_empty = False
            if not self.trees:
                drop_sections(doc, SECTIONS)
            yield doc
        if is_empty:
            raise CRFError(CorpusErrors.CRF520.format(path=", ".join(map(str, paths))))

    def _read_one_of_many(self, file: Path, name: str, vocab: Vocab) -> Iterator[Doc]:
        try:
            yield from self._read_file(file, name, vocab)
        except CRFError as error:
            warnings.warn(SectionWarnings.CRFW969.format(problem=error), CRFWarning, stacklevel=2)

    def _read_file(self, file: Path, name: str, vocab: Vocab) -> Iterator[Doc]:
        if data_suffix(file) in WITHOUT_GOLD:
            problem = "its headings are no gold, as only some of them may have a bookmark"
            raise CRFError(SectionErrors.CRF970.format(path=file, problem=problem))
        if data_suffix(file) == ".spacy":
            yield from read_docbin(file, vocab, "document", name)
        elif data_suffix(file) == ".xml":
            yield write_doc_name(self._read_xml(file, vocab), name)
        elif data_suffix(file) in MARKED_UP:
            found = blocks_of_layout(READERS[data_suffix(file)](file))
            yield from (write_doc_name(doc, name) for doc in self._render(found, name, vocab))
        else:
            for number, (entry, where) in enumerate(_read_json(file), 1):
                own = number_name(name, number)
                docs = self._of_json(entry, where, own, vocab)
                yield from (write_doc_name(doc, own) for doc in docs)

    def _of_json(self, entry: Any, where: str, name: str, vocab: Vocab) -> Iterator[Doc]:
        if is_block_document(entry):
            return self._render(_read_blocks(entry, where), name, vocab)
        if is_docling(entry):
            return self._render(blocks_of_layout(read_docling(entry, where)), name, vocab)
        return iter([_with_tree(entry, where, vocab)])

    def _render(self, document: BlockDocument, name: str, vocab: Vocab) -> Iterator[Doc]:
        """Docs made of blocks. What is chosen for each depends on the seed and its name alone."""
        for copy in range(self.copies):
            random = Random(f"{self.seed} {copy} {name}")
            chosen = choose_rendering(random) if self.rendering == "mixed" else RENDERINGS[self.rendering]
            gold = render(document, chosen)
            yield _write_gold(to_doc(vocab, gold.layout), gold.tree)

    def _read_xml(self, file: Path, vocab: Vocab) -> Doc:
        root = root_of(file)
        if root == ROOT:
            gold, has_tree = read_annotated(file), True
        elif root in ROOTS:
            gold = read_rechtspraak_gold(file, self.hidden)
            has_tree = bool(gold.sections)  # without any, no tree was marked up
        else:
            problem = f"the outermost element is {root!r}, not {' or '.join((ROOT, *ROOTS))}"
            raise CRFError(SectionErrors.CRF970.format(path=file, problem=problem))
        return _write_gold(to_doc(vocab, gold.layout), gold.tree, bool(gold.leaves), has_tree)


def _write_gold(doc: Doc, tree: SectionTree, has_elements: bool = True, has_tree: bool = True) -> Doc:
    if has_elements:
        triples = [(element.start, element.end, element.label) for element in tree.elements]
        write_elements(doc, ELEMENTS, Elements.of(triples), {})
    if has_tree:
        write_sections(doc, SECTIONS, tree)
    return doc


def _find_files(path: Path) -> list[Path]:
    """A file itself, or the files of a folder that the reader knows, sorted, without hidden ones.

    Where some are annotated, those whose headings would be the gold are left out, such as a README.md beside them.
    """
    if path.is_file():
        return [path]
    found = visible_files(path, SUFFIXES)
    others = [file for file in found if data_suffix(file) in MARKED_UP]
    if not others or not any(_is_annotated(file) for file in found):
        return found
    warn_of_unread(path, others)
    return [file for file in found if data_suffix(file) not in MARKED_UP]


def _is_annotated(file: Path) -> bool:
    try:
        return data_suffix(file) == ".spacy" or (data_suffix(file) == ".xml" and root_of(file) in (ROOT, *ROOTS))
    except CRFError:  # which reading will tell of
        return False


def _read_json(file: Path) -> Iterator[tuple[Any, str]]:
    """Values of a file, and where each is."""
    if data_suffix(file) == ".jsonl":
        for line, entry in read_json_lines(file):
            yield entry, f"{file}, line {line}"
    else:
        data = parse_json(read_text(file), str(file))
        for entry in data if isinstance(data, list) else [data]:
            yield entry, str(file)


def _with_tree(entry: Any, where: str, vocab: Vocab) -> Doc:
    try:
        runs = tuple((int(start), int(end), str(style)) for start, end, style in entry.get("layout", ()))
        text, tree = entry["text"], from_json(entry["tree"])
        if not isinstance(text, str):
            raise ValueError(f"the text is {text!r}")
        last = max([node.end_char for node in tree.sections] + [element.end for element in tree.elements], default=0)
        if last > len(text) + 1:  # trees of older versions may count a line end that was cut off
            raise ValueError(f"the tree goes to {last}, but the text has {len(text)} characters")
        return _write_gold(to_doc(vocab, DocumentLayout(text, runs)), tree)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        problem = f"not JSON with text and tree: {error!r}"
        raise CRFError(SectionErrors.CRF970.format(path=where, problem=problem)) from error
