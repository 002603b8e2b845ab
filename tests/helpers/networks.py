"""Networks for models with a tok2vec layer, and an ordinary training loop."""

import random
from typing import Any

from spacy.language import Language
from spacy.training import Example
from thinc.api import Adam

WIDTH = 8
CNN = {
    "@architectures": "spacy.HashEmbedCNN.v2",
    "width": WIDTH,
    "depth": 1,
    "embed_size": 50,
    "window_size": 1,
    "maxout_pieces": 2,
    "subword_features": True,
    "pretrained_vectors": None,
}


def model(tok2vec: dict[str, Any] = CNN) -> dict[str, Any]:
    return {"@architectures": "spacy_crf.LinearChain.v1", "tok2vec": tok2vec}


def learn(nlp: Language, examples: list[Example], epochs: int = 25, **update: Any) -> dict[str, float]:
    """An ordinary shuffled loop; the losses of the last epoch."""
    shuffler, optimizer = random.Random(0), Adam(0.02)
    losses: dict[str, float] = {}
    for _ in range(epochs):
        losses = {}
        order = shuffler.sample(examples, len(examples))
        for low in range(0, len(order), 5):
            nlp.update(order[low : low + 5], sgd=optimizer, losses=losses, **update)
    return losses
