"""Write the tables of results: figures of the projects stand in documents between marks, and come from their results.

    python -m projects.tables            # write the tables of all documents anew

A table stands between `<!-- results:NAME begin -->` and `<!-- results:NAME end -->`, where NAME is one of `TABLES`.
"""

import json
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from statistics import mean, stdev
from typing import Any, Literal, NamedTuple

PROJECTS = Path(__file__).resolve().parent
ROOT = PROJECTS.parent
MARKED = re.compile(r"(<!-- results:(?P<name>[\w-]+) begin -->\n).*?(<!-- results:(?P=name) end -->)", re.DOTALL)
WAYS = {  # how intervals are found
    "documents": "documents drawn again and again",
    "docs": "sentences drawn again and again",
    "test parts": "the corrected resampled t-test over test parts",
}
Unit = Literal["share", "number", "bytes"]


class Column(NamedTuple):
    """A figure. path (str): Where it is in a file of results, such as scores.ents_f.

    unit (str): "share" is shown in percent, with its 95 % interval if the results have one.
    """

    head: str
    path: str
    unit: Unit = "share"


class Table(NamedTuple):
    """Figures of a project. rows (dict): Files of results, by what they are of.

    workflow (str): What makes the results, besides `all`. rest (str): A sentence below the table.
    """

    project: str
    columns: tuple[Column, ...]
    rows: dict[str, str]
    workflow: str = "all"
    rest: str = ""


