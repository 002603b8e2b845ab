"""A tagged document as a page to read: words with more than one tag stand out, probabilities appear on hover.

The page is one file without scripts, fonts or other resources from elsewhere, so that it can be kept with the text.
"""

from collections.abc import Iterator, Mapping, Sequence
from html import escape

from spacy.tokens import Doc, Token

MOST_SHOWN = 4  # tags under a word; the others are counted
LEAST = 0.005  # smaller probabilities are not listed
STYLE = """
body { font: 1.05rem/2.6 Georgia, serif; color: #222; background: #fdfdfb; max-width: 46rem; margin: 2rem auto;
       padding: 0 1rem; }
h1 { font-size: 1.2rem; line-height: 1.4; }
p.key { font: 0.8rem/1.5 sans-serif; color: #555; border-bottom: 1px solid #ddd; padding-bottom: 0.7rem; }
p { margin: 0 0 0.4rem; }
ruby { ruby-position: under; cursor: help; margin: 0 0.08em; }
rt { font: 0.58rem/1.1 sans-serif; color: #888; padding: 0 0.35em; }
.open { background: #ffe9a8; border-radius: 3px; box-shadow: 0 0 0 2px #ffe9a8; }
.wide { background: #ffc9a0; box-shadow: 0 0 0 2px #ffc9a0; }
.open rt { color: #7a4a00; font-weight: 600; }
"""


def render_page(
    doc: Doc, tag_set: str = "tag_set", tag_probs: str = "tag_probs", title: str | None = None
) -> Iterator[str]:
    """Yield the lines of an HTML page of a Doc tagged with sets; without a title, its first words stand there."""
    heading = escape(title or " ".join(token.text for token in doc[:8]))
    sets = [token._.get(tag_set) or [] for token in doc]
    n_open = sum(len(tags) > 1 for tags in sets)
    yield "<!DOCTYPE html>"
    yield '<html><head><meta charset="utf-8">'
    yield f"<title>{heading}</title><style>{STYLE}</style></head><body>"
    yield f"<h1>{heading}</h1>"
    share = f"{100 * n_open / len(doc):.0f} %" if len(doc) else "none"
    yield (
        f'<p class="key">{len(doc):,} words; <span class="open">{n_open:,} with more than one tag</span> ({share}), '
        '<span class="open wide">three or more</span>. Hold the pointer over a word for the probabilities.</p>'
    )
    for sentence in doc.sents if doc.has_annotation("SENT_START") else ([doc[:]] if len(doc) else []):
        words = [
            _word(token, sets[token.i], token._.get(tag_probs) or {}) + escape(token.whitespace_ or "")
            for token in sentence
        ]
        yield f"<p>{' '.join(words) if not any(t.whitespace_ for t in sentence) else ''.join(words)}</p>"
    yield "</body></html>"


def _word(token: Token, tags: Sequence[str], probabilities: Mapping[str, float]) -> str:
    kind = "" if len(tags) < 2 else ' class="open"' if len(tags) == 2 else ' class="open wide"'
    shown = " ".join(tags[:MOST_SHOWN]) + (f" +{len(tags) - MOST_SHOWN}" if len(tags) > MOST_SHOWN else "")
    listed = sorted(probabilities.items(), key=lambda pair: -pair[1])
    hint = ", ".join(f"{tag} {value:.2f}" for tag, value in listed if value >= LEAST)
    below = escape(shown or token.tag_)
    return f'<ruby{kind} title="{escape(hint, quote=True)}">{escape(token.text)}<rt>{below}</rt></ruby>'
