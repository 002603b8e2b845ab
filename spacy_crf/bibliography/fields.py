"""Pages, volumes, editions and reports as they are printed."""

import re
from collections.abc import Sequence
from itertools import accumulate

from .entry import EntryType

PAGES_WORD = re.compile(
    r"^(?:pages?\b|p[aá]g(?:in(?:as?|e)\b|[gs]?\.)|pg[gs]?\b\.?|p\.\s?p\.|pp?\b\.?|(?-i:pp?)(?=\d)|Seiten?\b|ss?\.|Sp\.|str\.|blz\.?"
    r"|bladzijden?\b|bls\b\.?|sid(?:an?|orna?|er?)?\b\.?|siv(?:ut?)?\b\.?|lk\b\.?|hlm\b\.?|hal(?:aman)?\b\.?|tr(?:ang)?\b\.?|cols?\b\.?"
    r"|第(?=\d)|[页頁](?=\s*\d)|стр\.|с\.|σσ?\.|σελ(?:\.|ίδ(?:ες|α)\b)|(?:ص\s?){1,2}\.?|עמ['׳]|หน้า)\s*(?=\S)",
    re.IGNORECASE,
)
CHAPTER = re.compile(r"^(?:chap(?:ter)?|ch|kap(?:itel)?)\b\.?\s*(?P<number>[\dIVXLivxl]+)[\s,.;]*", re.IGNORECASE)
TOTAL = re.compile(
    r"^(?P<total>(?:[\[\]\divxlcIVXLC]+(?:,|\s*\+)\s*)*(?:(?:[ivxlc]+|[IVXLC]+)\s?[-–—]\s?)?\[?\d+\]?)"
    r"(?:(?P<leaves>\s*(?:leaves|fols?|Bl))|\s*(?:pages?|pp|p|[Ss]|Seiten|blz|p[aá]g[gs]?|str|с|стр|σ|σελ|sid(?:er)?|lk))\b\.?"
    r"(?:\s*[:;,]\s*(?P<rest>.*))?$"
)
WORD_BEHIND = re.compile(r"(?<=\d-)(\w*\d)(?:\.\s?|\s)(?:pp?|[Ss]s?|с|стр|old(?:al)?|o)$")
# What stands before "pp.", such as a series or a volume, and behind the last page
BEFORE_PAGES = re.compile(
    r"(?P<before>(?:(?!\d\s?[-–—]).)+?)[.,;:]?\s+(?:pp\b\.?|(?:p|ss?|с|стр|str|σσ?|σελ)\.)\s*(?P<pages>\w*\d\s?[-–—]{1,3}\s?\w*\d)",
    re.IGNORECASE,
)
BEHIND_PAGES = re.compile(
    r"(?P<pages>\w*\d[-–—]{1,3}\w*\d)[.,;]?\s+(?:vol(?:ume)?\.?\s?(?P<volume>\d+)|(?P<rest>PDF|by\s\D+|PM(?:C|ID)\b.*))",
    re.IGNORECASE,
)
FIGURES = re.compile(r"(\d{1,6})[-–—‐]{1,3}(\d{1,6})")
MOST_ISSUES = 6  # of a volume that are printed as one
RANGE = re.compile(r"\s*[-–—‐‑−～〜~]{1,3}\s*")
ROMAN_AND_TOTAL = re.compile(r"(?:[ivxl]+|[IVXL]+)-\d+")  # of a book, as "pp. XXIV-370"
VOLUME_AND_PAGES = re.compile(
    r"(?:(?:vol(?:ume)?|Bd)\.?\s*)?(?P<volume>\d{1,4})(?:\s*\((?P<number>[^()]{1,20})\)?)?\s*(?::|(?<=\)),(?!\s*(?:1[5-9]|20)\d\d$)|,(?=\s*(?:pp?|S)\.))\s*"
    r"(?:pp?\.\s*|pp?\s+|(?-i:pp?)(?=\d)|S\.\s*)?(?P<pages>[a-z]?\d+(?:\s*[-–—‐]{1,3}\s*[a-z]?\d+)?)",
    re.IGNORECASE,
)
_SET = (
    r"\d+\s+(?:vols?|voll|volum(?:es|i)|volúmenes|Bden?|Bänden?|bind|tt?|tom(?:es|os|[iy]|ach)|dln|delen|v|sv|zv|тт?|том(?:ах|а|ов)"
    r"|τόμ(?:οι|ους))\b\.?(?:\s+(?:en|in|w|в)\s+\d+(?:\s+[^\W\d_]+\.?)?)?"
)
VOLUMES = re.compile(rf"^(?:(?:in|en|em|[wvв])\s+)?{_SET}$", re.IGNORECASE)  # how many there are
VOLUME_OF_SET = re.compile(rf"^(?P<set>(?:in|en|em|[wvв])\s+{_SET})[\s.,:;–—-]+(?P<volume>.+)$", re.IGNORECASE)
VOLUME_WORD = re.compile(
    r"^(?:volumes?|vols?|Bde?|Band|Jg|Jahrg(?:ang)?|jrg|jaargang|dl|deel|tome|tomo|tom|t|том|т|roč|rocz(?:nik)?|(?-i:R)(?=\.\s?[\dXVI])|årg(?:[aå]ng)?|cilt|ann(?:o|ée)|a[nñ]o|an?(?=\.?\s[XVI])|god|год|letn(?:ik)?|vsk|kd|[sz]v"
    r"|bind|τόμ(?:ος)?|τ)\b\.?\s*|^vol(?=\d)|^(?-i:v)\.\s?(?=\w)",
    re.IGNORECASE,
)
_NUMBER = (
    r"(?:numbers?|n[uú]ms?|nos?|nrs?|nro|n|Heft|H|hft|issues?|iss|fasc|вып|nummer|n[uú]mero|numéro|zesz(?:yt)?|z|č|št|br|бр|sayı"
    r"|τχ|τεύχ(?:ος)?)\b\.?\s*"
)
_NUMBER_SIGN = r"(?:n\.?[°º]|n\.o(?=\s)|№)\s*"  # of Spanish and Portuguese, "n.º"
NUMBER_WORD = re.compile(rf"^{_NUMBER}(?=[\dIVXL])|^{_NUMBER_SIGN}|^no(?=\d)", re.IGNORECASE)
BRACKETED_NUMBER = re.compile(r"(?P<volume>.*?)[\s,]*\((?P<number>[^()]+)\)?(?:\s*[,;:]\s*(?P<note>.+))?")
SPELT_NUMBER = re.compile(
    rf"(?P<volume>.+?)[\s,]+(?P<number>{_NUMBER}[\dIVXL].*|{_NUMBER_SIGN}\d.*|no\d.*)", re.IGNORECASE
)
SHORT_NUMBER = re.compile(
    r"(?P<volume>\w*\d\w*|[IVXLCDM]+|[ivxlc]{2,}|[A-Z])(?:\.\s?|,\s*|:\s*(?=\d{1,2}$))(?P<number>[\w\-–/]+)"
)
EASTERN = re.compile(
    r"(?:[第제]?\s*(?P<volume>\d+)\s*[卷巻권]|卷\s*(?P<behind>\d+))?[\s,，、]*"
    r"(?:[第제]?\s*(?P<number>\d+(?:[-–—~～〜]\d+)?)\s*[号號期호])?"
)
SPACED_NUMBER = re.compile(r"(?P<volume>\d{1,4})\s+(?P<number>(?!(?:1[5-9]|20)\d\d$)\d{1,7})")
NUMBER_AND_PAGES = re.compile(r"(\d{1,4})(?::\s*|\s+(?=\d+[-–—]))(\d+(?:[-–—]{1,3}\d+)?)")
PART = re.compile(r"(?P<volume>\d+),?\s+(?P<number>(?:Suppl(?:ement)?|Pt|Part|Spec)\b.*)", re.IGNORECASE)
YEAR_OF_VOLUME = re.compile(
    r"(?:^|(?:^|(?<=\w)\.?\s*)(\())((?:1[5-9]|20)\d\d(?:[-–/]\d\d(?:\d\d)?)?(?(1)|(?:\s[^\W\d_]{3,9}\.?(?:\s\d{1,2})?)?))"
    r"(?(1)\)[\s,;:]+(?=\w)|;)"
)  # "2003;12", "2003 Jul 5;12", "(2003) 12", "12 (2003/04), 3"
# Behind a number: "12, no. 3 (June 2003)", "12(3), 2003"
YEAR_BEHIND = re.compile(
    r"[\s,]*(?:\(|(?<=,)\s*(?=\d))(?P<date>[^()\d]{0,30}(?:1[5-9]|20)\d\d(?:[-–/]\d\d(?:\d\d)?)?)\)?[\s,;:.]*$"
)
YEARS = re.compile(r"(?:1[5-9]\d\d|20[0-4]\d)(?:[-/](?:\d{1,2}|\d{4}))?", re.ASCII)
VOLUME_OF_YEARS = re.compile(
    r"(?<=\d)(?:\.\s*(?:Bd|Band|Jg|Jahrg(?:ang)?|årg(?:ång)?|roč|évf)|(?:d?e|ste)\s+(?:jrg|jaargang))\b\.?",
    re.IGNORECASE,
)
NUMBER_BEFORE_WORD = re.compile(r"\b(\d+)\.\s(?:sz(?:ám)?|číslo)\b\.?", re.IGNORECASE)  # in Hungarian and Czech
EDITION = re.compile(
    r"(?P<edition>(?:\d+\s?(?:st|nd|rd|th|de?|er?|ème|\.?[ªºa°]|:[ae]|-?(?:е|ое|я)|η)?\.?,?\s*)?"
    r"(?:first|second|third|fourth|fifth|sixth|revised|rev\.|enlarged|enl\.|expanded|verb\.|erw\.|neubearb\.|überarb\.|"
    r"new|and|&|\s|,)*)\s*(?:edition|edit|edn|ed|Auflage|Aufl|éd|edici[oó]n|edição|ediz(?:ione)?|uppl|udg|utg|druk|dr|изд(?:ание)?"
    r"|wyd|vyd|baskı|έκδ(?:οση)?)\b",
    re.IGNORECASE,
)
# "3. Aufl.", "2., neubearb. und erw. Auflage": nothing else is called so
AUFLAGE = re.compile(r"(?<!\w)\d{1,3}\.,?\s?(?:(?!Aufl)[^\W\d_]+\.?,?\s(?:u(?:nd|\.)\s)?){0,3}Aufl(?:age\b|\.)")
EDITION_WORD = re.compile(
    r"(?:[\s,]*\b(?:edition|edit|edn?|ediz(?:ione)?|edici[oó]n|edição|Auflage|Aufl|éd(?:ition)?|uppl|udg|utg|druk|изд|wyd|vyd)\b\.?)+$",
    re.IGNORECASE,
)
REPORT_NUMBER = re.compile(
    r"(?P<genre>.*?)[\s,]*(?:\b(?:no|nr|number|n°)\b\.?\s*:?\s*)?"
    r"(?P<number>(?:\d+/)?\d+(?:[,\s]+\d{3,4})+(?:\s[A-Z]\d?)?|\d{5,}\s[A-Z]\d?|(?=\S*\d)[^\s,]+)",
    re.IGNORECASE,
)
# "[cs.CL]" and "[hep-th]"
ARXIV_CLASS = re.compile(
    r"\[?[a-z\-]+(?:\.[A-Za-z\-]{2,})\]?[.,;]*"
    r"|\[(?:[a-z]+-(?:ph|ex|th|lat|mat|qc|bio|fin)|math|physics|nlin|cs|stat|eess|econ)\]+[.,;]*"
)
THESIS = re.compile(
    r"\bthes[ei]s\b|dissertation|\bdiss\b|thèse|arbeit$|\btes[ei]\b|tesis|tezi\b|proefschrift|scriptie|avhandling|afhandling|"
    r"dissertaç|habilitation|m[ée]moire de (?:master|ma[iî]trise|D[EU]A)|диссертац|[学學]位[论論]文|"
    r"[博修碩硕]士[论論]文|학위\s?논문|rozprawa|praca (?:mag|dok|lic|dypl|inż)\w+|(?:diplomov|diserta[čt]|bakalář)\w*|"
    r"väitös|\bavh\b|\bhabil\b|fin de (?:grado|m[aá]ster)|\bдис{1,2}\.",
    re.IGNORECASE,
)
MASTERS = re.compile(
    r"master|[碩硕修]士|석사|\bM\.?\s?(?:S|A|Sc|Phil|Eng)\b|\bLL\.?\s?M\b|magister|diplom|bachelor|\bB\.?\s?(?:A|Sc)\b|licen|"
    r"mestrado|maestr[ií]a|máster|ma[iî]trise|\bD[EU]A\b|\bgrado\b|laurea|lisans|\blic\.|bakalář|inżyn|undergraduate|\bhonou?rs\b|(?<!doktor)arbeit$",
    re.IGNORECASE,
)
UNPUBLISHED = re.compile(
    r"\bunpublished\b|\bmanuscript\b|personal communication|private communication|typescript|in preparation|submitted|"
    r"\bdraft\b",
    re.IGNORECASE,
)
# words of meetings, or an acronym, alone or with a year
PROCEEDINGS = re.compile(
    r"(?i:\bproc\b|proceedings|\bconf|sympos|\bsymp\b|workshop|meeting|congress|colloqui|tagung|assembly|kongress|"
    r"forum|school\b|presented at)|\b[A-Z]{3,}[- ]?[’']?\d{2,4}\b|[’']\d\d\b|^[A-Z]{3,}(?:\W|$)"
)
SHORT = re.compile(
    r"\b(?:[^\W\d_]\.(?:[^\W\d_]+|\s[^\W\d_])|[A-Z]|Lett|Rev|Sci|Proc|Conf|Symp|Res|Phys|Inc|Ltd|Co|Corp|Univ|"
    r"[Rr]ept?|[Dd]iss|phil)\.$"
)
# Before a book, or alone where its editors come first
IN = re.compile(
    r"^[(\[]?\s*(?:(?:in|ln|dans)\b(?:\s*:?\s+(?=\S)|:(?=\S)|\W*$)|(?:e[nm]|im|i|w|v|в(?:\s+кн\.)?)(?::\s+|:?\s*$))",
    re.IGNORECASE,
)
# Codes of kinds that Chinese lists print behind a title, as GB/T 7714 has them: [J], [M/OL]; D is a thesis,
# R a report, S a standard
CODE = re.compile(r"\s*\[(?P<code>[A-Z]{1,2})(?:/[A-Z]{2})?\][\s.,/]*$")
OTHER_KINDS = re.compile(
    r"patent|data\s?(?:set|file)|datensatz|software|computer program|\bfilm\b|video|podcast|slides|"
    r"\bposter\b|preprint|presentation",
    re.IGNORECASE,
)
# What a report without a number calls itself
REPORTS = re.compile(
    r"\btech|\br(?:e?p(?:or)?ts?|ep)\b|\brapp(?:ort|\b)|bericht|informe|relat[óo]ri|raport|отч[её]т|报告|報告|보고서|papers?\b|memo|\bnotes?\b|"
    r"\bTR\b|brief|bulletin|standard|\bnorme?\b|specification|manual|guide|handbook|draft|publication|circular|document",
    re.IGNORECASE,
)
# No reference begins so, but a line of one may
GOING_ON = re.compile(
    r"\((?i:eds?|editors?|hrsg|hgg?|éds?|dirs?|red|orgs?|coords?|trans)\b|\(Original work|\[?In:\s|\[Online\]"
    r"|In\s(?:(?:[A-Z]\.[\s-]?)+[A-Z]\w|[\w'’-]+,\s[A-Z]\.|Proc(?:eedings)?\b)"
    r"|[(\[]?(?i:last\s)?(?:Available|Retrieved|Accessed|Verfügbar|Abgerufen|(?:Letzter\s)?Zugriff|Disponible|Consult(?:é|ado|ato))\b"
    r"|(?:DOI|ISBN|ISSN|URL|PMC?ID)\b|Ph\.?\s?D\.?\s(?:[Tt]hesis|[Dd]iss)"
    r"|(?:Eds?|Trans|Hrsg|Hg|Web|Print)\.\s|(?:Vols?|Nos?|Pp?|S|Bd|Nr)\.\s?\d"
)
STATUTE = r"\d{1,2}\s(?:U\.\s?S\.\s?C|C\.\s?F\.\s?R)\b"  # "42 U.S.C. § 1983", whose number is no marker
# Above the works of a kind, in a bibliography that is divided by these
_KIND = (
    r"(?:(?:(?:un)?published|printed|primary|secondary|manuscript|archival|legal|official|government|online|electronic|internet|web"
    r"|journal|newspaper|conference|edited|other|(?:un)?gedruckte)\s+)?"
    r"(?:manuscripts?|archives|documents|materials?|records|sources|works|literature|resources|books|monographs|articles"
    r"|(?:book\s+)?chapters|papers|journals|periodicals|newspapers|magazines|theses|dissertations|reports|cases"
    r"|case\slaw|judgments|legislation|statutes|treaties|conventions|web\s?sites|web\s?pages|interviews|data\s?sets|software"
    r"|standards|patents|preprints|editions|translations|archivalien|handschriften|quellen|bücher|mono(?:gra(?:ph|f)ien)"
    r"|(?:zeitschriften)?aufsätze|zeitschriften(?:artikel)?|zeitungen|artikel|rechtsprechung|gesetze|entscheidungen|kommentare"
    r"|internetquellen|normen|patente|dissertationen|manuscrits|ouvrages|monographies|périodiques|thèses|jurisprudence"
    r"|législation|sites\s(?:internet|web)|boeken|artikelen|archieven|kranten|tijdschriften|jurisprudentie|wetgeving|manuscritos"
    r"|libros|artículos|monografías|tesis|jurisprudencia|legislación|manoscritti|libri|articoli|monografie|giurisprudenza"
    r"|siti\sweb)"
)
KINDS = re.compile(
    rf"(?:#{{1,6}}\s*)?[*_]{{0,3}}(?:[\divxlc.]+\)?\s+|[a-z][.)]\s+)?{_KIND}(?:(?:,|/|\s?&|\s(?:and|und|et|en|y|e))\s*{_KIND})*\s*:?[*_]{{0,3}}",
    re.IGNORECASE,
)
# A genre that says only where a work can be read
MEDIA = re.compile(r"web|print|on-?line|en l(?:igne|ínea)|internet|pdf|e-?book|electronic", re.IGNORECASE)
LONGEST_SHORT = 40  # characters of an abbreviation
MOST_MARKS = 100  # around a text
MARKS_AT_ENDS = " ,;:/–—=，；：、。．"
# One mark may open for several that close
QUOTES = (
    *("“”", "‘’", "„“", "„”", '„"', "””", "‚‘", "«»", "»«", "»»", "‹›", "›‹", '""', "''"),
    *("「」", "『』", "《》", "〈〉", "【】", "（）"),
)