MODEL_SIZE = Column("model, kB", "made_of.model.bytes", "bytes")
TAG_SETS = (
    Column("unknown words", "unknown_words"),
    Column("ml-acc", "scores.ml_acc"),
    Column("of unknown words", "scores.ml_acc_unknown"),
    Column("ml-util", "scores.ml_util"),
    Column("size", "scores.set_size", "number"),
    Column("coverage", "scores.set_coverage"),
    Column("one tag", "scores.set_singletons"),
)
MARKS = (
    Column("precision", "scores.punct_p"),
    Column("recall", "scores.punct_r"),
    Column("F", "scores.punct_f"),
    Column("comma F", "scores.punct_f_per_type.COMMA.f"),
    Column("period F", "scores.punct_f_per_type.PERIOD.f"),
    Column("question F", "scores.punct_f_per_type.QUESTION.f"),
)
FIELDS = (
    Column("accuracy", "scores.tok_acc"),
    Column("whole references", "scores.whole_doc_acc"),
    Column("field F", "scores.field_segment_f"),
    Column("macro F of tokens", "scores.field_macro_f"),
    MODEL_SIZE,
)
TABLES = {
    "conll2000": Table(
        "conll2000",
        (
            Column("precision", "scores.spans_chunks_p"),
            Column("recall", "scores.spans_chunks_r"),
            Column("F", "scores.spans_chunks_f"),
            MODEL_SIZE,
        ),
        {
            "`crf_tagger_chunk.cfg`": "chunks",
            "python-crfsuite, the same templates and penalties": "crfsuite",
            "`crf_tagger_chunk.cfg`, c1 = 0, c2 = 1": "l2",
            "python-crfsuite, the same": "crfsuite-l2",
        },
    ),
    "ewt-xpos": Table(
        "ud_english_ewt",
        (
            Column("unknown words", "unknown_words"),
            Column("accuracy", "scores.tag_acc"),
            Column("of unknown words", "scores.tag_acc_unknown"),
            Column("most frequent tag of each word", "scores.tag_acc_most_frequent"),
            MODEL_SIZE,
        ),
        {
            "XPOS, `crf_tagger.cfg`": "xpos",
            "the same, on dev": "xpos-dev",
            "the same with clusters of words": "xpos-clusters",
            "python-crfsuite, ordinary features, c2 = 0.5": "xpos-crfsuite",
        },
    ),
    "ewt-upos": Table(
        "ud_english_ewt",
        (
            Column("unknown words", "unknown_words"),
            Column("accuracy", "scores.pos_acc"),
            Column("of unknown words", "scores.pos_acc_unknown"),
            Column("most frequent tag of each word", "scores.pos_acc_most_frequent"),
            MODEL_SIZE,
        ),
        {
            "UPOS, `crf_tagger.cfg`, `target = pos`": "upos",
            "the same, on dev": "upos-dev",
            "the same with clusters of words": "upos-clusters",
            "python-crfsuite, ordinary features, c2 = 0.5": "upos-crfsuite",
        },
    ),
    "wnut17": Table(
        "wnut17",
        (
            Column("precision", "scores.ents_p"),
            Column("recall", "scores.ents_r"),
            Column("F", "scores.ents_f"),
            MODEL_SIZE,
        ),
        {
            "`crf_tagger_ent.cfg`": "ents",
            "the same and a list of 1,155 names": "names",
            "the same, the list and clusters of words": "clusters",
            "python-crfsuite, ordinary features, c1 = c2 = 0.1": "crfsuite",
            "the same and the list of names": "crfsuite-names",
        },
    ),
    "ren-pos": Table(
        "ren_mlg",
        TAG_SETS,
        {
            "pos, `set_valued_tagger.cfg`": "pos",
            "the same, on dev": "pos-dev",
            "pos, with classes of words from all texts, untagged": "pos-classes",
            "that, on dev": "pos-classes-dev",
            "python-crfsuite with sets of its probabilities": "pos-crfsuite",
        },
    ),
    "ren-poscase": Table(
        "ren_mlg", TAG_SETS, {"poscase, `set_valued_tagger.cfg`": "poscase", "the same, on dev": "poscase-dev"}
    ),
    "iwslt": Table(
        "iwslt_punct",
        (*MARKS, MODEL_SIZE),
        {
            "features, best labelling": "features-best-labelling",
            "features, calibrated threshold": "features",
            "LSTM, best labelling": "network-best-labelling",
            "LSTM, calibrated threshold": "network",
            "both pooled, best labelling": "pool-best-labelling",
            "both pooled, calibrated threshold": "pool",
            "the pool on utterances of films": "movie",
        },
    ),
    "iwslt-subtitles": Table(
        "iwslt_punct",
        MARKS,
        {"running text": "small", "subtitles of it, as `crf punctuate` writes them": "subtitles"},
        workflow="cues",
    ),
    "ren-active": Table(
        "ren_mlg",
        (
            Column("thousand words to check for ml-acc 85 %", "for_goal", "number"),
            *(Column(f"ml-acc at {share} %", f"curve.{share}.ml_acc") for share in (5, 10, 20, 40)),
            Column("size at 20 %", "curve.20.set_size", "number"),
            Column("one tag at 20 %", "curve.20.set_singletons"),
            Column("right of these", "curve.20.set_singletons_acc"),
        ),
        {"random order": "pos-active-random", "least certain first": "pos-active-uncertain", "gain": "pos-active-gain"},
        "checking",
        "Means of three draws: sentences of the dev documents, 21,600 words to choose from, 2,400 that the temperature "
        "is fitted to, 6,200 to be tested on; order 1, six steps.",
    ),
    "romance": Table(
        "medieval_romance",
        TAG_SETS,
        {"Old Occitan, `set_valued_tagger.cfg`, 5 folds": "occitan", "Catalan, the same": "catalan"},
    ),
    "cora": Table(
        "cora",
        FIELDS,
        {"`constrained_ner.cfg`, three times 10 folds": "mined", "the same, without constraints": "free"},
    ),
    "cora-constraints": Table(
        "cora",
        FIELDS[:3],
        {
            "words, Viterbi": "words-viterbi",
            "words, soft constraints": "words-soft",
            "the same, by Lagrangian relaxation alone": "words-lagrangian",
            "words, constraints at prohibitive costs": "words-hard",
            "words, at_most, adjacency, starts_with and state_change": "words-decoded",
            "the same, trained under them": "words-trained",
            "no punctuation marks, Viterbi": "bare-viterbi",
            "no punctuation marks, soft constraints": "bare-soft",
            "the same, by Lagrangian relaxation alone ": "bare-lagrangian",
            "no punctuation marks, prohibitive costs": "bare-hard",
            "words and their spelling, Viterbi": "spelling-viterbi",
            "words and their spelling, soft constraints": "spelling-soft",
            "words and their spelling, four families": "spelling-decoded",
            "the same, trained under them ": "spelling-trained",
            "all features, Viterbi": "full-viterbi",
            "all features, soft constraints": "full-soft",
            "trained on the invented references of corpus/, Viterbi": "invented-viterbi",
            "that, soft constraints": "invented-soft",
            "that, four families": "invented-decoded",
            "that, trained under them": "invented-trained",
        },
        workflow="constraints",
        rest="Five folds, of the last four rows all 350 references; soft: costs by likelihood, all families.",
    ),
    "anystyle": Table(
        "anystyle", FIELDS, {"`constrained_ner.cfg`, dev": "dev", "the same, train.xml in 5 folds": "folds"}
    ),
    "grobid": Table("grobid_references", FIELDS, {"`constrained_ner.cfg`, dev": "dev"}),
    "manuals": Table(
        "manuals",
        (
            Column("heading precision", "scores.headings_p"),
            Column("heading recall", "scores.headings_r"),
            Column("heading F", "scores.headings_f"),
            Column("span F", "scores.parseval_f"),
            Column("title F", "scores.elements_f_per_type.SECTION_TITLE.f"),
        ),
        {
            "untrained, blank lines between blocks": "untrained",
            "untrained, no blank lines": "untrained-dense",
            "`section_parser_general.cfg`, blank lines between blocks": "trained",
            "the same, no blank lines": "trained-dense",
        },
    ),
    "references": Table(
        "references",
        (
            *FIELDS[:3],
            Column("words", "scores.field_micro_f_words"),
            Column("whole, words", "scores.field_whole_words"),
            Column("editors F", "labels.EDITOR.f"),
            MODEL_SIZE,
        ),
        {
            "invented references, AnyStyle's dev": "anystyle",
            "the same, GROBID's dev": "grobid",
            "the same, ten messy references": "messy",
            "the same, ten others": "messy-2",
            "with AnyStyle's train, AnyStyle's dev": "anystyle-mixed",
            "that one, GROBID's dev": "grobid-mixed",
        },
    ),
    "rechtspraak-labels": Table(
        "rechtspraak",
        (
            Column("title precision", "labels.SECTION_TITLE.precision"),
            Column("title recall", "labels.SECTION_TITLE.recall"),
            Column("title F", "labels.SECTION_TITLE.f"),
            Column("title F0.5", "labels.SECTION_TITLE.f05"),
            Column("number F", "labels.NR.f"),
            Column("text F", "labels.TEXT_BLOCK.f"),
        ),
        {"`section_parser.cfg`": "labels", "the same, `joint = false`, `learn_tree = false`": "labels-alone"},
        rest="Counts of all folds and draws together.",
    ),
    "rechtspraak-trees": Table(
        "rechtspraak",
        (
            Column("precision", "scores.parseval_p"),
            Column("recall", "scores.parseval_r"),
            Column("F", "scores.parseval_f"),
            Column("STEDS", "scores.sections_steds"),
            Column("levels", "scores.sections_level_acc"),
        ),
        {"`section_parser.cfg`, trees of courts": "trees"},
    ),
    "rechtspraak-certified": Table(
        "rechtspraak",
        (Column("trees that are certain to be the best", "scores.sections_certified"),),
        {"58 judgments": "certified"},
    ),
}


