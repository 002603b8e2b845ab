"""python-crfsuite: decoding alone, from prepared item sequences and from lists of attributes."""

import pycrfsuite

from benchmarks.measure import Clock, Settings, read_settings, report
from benchmarks.peer import ENGINE, count_tokens, open_tagger, read_test
from benchmarks.summary import Numbers


def decode(settings: Settings) -> Numbers:
    """Tag the test sentences from features made beforehand.

    settings (Settings): settings of the job.
    RETURNS (Numbers): tokens per second from item sequences, and from lists.
    """
    sentences = read_test(settings)
    tokens = count_tokens(sentences)
    lists = [settings.task.features(sentence) for sentence in sentences]
    prepared = [pycrfsuite.ItemSequence(items) for items in lists]
    tagger = open_tagger(settings.model_path(ENGINE))
    with Clock() as from_prepared:
        for sequence in prepared:
            tagger.set(sequence)
            tagger.tag()
    with Clock() as from_lists:
        for items in lists:
            tagger.tag(items)
    return {
        "tokens_per_second": tokens / from_prepared.wall,
        "tokens_per_cpu_second": tokens / from_prepared.cpu,
        "from_lists_tokens_per_second": tokens / from_lists.wall,
    }


if __name__ == "__main__":
    report(decode(read_settings()))
