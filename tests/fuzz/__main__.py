"""The command: see the page of this package."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

from .tally import Tally, read_tallies, table, write_tallies

PIECE_SECONDS = 120.0  # of one process: what is lost if it is killed; vocabularies and pools begin anew


def main() -> int:
    """Fuzz each target in processes of its own, and print the table."""
    arguments = read_arguments()
    if arguments.alone:
        return run_alone(arguments)
    from .targets import TARGETS

    names = arguments.target or list(TARGETS)
    tallies = read_tallies(arguments.out)
    if not arguments.table:
        with ThreadPoolExecutor(arguments.jobs) as threads:
            list(
                threads.map(lambda name: run_target(name, tallies.setdefault(name, Tally()), tallies, arguments), names)
            )
    print(table(tallies, names))
    return int(any(tallies[name].findings for name in names if name in tallies))


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog=f"python -m {__package__}", description="Fuzz parsers and loaders.")
    parser.add_argument("--target", action="append", help="Which; all of them without")
    parser.add_argument("--runs", type=int, default=10_000, help="Inputs of each")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="Seconds for each, at most")
    parser.add_argument("--seed", type=int, default=0, help="Of the random changes")
    parser.add_argument("--jobs", type=int, default=1, help="Targets at the same time")
    parser.add_argument("--guided", action="store_true", help="Let coverage guide the changes (atheris)")
    parser.add_argument("--findings", type=Path, default=Path("fuzz-findings"), help="Folder for what is found")
    parser.add_argument("--out", type=Path, help="File that adds up what was run; what it has is not run again")
    parser.add_argument("--table", action="store_true", help="Print the table of the file and run nothing")
    parser.add_argument("--alone", help=argparse.SUPPRESS)
    return parser.parse_args()


def run_target(name: str, tally: Tally, tallies: dict[str, Tally], arguments: argparse.Namespace) -> None:
    """Run a target piece by piece until it has had its inputs or its time, and write down each piece."""
    end = time.monotonic() + arguments.seconds
    while tally.inputs < arguments.runs and (left := end - time.monotonic()) > 0:
        piece = run_piece(name, tally, min(left, PIECE_SECONDS), arguments)
        tally.add(piece)
        if arguments.out:
            write_tallies(arguments.out, tallies)
        if not piece.inputs:
            break


def run_piece(name: str, done: Tally, seconds: float, arguments: argparse.Namespace) -> Tally:
    """Run some inputs of a target in a process of its own; one that dies is a finding."""
    options = {
        "--alone": name,
        "--runs": arguments.runs - done.inputs,
        "--seconds": seconds,
        "--seed": arguments.seed + done.pieces,
        "--findings": arguments.findings,
    }
    command = [sys.executable, "-m", __package__, *(str(part) for option in options.items() for part in option)]
    log = subprocess.DEVNULL if arguments.guided else None  # of libFuzzer
    command += ["--guided"] * arguments.guided
    ended = subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=log, env=ENVIRONMENT)
    try:
        return Tally(**json.loads(ended.stdout))
    except ValueError:
        print(f"{name}: the process of seed {options['--seed']} ended with {ended.returncode}", file=sys.stderr)
        return Tally(pieces=1, findings=1)


ENVIRONMENT = {**os.environ, "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def run_alone(arguments: argparse.Namespace) -> int:
    """Fuzz one target in this process."""
    name = arguments.alone
    if arguments.guided:
        return run_guided(name, arguments)
    from .mutate import Inputs
    from .runner import fuzz, limit_memory
    from .targets import TARGETS

    seeds = list(TARGETS[name].seeds())
    limit_memory()
    tell(
        fuzz(name, TARGETS[name], Inputs(seeds, arguments.seed), arguments.runs, arguments.seconds), arguments.findings
    )
    return 0


def run_guided(name: str, arguments: argparse.Namespace) -> int:
    """Let atheris make the inputs: it keeps those that reach new lines of the library. It ends the process itself."""
    import atheris

    with atheris.instrument_imports(include=["spacy_crf"]):
        import spacy_crf  # noqa: F401

        from .targets import TARGETS
    from .mutate import LONGEST, TOKENS
    from .runner import IN_MEMORY, MOST_BYTES, Runner

    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as folder:
        where, end = Path(folder), time.monotonic() + arguments.seconds
        (where / "corpus").mkdir()
        for number, seed in enumerate(TARGETS[name].seeds()):
            (where / "corpus" / str(number)).write_bytes(seed)
        words = ("".join(f"\\x{byte:02x}" for byte in token) for token in TOKENS if 0 < len(token) < 64)
        (where / "words").write_text("\n".join(f'"{word}"' for word in words), encoding="ascii")
        runner = Runner(name, TARGETS[name], where)
        options = [f"-rss_limit_mb={MOST_BYTES >> 20}", "-timeout=60", f"-max_len={LONGEST}", "-verbosity=0"]
        options += [f"-dict={where / 'words'}", f"-seed={arguments.seed + 1}", str(where / "corpus")]

        def run(data: bytes) -> None:
            runner.run(data)
            if runner.report.inputs >= arguments.runs or time.monotonic() > end:
                tell(runner.report, arguments.findings)
                os._exit(0)  # atheris does not come back

        atheris.Setup([sys.argv[0], *options], run)
        with runner.watching():
            atheris.Fuzz()
    return 0


def tell(report: "Report", findings: Path) -> None:  # type: ignore[name-defined]  # noqa: F821
    """Save what was found, and print the counts for the process that adds them up."""
    for place, (message, _) in report.findings.items():
        print(f"{report.name}: {place}: {message}", file=sys.stderr)
    report.save(findings)
    tally = Tally(1, report.inputs, report.refused, len(report.findings), time.process_time(), report.slowest)
    print(json.dumps(asdict(tally)), flush=True)


if __name__ == "__main__":
    sys.exit(main())
