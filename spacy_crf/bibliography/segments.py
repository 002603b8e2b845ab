"""The fields of a labelled reference, whatever holds their labels, and how sure a component is of them."""

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import groupby, pairwise
from typing import Any

import numpy as np
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.util import filter_spans

from ..annotation.span_targets import SpanTarget, target_of
from ..core.arrays import Bools, Indices, Ints, Segments
from ..core.chain.distribution import ChainDistribution
from ..core.chain.spans import SpanQuery
from ..core.labels import UNKNOWN, TagSet
from ..reading.files import read_shipped
from .dates import YEAR, find_whole, parse_date
from .fields import AUFLAGE, IN
from .identifiers import find_accessed, find_identifiers
from .name_forms import EDITED, LOWER

Segment = tuple[str, str]  # label, empty without one, and text
# Labels of AnyStyle, and of the general model, that mean what one of Cora's does; identifiers are taken out of any text
SAME = {
    **{"CONTAINER-TITLE": "BOOKTITLE", "GENRE": "TECH", "MEDIUM": "NOTE", "SOURCE": "NOTE", "TRANSLATOR": "NOTE"},
    **{"COLLECTION-NUMBER": "VOLUME", "DIRECTOR": "AUTHOR", "PRODUCER": "AUTHOR", "ACCESSED": "NOTE", "URL": "NOTE"},
    **{"DOI": "NOTE", "ISBN": "NOTE"},
}
# What a title is about, with the marks that end it
OF_TITLE = re.compile(r"[(\[]?(?:1\d|20)\d\d\s?[-–—]{1,2}\s?(?:1\d|20)\d\d(?!\d)[)\]]?[.,:;]?[\"”’»]?[.,:;]?\s*")
CLOSING = "”’»\"'.,:;)"
STRAY = re.compile(r"^(?:[\"”»]|'')[\s,.;:]+")  # the end of a quotation belongs to the field before
# What announces a field, of which nothing is lost
ANNOUNCED = re.compile(
    r"^(?:in|e[nm]|to appear in|available(?: at| from)?|retrieved(?: from)?|doi|url|from|last)\W*$", re.IGNORECASE
)
# Before a journal or a book, in Russian and Chinese; what is quoted or in brackets has none
TITLE_END = re.compile(
    r"“[^“”]*”|«[^«»]*»|„[^„“”]*[“”]|\"[^\"]*\"|\([^()]*\)"
    r"|(?P<end>(?<=[^\s:/])(?:\s+//\s*|//\s+|(?<=[)\].\u0080-\U0010ffff])//)(?=\S))"
)
_UPPER = f"[^\\W\\d_{LOWER}]"
# "“Ropes,” Knots", "„Seile“, in: Knoten"; not "“Rope” and “Tar”", and not "„Seile“. Eine Studie"
_IN = r"(?=(?i:in|dans|en)\b"
QUOTED_TITLE = re.compile(
    rf"[“«„\"].*?(?:[.,]\s?[”»“\"]|[”»“\"],|»\.)\s+{_IN}|{_UPPER})|(?:[“«„\"].*?[”»“\"]\.|‘.*?(?:,’|’,))\s+{_IN})"
)


# -- decisions of courts, whose forms tell their fields ------------------------------------------------------------

