"""Fuzzing of all that reads what comes from outside.

    python -m tests.fuzz                                    # every parser, 10,000 inputs each
    python -m tests.fuzz --parser conllu --runs 1000000     # one of them
    python -m tests.fuzz --parser conllu --guided           # guided by coverage, with atheris (extra `fuzz`)

A parser may take an input or refuse it with a coded error. Everything else is a finding: another error, more than ten
seconds, more than two GiB. Findings are kept as files in a folder, one for each place that raises. What was found and
mended stays in `tests/fuzz/found`, which the tests read again, as they run some hundreds of inputs for each parser.
"""
