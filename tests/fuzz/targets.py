"""What is fuzzed: parsers and loaders, and components with random documents, each with inputs to begin with."""

import json
import re
import zipfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from srsly.msgpack import msgpack_decoders

from spacy_crf import Corpus, PunctuationCorpus, SectionCorpus, read_crfpp_templates, read_crfsuite, read_layout
from spacy_crf.bibliography.bibtex import read_bibtex
from spacy_crf.bibliography.csl import read_csl
from spacy_crf.bibliography.split import split_references
from spacy_crf.constraints.table import from_bytes, read_given
from spacy_crf.core.constraints.language import parse_all
from spacy_crf.corpora.cas import TYPE_SYSTEM, write_cas_json, write_types, write_xmi
from spacy_crf.corpora.exchange import ExchangeDocument, ExchangeToken
from spacy_crf.corpora.tables import write_tsv, write_xlsx
from spacy_crf.corpora.tasks import write_doccano, write_label_studio
from spacy_crf.features.resources import WordList
from spacy_crf.features.spelling import Rewriter, SpellingTable
from spacy_crf.features.templates import parse_templates
from spacy_crf.lab.space import read_space
from spacy_crf.pipe.dictionary.tag_dictionary import read_table
from spacy_crf.sections.grammar import read_grammar
from spacy_crf.tagsets.rules import read_parents

ROOT = Path(__file__).parents[2]
CORPUS, MODELS = ROOT / "corpus", ROOT / "tests/contract/data/models"
GOLD = ROOT / "tests/contract/data/gold"
FOUND = Path(__file__).parent / "found"
MOST_OF_A_SEED = 3000
UNCHECKED = 128  # first byte from which on a file may have any content
CHECKSUMS = "checksums.json"
BUDGET = 0.05  # seconds for the constraints of a document, instead of 10
RENEWED = 20_000  # runs after which a vocabulary starts anew

msgpack_decoders.entry_points = False  # it looks for those of other packages at each call


def _read_one_by_one(inputs: Sequence[bytes]) -> None:
    raise NotImplementedError("This target takes one input at a time")


@dataclass(frozen=True)
class Target:
    """A parser.

    read: takes an input, and a folder for files. seeds: inputs to begin with, which it takes.
    read_all: takes so many inputs at once (`together`), where that is faster.
    """

    read: Callable[[bytes, Path], Any]
    seeds: Callable[[], Sequence[bytes]]
    read_all: Callable[[Sequence[bytes]], Any] = _read_one_by_one
    together: int = 1


class _Vocabulary:
    """A pipeline without components, whose vocabulary does not grow for ever."""

    def __init__(self) -> None:
        self.runs, self.nlp = 0, spacy.blank("en")

    def __call__(self) -> Language:
        self.runs += 1
        if self.runs % RENEWED == 0:
            self.nlp = spacy.blank("en")
        return self.nlp


blank = _Vocabulary()


def of_file(name: str, read: Callable[[Path], Any]) -> Callable[[bytes, Path], Any]:
    """Make a target of what takes a file. name (str): of the file."""

    def run(data: bytes, folder: Path) -> None:
        path = folder / name
        path.write_bytes(data)
        found = read(path)
        if found is not None and hasattr(found, "__next__"):
            for _ in found:
                pass

    return run


def of_text(read: Callable[[str], Any]) -> Callable[[bytes, Path], Any]:
    """Make a target of what takes a text. Lone surrogates are texts as well."""

    def run(data: bytes, folder: Path) -> None:
        try:
            text = data.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            text = data.decode("utf-8", "replace")
        read(text)

    return run


def corpus(name: str, **settings: Any) -> Callable[[bytes, Path], Any]:
    return of_file(name, lambda path: Corpus(path=path, **settings)(blank()))


def punctuated(name: str) -> Callable[[bytes, Path], Any]:
    return of_file(name, lambda path: PunctuationCorpus(path=path)(blank()))


def beginnings(pattern: str, most: int = 3) -> Callable[[], list[bytes]]:
    """Return the function that reads the beginnings of some files of the project."""
    return lambda: [path.read_bytes()[:MOST_OF_A_SEED] for path in sorted(ROOT.glob(pattern))[:most]]