_PARTIES = rf"(?P<TITLE>(?:In re|Ex parte|{_UPPER}[^\d]{{0,150}}?\sv(?:\.|s\.|s)?)\s{_UPPER}.{{0,150}}?)"
_REPORTER = r"[A-Z][A-Za-z.&'’]{0,9}(?:\s[A-Z][A-Za-z.&'’]{0,9}){0,3}(?:\s?(?:2d|3d|4th|5th))?"
REPORTERS = frozenset(word for line in read_shipped(files(__package__) / "reporters.txt") for word in line.split())
SERIES = re.compile(r"[\s.'’]|[2-7](?:d|th)$")  # what the list of reporters leaves out
QUOTED = re.compile(r"(?:^|\s)['‘\"“„«]")
_GERMAN = (
    r"(?:BGH|BVerfG|BVerwG|BAG|BSG|BFH|BPatG|BayObLG|EuGH|EuG|EGMR|OGH|VfGH|VwGH|KG|RG"
    rf"|(?:OLG|LG|AG|VG|OVG|VGH|LAG|ArbG|SG|LSG|FG|LVerfG)"
    rf"(?:\s{_UPPER}[\w.-]*(?:\s?\([^()]+\)|\s(?:am|an der)\s\w+)?)?)"
)
_DUTCH = (
    r"(?:HR|Hoge Raad|ABRv?S|CRvB|CBb|HvJ\s?(?:EG|EU)?|EHRM|PHR"
    rf"|(?:Rb|Rechtbank|Hof|Gerechtshof|Ktr|Vzr\.?\sRb)\.?\s(?:'s-|Den\s)?{_UPPER}[\w-]*(?:-{_UPPER}\w+)?)"
)
_LATIN = (
    r"(?:Cass\.|CE|CA|Cons\.\s(?:const|d['’]Ét)\.|Corte\s(?:cost|app)\.|Cons\.\sStato|Trib\.)"
    r"(?:[\s,](?:\d(?:re|e)\s)?[^\d,][^,]{0,30}){0,2}"
)
_DAY = r"\d{1,2}(?:er)?\.?\s?(?:\d{1,2}\.\s?|[^\W\d_]{3,10}\.?\s)\d{4}"
_PIN = r"(?:(?:\s\(|,\s)(?P<PIN>\d+(?:\sff?\.)?)\)?|\sff?\.)?"  # the page that is meant
_MARGIN = r"(?:Rn|Rdnr|Rz|Tz)\.\s\d+(?:\sff?\.)?"  # the number of the paragraph that is meant
_PLACE = rf"(?:(?:\s?[–—-])?,?\s(?P<PLACE>(?:juris|openJur\s\d{{4}},\s\d+)(?:,?\s{_MARGIN})?|{_MARGIN}))?"
_ECLI = r"(?:ECLI:)?[A-Z]{2}:[A-Z\d]{1,7}:\d{4}:[A-Z\d.]*[A-Z\d]"
DECISIONS = tuple(
    re.compile(rf"{form}(?:,?\s(?P<ECLI>{_ECLI}))?(?:\s\((?P<NAME>[^()]+)\))?\.?")
    for form in (
        # "Brown v. Board of Education, 347 U.S. 483 (1954)", "Smith v. Jones, 12 F.3d 345 (2d Cir. 1993)"
        rf"{_PARTIES}(?:,\s(?P<FILE>Nos?\.\s[^,()]{{2,40}}))?,\s(?P<VOLUME>\d{{1,4}})\s(?P<REPORTER>{_REPORTER})\s(?P<PAGES>\d+)"
        rf"(?:,\s(?P<NOTE>\d[^()]*?))?\s\((?P<COURT>[^()]*?)\s?(?P<DATE>(?:{_UPPER}[a-z]+\.?\s\d{{1,2}},\s)?\d{{4}})\)",
        # "Donoghue v Stevenson [1932] AC 562 (HL)", "Handyside v United Kingdom (1976) 1 EHRR 737"
        rf"{_PARTIES},?\s[\[(](?P<DATE>\d{{4}})[\])]\s(?:(?P<VOLUME>\d{{1,3}})\s)?(?P<REPORTER>{_REPORTER})\s(?P<PAGES>\d+)"
        r"(?:,\s(?P<NOTE>\d[^()]*?|[¶\[][^()]*?))?(?:\s\((?P<COURT>[^()]+)\))?",
        # "Case C-131/12 Google Spain SL v AEPD [2014] ECLI:EU:C:2014:317"
        r"(?P<NOTE>(?:Joined\s)?(?:Cases?|Zaak|Rs\.|Rechtssache|Affaire|Causa|Asunto)\s[CTF]?[-‑–]?\d{1,4}/\d\d(?:\sP)?)"
        r",?\s(?P<TITLE>[^\[\]\d]{3,200}?),?(?:\s\[(?P<DATE>\d{4})\])?(?:(?=,?\s(?:ECLI|EU):)"
        r"|(?<=\])\s(?P<JOURNAL>ECR)\s(?P<PAGES>(?:I{1,2}-)?\d+))",
        # "BGH, Urteil vom 3. Mai 2005 – VI ZR 12/04, NJW 2005, 2340"
        rf"(?P<AUTHOR>{_GERMAN}),?\s(?P<TECH>(?:Urteil|Urt\.|U\.|Beschluss|Beschluß|Beschl\.|B\.)(?:\sdes\s[^\W\d_]+\sSenats)?)\s(?:vom|v\.)\s(?P<DATE>{_DAY})"
        r"(?:(?:\s*[–—-]\s*|,\s|\s\()(?:Az\.?:?\s)?(?P<NOTE>(?![A-Z]\w+\s\d{4},)[^,()]{3,40}?)\)?)?"
        rf"(?:(?:,|\s[–—-])\s(?P<JOURNAL>{_UPPER}[\w-]*(?:-?{_UPPER}\w*)?\.?)\s(?P<VOLUME>\d{{1,4}}),\s(?P<PAGES>(?:I{{1,2}}-)?\d+)"
        rf"{_PIN})?{_PLACE}(?:\s[–—-]\s(?P<TITLE>(?!juris)[^,]+?))?(?:\s[–—-])?",
        # "BVerfGE 7, 198 – Lüth"
        r"(?P<JOURNAL>BVerfGE|BGHZ|BGHSt|BVerwGE|BAGE|BSGE|BFHE|BPatGE|RGZ|RGSt)\s(?P<VOLUME>\d{1,3}),\s(?P<PAGES>\d+)"
        rf"{_PIN}(?:\s[–—-]\s(?P<TITLE>[^,]+?))?",
        # "HR 5 mei 1993, NJ 1993/12", "Rb. Amsterdam 12 maart 2015, ECLI:NL:RBAMS:2015:1234, NJF 2015/210, m.nt. X"
        rf"(?P<AUTHOR>{_DUTCH}),?\s(?P<DATE>{_DAY})(?:,\s(?P<FIRST>{_ECLI}))?"
        r"(?:,\s(?P<JOURNAL>[A-Z][A-Za-z]{1,5})\s(?P<ISSUE>\d{4}(?:/|,\s)\d{1,4}))?"
        r"(?:,?\s(?P<NOTE>(?:m\.\s?nt\.|r\.?o\.|nr\.|par\.|LJN)\s.+?))?",
        # "Cass. civ. 1re, 3 mai 2000, n° 98-11.381, Bull. civ. I, n° 131", "Corte cost., 15 giugno 2015, n. 113"
        rf"(?P<AUTHOR>{_LATIN}),?\s(?P<DATE>{_DAY}),\s(?P<NOTE>(?:pourvoi\s)?n(?:[°º.]|os?)\s?\d.*?)",
    )
)
LONGEST_DECISION = 400  # characters
ISSUE = re.compile(r"(\d{4})(?:/|,\s)(\d+)")  # of a Dutch reporter
FIELD_OF = {
    **dict.fromkeys(("ECLI", "FIRST", "COURT", "NAME", "FILE", "PIN", "PLACE"), "NOTE"),
    **{"AUTHOR": "COURT", "ISSUE": "VOLUME", "REPORTER": "JOURNAL"},
}


