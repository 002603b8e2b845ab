"""What is made of a text whose punctuation and sentences are not those of today, whichever format it is read from.

Heid, Set-Valued Prediction for Part-of-Speech Tagging (2020): words without a tag get one of their own (section 4.2),
punctuation is context or left out, and is not scored (5.2, 6.3.1), pseudo-sentences end behind punctuation and words of
certain tags (6.9.1, 7).
"""

import warnings
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from spacy.parts_of_speech import IDS as PARTS_OF_SPEECH
from spacy.tokens import Doc

from ..annotation.documents import REMOVED_MARKS, TEXT_SETTINGS, has_signs_only
from ..annotation.extensions import read_value, stored_names, stored_values, write_values
from ..annotation.gold import GOLD_POS, GOLD_TAGS, best_tag, read_gold_tags, register_gold_tags
from ..core.errors import CRFWarning
from .block import HistoricalText
from .errors import CorpusWarnings
from .sentence import EXTENSION_PREFIX, Sentence, group_sentences, join_sentences, take_tokens
from .tagsets import CHECKED, CHECKED_COLUMN, GOLD_COLUMN, GOLD_KINDS, GOLD_POS_COLUMN, parse_tags

POS_KINDS = ("pos", GOLD_POS_COLUMN)
REMOVED_COLUMN = f"{EXTENSION_PREFIX}{REMOVED_MARKS}"
WORD_SIGNS = frozenset("&⁊⹒")  # that stand for words, though they are punctuation marks to Unicode


def apply_text(sentences: Iterable[Sentence], text: HistoricalText, input: Collection[str] = ()) -> Iterator[Sentence]:
    """Make of the segments of a file, as of `make_sentence`, what the settings ask for.

    Segments are cut before punctuation is removed, so that it may end them. Spaces behind removed tokens go to the
    token before. Segments and documents that have no token left are left out.

    input (Collection[str]): kinds that a pipeline gets to see. Those that nobody has predicted or checked are no gold.
    """
    if text.join_segments:
        sentences = map(join_sentences, group_sentences(sentences, "document"))
    starts_document = has_warned = False
    removed: list[str] = []  # of segments that have no token left
    for sentence in sentences:
        starts_document |= sentence.starts_document
        has_warned = has_warned or _warn_of_words(sentence.words, _best_tags(sentence), text)
        if text.untagged:
            known = sentence.columns.get(CHECKED_COLUMN, sentence.words)  # nothing is known of what nobody has checked
            tagged = {
                kind: [value or (text.untagged if seen else "") for value, seen in zip(values, known)]
                for kind, values in _gold_columns(sentence).items()
                if kind != "pos" or text.untagged in PARTS_OF_SPEECH  # components refuse others among gold
            }
            sentence = replace(sentence, columns={**sentence.columns, **tagged})
        for segment in _cut(sentence, text):
            kept = _remove(segment, text, removed) if text.punctuation == "removed" else _keep(segment, text, input)
            if kept.words:
                yield replace(kept, starts_document=starts_document)
                starts_document = False


def prepare_gold(doc: Doc, text: HistoricalText) -> None:
    """Make of the gold of a Doc what the settings ask for: words without a tag get one, punctuation that is not scored
    loses it. Tokens and segments stay, and so does a Doc that a reader has prepared.
    """
    if read_value(doc, TEXT_SETTINGS) is not None:
        return
    rows, pos_rows = read_gold_tags(doc), read_gold_tags(doc, GOLD_POS)
    has_sets = {name: any(stored_values(doc, name)) for name in (GOLD_TAGS, GOLD_POS)}
    _warn_of_words([token.text for token in doc], [best_tag(row) or token.tag_ for row, token in zip(rows, doc)], text)
    checked = stored_values(doc, CHECKED)
    has_marks, is_of_pos = CHECKED in stored_names(doc), has_sets[GOLD_POS] and not has_sets[GOLD_TAGS]
    for token, row, pos_row, seen in zip(doc, rows, pos_rows, checked):
        untagged = text.untagged if seen or not has_marks else ""
        tag, pos = best_tag(row) or token.tag_, best_tag(pos_row) or token.pos_
        if is_of_pos and not pos and untagged in PARTS_OF_SPEECH:  # components refuse others among gold
            pos = token.pos_ = untagged
            pos_row[pos] = 1.0
        elif not is_of_pos:
            tag = tag or untagged
        if text.punctuation != "gold" and any(_is_punctuation(token.text, one, text) for one in (tag, pos)):
            tag = token.pos_ = ""
            row.clear()
            pos_row.clear()
        elif not row and tag:
            row[tag] = 1.0
        token.tag_ = tag
    for name, weights in ((GOLD_TAGS, rows), (GOLD_POS, pos_rows)):
        if has_sets[name]:
            register_gold_tags(name)
            write_values(doc, name, [row or None for row in weights])


