"""The command: see the page of this package."""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HEAD = "| parser | inputs | refused | seconds | slowest | findings |\n|---|---:|---:|---:|---:|---:|"


def main() -> int:
    """Fuzz each parser in a process of its own, and print the table."""
    arguments = read_arguments()
    if arguments.alone:
        return run_alone(arguments)
    from .targets import TARGETS

    names, failed = arguments.parser or list(TARGETS), 0
    print(HEAD, flush=True)
    for name in names:
        command = [sys.executable, "-m", __package__, *sys.argv[1:], "--alone", name]
        log = subprocess.DEVNULL if arguments.guided else None  # of libFuzzer
        failed += subprocess.run(command, check=False, stderr=log).returncode != 0
    return int(failed > 0)


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog=f"python -m {__package__}", description="Fuzz parsers and loaders.")
    parser.add_argument("--parser", action="append", help="Which; all of them without")
    parser.add_argument("--runs", type=int, default=10_000, help="Inputs of each")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="Seconds for each, at most")
    parser.add_argument("--seed", type=int, default=0, help="Of the random changes")
    parser.add_argument("--guided", action="store_true", help="Let coverage guide the changes (atheris)")
    parser.add_argument("--findings", type=Path, default=Path("fuzz-findings"), help="Folder for what is found")
    parser.add_argument("--alone", help=argparse.SUPPRESS)
    return parser.parse_args()


def run_alone(arguments: argparse.Namespace) -> int:
    """Fuzz one parser in this process."""
    name = arguments.alone
    if arguments.guided:
        return run_guided(name, arguments)
    from .runner import fuzz, limit_memory, random_inputs
    from .targets import TARGETS

    seeds = list(TARGETS[name].seeds())
    limit_memory()
    report = fuzz(name, TARGETS[name], random_inputs(seeds, arguments.seed), arguments.runs, arguments.seconds)
    return tell(report, arguments.findings)


def run_guided(name: str, arguments: argparse.Namespace) -> int:
    """Let atheris make the inputs: it keeps those that reach new lines of the library. It ends the process itself."""
    import atheris

    with atheris.instrument_imports(include=["spacy_crf"]):
        import spacy_crf  # noqa: F401

        from .targets import TARGETS
    from .mutate import LONGEST, TOKENS
    from .runner import IN_MEMORY, MOST_BYTES, Runner

    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as folder:
        where = Path(folder)
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
            if runner.report.inputs >= arguments.runs or runner.report.seconds > arguments.seconds:
                code = tell(runner.report, arguments.findings)
                os._exit(code)  # atheris does not come back

        atheris.Setup([sys.argv[0], *options], run)
        atheris.Fuzz()
    return 0


def tell(report: "Report", findings: Path) -> int:  # type: ignore[name-defined]  # noqa: F821
    """Print the row of a parser and save what was found."""
    print(report.row(), flush=True)
    for place, (message, _) in report.findings.items():
        print(f"    {place}: {message}", flush=True)
    report.save(findings)
    return int(bool(report.findings))


if __name__ == "__main__":
    os.environ.setdefault("PYTHONHASHSEED", "0")
    sys.exit(main())