def clean(text: str) -> str:
    """A field without the punctuation that ends it, and without brackets and quotation marks at its ends."""
    text = " ".join(text.split())
    for _ in range(MOST_MARKS):
        previous = text
        text = text.strip(MARKS_AT_ENDS).removesuffix(" -").rstrip("([").lstrip(")]")
        # the full stop of an abbreviation or initial stays
        text = _unwrapped(text if SHORT.search(text[-LONGEST_SHORT:]) else text.rstrip("."))
        if text == previous:
            break
    return text


def one_hyphen(text: str) -> str:
    """A text whose ranges have one hyphen: "12-34" for "12 – 34" and "12--34"."""
    return RANGE.sub("-", text)


def parse_pages(text: str) -> dict[str, str]:
    """Some of `pages` (ranges with a hyphen), `page_total`, `chapter` and `note` of "pp. 12--34", "xii, 88 p." etc.

    Of "77(2):257--286", which has them all, also `volume` and `number`.
    """
    text, found = _without_edges(text), {}
    if together := VOLUME_AND_PAGES.fullmatch(text):
        return {name: one_hyphen(value) for name, value in together.groupdict().items() if value}
    if behind := BEHIND_PAGES.fullmatch(text):
        parts = {"pages": one_hyphen(behind["pages"]), "volume": behind["volume"], "note": behind["rest"]}
        return {name: value for name, value in parts.items() if value}
    if (before := BEFORE_PAGES.fullmatch(text)) and not CHAPTER.match(text):
        is_volume = (
            before["before"].isdigit() or NUMBER_WORD.match(before["before"]) or VOLUME_WORD.match(before["before"])
        )
        parts = parse_volume(before["before"]) if is_volume else {"note": before["before"]}
        return {**parts, "pages": one_hyphen(before["pages"])}
    if chapter := CHAPTER.match(text):
        found["chapter"], text = chapter["number"], text[chapter.end() :]
    if VOLUMES.match(text):
        return {"note": text}
    if total := TOTAL.match(text):
        rest = {"note": clean(total["rest"])} if total["rest"] else {}
        return {**found, "page_total": total["total"] + (total["leaves"] or ""), **rest}
    pages = WORD_BEHIND.sub(r"\1", one_hyphen(PAGES_WORD.sub("", text)).strip(" -.:页頁쪽면"))
    return {**found, "pages": pages} if pages else found