def read_decision(text: str) -> list[Segment]:
    """Fields of a decision that is printed in one of the usual forms, whole; none for any other reference.

    Models of references have seen few, and take parties for persons and numbers of files for volumes. Courts that come
    first have the label COURT; those behind a reporter, numbers of files, ECLI and by-names are notes. Of Dutch
    reporters the number is an issue of the year, which is the volume.

    >>> read_decision("Hull v. Crane, 347 U.S. 483 (1954).")
    [('TITLE', 'Hull v. Crane'), ('VOLUME', '347'), ('JOURNAL', 'U.S.'), ('PAGES', '483'), ('DATE', '1954')]
    """
    text = " ".join(text.split())
    for form in DECISIONS if len(text) <= LONGEST_DECISION else ():
        if (found := form.fullmatch(text)) and _is_decision(found):
            parts = ((FIELD_OF.get(name, name), name, part) for name, part in found.groupdict().items() if part)
            return [(label, ISSUE.sub(r"\1(\2)", part) if name == "ISSUE" else part) for label, name, part in parts]
    return []


def _is_decision(found: re.Match[str]) -> bool:
    """Whether the date of a day names a month, something says where the decision is to be found, and a reporter beside
    parties is none of the journals in which cases are discussed."""
    parts = found.groupdict()
    reporter = SERIES.sub("", parts.get("REPORTER") or "")
    if reporter and (reporter not in REPORTERS or QUOTED.search(parts["TITLE"])):
        return False
    date, rest = parse_date(parts.get("DATE") or "2000")
    is_found = any(parts.get(name) for name in ("JOURNAL", "REPORTER", "NOTE", "ECLI", "FIRST"))
    return date is not None and not rest and is_found


