"""Fuzzing of all that reads what comes from outside.

    python -m tests.fuzz                                             # every target, 10,000 inputs each
    python -m tests.fuzz --target conllu --runs 1000000              # one of them
    python -m tests.fuzz --runs 1000000 --jobs 2 --out fuzz.json     # in pieces: what was run is not run again
    python -m tests.fuzz --out fuzz.json --table                     # the table of all that was run
    python -m tests.fuzz --target conllu --guided                    # guided by coverage, with atheris (extra `fuzz`)

A target may take an input or refuse it with a coded error. Everything else is a finding: another error, more than ten
seconds of the processor, more than two GiB. Findings are kept as files in a folder, one for each place that raises.
What was found and mended stays in `tests/fuzz/found`, which the tests read again, as they run some hundreds of inputs
for each target.
"""