def parse_volume(text: str) -> dict[str, str]:
    """Some of `volume`, `number` and, for how many volumes there are, `note` of "12(3)", "Bd. 1", "Heft 3/4" etc.

    Of "12, 45-67", whose range is longer than one of issues, and of "12(3), 45" `pages`.
    """
    bare = NUMBER_BEFORE_WORD.sub(r"no. \1", _without_edges(text)).removesuffix(" of")
    if (together := VOLUME_AND_PAGES.fullmatch(bare)) and (together["number"] or len(together["pages"]) > 2):
        return parse_pages(bare)
    if re.fullmatch(r"\([^()]+\)", text.strip(" ,;:.")) and not VOLUME_WORD.match(bare):
        return {"number": one_hyphen(bare)}
    if VOLUMES.match(bare):
        return {"note": text.strip(" ,;:()")}
    if (part := VOLUME_OF_SET.match(bare)) and VOLUME_WORD.match(part["volume"]):
        return {"note": part["set"], **parse_volume(part["volume"])}
    if alone := NUMBER_WORD.match(bare):
        number = bare[alone.end() :]
        if together := NUMBER_AND_PAGES.fullmatch(number):
            return {"number": together[1], "pages": one_hyphen(together[2])}
        return {"number": one_hyphen(number)}
    volume, number, behind = VOLUME_OF_YEARS.sub("", VOLUME_WORD.sub("", bare)), "", ""
    for pattern in (EASTERN, BRACKETED_NUMBER, SPELT_NUMBER, SHORT_NUMBER, SPACED_NUMBER, PART):
        if match := pattern.fullmatch(volume):
            parts = match.groupdict()
            volume = parts["volume"] or parts.get("behind") or ""
            number, behind = NUMBER_WORD.sub("", parts["number"] or ""), parts.get("note") or ""
            break
    if (pattern is SHORT_NUMBER and _is_long(number)) or (pattern is SPACED_NUMBER and len(number) > 2):
        number, behind = "", number
    elif not behind and (together := NUMBER_AND_PAGES.fullmatch(number)):
        number, behind = together.groups()
    is_page = FIGURES.fullmatch(behind) or (behind.isdigit() and not YEARS.fullmatch(behind))
    name = "pages" if is_page else "note"
    volume = re.sub(r"(?<=\d)\.$", "", volume.strip(" ,;"))
    found = {"volume": volume, "number": number.strip(" ,"), name: behind}
    return {name: value if name == "note" else one_hyphen(value) for name, value in found.items() if value}


