"""What tells that a mention is of a section of another text: its law, its contract, its decision."""

import re
from collections.abc import Set

from ..core.grammar.numbering import ALONE
from ..core.grammar.numerals import MENTIONS, RANKS, listed
from .mention_groups import ANY, CLOSED, FINERS

LONGEST_BEFORE = 90  # characters before a mention that may name its law or decision
_BEHIND_LAW = re.compile(  # "15 U.S.C. § 2", "Penal Code § 2"
    r"(?:(?<!\w)(?:U\.\s?S\.\s?C\.(?:\s?A\.)?|USC|C\.\s?F\.\s?R\.|CFR)|(?<!this\s)\b(?:Code|Act)(?=\s§))\s\S$"
)
_DECISION = r"[Jj]udge?ment|Urteil|Beschluss|[Aa]rrest|[Vv]onnis|[Uu]itspraak|[Aa]rrêt"
_BEFORE_MENTION = r"(?:,\s|\s|\s?\()(?:at\s|in\s)?$"  # between what names a decision and the mention
_ECLI = r"(?:ECLI:)?[A-Z]{2}:[A-Z\d]{1,7}:\d{4}:\w+(?:\.\w+)*"
_JOURNAL = r"(?:NJ|NJW|NJB|LJN|JOR|RvdW)\s(?=[A-Z]*\d)[\w/-]+(?:,\s\d+)?"  # "NJ 1993/12"
_CASE = r"(?:[A-Z]-\d{1,4}/\d{2}(?:\sP)?|[IVX\d]{1,4}[a-z]?\s[A-Z][A-Za-z]{0,3}\s\d{1,5}/\d{2}|nos?\.\s\d{2,6}/\d{2})"
_PARTIES = r"(?:(?:,?\s(?:and|v\.?|en|und|et))?,?\s[A-Z][\w’'-]*){0,6}"  # "C-1/12 Lee and Moss"
_CITED_ABOVE = r"(?:(?!As\s)[A-Z][\w’'.-]*\]?|\w+\.?\)|judge?ment|decision|case),?\s\(?cited\sabove\)?"
_DATED = rf"(?:{_DECISION})\s(?:of|vom|van|du)\s[\w. ]{{5,20}}\d{{4}}(?:,\s|\s?\()(?:at\s)?$"
_REPORTED = r"\[\d{4}\](?:\s\d{1,4})?(?:\s[A-Z][\w’']*\.?){1,3}\s(?:I{1,2}-)?\d{1,5}"  # "[1999] 1 AC 45"
# "Lee v. Ulm, 3 May 1984, "
_OF_DAY = r"\sv\.?\s(?:the\s)?[A-Z][\w’' -]{2,40}(?:\s\[GC\])?,\s\d{1,2}\s[A-Z][a-z]{2,8}\s\d{4},\s$"
_BEHIND_DECISION = re.compile(
    rf"\b(?:{_ECLI}|{_JOURNAL}|{_CASE}{_PARTIES}|{_CITED_ABOVE}){_BEFORE_MENTION}"
    rf"|{_DATED}|{_REPORTED}{_BEFORE_MENTION}|{_OF_DAY}"
)
_OF_DECISION = re.compile(  # "of the judgment in Lee v Moss", "van het vonnis"
    r"\s(?:(?:of|in)\s(?:the|that)\s(?:(?:contested|impugned)\s)?judge?ment"
    r"|of\s(?:the|that)\s(?:decision|order|ruling)\s(?:in|under|of)"
    r"|des\s(?:ange\w+en\s)?(?:Urteils|Beschlusses)|de\sl['’]arrêt"
    r"|van\s(?:het|de|haar|zijn|hun)\s(?:bestreden\s)?(?:arrest|vonnis|uitspraak|beschikking))(?!\w)"
)
# Behind "in", unlike "in which", "in response to"; and what ends the words before a pleading: "of the Lease by letter"
_DEFINITE = rf"(?:the|that|an?|de[rmn]?|het|een|la|{ANY['whose']}|seine[rm]|ihre[rm]|[A-Z]\w*\.?)\s"
_LINK = "(?:of|to|by|in|for|with|or|which|bij|par)"
_OF_PLEADING = re.compile(  # "of the Defence", "in the second witness statement", "van de conclusie van antwoord"
    rf"\s(?:{ANY['of']}|in(?=\s{_DEFINITE}))\s(?P<between>(?:(?!{_LINK}\s)\w+(?:['’]\s?|\s)){{0,5}}?)"
    rf"{ANY['pleading']}(?!\w|\s\(?[a-z]\))"  # not "of letter (b)"
)
_OF_SOMEBODY = re.compile(  # "of his report", "of Ms Moss's report", not "of the User's Guide", "of its own accord"
    rf"\s{ANY['of']}\s(?:{ANY['whose']}\s(?!own\s)|(?:[A-Z]\w*\.?\s){{0,3}}[A-Z]\w*(?:['’]s|s['’])\s(?=[a-z]))"
)
_CONTRACT = "(?:Agreement|Contract|Deed|Indenture)"
_OWN_NAME = re.compile(  # "this Lease Agreement", or on a line of its own
    rf"(?im)(?:\bthis\s((?:[\w'’-]+[ \u00a0]){{1,5}}?{_CONTRACT})(?!\w)|^[ ]*((?:[\w'’-]+[ ]){{1,5}}{_CONTRACT})[ ]*$)"
)
_HERE = re.compile(r"\s(?:above|below|hierboven|hierna|oben|unten|ci-dessus|ci-dessous)(?!\w)")
_LAWS = rf"(?:{ANY['law']}|[\w-]*{ANY['laws']})"  # "Act", "Opiumwet", "Bundes-Wassergesetz"
_NAME = r"(?:[A-ZÄÖÜ][\w'’-]*[ \u00a0](?:(?:and|en|und|et)[ \u00a0])?)"  # a word of the name of "Companies Act"
_BY_YEAR = r"(?:Rules|Order|Law|Regulations)(?:\s\([^()]{1,20}\))?,?\s(?:of\s)?[12]\d{3}"  # "Fire Order 2005"
_TITLE_WORD = (  # of "Trade Union (Consolidation) Act", "Workers' Pay Regulations", "Safety of Crews at Sea etc. Act"
    r"(?:\(?(?:(?:[A-Z]\.)+|[A-Z][\w'’-]*)\)?(?:,(?=[ \u00a0][A-Z]))?"
    r"|and|(?:of|at|to|in|for)(?:[ \u00a0]the)?|etc\.?)[ \u00a0]"
)
_TITLED = rf"(?=[A-Z])(?:{_TITLE_WORD}){{1,12}}?(?:(?=[A-Z]){_LAWS}|{_BY_YEAR}"
_TITLED_LAW = rf"{_TITLED})(?!\w)"  # not "Section 2 Rules and Regulations", which is its title
_TITLED_LAW_OVER_LINES = rf"{_TITLED}|Regulations)(?!\w)".replace(r"[ \u00a0]", r"\s")
_CAPITALS = r"\w*[A-Z]\w*[A-Z]"  # "BGB", "StGB"
_PART = (  # what may stand between a section and its law: "I 1" and "f" of German laws, finer parts, "(oud)"
    r"(?:[ \u00a0][IVX]{1,4}(?:[ \u00a0][0-9]{1,2})?)?(?:[ \u00a0](?:[a-z]\)|[b-df-h](?!\w)))?"
    rf"{FINERS}(?:\s\(oud\))?"
)
_SHORT_LAW = rf",?\s(?:{ANY['of']}\s(?:(?:de|het)\s)?)?{ANY['short']}(?!\w)"  # ", Sr", "van de Awb"
_NAMED_LAW = rf",?[ \u00a0](?P<to>to\s(?:the\s)?)?(?=[A-ZÄÖÜ]){_NAME}{{0,4}}(?=[A-ZÄÖÜ]|wet){_LAWS}(?!\w)"
_NAMED_CONTRACT = rf"\s(?:of|to|in)\sthe\s(?P<contract>{_NAME}{{1,4}}{_CONTRACT})(?!\w)"
_OF_SOME_LAW = (  # "of the Regulation", "of the same Act", "of 2004/38", "of the TFEU"
    rf",?\s{ANY['of']}\s(?:(?P<between>(?:\w+[\s'’]){{0,4}}?)(?:{_LAWS}|[0-9]+/[0-9]+)(?!\w)"
    rf"|the\s{_TITLED_LAW_OVER_LINES}"
    rf"|(?i:(?:the|de|het|la|le)\s)?(?=\w{{2,6}}(?!\w)){_CAPITALS})"
)
_OF_LAW = re.compile(
    rf"{CLOSED}{_PART}(?:\s{_CAPITALS}|{_SHORT_LAW}|{_NAMED_LAW}"
    rf"|,?[ \u00a0]{_TITLED_LAW}(?:(?<=\d{{4}})|,?\s[12]\d{{3}})|{_NAMED_CONTRACT}|{_OF_SOME_LAW})"
)