def read_segments(doc: Doc, target: str = "ent", spans_key: str = "sc") -> list[Segment]:
    """Fields and what is between them, in order; together they have every character that is no white space,
    but of decisions of courts.

    An identifier is a segment of its own, wherever the borders of the fields are, and so is the day on which an address
    was looked up, with the label ACCESSED, and an edition that is called "Auflage". Decisions of courts in their usual
    forms are read without labels (`read_decision`).

    target (str): where labels are, as in the settings of `crf_tagger`: "tag", "pos", "ent", "spans" or the name of a
        token extension. spans_key (str): of the group, for "spans", of which the longer one counts where they overlap.
        Tokens of the same tag make one field, and so do those of a BIO or BILUO tag.
    """
    if decision := read_decision(doc.text):
        return decision
    place = target_of(target, spans_key)
    if isinstance(place, SpanTarget):
        bounds = [(span.start, span.end, span.label_) for span in filter_spans(place.spans(doc))]
    else:
        bounds = list(_runs([tag or "" for tag in place.names(Example(doc, doc), TagSet((), "none"))]))
    found, end = [], 0
    for first, last, label in [*bounds, (len(doc), len(doc), "")]:
        found += [("", doc[end:first]), (label, doc[first:last])]
        end = last
    segments = [(label, text) for label, text in _set_apart(doc.text, found) if text]
    return list(_with_editors(_with_years(segments)))


def _with_years(found: Sequence[Segment]) -> list[Segment]:
    """Titles with the years of what they are about, as in "Salt and Trade, 1300–1600", which models take for dates: so
    they are where another year is left."""
    joined: list[Segment] = []
    dates = [place for place, (label, text) in enumerate(found) if label.upper() == "DATE" and YEAR.search(text)]
    is_open = False  # whether a title may go on behind its years
    for place, (label, text) in enumerate(found):
        before, title = joined[-1] if joined else ("", "")
        years = OF_TITLE.match(text) if label.upper() == "DATE" and before.upper() == "TITLE" else None
        if years and (any(at != place for at in dates[:2]) or YEAR.search(text, years.end())):
            joined[-1] = before, f"{title} {years[0].rstrip()}"
            joined += [(label, text[years.end() :])] if text[years.end() :] else []
        elif is_open and label == before:
            joined[-1] = before, f"{title}{' ' * (text[0] not in CLOSING)}{text}"
        else:
            joined.append((label, text))
        is_open = years is not None
    return joined