def texts(*own: str) -> Callable[[], list[bytes]]:
    return lambda: [text.encode() for text in own]


# -- inputs to begin with --------------------------------------------------------------------------------------


PDF = """%PDF-1.4
1 0 obj
<</Type/Catalog/Pages 2 0 R/Outlines 6 0 R>>
endobj
2 0 obj
<</Type/Pages/Kids[3 0 R 3 0 R]/Count 2>>
endobj
3 0 obj
<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Rotate 0/Resources<</Font<</F1 4 0 R>>>>/Contents 5 0 R>>
endobj
4 0 obj
<</Type/Font/Subtype/Type1/BaseFont/Helvetica-Bold>>
endobj
5 0 obj
<</Length 186>>
stream
BT /F1 14 Tf 60 700 Td (1. Scope) Tj /F1 10 Tf 0 -20 Td (All boats at the quay are on the list.) Tj
250 0 Td (The harbour master moves them.) Tj 1 0 0 1 60 30 Tm (Page 1) Tj ET 60 698 40 1 re f
endstream
endobj
6 0 obj
<</Type/Outlines/First 7 0 R/Last 7 0 R/Count 1>>
endobj
7 0 obj
<</Title(Scope)/Parent 6 0 R/Dest[3 0 R/XYZ 60 700 0]>>
endobj
trailer
<</Root 1 0 R/Size 8>>
"""
WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
BODY = (
    f'<w:document {WORD}><w:body><w:p><w:pPr><w:pStyle w:val="Heading1"/><w:numPr><w:ilvl w:val="1"/>'
    '<w:numId w:val="1"/></w:numPr></w:pPr><w:r><w:rPr><w:b/><w:sz w:val="40"/></w:rPr><w:t>Scope</w:t><w:br/>'
    "<w:t>a</w:t></w:r></w:p><w:tbl><w:tr><w:tc><w:p><w:r><w:t>x</w:t></w:r></w:p></w:tc></w:tr></w:tbl>"
    '<w:p><w:pPr><w:ind w:left="720"/></w:pPr><w:r><w:t>y</w:t></w:r></w:p>'
    "<w:p><w:r><w:txbxContent><w:p/></w:txbxContent></w:r></w:p></w:body></w:document>"
)
LISTS = (
    f'<w:numbering {WORD}><w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="1"><w:start w:val="3"/>'
    '<w:numFmt w:val="upperRoman"/><w:lvlText w:val="%1.%2"/></w:lvl></w:abstractNum><w:num w:numId="1">'
    '<w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="1"><w:startOverride w:val="9"/></w:lvlOverride></w:num>'
    "</w:numbering>"
)
TYPES = (
    f'<w:styles {WORD}><w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/>'
    '<w:basedOn w:val="B"/></w:style><w:style w:styleId="B"><w:basedOn w:val="Heading1"/><w:rPr><w:i/></w:rPr>'
    "</w:style></w:styles>"
)
PARTS = {"document.xml": BODY, "numbering.xml": LISTS, "styles.xml": TYPES}


def _docx(data: bytes, folder: Path) -> None:
    """Read a DOCX whose parts are given, with a zero byte between them."""
    import docx

    path = folder / "x.docx"
    with (
        zipfile.ZipFile(Path(docx.__file__).parent / "templates/default.docx") as old,
        zipfile.ZipFile(path, "w") as new,
    ):
        own = dict(zip((f"word/{name}" for name in PARTS), data.split(b"\0")))
        for name in old.namelist():
            new.writestr(name, own.get(name, old.read(name)))
    read_layout(path)