class Headline(NamedTuple):
    """The figure of a task that stands for it in the README. peer (str): the file of a peer's results; "" for none."""

    task: str
    project: str
    file: str
    path: str
    peer: str = ""


SUMMARY = "summary"
HEADLINES = (
    Headline("Chunks, CoNLL-2000, F", "conll2000", "chunks", "scores.spans_chunks_f", "crfsuite"),
    Headline("Penn tags, UD English EWT, accuracy", "ud_english_ewt", "xpos", "scores.tag_acc", "xpos-crfsuite"),
    Headline("the same with clusters of words", "ud_english_ewt", "xpos-clusters", "scores.tag_acc"),
    Headline("Entities, WNUT-17 (dev), F", "wnut17", "ents", "scores.ents_f", "crfsuite"),
    Headline("Tags of Middle Low German, new documents, accuracy", "ren_mlg", "pos", "scores.ml_acc", "pos-crfsuite"),
    Headline("the same, utility of the sets", "ren_mlg", "pos", "scores.ml_util", "pos-crfsuite"),
    Headline("Tags of Old Occitan, 5 folds, accuracy", "medieval_romance", "occitan", "scores.ml_acc"),
    Headline("Fields of references, Cora, 3 x 10 folds, accuracy of tokens", "cora", "mined", "scores.tok_acc"),
    Headline("Fields of references, GROBID's corpora (dev), F", "grobid_references", "dev", "scores.field_segment_f"),
    Headline("the same from invented references alone, whole", "references", "grobid", "scores.field_whole_words"),
    Headline("Titles in judgments, F", "rechtspraak", "labels", "labels.SECTION_TITLE.f"),
    Headline("Headings of manuals in plain text, untrained (dev), F", "manuals", "untrained", "scores.headings_f"),
    Headline("Punctuation of talks, IWSLT 2011, F", "iwslt_punct", "features", "scores.punct_f"),
    Headline("the same, pooled with an LSTM", "iwslt_punct", "pool", "scores.punct_f"),
)