def _warn_of_words(words: list[str], tags: list[str], text: HistoricalText) -> bool:
    """Warn where a sign with a tag, such as "&", goes with punctuation, which its form alone tells; return whether."""
    if text.punctuation_tags or (text.punctuation == "gold" and not text.cut_at_punctuation):
        return False
    for word, tag in zip(words, tags):
        if word in WORD_SIGNS and tag:
            warnings.warn(CorpusWarnings.CRFW497.format(word=word, tag=tag), CRFWarning, stacklevel=3)
            return True
    return False


def _gold_columns(sentence: Sentence) -> dict[str, list[str]]:
    """The columns with the gold tags of tokens, or with the gold of files about parts of speech."""
    if not {GOLD_COLUMN, GOLD_POS_COLUMN}.intersection(sentence.columns):  # rows about spans, whose tags are input
        return {}
    is_of_pos = GOLD_POS_COLUMN in sentence.columns and GOLD_COLUMN not in sentence.columns
    kinds = POS_KINDS if is_of_pos else GOLD_KINDS
    return {kind: sentence.columns[kind] for kind in kinds if kind in sentence.columns}


def _best_tags(sentence: Sentence) -> list[str]:
    """The best gold tag of each token, "" for none."""
    rows = zip(*_gold_columns(sentence).values())  # the best tag, and a cell with all of them, which may stand alone
    return [tag or best_tag(parse_tags(cell)) for tag, cell in rows] or [""] * len(sentence.words)


def _cut(sentence: Sentence, text: HistoricalText) -> Iterator[Sentence]:
    if not _gold_columns(sentence):  # rows of a review of spans, none of which is to be cut
        yield sentence
        return
    tags, low, last = _best_tags(sentence), 0, len(sentence.words) - 1
    for index, (word, tag) in enumerate(zip(sentence.words, tags)):
        if ends_segment(word, tag, text) or index == last:
            is_whole = low == 0 and index == last
            yield sentence if is_whole else take_tokens(sentence, range(low, index + 1))
            low = index + 1


def _remove(sentence: Sentence, text: HistoricalText, removed: list[str]) -> Sentence:
    """A segment without its punctuation. Signs that are left out go with the token before them, or the first one: how
    often they are punctuation says what they are to the trained model.

    removed (list[str]): signs that no token before has; those of a segment without tokens are added.
    """
    kept: list[int] = []
    beside: list[list[str]] = []
    for index, (word, is_mark) in enumerate(zip(sentence.words, _marks(sentence, text))):
        if not is_mark:
            kept.append(index)
            beside.append([] if beside else removed[:])
        elif has_signs_only(word):
            (beside[-1] if beside else removed).append(word)
    if kept:
        removed.clear()
    rest = take_tokens(sentence, kept)
    return replace(rest, columns={**rest.columns, REMOVED_COLUMN: list(map(" ".join, beside))})


def _keep(sentence: Sentence, text: HistoricalText, input: Collection[str]) -> Sentence:
    """A segment whose punctuation has gold, or is context, as the settings ask for."""
    if text.punctuation == "gold":
        return sentence
    gold, marks = _gold_columns(sentence), _marks(sentence, text)
    unscored = {
        kind: ["" if is_mark else value for value, is_mark in zip(values, marks)]
        for kind, values in sentence.columns.items()
        if kind in gold or (kind in (*GOLD_KINDS, *POS_KINDS) and kind not in input)
    }
    return replace(sentence, columns={**sentence.columns, **unscored})


def _marks(sentence: Sentence, text: HistoricalText) -> list[bool]:
    """Which tokens are punctuation."""
    return [_is_punctuation(word, tag, text) for word, tag in zip(sentence.words, _best_tags(sentence))]


def ends_segment(word: str, tag: str, text: HistoricalText) -> bool:
    """Whether a pseudo-sentence ends behind a token."""
    return tag in (text.cut_at_tags or ()) or (text.cut_at_punctuation and _is_punctuation(word, tag, text))


def _is_punctuation(word: str, tag: str, text: HistoricalText) -> bool:
    """Whether a token is punctuation, by its gold tag if `punctuation_tags` says which, else by its form."""
    return tag in text.punctuation_tags if text.punctuation_tags else has_signs_only(word)
