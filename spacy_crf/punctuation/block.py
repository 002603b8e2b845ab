"""The blocks of `punctuation_restorer`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.util import registry
from thinc.api import Model

from ..core.errors import CRFError
from ..features.block import FeatureSettings
from ..pipe.block import MOST_LISTED, ChainSettings, Scorer, component, empty, nested

if TYPE_CHECKING:
    from .languages import LanguagePreset

NONE = "O"  # the label of a word without a mark
# The signs of each mark, the first of which is written. Of several marks that stand together, the upper one counts.
SIGNS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "QUESTION": ("?", "？", "؟", "\u037e", "⁇", "⸮", "፧"),
        "EXCLAMATION": ("!", "！"),
        "ELLIPSIS": ("…",),
        "PERIOD": (".", "。", "।", "۔", "．", "։", "።"),
        "SEMICOLON": (";", "；", "؛", "፤"),
        "COLON": (":", "：", "፦", "፥"),
        "DASH": ("–", "—", "―"),
        "COMMA": (",", "，", "、", "،", "፣"),
    }
)
ENDS = ("PERIOD", "QUESTION", "EXCLAMATION", "ELLIPSIS")
ABBREVIATIONS = ("mr", "mrs", "ms", "dr", "prof", "st", "jr", "sr", "vs", "etc", "messrs", "mme", "rev", "hon", "capt")
Existing = Literal["keep", "override"]


@registry.misc("spacy_crf.Marks.v1")
@dataclass(frozen=True)
class LabelScheme:
    """The marks to restore, and what labels of words tell beside them.

    marks (list[str]): of COMMA, PERIOD, QUESTION, EXCLAMATION, SEMICOLON, COLON, DASH and ELLIPSIS. Each is written as
        the training texts spell it most often, such as "،" or "。".
    collapse (dict[str, str] | None): other marks that are learned as one of these, such as EXCLAMATION as PERIOD; what
        is in neither is left out.
    case (bool): restore the case of words as well, in one chain with the marks.
    pairs (bool): restore quotation marks and brackets as well, which are written as in English.
    kinds (list[str] | None): end marks whose sentences labels tell apart, such as QUESTION: what opens a question then
        bears on how it ends.
    ends (list[str] | None): marks behind which a sentence begins; those of PERIOD, QUESTION, EXCLAMATION and ELLIPSIS
        without.
    abbreviations (list[str] | None): lower-case words whose period is a part of them; without, those of the language,
        or English ones.
    language (str | None): whose habits are followed where marks and case are written: "en", "nl", "de", "fr", "es",
        "zh" or "ja". Months, countries and the like are written as they always are (`i` as `I`), French has its white
        space before marks, Spanish marks that open, Chinese and Japanese signs of their own.
    """

    marks: list[str]
    collapse: dict[str, str] | None = None
    case: bool = False
    pairs: bool = False
    kinds: list[str] | None = None
    ends: list[str] | None = None
    abbreviations: list[str] | None = None
    language: str | None = None

    def __post_init__(self) -> None:
        """Check the settings."""
        from .errors import PunctuationErrors

        for name in (*self.marks, *(self.collapse or ()), *self.end_marks):
            if name not in SIGNS:
                raise CRFError(PunctuationErrors.CRF971.format(name=name, known=", ".join(SIGNS)))
        if not self.marks:
            raise CRFError(PunctuationErrors.CRF972)
        for name, target in (self.collapse or {}).items():
            if target not in self.marks or name in self.marks:
                raise CRFError(PunctuationErrors.CRF973.format(name=name, target=target, marks=", ".join(self.marks)))
        for kind in self.kinds or ():
            if kind not in self.marks or not self.is_end(kind):
                ends = ", ".join(filter(self.is_end, self.marks))
                raise CRFError(PunctuationErrors.CRF979.format(kind=kind, ends=ends))

    @cached_property
    def end_marks(self) -> tuple[str, ...]:
        """Marks behind which a sentence begins."""
        return ENDS if self.ends is None else tuple(self.ends)

    @cached_property
    def abbreviated(self) -> frozenset[str]:
        """Lower-case words whose period is a part of them."""
        if self.abbreviations is not None:
            words = (" ".join(word.lower().split()).replace(". ", ".") for word in self.abbreviations)
            return frozenset(word.removesuffix(".") for word in words)
        return self.preset.abbreviations or frozenset(ABBREVIATIONS)

    @property
    def preset(self) -> "LanguagePreset":
        """The habits of the language; not kept here, as a scheme goes to other processes."""
        from .languages import preset_of

        return preset_of(self.language)

    @cached_property
    def _labels(self) -> dict[str, str]:
        return {**{mark: mark for mark in self.marks}, **(self.collapse or {})}

    def label(self, mark: str) -> str:
        """Return the label of a mark as it stands in a text: one of `marks`, or NONE. mark (str): "" for none."""
        return self._labels.get(mark, NONE)

    def is_end(self, label: str) -> bool:
        """Tell whether a sentence begins behind a mark."""
        return label in self.end_marks


@dataclass(kw_only=True)
class RestorerSettings(ChainSettings):
    """Settings of `punctuation_restorer`: a CRF over the words of a text, whose labels are the marks that follow them.

    It writes `token._.punct_after` and, where it restores case, `token._.case`; `doc._.restored`, the text with its
    marks, and `doc._.restoration`, the edits that make it of the Doc's text, each [start, end, replacement] in
    characters. The Doc's own words and text stay as they are.

    model (Model): spacy_crf.LinearChain.v1 without boundary weights: START and STOP are the features BOS and EOS, which
        only true starts and ends of a text have, not the sides where a window was cut out.
    features (FeatureSettings): spacy_crf.Features.v1; its templates see words in lower case without marks.
    marks (LabelScheme): spacy_crf.Marks.v1, what is restored.
    temperature (float | str): scores are divided by it before they become probabilities. "auto": by 1, and `spacy
        train` fits the map of the probabilities of marks, as `python -m spacy crf calibrate` does, whenever it saves
        the pipeline, on `dev_corpus`, by its callback `before_to_disk`. Scores in the log are those without it.
    existing (str): marks that are in the text already: "override" sets those of the model, which does not look at them;
        "keep" leaves them, whatever the thresholds, and restores the others given them. Marks that are not restored,
        such as a semicolon that is not in `marks`, stay in either case unless another takes their place; behind one of
        `ends` a sentence begins.
    capitalise (bool): where case is not restored, title the first word of each sentence.
    sentences (bool): set sentence starts.
    probabilities (bool): give tokens `token._.punct_probs`, the probabilities of the marks: exact ones of the chain or,
        after `python -m spacy crf calibrate`, calibrated ones, which thresholds look at too.
    threshold (float): set the most probable mark where the probability that there is one is at least so much; 0: the
        best labelling of the whole text.
    thresholds (dict[str, float]): by mark, how probable it must be itself to be set, instead of `threshold`; where only
        some marks have one and `threshold` is 0, the others are not set.
    n_best (int): how many of the best texts to list in `doc._.restorations`, with their probabilities, at most 10,000.
    """

    model: Model = nested("architectures", "spacy_crf.LinearChain.v1", boundary=False)
    features: FeatureSettings = nested("misc", "spacy_crf.Features.v1", templates=["@punctuation"], min_count=2)
    marks: LabelScheme = nested("misc", "spacy_crf.Marks.v1", marks=["COMMA", "PERIOD", "QUESTION"])
    existing: Existing = "override"
    capitalise: bool = True
    sentences: bool = True
    probabilities: bool = True
    threshold: float = 0.0
    thresholds: dict[str, float] = empty(dict)
    n_best: int = 0
    scorer: Scorer = nested("scorers", "spacy_crf.punctuation_scorer.v1")

    def problems(self) -> Iterator[tuple[str, str]]:
        from ..pipe.setting_types import fits

        yield from super().problems()
        marks = self.marks.marks
        if not 0 <= self.threshold <= 1:
            yield "threshold", "from 0 to 1"
        if not all(mark in marks and fits(value, float) for mark, value in self.thresholds.items()):
            yield "thresholds", f"numbers for some of {', '.join(marks)}"
        if not all(0 < value <= 1 for value in self.thresholds.values()):
            yield "thresholds", "above 0, up to 1"
        if not 0 <= self.n_best <= MOST_LISTED:
            yield "n_best", f"0, or the number of texts to list, at most {MOST_LISTED:,}"

    def told(self) -> Iterator[tuple[str, str]]:
        yield "restored", ""

    def probabilistic(self) -> Iterator[str]:
        asking = ("probabilities", "threshold", "thresholds", "n_best")
        yield from (f"the setting `{one}`" for one in asking if getattr(self, one))


@component(
    "punctuation_restorer",
    RestorerSettings,
    assigns=["token._.punct_after", "token._.case", "doc._.restored", "doc._.restoration", "token.is_sent_start"],
    scores={
        "punct_f": 1.0,
        **dict.fromkeys(("punct_p", "punct_r", "punct_f_per_type", "punct_ser", "word_acc", "word_acc_none")),
        **dict.fromkeys(("sent_boundary_f", "punct_f_inner")),
    },
)
def make_punctuation_restorer(nlp: Language, name: str, settings: RestorerSettings) -> Pipe:
    """Construct a punctuation restorer."""
    from .component import PunctuationRestorer

    return PunctuationRestorer(nlp.vocab, settings, name)