def own_names(text: str) -> Set[str]:
    """Return the names that a contract gives itself, in small letters: mentions that call it so are of this text."""
    return {(found[1] or found[2]).casefold() for found in _OWN_NAME.finditer(text)}


def is_of_other_text(text: str, start: int, end: int, word: str, own: Set[str]) -> bool:
    """Whether a mention that stands here is one of a law, a contract or a decision that is not this text.

    word (str): its word or sign. Of decisions, paragraphs are mentioned. own (Set[str]): what this text calls itself.
    """
    is_paragraph = word == "§" or RANKS.get(word, 0) >= RANKS["paragraph"]
    if _OF_SOMEBODY.match(text, end):
        return True
    return _is_of_law(text, start, end, word, own) or (is_paragraph and _is_of_decision(text, start, end))


def _is_of_law(text: str, start: int, end: int, word: str, own: Set[str]) -> bool:
    """Whether the law of a mention stands before or behind it; "to the Act" is behind annexes and recitals alone."""
    if _BEHIND_LAW.search(text, max(start - LONGEST_BEFORE, 0), start + 1):
        return True
    law = _OF_LAW.match(text, end)
    if not law or (law["to"] and word not in {"recital", *ALONE}) or str(law["contract"]).casefold() in own:
        return False
    return not _is_own(law)


def _is_own(found: re.Match[str]) -> bool:
    """Whether a word such as "this" stands before what is called a text of its own."""
    return not MENTIONS["own"].isdisjoint(listed(found["between"] or "").split())


def _is_of_decision(text: str, start: int, end: int) -> bool:
    """Whether a mention of a paragraph stands beside the decision or pleading that it is in, and not before "above"."""
    if _HERE.match(text, end):
        return False
    is_behind = _BEHIND_DECISION.search(text, max(start - LONGEST_BEFORE, 0), start)
    pleading = _OF_PLEADING.match(text, end)
    return bool(is_behind or _OF_DECISION.match(text, end) or (pleading and not _is_own(pleading)))