REVIEW = json.dumps(
    {
        "format": "spacy_crf review 1",
        "target": "tag",
        "text": "a dog",
        "input": {"pos": ["DET", "NOUN"]},
        "tokens": [{"text": "a", "gold": "DT"}, {"text": "dog", "gold": None}],
    }
)
REVIEW_ROWS = "# spacy_crf review 1\n# target = ner\n\n# text = a dog\na\tO\tO\t0.9\tB-X:0.1\ndog\tB-X\tO\t0.5\t_\n"
CONLLU = (
    "# newdoc id = a\n# text = vámonos al mar\n1-2\tvámonos\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n"
    "1\tvamos\tir\tVERB\tV\tMood=Imp|Number=Plur\t0\troot\t_\tNE=B-X\n2\tnos\tnosotros\tPRON\tP\t_\t1\tobj\t_\t_\n"
    "3-4\tal\t_\t_\t_\t_\t_\t_\t_\t_\n3\ta\ta\tADP\tE\t_\t5\tcase\t_\t_\n4\tel\tel\tDET\tD\t_\t5\tdet\t_\t_\n"
    "4.1\tx\t_\t_\t_\t_\t_\t_\t_\t_\n5\tmar\tmar\tNOUN\tN\t_\t1\tobl\t_\t_\n\n"
)
CORA = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<text><token id="t1"><anno utf="by"><pos tag="APPR"/><lemma tag="b"/>'
    '<morph tag="Fem.*.Sg"/></anno></token><token><anno utf="lop"><pos tag="--"/><bound_sent tag="Satz"/></anno>'
    "</token></text>"
)
CONLLU_CHECKED = (
    "# checked = tag\n1\ta\t_\t_\tA\t_\t_\t_\t_\tTagSet=A:0.6\\pB:0.3|Checked=No\n"
    "2\tb\t_\t_\tB\t_\t_\t_\t_\tGold=B:0.5\\pC:0.5|Checked=Yes\n\n"
)
WEBANNO = (
    "#FORMAT=WebAnno TSV 3.3\n#T_SP=webanno.custom.TagSet|tag|tags|probabilities\n\n\n"
    "#Text=dhe [x]\n1-1\t0-3\tdhe\tA|B\tA\\|B\tA:0.6\\|B:0.4\t\n1-2\t4-7\t[x]\tXY[1]\t*\t*\t\n"
)
REFERENCES = "<author> A. Lee. </author> <title> On birds. </title> <date> 1999. </date>\n"
REFERENCES_XML = (
    '<?xml version="1.0"?><dataset><sequence><author>A. Lee.</author> <title>On &amp; on</title>.</sequence></dataset>'
)
SRT = (
    "1\n00:00:01,000 --> 00:00:02,500\n- JOHN: Well, <i>who</i> is it?\n[door] (sighs)\n\n"
    "2\n00:00:03,000 --> 00:00:04,000\n♪ la la ♪ {\\an8}Nobody &amp; no one.\n"
)
VTT = (
    "WEBVTT\n\nNOTE x\n\n00:01.000 --> 00:02.500 align:start\n<v Ann>Well, <c.x>who</c> is it?\n\n"
    "00:03.000 --> 00:04.000\nNobody.\n"
)
TEMPLATES = (
    "LOWER[-2..2]\nSUFFIX3|LOWER[0]\nLIST(brown,4)[1]\nCLAUSE(opening,+1)\nSENTENCE(has publisher)\nB:TAG[0]\n"
    "_.pause\n@tagging\nBEFORE(year)[1]\nUNIT(kind)[-1..1]\nPOSITION4\nRARE6|LPREFIX2"
)
CONSTRAINTS = (
    "adjacency(VOLUME, PAGES|DATE) cost=2.5\nat_most(TITLE, 1) each cost=1\norder(AUTHOR, TITLE, DATE) unit\n"
    'state_change(comma, VOLUME, PAGES) gap\nrule(has VOLUME & not has TECH -> has JOURNAL | has "BOOK TITLE")\n# x\n'
)
CONSTRAINTS_JSON = (
    '[{"kind": "adjacency", "a": ["VOLUME"], "b": ["PAGES", "DATE"], "cost": 2.5, "about": {"support": 3}},\n'
    '"at_most(TITLE, 1)", {"kind": "rule", "condition": ["has A"], "then": [["has B"]], "cost": null}]'
)
SPACE = (
    '[settings]\n"components.crf_tagger.trainer.c2" = { low = 0.01, high = 10.0, log = true }\n'
    '"components.crf_tagger.decode" = ["viterbi", "posterior"]\n[alternatives.trainer]\n'
    'a = { "training.patience" = 5 }\nb = { "training.patience" = 500 }\n[templates]\nalways = ["LOWER[0]"]\n'
    'prefixes = ["LPREFIX1"]\nwords = { "w" = ["LOWER[-1]"], "none" = [] }\n[start]\nwords = "none"\n'
)
HTML = (
    '<html lang="en"><head><meta charset="utf-8"><title>x</title></head><body><h1>1. Scope</h1><p style="font-weight: '
    'bold">All <b>ferries</b>.<br>x<ol type="a" start="3"><li>one<li value=7>two</ol><table><tr><td>a<td>b</table>'
    "<pre>x\n y</pre><blockquote>q</blockquote></body></html>"
)
MARKDOWN = (
    "# 1. Scope\n\nAll *ferries*, **all**.\n\n## Term\n\n- one\n- two\n  1. a\n\n> quote\n\n"
    "| a | b |\n|---|---|\n| 1 | 2 |\n\n```\ncode\n```\n"
)
LATEX = (
    "\\documentclass{report}\\usepackage[latin1]{inputenc}\\newcommand{\\x}[2][a]{#1 #2}\\title{T}\n"
    "\\begin{document}\\maketitle\n"
    "\\chapter[a]{Scope}\\label{l} All \\emph{ferries} \\x{b} \\'e {\\bf c} --- $x^2$ \\verb|%| % d\n\n"
    "\\begin{itemize}\\item a\\item[b] \\ref{l}\\end{itemize}\\appendix\\section*{A}\\[ x \\]\n"
    "\\begin{tabular}[t]{ll}a & b \\\\[1mm] c\\end{tabular}\n\\begin{verbatim}\nx\n\\end{verbatim}\n\\end{document}\n"
)
RECHTSPRAAK = (
    '<?xml version="1.0" encoding="utf-8"?><open-rechtspraak><uitspraak id="x"><section role="beslissing"><title><nr>1'
    '</nr>. Feiten</title><parablock><nr>1.1</nr><para>Op <emphasis role="bold">3 mei</emphasis>.</para><listitem>'
    "<para>a</para></listitem></parablock></section></uitspraak></open-rechtspraak>"
)
TEI = (
    '<?xml version="1.0"?>\n<TEI xml:lang="en"><text><body><div><head n="1.1">Boats</head><p>In '
    "<title>The Ferry</title> a <choice><sic>teh</sic><corr>the</corr></choice> boat.</p></div><listBibl><bibl>"
    "<author>Roe, C.</author>, <title>On Ropes</title><date>1990</date></bibl></listBibl></body></text></TEI>"
)
JATS = (
    "<article><body><sec><title>2. Knots</title><p>All <xref>1</xref>.</p></sec></body><ref-list><ref><label>1</label>"
    "<citation-alternatives><mixed-citation><name><surname>Roe</surname><given-names>C</given-names></name>. "
    "<source>Sea</source> <year>2004</year>;<fpage>33</fpage>.</mixed-citation><element-citation><year>2004</year>"
    "</element-citation></citation-alternatives></ref></ref-list></article>"
)
ANNOTATED = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<document xml:lang="en" genre="contract" title="x">\n<text>HIRE</text>\n\n'
    "<section><b><nr>1.</nr> <title>Equipment</title></b>\n\n<text>One &amp; all.</text>\n\n<section><nr>(a)</nr> "
    "<text>steps;</text>\n\n</section></section></document>\n"
)
DOCLING = json.dumps(
    {
        "schema_name": "DoclingDocument",
        "name": "x",
        "body": {"self_ref": "#/body", "children": [{"$ref": "#/texts/0"}, {"$ref": "#/groups/0"}]},
        "groups": [{"self_ref": "#/groups/0", "label": "list", "children": [{"$ref": "#/texts/1"}]}],
        "texts": [
            {"self_ref": "#/texts/0", "label": "section_header", "level": 1, "text": "1. Scope", "orig": "1. Scope"},
            {
                "self_ref": "#/texts/1",
                "label": "list_item",
                "text": "x",
                "marker": "-",
                "enumerated": False,
                "prov": [],
            },
        ],
    }
)
PLAIN = "1. Scope\nAll ferries.\n\n2. Term\n3.1 One year.\n(a) Ja;\n(b) nee.\nArt. 3\n- x\n\tIV. y\n"
PAPER = (
    "Text.\n\nReferences\n\n[1] Ferreira, T., and E. Crane. The Kitchen Sonnet. Tollgate Press, 2003. doi:10.1000/182\n"
    "[2] Smith, J. P. and van der Berg, A. (1999a). On birds. J. Orn., 12(3):1-\n14.\n"
)
BIBTEX = (
    '@string{j = "Journal"}\n@article{lee99, author = {Lee, A. and {van der} Berg, {\\"O}}, title = "On {B}irds", '
    "journal = j # { of X}, year = 1999, month = jan, pages = {1--14}}\n@comment{x}\n"
)
CSL = json.dumps(
    [
        {
            "id": "lee99",
            "type": "article-journal",
            "title": "On birds",
            "author": [{"family": "Lee", "given": "A."}, {"literal": "ACM"}],
            "issued": {"date-parts": [[1999, 1, 3], [2000]]},
            "page": "1-14",
            "volume": 12,
            "DOI": "10.1000/182",
        }
    ]
)