def _is_long(number: str) -> bool:
    """Whether figures are a range of more issues than appear together; the second ones may be cut, as in "145-7".
    Or whether they are too long for an issue: those of an article that has a number in place of pages."""
    found = FIGURES.fullmatch(number)
    if found is None:
        return re.fullmatch(r"\d{5,}|0\d{3,}", number) is not None
    return not 0 <= int(found[2]) - int(found[1]) < MOST_ISSUES


def _without_edges(text: str) -> str:
    """A clean text without brackets whose other half, and full stops whose sentence, are in another field."""
    return clean(clean(text).lstrip(")].: ").rstrip("([ "))


def parse_edition(text: str) -> str:
    """The edition, such as "2nd" of "(2nd ed.)"; empty if the text is about something else."""
    match = EDITION.fullmatch(clean(text))
    return match["edition"].strip(" ,") if match else ""


def bare_edition(text: str) -> str:
    """What a field of editions says, without the word for edition behind it, as "Kindle" of "Kindle ed."."""
    text = clean(text)
    return parse_edition(text) or EDITION_WORD.sub("", text) or text


def parse_report(text: str) -> dict[str, str]:
    """Some of `genre` and `number` of "Technical Report CS-94-08", "[Master's thesis", "U.S. Patent 99,214,077" etc."""
    text = clean(text)
    match = REPORT_NUMBER.fullmatch(text)
    found = {"genre": clean(match["genre"]), "number": match["number"]} if match else {"genre": text}
    return {name: value for name, value in found.items() if value}


