"""How names of persons and bodies, and lists of them, are written: patterns for `names`."""

import re
from collections.abc import Callable

from ..corpora.block import COMBINING
from .fields import GOING_ON, STATUTE


def _letters(test: Callable[[str], bool]) -> str:
    """Letters with a property, for a class of a regular expression; those beyond U+2FFF are taken to have no case."""
    return "".join(letter for letter in map(chr, range(0x3000)) if letter.isalpha() and test(letter))


LOWER = _letters(lambda letter: letter.islower() and letter.title() != letter)  # Georgian has no capitals in names
CAPITAL = f"[{_letters(lambda letter: letter.isupper() or letter.istitle())}]"
WORD = rf"\w'’‘{COMBINING}"
EAST = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3"  # kana, Han and Hangul: family names first, no initials
EASTERN = re.compile(f"[{EAST}\u30fb]+")
SINGLE = rf"[^\W\d_{EAST}]"  # may be an initial
# But no degrees and orders, as in "J. Moss, M.Sc."
INITIALS_FIRST = re.compile(
    rf"(?!(?:[BDM]\.\s?(?:Sc|Phil|Ed|Eng|Tech|Div|Th|Litt)|O\.\s?(?:Praem|Carm|Cist|Cap))\b)(?:{CAPITAL}\.[\s-]*)+[^\W\d_]{{2}}"
)
NO_CASE = rf"[^\W\d_{EAST}{LOWER}]"  # or a capital
# Words of the names of bodies
BODY = re.compile(
    r"\b(?:institut[eo]?|istituto|committee|council|univer[sz]i\w+|project|office|society|conseil|consejo|group|authority|"
    r"trust|collaborat(?:ion|ors)|department|\w*minist(?:ry|[eéè]r\w+)|associa(?:tion|ção|zione)|consortium|board|cent(?:re|er)s?|"
    r"foundation|com(?:mission|isión|issão)e?|organi[sz]ation|bureau|library|company|corp(?:oration)?|inc|ltd|ll[cp]|plc|gmbh|"
    r"league|federation|union|academ(?:y|ies)|museum|network|initiative|laborator\w+|agency|partnership|team|conference|"
    r"administration|government|parliament|congress|nations|international|statisti(?:cs|k)|investigators|programme|fund|"
    r"survey|health|news|(?:law|medical|business) school|supreme court|(?:world|central|norges) bank|\w*nationalbank|"
    r"bundes(?:tag|bank)|planbureau|overheid|rijks\w+|banco d\w+|gobierno|governo|r[eé]p[uú]bli(?:ca|que)|presidência|"
    r"gesellschaft|\w*gemeinschaft|verein|\w{3,}amt|verband|kommission|société|comité|министерств\w|asociación|"
    r"organización|sociedad|a[ck]ad[eé]mi(?:a|e|en)|fundación|\w{3,}gericht(?:shof)?|"
    r"rechtbank|gerechtshof|hoge raad|raad van state|\w*archi(?:ef|even|v|v[eo]s?|vio)|"
    r"\w*biblioth?[eè]e?[ckq]\w*|(?-i:e\. ?V)|waterschap|hoogheemraadschap|gemeente|stichting|stiftung|"
    r"cour (?:de cassation|d['’]appel)|corte (?:di|suprem[ao]|costituzionale|constitucional)|tribunale?|"
    r"институт\w*|академия|университет\w*|общество|служба|комитет)\b"
    r"|(?<=\w\w )(?:press|times|bund)|auswärtiges amt(?=\W*$)"  # these are family names as well
    r"|(?:大学|大學|研究所|研究院|学会|學會|协会|協会|委员会|委員会|公司|会社|대학교|학회)$"
    r"|^the\s|\s(?:of|for|on|für|pour|voor)\s",
    re.IGNORECASE,
)
ENUMERATION = re.compile(
    r"[^,;]*(?:\s(?:of|for|on|für|pour)|\b\w*[Mm]inist\w+\s(?:d\w+|van))\s[^,;]+,\s(?:[^\s,;.]+,\s)*"
    r"[^\s,;.]+,?\s(?:and|&|und|et|en|[ye])\s[^\s,;.]+(?:\s[^\s,;.]+)?"
)
LEGAL_FORM = r"(?:inc|ltd|ll[cp]|plc|corp|gmbh)\b\.?(?=\s*(?:,|$))"  # behind the name of a company
COMPANY = re.compile(rf"[^,;]+,\s{LEGAL_FORM}", re.IGNORECASE)
# Years of life, as catalogues print them, and what the named did, behind a name or all of them
LIFE = re.compile(r"(?:,\s?|\s\()((?:1\d|20)\d\d\s?[-–](?:\s?(?:1\d|20)\d\d)?)(?:\)|(?=\s*(?:[,;.]|$)))")
# What else the named is called, and does, or what stands for a year behind them
ALIAS = re.compile(
    r"(?<=[\w.])\s(?:\[(?![\W\d_]*\])([^\[\]]+)\]|"
    r"\(((?:pseud|ps\.|i\.\s?e\.|d\.\s?i\.|n\.\s?d\.|s\.\s?a\.|in press|forthcoming|(?:1[5-9]|20)\d\d)"
    r"[^()]*)\))(?=\s*(?:[,;.&]|and\b|$))"
)
# No author, in German, no name in Latin, several authors in Italian; popes and kings
UNNAMED = re.compile(
    r"(?:[oO]\. V|N\. N|[sS]\. [nN])\.|(?:AA\. ?VV|VV\. ?AA)\.?"
    r"|Ibn(?: [^\s,.]*[^\W\d_A-Z][^\s,.]*){1,3}|[^\W\d_][^\s.]{2,} (?:VII|VIII|X(?:II|III|IV|VI|VII|VIII|IX))\.?"
)
# Two of these are two Chinese names, where "田中, 一郎" is one
CHINESE = re.compile(
    "[王李张張刘劉陈陳杨楊赵趙黄黃周吴吳徐孙孫胡朱高林何郭马馬罗羅梁宋郑鄭谢謝韩韓唐冯馮于董萧蕭程曹袁邓鄧许許傅沈曾彭吕呂苏蘇卢盧蒋蔣蔡贾賈丁魏薛叶葉阎余潘杜戴夏钟鍾汪田任姜范方石姚谭譚廖邹熊金陆陸郝孔白崔康毛邱秦江史顾顧侯邵孟龙龍万段雷钱錢汤湯尹黎易常武乔喬贺賀赖賴龚龔文][㐀-鿿]{1,2}"
)
# Names of rulers and popes with a number, which otherwise would be initials, and what the named is behind them.
# "Lund, Karl III" and "Paul II, J." are other persons.
_RULER = (
    r"(?:Johannes|John|Jean|Juan|Giovanni)[\s-](?:Paul|Pablo|Paolo)|(?:Friedrich|Frederick)\s(?:Wilhelm|William|August)"
    r"|(?:Vi[ck]tor|Vittorio)\sEm+anuele?|Franz\sJose(?:ph|f)|[CK]arl\sGustaf|Alexand(?:er|re)|Alessandro|Alfonso|Benedi[ck]t"
    r"|Bened(?:ictus|etto)|Bonifa[cz]|[CK]atherine|Katharina|[CK]arl|[CK]arel|Carlos|Charles|Christian|Cl[eé]men[st]|Edward"
    r"|Eduard|Elizabeth|Elisabeth|Felipe|Ferdinand|Fernando|Filips|Fran[cç]ois|Franz|Fredri[ck]|Frederi(?:ck|k)|Friedrich"
    r"|Georg[e]?|Gregor(?:y|ius)?|Gustav|Gustaf|Hadrian|Heinrich|Hendrik|Henr[iy]|Honorius|Innocent(?:ius)?|Inno[zc]en[zs]"
    r"|Isabella|I[sv]an|James|Jakob|Johann|José|Joseph|Julius|Leo|L[eé]on|Leopold|Lothar|Louis|Ludwig|Lodewijk|Luis|Margrethe"
    r"|Maximilian|Mehmed|Napol[eé]on|Nicholas|Nikola[ius]+|Otto|Paulus|Paul|Pedro|Peter|Philip(?:p|pe)?|Pi[ou]s|Pie|Ramses"
    r"|Richard|Rudolf|Sigismund|Sixtus|Urban(?:us)?|W[iI]lhelm|Wilhelmus|Willem|William|Wladislaw"
)
_NUMBER = r"(?:X{1,2}(?:I{1,3}|I?V|VI{1,3}|IX)|XX|I{2,3}|IV|VI{1,3}|IX)"  # one letter is an initial as well
_OF = r"(?:de[rsn]?|di|d['’]|el|l[ae]|the|of|von|van|v[ao]n (?:de[nr]))"
RULERS = re.compile(
    rf"(?:^|(?<=[;&])|(?<=\band)|(?<=\bund)|(?<=\bet)|(?<=\ben)|(?<=\by)|(?<=\be))\s*"
    rf"(?P<ruler>(?:(?i:papst|pope|paus|papa|pape|könig|kaiser|king|queen|koning|kurfürst|emperor|tsar|zar)\s)?"
    rf"(?:{_RULER})\s{_NUMBER}(?:\.?\s{_OF}\s[^\W\d_]+(?:\s[^\W\d_]+)?|\.?\s\({_OF}\s[^\W\d_]+\))?)"
    rf"(?P<titles>\.?,\s(?i:(?:[^\W\d_]+\s)?(?:papst|pope|paus|papa|pape|könig|kaiser|king|queen|koning|roi|reine|rey|re|emperor"
    rf"|empereur|imperador|zar|tsar|czar|kurfürst|herzog|duke|elector))(?:\s(?:of|von|van|de)\s[^\W\d_]+)?)?"
    rf"\.?(?=\s*(?:$|[;&]|,\s[^\s,;.]{{3,}}\s[^\s,;.]{{3,}}|\b(?:and|und|et|en|y|e)\s))"
)
# Commas and brackets of other scripts; Eastern commas divide names.
ALIKE = str.maketrans("\u060c\uff0c\u3001\uff1b\u061b\uff08\uff09", ",;;;;()")
DIGRAPH = r"(?:Ph|Chr?|Th|Yu|Ya|Yo|Zh|Sh|Ts|Kh|Gy|Sz|Zs|Cs|Дж)"  # initials of two letters
ET_AL = re.compile(
    r"[\s,;]*(?:(?i:\band\b)|&)?[\s,;]*\[?(?:(?i:\bet\.?\s*(?:al|alii|aliae|coll)\b\.?|& ?(?:(?-i:al)|others)\b\.?|"
    r"\b(?:and others|y otros|e outros|et autres|und andere|en anderen|e altri|and colleagues)\b|\b[ye] cols?\b\.?"
    r"|\bи (?:др\b\.?|другие\b|соавт\b\.?)|\b(?:та|і) ін\.|\bm\.\s?fl\.|\bi (?:in|dr|sur|wsp)\.|\ba kol\b\.?"
    r"|\bve ark\.|\b(?-i:vd)\.)|\b[uo]\.\s?a\.|\be\.\s?a\.(?=\W*$)|\bκ\.\s?[άα]\.|(?:等人?|ほか)(?=\W*$)"
    r"|(?<=\s)(?:외(?:\s?\d+\s?[인명])?|등)(?=\W*$))\]?[\s,;]*"
)
OMITTED = re.compile(r"\s*(?:…|\.\s?\.\s?\.)\s*&?\s*")
KEY = re.compile(r"^\[[^\[\]]+\]\s*(?=\w)")
GUESSED = re.compile(r"^\[([^\[\]]+)\][\s.,:;]*$")  # by who made the list: the book does not name them
# The same in languages that say it with words of their own, of which the first letter may be a capital
BY_EDITORS = (
    r"(?:bearb|eingel|komm|ausgew)(?:\.|eitet|entiert|ählt)\s+(?:u(?:\.|nd)\s+[^\W\d_]+\.?\s+)?(?:von|v\.)\s+"
    r"|(?:onder\s+red(?:\.|actie)\s+van|o\.\s?r\.\s?v\.)\s+|pod\s+redakcją\s+|oprac\.\s+|(?:επιμ(?:\.|έλεια:?)|εκδ\.)\s+"
    r"|(?:u(?:tg|dg|nder\s+red)|red)\.\s+a[vf]\s+|(?:utg|udg|uspoř|szerk|haz|vyd|(?-i:ur))\.\s+|ed\.\s+lit\.\s+"
    r"|(?:упоряд|публ|ред\.-сост|сост\.\s+и\s+ред|изд\.\s+подгот)\.\s+"
)
# Words that announce names, or say what the named did.
BEFORE = re.compile(
    r"^[(\[]?(?:(?:in|ln|dans|în|teoksessa|(?-i:e[nm]))\b:?\s+(?!['’]t\s)|(?:e[nm]|[iwvuву]|im|в\s+кн\.):\s+"
    # these may be given names and initials, too: "En Zhang", "I Berg (red.)"
    r"|e[nm]\s+(?=\w\.|.*[(\[](?:eds?|orgs?|coords?|comps?|dirs?)\b)"
    r"|(?-i:[IWVUВУ])\s+(?!\w\s|[^\s,]+\s+(?:\W|(?:och|og|i|и)\s))(?=.*[(\[](?:red|ред)\b))?[(\[]?"
    rf"(?:{BY_EDITORS}"
    r"|(?:edited|compiled|collected|selected|written|directed|produced)(?:\s+and\s+\w+ed)?\s+by\s+"
    r"|(?!(?-i:Ed\s)(?!by\b))ed(?:s|d|ited|itors?(?=:))?\.?:?\s+(?:(?:and|&)\s+trans\.?\s+)?(?:by\s+)?"
    r"|(?:hg|hrsg|hgg|herausgegeben)(?:\.?\s+(?:von|v\.)|\.:?|:)\s+|éd(?:s)?\.\s+|by\s+|a c(?:ura|\.) di\s+"
    r"|(?:(?:отв\.|под|за)\s+)?(?:(?:общ(?:\.|ей)|науч(?:\.|ной))\s+)?ред(?:\.|акцией|актор[ы]?)\s+|(?:сост|toim)\.\s+"
    r"|(?:sous la )?dir(?:\.|ection)\s+(?:de\s+|par\s+)?|coords?\.\s+(?:por\s+)?"
    r"|(?:édité|dirigé|coordinado|editado|dirigido|organizado)\s+p[ao]r\s+"
    r"|(?:bajo la direcci[oó]n|edici[oó]n|edizione|organização)\s+d[ei]\s+|(?-i:por|par)\s+"
    r"|(?:pod\s+)?red\.\s+(?:nauk\.\s+)?)?(?:\[(?=[A-Z]))?",
    re.IGNORECASE,
)
AFTER = re.compile(
    r"[\s,;:]*[(\[]?\s*\b(?:(?:отв|гл|науч|общ)\.\s?|sous\sla\s)?(?:bearb|επιμ|εκδ|oprac|eds?|editors?|hrsg|hgg?|dirs?|éds?|comps?|compilers?|coords?|orgs?|red|ред|trans|curs?|szerk|toim|"
    r"translators?|note|comment)\b\.?(?:\s?(?:&|and|und|et|y|e)\s(?:trans|transl|translators?|eds?|editors?)\b\.?)?"
    r"\s*(?:[)\]]|$)[\s,;:.)]*"
    r"|,\s*(?:inventors?|assignees?|(?:md,\s|m\.\s?d\.,\s)?ph\.?\s?d|d\.?\s?phil|(?-i:[MB]\.?\s?Sc|Dr|Prof|Esq))\b\.?(?=\s*(?:[;,]|$|and\b|&))"
    r"|\s*[(\[](?:(?:series|vol(?:ume)?|guest|executive|associate)\.?\s)?(?:eds?|editors?|directors?|producers?|writers?"
    r"|hosts?|chairs?|composers?|inventors?|authors?|speakers?|a cura di"
    r"|(?:compil|coordin|organiz|edit|redact|direct|traduct|tradut)(?:ad)?or(?:[ae]s?)?|éditeurs?|éditrices?"
    r"|(?:coordinat|direct|rédact|redact|traduct)(?:eurs?|rices?)|(?:curat|coordinat)or[ei]"
    r"|(?:herausgeber|bearbeiter|übersetzer)(?:in(?:nen)?)?|redactie"
    r"|ed\.\s?lit|utg|udg|uspoř|haz|vyd|ur)\b\.?(?:\s(?:&|and)\s\w+\.?)?[)\]][\s,;:.)]*",
    re.IGNORECASE,
)
_EDITORS = r"(?:eds?|editors?|hrsg|hgg?|dirs?|éds?|coords?|orgs?|red|utg|udg|a cura di)\b\.?"
# Those that are named are editors: "(Hrsg.)", ", eds.", but not "Lund, Ed." and "Lund, ED."
EDITED = re.compile(
    rf"(?![\w'’-]+, Ed\.?$).*?(?:[(\[]\s?(?i:{_EDITORS})\s?[)\]]|(?:^|,\s*)(?![A-Z]{{2}})(?i:{_EDITORS}))[\s.,:;]*$"
)
ED = re.compile(r"[\w'’-]+, Ed")  # a given name where no editor has one
EASTERN_AFTER = re.compile(
    rf"(?<=[\s(){EAST}])\(?(?:主?[編编]著?|著|[訳译譯]|지음|엮음|옮김|(?<=\s)편저?)\s*\)?(?=\W*$|\s*[,;])"
)
CONTRIBUTION = re.compile(
    r"(?:^|\s*[;,]\s*|(?<!ed)(?<!ed\.)\s+and\s+(?=translated\s+by\s)|\s+(?=(?:unter|in|with|avec|con)\s))"
    r"((?:(?:^[Tt]|\bt)rans(?:l|lated)?|(?:^[Üü]|\bü)bers(?:etzt)?|^Trad(?=\.)|\btrad)\b\.?\s.*|"
    r"(?:unter\s+(?:der\s+)?Mitarbeit|in\s+(?:Verbindung|Zusammenarbeit|collaboration|cooperation)"
    r"|with\s+the\s+(?:assistance|collaboration)|(?:avec|con)\s+la\s+col+abora\w+)\s.*|"
    r"(?:[Tt]radu\w+|[Vv]ertaald)\s+(?:par|d[eiao]|por|door)\s.*|"
    r"(?:[Pp](?:rzeł|řel)|[Tt]łum|[Μμ](?:τφρ|ετάφρ)|[Vv]ert|[ÖöOo]vers|[Пп]ер|[Çç]ev)\.\s.*|"
    r"(?:with|mit|avec)\s+(?:an?|the|eine[mr]|e\.|une?)\s.*\b(?:by|von|par|de)\s.*)$"
)
ROMAN_END = re.compile(r"(?<=\bI[IV])\.$|(?<=\bIII)\.$|(?<=\d[nrt][dh])\.$")
HARD = re.compile(r"\s*[;/]\s*|(?<=\.)\s+[-–—]\s+|\s*・\s*(?=[\u3400-\u9fff\uac00-\ud7a3])|\s*·\s*(?=[\uac00-\ud7a3])")
FOR_BODY = re.compile(rf"(?:[;,]\s*|(?<=\b{CAPITAL}\.)\s+)(?:for|on behalf of)\s+(?=the\b)")
# "ET" may be initials, as in "Smith ET,".
AND = r"\b(?:and|und|et|with|en|och|og|ja|és|ve|oraz|και|и|та|AND|UND|WITH)\b"
# These join family names as well, as in "Ortega y Gasset".
JOINING = ("y", "e", "i", "a")
SOFT = re.compile(
    rf"\s*,?\s*(?!und\s+zu\b)(?:&|{AND}|\bET\b(?=\s+{CAPITAL})|(?<=[.,])\s*\b(?:[yeia]\b|u\.)(?=\s)"
    rf"|(?<=\s)u\.(?=\s+{CAPITAL})|(?<=\s)[yeia](?=\s+{SINGLE}\.)"
    rf"|(?<=\s)[yeia](?=\s+[^\s,;.]+\s+(?!&|{AND}|{CAPITAL}{{1,3}}\b(?!['’]))[^\s,;]))\s*"
)
FAMILIES = re.compile(rf"(?:{CAPITAL}[{LOWER}]\w+(?:, |$))+")
PATRONYMIC = re.compile(r"(?:ич|овна|евна|ична)$")
JOINED = re.compile(rf"(\S.*)\s(?:{'|'.join(JOINING)})\s(.*\S)")
EDGES = " \t,;:/–—-"
_FIGURES = r"\u00b9\u00b2\u00b3\u2070-\u2079"
_MARK = rf"(?:[*†‡§¶{_FIGURES}]|#(?!\w))"
_IN_WORD = rf"[^\W\d_{_FIGURES}]"
# Of footnotes. Between letters they are none: "MÃ¶ller" was read in a wrong encoding.
MARKS = re.compile(rf"\s*(?:(?<!{_IN_WORD}){_MARK}+|{_MARK}+(?!{_IN_WORD}|{_MARK}))")
OPENED = re.compile(r"(?:[“„«(\[{|]|``|(?<=\s)[\"'])\s*$|^[“„«\"](?!.*[”“»\"])")  # of the title behind the names
SEPARATORS = re.compile(r"[\s,;]*[,;][\s,;]*")
SUFFIX = re.compile(r"[JS]r\b\.?|II|III|IV|2nd|3rd|4th", re.IGNORECASE)
DEGREE = re.compile(r"[MB]\. ?[AS]\.?|M\.? ?D\.?|M\.? ?P\.? ?H\.?|LL\.? ?[BMD]\.?")  # where given names are told
SUFFIX_LAST = re.compile(rf"[^,]*,\s*(?:{SUFFIX.pattern})\s*,\s*", re.IGNORECASE)  # "Lund, Jr.,"
# "Ada Lund, Bo Moss, and Kim Roe", "Lund, Moss, Hull, and Roe", but "Lund, Jr., Ada, and Kim Roe"
_WORDS = r"[^\s,]+(?:\s[^\s,]+)+"
IN_SPEECH = re.compile(
    rf"(?![a-z]|[^,]*,(?:[^,]*,)?\s(?i:{SUFFIX.pattern})\s?,)(?:{_WORDS}(?:,\s{_WORDS}){{1,2}}|[^,]+,\s[^\s,.]+,\s[^,]+),\s(?i:and)\s[^,]+",
)
# Two figures of Rome may be initials too, as in "Family IV".
PIECE_END = re.compile(rf",(?!\s*{LEGAL_FORM})|\s+(?=(?:[JS]r\b\.?|III|2nd|3rd|4th)\s*(?:,|\.?$))", re.IGNORECASE)
INITIAL = rf"(?:{CAPITAL}\b\.?|{NO_CASE}\.|Chr\.|{CAPITAL}[{LOWER}]\.)[\s-]*"
INITIALS = re.compile(rf"(?:{INITIAL}){{1,5}}")
RUN = rf"{CAPITAL}{{2,3}}"  # initials without full stops, as in "Family GH"
# Initials of medical lists that are also words, "Lund JR, Moss ED"; but not in "Ada Lund JR", "LUND JR", "Lund Jr"
_FAMILY = (
    rf"(?:(?:[{LOWER}'’]{{1,4}}|D[aeiu]|De[lnr]|V[ao]n|L[ae]|El|Dos)\s){{0,3}}"
    rf"{CAPITAL}(?=[{WORD}'’-]*[{LOWER}])[{WORD}'’-]++"
)
_BEFORE_RUN = rf"(?=,\s(?:[^\s,;]+\s){{1,4}}{CAPITAL}{{1,3}}\.?(?:$|[,;]|\s(?:(?:and|&)\s|et\sal\b)))"
_BEHIND_RUN = "|".join(rf"(?<=\s{length * CAPITAL},\s)" for length in (1, 2, 3))
LIKE_WORDS = re.compile(
    rf"(?P<family>(?:^|(?<=[;&]\s)|(?<=\.,\s)|(?<=\sand\s)|{_BEHIND_RUN}){_FAMILY}"
    rf"|(?:{_BEHIND_RUN}){CAPITAL}[{WORD}'’-]+\s{_FAMILY}|^{CAPITAL}[{WORD}'’-]+\s{_FAMILY}(?=\s\w{{2,3}}{_BEFORE_RUN}))"
    rf"\s(?P<run>[JS]R|EDS?|HGG?|DIR|ORG|RED)(?:(?=\.?$|\s?;|,?\s(?:and\b|&|et\sal\b))|{_BEFORE_RUN})"
)
# The same in "Lund, JR, Moss, ED", beside another name in that form; not in "Lund, JR" or "Lund, A, Moss, B, EDS"
_BEHIND_PAIR = "|".join(
    rf"(?<=,\s{length * CAPITAL}{end})" for length in (1, 2, 3) for end in (r",\s", r"\sand\s", r"\s&\s")
)
APART_LIKE_WORDS = re.compile(
    rf"(?P<family>(?:^{_FAMILY},(?=\s{RUN}(?:,|,?\s(?:and|&))\s{_FAMILY},\s{CAPITAL}{{1,3}}\b)|(?:{_BEHIND_PAIR}){_FAMILY},))"
    r"\s(?P<run>[JS]R|EDS?|HGG?|DIR|ORG|RED)(?=\.?$|,|\s(?:and\b|&|et\sal\b))"
)
PARTICLE_AND_RUN = re.compile(rf"(?:^|\s)[{LOWER}'’]{{1,4}}\s{RUN}$")  # a family in capitals, as in "von BAR"
BEGINS_WITH_INITIAL = re.compile(rf"(?!Ó\s){CAPITAL}(?:\.|\s|$)|{NO_CASE}\.")
# A family name in one word, with its particles if it has some.
ONE_WORD = re.compile(rf"(?:['{LOWER}][{WORD}.]*\s+)*[{WORD}\-]+")
SHORT = rf"(?:{CAPITAL}\b\.?|{NO_CASE}\.|{DIGRAPH}\.)[\s-]*"
PARTICLES = rf"(?:\s*\b[{LOWER}][{LOWER}'’]*(?!\w))"  # "d'Urfé" is more than one
# Given names behind a family name of several words: one, or some with initials or particles behind them.
GIVEN = re.compile(
    rf"(?:[{WORD}\-]+\.?|(?:[{WORD}\-]+\s+){{1,2}}(?:{CAPITAL}\.[\s-]*){{1,3}}|(?:{INITIAL}){{1,5}}){PARTICLES}{{0,3}}"
    rf"|(?:[{WORD}\-]+\s+){{1,2}}[{WORD}\-]+{PARTICLES}{{1,3}}|M(?:aría|\.?ª) (?:del|de l[ao]s?) [{WORD}]+"
)
PERSON = re.compile(  # between dashes: "Family, Given – Given Family – G. Family"
    r"[^,]*,[^,]*|[^\s,]+(?:\s[^\s,]+){1,2}|(?:[^\W\d_]\.[\s-]){1,4}[^\s,]+(?:\s[^\s,]+)?"
)
BETWEEN_PERSONS = re.compile(r"\s[-–—]\s")
# What no given name begins with
FAMILY_BEGINS = re.compile(r"(?:De|Dos|Las?|Ibn|V[ao]n (?:de[nr]?|’t|'t))\s")
TRAILING_INITIALS = re.compile(
    rf"(?P<family>.*?\w{{2,}}\S*)\s+(?P<given>(?:(?:{SHORT}){{1,4}}|{RUN}){PARTICLES}{{0,3}})"
)
_BEFORE_CAPITALS = rf"(?:(?:[{LOWER}'’]{{1,5}}|V[ao]n|D[aeiu]|L[ae])\s){{0,3}}(?:[dl]['’]|Ma?c)?"  # "von STEIN Karl"
FAMILY_IN_CAPITALS = re.compile(
    rf"(?P<family>{_BEFORE_CAPITALS}{CAPITAL}(?:{CAPITAL}|['’\- ])*{CAPITAL}{{2}}) (?P<given>{CAPITAL}[{LOWER}].*)"
)
BRACKETED = re.compile(r"(?P<family>[^()]+?)\s*\((?P<given>[^()\s]+)\)")
# Each name of a list may tell its parts in one way
LISTED = re.compile(
    rf"\s+[-–—]\s+|\s*[,;/]\s*(?:(?:&|{AND})\s*)?|\s*&\s*|\s+{AND}\s+"
    rf"|(?<=[{LOWER}])\s+[yei]\s+(?={_BEFORE_CAPITALS}{CAPITAL}{{2}})|(?<={CAPITAL}{{2}})\s+[yei]\s+(?={CAPITAL}[{LOWER}])"
)
TOLD = (
    re.compile(rf"(?P<family>[^\s().]+(?:\s[^\s().]+){{0,2}}) \((?P<given>{CAPITAL}[^\s()]*(?:\s[^\s()]+){{0,3}})\)"),
    re.compile(
        rf"(?P<family>{_BEFORE_CAPITALS}{CAPITAL}(?:{CAPITAL}|['’\- ])*{CAPITAL}) (?P<given>{CAPITAL}[{LOWER}].*)"
    ),
)
# "Jean DUPONT", "Visser AMWJ": a family name or initials, which the other names of a list tell
CAPITALS_LAST = re.compile(
    rf"(?P<first>{CAPITAL}[{LOWER}][^()]*?) (?P<capitals>{CAPITAL}|{CAPITAL}['’]?{CAPITAL}(?:{CAPITAL}|['’\- ])*)"
)
# Small words that belong to a family name where they begin with a capital too.
CAPITAL_PARTICLE = re.compile(
    r"v[ao]n|de|del|della|di|da|dos|du|den|der|ter|ten|la|le|des|st\.?|ste\.?|saint|ó|ní|nic|uí|mac", re.IGNORECASE
)
# In place of the names of the reference before; one dash alone may be a bullet or go on with a sentence
REPEATED = re.compile(
    r"(?:[-–—―⸺⸻_]\s*){2,}[.,:;]*\s*|[–—―⸺⸻]\s*(?:[.,:;]+\s*|(?=[(&]|(?:and|und|et|y|e|en|og|och|with|mit)\b|$))"
)
# As before, in footnotes
SAME_PERSON = re.compile(r"(?:ders|dies|[ií]d|ead)\.?|idem|eadem|tenże|taż|tegoż", re.IGNORECASE)
SAME_IN_WORDS = re.compile(
    r"^(?:(?:он|она|они|его|е[её]|их)\s+же|(?:ο\s+ίδιος|του\s+ιδίου|της\s+ιδίας))(?!\w)", re.IGNORECASE
)
SAME_WORK = re.compile(  # no names
    r"(?<!\w)(?:ib[ií]d(?:em)?|ebd|ebenda|tamże|там\s+же|(?:op|loc|ob|art)\.?\s?cit|dz\.\s?cyt|указ\.\s?соч|ό\.\s?π|a\.\s?a\.\s?o)\b",
    re.IGNORECASE,
)
IN_SMALL = re.compile(rf"(?!arXiv)[{LOWER}]{{1,2}}{CAPITAL}[{LOWER}]")  # the name of a body, such as "eBay"
_DIGIT_FIRST = rf"[1-9]\d{{0,2}}(?:{CAPITAL}[^\W\d_]|(?:st|nd|rd|th)\s(?!Ed){CAPITAL})|3M\b"  # "3Com", "20th Century"
_PARTICLE = (
    r"(?:v[ao][nm]|de|dell[ae]|degli|dal(?:la)?|del|der|den|di|da|dos?|du|la|les?|te[nr]?|zu[mr]?|al|el|af|av|ibn)\b"
)
BEGINNING = re.compile(  # of a reference
    rf"(?!{GOING_ON.pattern})[\"'“‘„«(\[]*"
    rf"(?:[^\W\d_{LOWER}]|{_PARTICLE}\s|(?:d['’]|[ae]l-|t\s)[^\W\d_{LOWER}]|{REPEATED.pattern}|{STATUTE}|{_DIGIT_FIRST})"
)