def render(name: str) -> str:
    """Return a table in Markdown; rows that have no results are left out."""
    return render_summary() if name == SUMMARY else render_table(TABLES[name])


def render_summary() -> str:
    """Return the figures that stand for each task, with those of python-crfsuite where it was run, and the project."""
    lines = ["| task | spacy_crf | python-crfsuite | project |", "| --- | ---: | ---: | --- |"]
    for task, project, file, path, peer in HEADLINES:
        found, peers = read_results(project, file), read_results(project, peer) if peer else []
        shown = [cell(results, Column("", path)).partition(" (")[0] for results in (found, peers)]
        lines.append(f"| {task} | {shown[0]} | {shown[1]} | `projects/{project}` |")
    return "\n".join([*lines, ""])


def render_table(table: Table) -> str:
    """Return the figures of a project, with the command that makes them."""
    found = {row: results for row, file in table.rows.items() if (results := read_results(table.project, file))}
    command = f"`python -m weasel run {table.workflow} projects/{table.project} --vars.data DIR`"
    if not found:
        return f"Not run yet: {command}.\n"
    every = [*chain(*found.values())]
    shown = [column for column in table.columns if any(look_up(one, column.path) is not None for one in every)]
    lines = [f"| | {' | '.join(column.head for column in shown)} |", f"| --- |{' ---: |' * len(shown)}"]
    lines += [f"| {row} | {' | '.join(cell(one, column) for column in shown)} |" for row, one in found.items()]
    return "\n".join([*lines, "", " ".join(filter(None, [f"{command}.", *explained(every), table.rest])), ""])


def read_results(project: str, file: str) -> list[dict[str, Any]]:
    """Return the results of a name, or those of its seeds, FILE-0, FILE-1 ..; none if there are none."""
    folder = PROJECTS / project / "results"
    paths = [path for path in (folder / f"{file}.json",) if path.exists()] or sorted(folder.glob(f"{file}-[0-9].json"))
    return [json.loads(path.read_text(encoding="utf8")) for path in paths]


def explained(results: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield what intervals are of, if there are any."""
    ways = dict.fromkeys(WAYS[one["intervals_over"]] for one in results if one.get("intervals_over"))
    if ways:
        yield f"In brackets: 95 %, {' or '.join(ways)}."


def cell(results: list[dict[str, Any]], column: Column) -> str:
    """A figure as text, of several seeds their mean and deviation; "" if it is not there."""
    values = [value for one in results if (value := look_up(one, column.path)) is not None]
    if not values:
        return ""
    if column.unit == "bytes":
        return f"{mean(values) / 1000:,.0f}"
    factor = 100 if column.unit == "share" else 1
    if len(values) > 1:
        return f"{factor * mean(values):.2f} ± {factor * stdev(values):.2f}"
    bounds = look_up(results[0], column.path.replace("scores.", "intervals.", 1)) if "scores." in column.path else None
    told = f" ({factor * bounds[0]:.2f} to {factor * bounds[1]:.2f})" if bounds else ""
    return f"{factor * values[0]:.2f}{told}"


def look_up(result: Any, path: str) -> Any:
    """The value below a path of keys with dots between them; None if it is not there."""
    for key in path.split("."):
        result = result.get(key) if isinstance(result, dict) else None
    return result


def documents() -> list[Path]:
    """Return the documents that may have tables."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), PROJECTS / "README.md"]


def rewritten(text: str) -> str:
    """Return a document with its tables written anew."""
    return MARKED.sub(lambda found: f"{found[1]}{render(found['name'])}{found[3]}", text)


if __name__ == "__main__":
    for document in documents():
        text = document.read_text(encoding="utf8")
        if (new := rewritten(text)) != text:
            document.write_text(new, encoding="utf8")
            print(f"Wrote {document.relative_to(ROOT)}")
