"""Messages of trainers (2xx)."""


class LearningErrors:
    CRF201 = (
        "Training diverged in iteration {iteration}: the objective is {value}. Look for feature values that are "
        "very large or not finite, or give a larger c2."
    )
    CRF202 = (
        "L-BFGS needs the same examples in every step, but this step has others. Either use the batcher "
        "spacy_crf.full_batch.v1 (in your own loop: pass all examples to each nlp.update), or the trainer "
        "spacy_crf.Minibatch.v1."
    )
    CRF203 = (
        "The same example came twice within one step of L-BFGS. Remove the duplicate, or call finish_update "
        "(nlp.update with an optimizer) after each pass over the examples."
    )
    CRF204 = "The training setting {name} is {value}; it must be {expected}."
    CRF206 = (
        "'{name}' has a tok2vec layer, which {trainer} cannot train: it wants gradients batch by batch. Use the "
        "trainer spacy_crf.AdaGrad.v1 or spacy_crf.Minibatch.v1, or take tok2vec out of the component's model block."
    )
