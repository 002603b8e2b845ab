"""python-crfsuite: the probability of every label at every token, from prepared item sequences."""

import pycrfsuite

from benchmarks.measure import Clock, Settings, read_settings, report
from benchmarks.peer import ENGINE, count_tokens, open_tagger, read_test
from benchmarks.summary import Numbers


def infer(settings: Settings) -> Numbers:
    """Ask for all marginals of the test sentences; the peer answers one label and token per call.

    settings (Settings): settings of the job.
    RETURNS (Numbers): tokens per second.
    """
    sentences = read_test(settings)
    prepared = [pycrfsuite.ItemSequence(settings.task.features(sentence)) for sentence in sentences]
    tagger = open_tagger(settings.model_path(ENGINE))
    labels = tagger.labels()
    with Clock() as clock:
        for sequence in prepared:
            tagger.set(sequence)
            for position in range(len(sequence)):
                for label in labels:
                    tagger.marginal(label, position)
    tokens = count_tokens(sentences)
    return {"tokens_per_second": tokens / clock.wall, "tokens_per_cpu_second": tokens / clock.cpu}


if __name__ == "__main__":
    report(infer(read_settings()))