def exchanged() -> list[ExchangeDocument]:
    """A short document for somebody to check, of which one token is checked."""
    first = ExchangeToken("dhe", 0, 3, "A", {"A": 0.6, "B": 0.3}, {"A": 1.0})
    return [ExchangeDocument("x", "dhe [x]", [[first, ExchangeToken("[x]", 4, 7, "XY", {"XY": 0.8})]])]


@cache
def types() -> bytes:
    return write_types()


def cas(data: bytes, folder: Path) -> None:
    (folder / TYPE_SYSTEM).write_bytes(types())
    corpus("x.xmi")(data, folder)


def stored_docs() -> list[bytes]:
    nlp = blank()
    doc = Doc(nlp.vocab, words=["a", "dog"], tags=["DT", "NN"], sent_starts=[True, False], ents=["O", "B-X"])
    return [DocBin(docs=[doc], store_user_data=True).to_bytes()]


def section_trees() -> list[bytes]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "x.xml"
        path.write_text(ANNOTATED, encoding="utf8")
        gold = next(SectionCorpus(path)(blank())).reference
    return [json.dumps({"text": gold.text, "layout": [[0, 4, "bold"]], "tree": gold._.section_tree.to_json()}).encode()]


def crfsuite_models() -> list[bytes]:
    import pycrfsuite

    trainer = pycrfsuite.Trainer(verbose=False)
    trainer.append([["word=the"], ["word=dog", "x:2.0"]], ["DET", "NOUN"])
    with TemporaryDirectory() as folder:
        trainer.train(f"{folder}/model")
        return [Path(f"{folder}/model").read_bytes()]


