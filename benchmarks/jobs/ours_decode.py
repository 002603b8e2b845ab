"""spacy_crf: decoding alone, from feature keys to labels, on all threads."""

from benchmarks.measure import Clock, Settings, read_settings, report
from benchmarks.ours_prepared import prepare
from benchmarks.summary import Numbers
from spacy_crf.core.chain.viterbi import viterbi
from spacy_crf.core.threads import run_parallel


def decode(settings: Settings) -> Numbers:
    """Look up the features and decode.

    settings (Settings): settings of the job.
    RETURNS (Numbers): tokens per second.
    """
    prepared = prepare(settings)
    run_parallel(lambda part: viterbi(part()), prepared.parts, 0)
    with Clock() as clock:
        run_parallel(lambda part: viterbi(part()), prepared.parts, 0)
    return {
        "tokens_per_second": prepared.n_tokens / clock.wall,
        "tokens_per_cpu_second": prepared.n_tokens / clock.cpu,
    }


if __name__ == "__main__":
    report(decode(read_settings()))