def _with_editors(found: list[Segment]) -> Iterator[Segment]:
    """Authors that are called editors become these, with the rest of a list that begins the reference."""
    labels = [label.upper() for label, _ in found[:2]]
    if labels == ["AUTHOR", "EDITOR"] and EDITED.match(found[1][1]) and not IN.match(found[1][1]):
        found = [(found[1][0], f"{found[0][1]} {found[1][1]}"), *found[2:]]
    for label, text in found:
        yield ("EDITOR" if label.upper() == "AUTHOR" and EDITED.match(text) else label), text


def _set_apart(text: str, found: Sequence[tuple[str, Span]]) -> Iterator[Segment]:
    """Fields without what is a segment of its own, and this, whole: identifiers with the label of the field that they
    begin in, and days whose month or year alone is labelled as a date."""
    apart = [(own.start, own.end, "") for own in find_identifiers(text)]
    apart += [(*place, "ACCESSED") for place in find_accessed(text)]
    apart += [(*match.span(), "EDITION") for match in AUFLAGE.finditer(text)]
    for start, end in find_whole(text):
        parts = [(name.upper(), one) for name, one in found if one and one.start_char < end and start < one.end_char]
        labels, (begin, field) = {name for name, _ in parts}, parts[0]
        is_end = field.start_char < start and text[start : field.end_char].strip(" .,").isdecimal()  # "SFB 12", "12, 4"
        is_day = {"DATE"} < labels and not labels & {"TITLE", "PAGES"} and not (is_end and begin not in ("", "JOURNAL"))
        apart += [(start, end, "DATE")] if is_day else []
    waiting = deque(sorted(apart))
    taken = 0
    for label, span in found:
        start, end = span.start_char, span.end_char
        pieces, whole = [], []
        while waiting and waiting[0][0] < end:
            first, last, own = waiting.popleft()
            if first >= taken:
                pieces.append(text[max(start, taken) : first].strip())
                whole.append((own or label, text[first:last].strip()))
                taken = last
        pieces.append(text[max(start, taken) : end].strip())
        yield label, " ".join(filter(None, pieces))
        yield from whole


def _runs(tags: list[str]) -> Iterator[tuple[int, int, str]]:
    """Start, end and label of neighbouring tokens of a field."""
    labels = ["" if tag in ("O", "_") else re.sub("^[BILU]-", "", tag) for tag in tags]
    before = ["", *labels]
    starts = [place for place, tag in enumerate(tags) if labels[place] != before[place] or tag[:2] in ("B-", "U-")]
    return ((start, end, labels[start]) for start, end in pairwise([*starts, len(tags)]) if labels[start])


# -- confidence ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Confidence:
    """Probabilities, from 0 to 1: that all tokens of a reference have their labels, and those of each of its runs of
    one label, in order, with the label."""

    reference: float
    fields: tuple[tuple[str, float], ...]

    def below(self, least: float) -> list[tuple[str, float]]:
        """Return the fields of which it is less sure."""
        return [found for found in self.fields if found[1] < least]


CERTAIN = Confidence(1.0, ())


def find_confidences(tagger: Any, docs: Sequence[Doc]) -> list[Confidence]:
    """Return the confidence of each labelled Doc.

    tagger (Any): the component that has labelled them. Evidence is not asked, constraints only where its setting
        `probabilities` says so: these are its probabilities, at the temperature of its settings. Tokens of white space
        that it leaves out have none.
    """
    words = tagger.words(docs)
    filled = [doc for doc in words if len(doc)]
    found = iter(_find(tagger, filled) if filled else [])
    return [next(found) if len(doc) else Confidence(0.0, ()) for doc in words]