# -- our own models --------------------------------------------------------------------------------------------


def load(name: str) -> Language:
    """Return a saved pipeline of the contract."""
    with TemporaryDirectory() as folder:
        zipfile.ZipFile(MODELS / f"{name}.zip").extractall(folder)
        return spacy.load(folder)


@cache
def _component(name: str) -> Any:
    return next(pipe for _, pipe in reversed(load(name).pipeline) if type(pipe).__module__.startswith("spacy_crf"))


@cache
def _whole_files(name: str) -> dict[str, bytes]:
    with TemporaryDirectory() as folder:
        _component(name).to_disk(Path(folder) / "pipe")
        return {path.name: path.read_bytes() for path in sorted((Path(folder) / "pipe").iterdir())}


def load_folder(name: str) -> Callable[[bytes, Path], Any]:
    """Make a target of the files of a component: one of them is the input, the others are whole.

    The first byte of an input says which, and whether the list of checksums accepts any content of this file.
    """

    def read(data: bytes, folder: Path) -> None:
        whole = _whole_files(name)
        number, content = (data[0] if data else 0), data[1:]
        chosen = list(whole)[number % UNCHECKED % len(whole)]
        files = whole | {chosen: content}
        if number >= UNCHECKED and chosen != CHECKSUMS:
            files[CHECKSUMS] = json.dumps(json.loads(whole[CHECKSUMS]) | {chosen: None}).encode()
        for file, content in files.items():
            (folder / file).write_bytes(content)
        _component(name).from_disk(folder)

    return read


