"""spacy_crf: the probability of every label at every token, in double precision, from feature keys."""

import numpy as np
from spacy.tokens import Doc

from benchmarks.measure import Clock, Settings, read_settings, report
from benchmarks.ours import NAME, load, make_docs, read
from benchmarks.ours_prepared import prepare
from benchmarks.summary import Numbers
from spacy_crf.core.chain.forward import forward_backward
from spacy_crf.core.chain.marginals import node_marginals
from spacy_crf.core.threads import run_parallel

EXTENSION = "crf_marginals"


def infer(settings: Settings) -> Numbers:
    """All marginals of the test sentences: from feature keys, and from Docs by the component.

    settings (Settings): settings of the job.
    RETURNS (Numbers): tokens per second.
    """
    prepared = prepare(settings)

    def marginals() -> None:
        run_parallel(lambda part: node_marginals(forward_backward(part().astype(np.float64))), prepared.parts, 0)

    marginals()
    with Clock() as clock:
        marginals()
    return {
        "tokens_per_second": prepared.n_tokens / clock.wall,
        "tokens_per_cpu_second": prepared.n_tokens / clock.cpu,
        "from_docs_tokens_per_second": prepared.n_tokens / _from_docs(settings),
    }


def _from_docs(settings: Settings) -> float:
    """Seconds of the component with stored marginals, after one run to fill its caches."""
    nlp = load(settings)
    Doc.set_extension(EXTENSION, default=None)
    nlp.get_pipe(NAME).cfg["marginals"] = EXTENSION
    sentences = read(settings, "test")
    list(nlp.pipe(make_docs(nlp, sentences)))
    docs = make_docs(nlp, sentences)
    with Clock() as clock:
        list(nlp.pipe(docs, batch_size=1000))
    return clock.wall


if __name__ == "__main__":
    report(infer(read_settings()))
