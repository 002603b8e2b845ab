"""The tokenizer that goes with tagged references: a token is a run of letters and digits, or one other character."""

import re
from collections.abc import Callable

from spacy.language import Language
from spacy.tokenizer import Tokenizer
from spacy.util import registry

MARK = re.compile(r"[^\w\s]|_")
TOKEN = re.compile(rf"[^\W_]+|{MARK.pattern}")


@registry.tokenizers("spacy_crf.ReferenceTokenizer.v1")
def make_reference_tokenizer() -> Callable[[Language], Tokenizer]:
    """A tokenizer for pipelines that label references, [nlp.tokenizer] in a config.

    It makes the tokens that the reader of tagged references makes, apart from those of white space, which it has only
    where the text has more than a space between two words.

    RETURNS (Callable): makes the tokenizer for a pipeline.
    """
    return _make_tokenizer


def _make_tokenizer(nlp: Language) -> Tokenizer:
    prefix, suffix = re.compile(rf"^(?:{MARK.pattern})"), re.compile(rf"(?:{MARK.pattern})$")
    return Tokenizer(nlp.vocab, prefix_search=prefix.search, suffix_search=suffix.search, infix_finditer=MARK.finditer)