def folder_seeds(name: str) -> Callable[[], list[bytes]]:
    def pack() -> list[bytes]:
        files = enumerate(_whole_files(name).values())
        return [bytes([first + number]) + data for number, data in files for first in (0, UNCHECKED)]

    return pack


SYMBOLS = re.compile(r"([^\w\s]{2000})[^\w\s]+")  # spaCy's tokenizer takes them off one by one, in quadratic time


def documents(name: str) -> Target:
    """Make a target of a component and random documents, whose texts stay what they are."""

    @cache
    def pipeline() -> Language:
        nlp = load(name)
        if nlp.has_pipe("constrained_ner"):
            nlp.get_pipe("constrained_ner").cfg["budget"] = BUDGET
        return nlp

    def read_all(inputs: Sequence[bytes]) -> None:
        texts, nlp = [SYMBOLS.sub(r"\1", data.decode("utf-8", "replace")) for data in inputs], pipeline()
        with nlp.memory_zone():
            for text, doc in zip(texts, nlp.pipe(texts), strict=True):
                assert doc.text == text
                if name == "punctuation":
                    assert _letters(doc._.restored) == _letters(text)

    return Target(lambda data, _: read_all([data]), DOCUMENTS, read_all, together=256)


def _letters(text: str) -> list[str]:
    lower = text.lower().replace("ς", "σ")  # which one it is depends on what is behind it
    return [character for character in lower if character.isalnum()]


DOCUMENTS = texts(
    "The boats that left before dawn were back by noon. Well — who, e.g. –, are you?",
    PLAIN,
    PAPER,
    "dear tom thank you for your letter how is your sister did she get the book",
    "",
    " \n\t ",
)


def _citations(text: str) -> None:
    for reference in split_references(text):
        del reference