def report_type(genre: str, number: str = "") -> EntryType:
    """The type of an entry by what a report is called; thesis before manuscript before report."""
    if THESIS.search(genre):
        return EntryType.MASTERSTHESIS if MASTERS.search(genre) else EntryType.PHDTHESIS
    if UNPUBLISHED.search(genre):
        return EntryType.UNPUBLISHED
    is_other = genre and (not number or "version" in genre.lower()) and not REPORTS.search(genre)  # "R package version"
    return EntryType.MISC if is_other or OTHER_KINDS.search(genre) else EntryType.TECHREPORT


def join_notes(notes: Sequence[str]) -> str:
    """Notes with a full stop between them."""
    ended = [note if note.endswith((".", "?", "!")) else f"{note}." for note in notes[:-1]]
    return " ".join([*ended, *notes[-1:]])


def _is_whole(text: str, opening: str, closing: str) -> bool:
    """Whether each quotation in a text begins and ends in it, those with marks of another language, too."""
    text = re.sub("„[^„“”]*[“”]|‚[^‚‘’]*[‘’]", "", text)
    marks = [+1 if char == opening else -1 for char in text if char in (opening, closing)]
    return sum(marks) == 0 and all(depth >= 0 for depth in accumulate(marks))


def _unwrapped(text: str) -> str:
    """Without a pair of marks around the text, and without a mark at its ends that has no partner."""
    for opening, closing in [*QUOTES, ("``", "''")]:
        if text.startswith(opening) and text.endswith(closing) and len(text) > len(opening):
            inner = text[len(opening) : -len(closing)]
            if opening not in inner and (closing not in inner or closing in "'’‘"):
                return inner
            if opening != closing and _is_whole(inner, opening, closing):
                return inner
    if len(text) > 1 and text.count('"') == 1 and '"' in (text[0], text[-1]):
        return text.strip('"')
    for opening, closing in ("()", "[]", "“”", "«»"):
        if text.startswith(opening) and text.endswith(closing) and text.count(opening) == text.count(closing) == 1:
            return text[1:-1]
        if text.startswith(opening) and closing not in text:
            return text[1:]
        if text.endswith(closing) and opening not in text and text.count(closing) % 2:
            return text[:-1]
    return text