def _find(tagger: Any, docs: Sequence[Doc]) -> list[Confidence]:
    columns, chain = tagger.distribution(docs, given=False)
    labels = [tagger.annotation.gold(Example(doc, doc), tagger.tags) for doc in docs]
    runs = [label_runs(own.tolist()) for own in labels]
    owners = Segments(np.array([len(doc) for doc in docs])).owners[np.cumsum(columns.lengths) - 1]

    def probabilities(chosen: Sequence[tuple[int, int]]) -> list[float]:
        """Of the labels from one token to another, for each Doc."""
        allowed = np.concatenate([_allow(own, *bounds, len(tagger.tags)) for own, bounds in zip(labels, chosen)])
        logs = np.bincount(owners, chain.log_probability(allowed), len(docs))
        return list(map(float, np.exp(np.minimum(logs, 0))))

    whole = probabilities([(0, len(doc)) for doc in docs])
    if type(chain) is ChainDistribution:
        by_run = _at_once(chain, columns.lengths, labels, runs)
    else:
        steps = range(max(map(len, runs)))
        found = [probabilities([own[step] if step < len(own) else (0, 0) for own in runs]) for step in steps]
        by_run = [[found[step][at] for step in range(len(own))] for at, own in enumerate(runs)]
    names = tagger.tags.tags
    return [
        Confidence(sure, tuple((names[tags[start]], share) for (start, _), share in zip(own, shares)))
        for sure, tags, own, shares in zip(whole, labels, runs, by_run)
    ]


def _at_once(
    chain: ChainDistribution, lengths: Indices, labels: Sequence[Ints], runs: Sequence[Sequence[tuple[int, int]]]
) -> list[list[float]]:
    """The probabilities of the runs of each Doc, by messages of the chain that all share: time grows with the tokens.

    lengths ((B,)): of its sequences; a run through several of them, which do not depend on each other, is one in each.
    """
    docs, by_doc = Segments.of(labels), Segments.of(runs)
    numbers: Indices = np.full(docs.n_units, UNKNOWN, dtype=np.intp)  # of the run of each token
    places = ((low + start, low + end) for low, own in zip(docs.firsts, runs) for start, end in own)
    for number, (start, end) in enumerate(places):
        numbers[start:end] = number
    is_other = np.diff(numbers, prepend=-2) | np.diff(Segments(lengths).owners, prepend=-1)
    firsts = np.flatnonzero(is_other)
    ends = np.append(firsts[1:], len(numbers))[numbers[firsts] != UNKNOWN]
    firsts = firsts[numbers[firsts] != UNKNOWN]
    own = np.concatenate(labels)[firsts][:, None] == np.arange(chain.chains.n_labels)
    (found,) = chain.spans(SpanQuery(firsts, ends, own, own, own, np.ones_like(own)))
    shares = np.ones(by_doc.n_units)
    np.multiply.at(shares, numbers[firsts], np.minimum(found, 1))
    return [share.tolist() for share in by_doc.split(shares)]


def label_runs(labels: Sequence[int]) -> list[tuple[int, int]]:
    """Return the bounds of runs of one label; tokens without one make none."""
    places = [(label, list(run)) for label, run in groupby(range(len(labels)), lambda place: labels[place])]
    return [(run[0], run[-1] + 1) for label, run in places if label != UNKNOWN]


def _allow(labels: Ints, start: int, end: int, n_labels: int) -> Bools:
    """((n, L)): which labels tokens may have, if those from `start` to `end` have their own."""
    allowed = np.ones((len(labels), n_labels), dtype=bool)
    places = np.arange(start, end)
    places = places[labels[start:end] != UNKNOWN]
    allowed[places] = False
    allowed[places, labels[places]] = True
    return allowed


def part_title(text: str) -> tuple[str, str]:
    """A title, and what a double slash parts from it, or the comma or full stop at the end of its quotation."""
    if quoted := QUOTED_TITLE.match(text):
        return quoted[0], text[quoted.end() :]
    end = next((found for found in TITLE_END.finditer(text) if found["end"]), None)
    return (text, "") if end is None else (text[: end.start()], text[end.end() :])