TARGETS: dict[str, Target] = {
    "templates": Target(
        of_text(lambda text: parse_templates(text.split("\n"))), texts(TEMPLATES, *TEMPLATES.splitlines())
    ),
    "constraints": Target(of_text(parse_all), texts(*CONSTRAINTS.splitlines())),
    "constraints-json": Target(lambda data, _: from_bytes("x", data, "x.json"), texts(CONSTRAINTS_JSON)),
    "constraints-file": Target(of_file("x.txt", lambda path: read_given("x", str(path))), texts(CONSTRAINTS)),
    "grammar": Target(of_file("x.txt", read_grammar), beginnings("spacy_crf/sections/grammars/*", 5)),
    "word-list": Target(
        of_file("x.tsv", lambda path: WordList.read("x", path)), texts("# x\nnew york\tcity\nbern\tcity\n")
    ),
    "spelling": Target(of_file("x.tsv", SpellingTable.read), texts("# x\nvnde\tunde\nunde\tunde\n")),
    "rewrites": Target(
        of_file("x.tsv", lambda path: [Rewriter.read(str(path))(word) for word in ("vñde", "a" * 50)]),
        beginnings("spacy_crf/features/rewrites/*.tsv"),
    ),
    "dictionary": Target(of_file("x.tsv", read_table), texts("# a comment\nthe\tDT\t12\ndog\tNN\t1.5\nx\tY\n")),
    "tag-tree": Target(of_file("x.tsv", read_parents), beginnings("tests/contract/data/gold/tag_tree.tsv")),
    "space": Target(of_file("x.toml", read_space), texts(SPACE)),
    "columns": Target(
        corpus("x.conll", format="columns", columns=["word", "tag", "ner"]), texts("a DT O\ndog NN B-X\n\nb _ I-X\n")
    ),
    "conll2003": Target(corpus("x.iob"), texts("-DOCSTART- -X- O O\n\na DT B-NP O\ndog NN I-NP B-X\n")),
    "conllu": Target(corpus("x.conllu"), texts(CONLLU, CONLLU_CHECKED)),
    "tagsets": Target(
        corpus("x.tsv", format="tagsets"),
        texts("dhe\tA|B\n|\t$;\nx\tA:0.6|B:0.4\n\n# c\ny\t_\n", write_tsv(exchanged()).decode()),
    ),
    "any": Target(corpus("x.tsv"), texts("dhe\tA|B\n", "a\tO\n", WEBANNO, CONLLU, REVIEW_ROWS)),
    "label-studio": Target(corpus("x.json", format="label_studio"), texts(write_label_studio(exchanged()).decode())),
    "doccano": Target(corpus("x.jsonl", format="doccano"), texts(write_doccano(exchanged()).decode())),
    "cora": Target(corpus("x.xml", format="cora"), texts(CORA)),
    "webanno": Target(corpus("x.tsv", format="webanno"), texts(WEBANNO)),
    "review": Target(corpus("x.jsonl", format="review"), texts(REVIEW + "\n", REVIEW_ROWS)),
    "references": Target(
        corpus("x.txt", format="references"),
        texts(REFERENCES * 2, "<NEWREFERENCE>\n" + REFERENCES, "Ree,\tAUTHOR\n\n12\t_\n"),
    ),
    "references-xml": Target(corpus("x.xml", format="references"), texts(REFERENCES_XML)),
    "docbin": Target(corpus("x.spacy"), stored_docs),
    "srt": Target(punctuated("x.srt"), texts(SRT)),
    "vtt": Target(punctuated("x.vtt"), texts(VTT)),
    "jsonl": Target(punctuated("x.jsonl"), texts('{"text": "Well, who is it? Nobody."}\n{"text": "a \\u00e9 b."}\n')),
    "marks": Target(punctuated("x.tsv"), texts("well\tCOMMA\nwho\tO\nis\tO\nit\t?\n\nnobody\t.\n")),
    "punctuated": Target(punctuated("x.txt"), texts("Well, who is it? “Nobody (e.g. –)”, I said … 3.5%.\n")),
    "plain": Target(of_file("x.txt", read_layout), texts(PLAIN)),
    "html": Target(of_file("x.html", read_layout), texts(HTML)),
    "latex": Target(of_file("x.tex", read_layout), texts(LATEX)),
    "markdown": Target(of_file("x.md", read_layout), texts(MARKDOWN)),
    "docling": Target(of_file("x.json", read_layout), texts(DOCLING)),
    **({"pdf": Target(of_file("x.pdf", read_layout), texts(PDF))} if find_spec("pypdfium2") else {}),
    **({"docx": Target(_docx, texts("\0".join(PARTS.values())))} if find_spec("docx") else {}),
    "rechtspraak": Target(of_file("x.xml", read_layout), texts(RECHTSPRAAK, HTML.replace("<br>", "<br/>"))),
    "xml": Target(of_file("x.xml", read_layout), texts(TEI, JATS)),
    "sections": Target(of_file("x.xml", lambda path: SectionCorpus(path)(blank())), texts(ANNOTATED)),
    "sections-json": Target(
        of_file("x.json", lambda path: SectionCorpus(path)(blank())),
        section_trees,
    ),
    "citations": Target(of_text(_citations), texts(PAPER)),
    "bibtex": Target(of_text(read_bibtex), texts(BIBTEX)),
    "csl": Target(of_text(read_csl), texts(CSL)),
    "crfsuite": Target(of_file("x.crfsuite", read_crfsuite), crfsuite_models),
    "crfpp": Target(
        of_file("x", lambda path: read_crfpp_templates(path, ["ORTH", "TAG"])),
        texts("# x\nU00:%x[-1,0]\nU05:%x[-1,0]/%x[0,1]\nB\nB01:%x[0,1]\n"),
    ),
    **{
        f"model-{name}": Target(load_folder(name), folder_seeds(name))
        for name in ("tagger", "sets", "references", "sections", "punctuation")
    },
    **{f"documents-{name}": documents(name) for name in ("tagger", "sets", "references", "sections", "punctuation")},
}
if find_spec("openpyxl") is not None:
    TARGETS["xlsx"] = Target(corpus("x.xlsx"), lambda: [write_xlsx(exchanged())])
if find_spec("cassis") is not None:
    TARGETS["cas-xmi"] = Target(cas, lambda: [write_xmi(exchanged())])
    TARGETS["cas-json"] = Target(corpus("x.json", format="cas"), lambda: [write_cas_json(exchanged())])


def found_cases() -> Iterable[tuple[str, Path]]:
    """Yield the parser and the file of each case that was found once."""
    for path in sorted(FOUND.glob("*/*")):
        yield path.parent.name, path
