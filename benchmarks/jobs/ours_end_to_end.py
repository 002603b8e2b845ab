"""spacy_crf: from pre-tokenized Docs to labels with nlp.pipe, loading not counted."""

from benchmarks.measure import Clock, Settings, read_settings, report
from benchmarks.ours import load, make_docs, read
from benchmarks.summary import Numbers


def label(settings: Settings) -> Numbers:
    """Tag the test Docs twice: cold, when every word form is new to the feature cache, and warm as in a long run.

    settings (Settings): settings of the job.
    RETURNS (Numbers): tokens per second.
    """
    nlp = load(settings)
    sentences = read(settings, "test")
    tokens = sum(len(sentence.words) for sentence in sentences)
    clocks = []
    for _ in range(2):
        docs = make_docs(nlp, sentences)
        with Clock() as clock:
            list(nlp.pipe(docs, batch_size=1000))
        clocks.append(clock)
    return {
        "cold_tokens_per_second": tokens / clocks[0].wall,
        "tokens_per_second": tokens / clocks[1].wall,
        "tokens_per_cpu_second": tokens / clocks[1].cpu,
    }


if __name__ == "__main__":
    report(label(read_settings()))
