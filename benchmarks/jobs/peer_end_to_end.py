"""python-crfsuite: from words to labels, features made in Python."""

from benchmarks.measure import Clock, Settings, read_settings, report
from benchmarks.peer import ENGINE, count_tokens, open_tagger, read_test
from benchmarks.summary import Numbers


def label(settings: Settings) -> Numbers:
    """Make features and tag, sentence by sentence.

    settings (Settings): settings of the job.
    RETURNS (Numbers): tokens per second.
    """
    sentences = read_test(settings)
    tagger = open_tagger(settings.model_path(ENGINE))
    with Clock() as clock:
        for sentence in sentences:
            tagger.tag(settings.task.features(sentence))
    tokens = count_tokens(sentences)
    return {"tokens_per_second": tokens / clock.wall, "tokens_per_cpu_second": tokens / clock.cpu}


if __name__ == "__main__":
    report(label(read_settings()))
