"""A description of the machine and of the software that took part in a run."""

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TypedDict

PACKAGES = ("spacy_crf", "numpy", "scipy", "spacy", "python-crfsuite")


class Machine(TypedDict):
    """Machine, software and moment of a run; `load_at_start` tells how busy others kept it."""

    date: str
    cpu: str
    cores: int
    memory_gib: float
    system: str
    load_at_start: float
    versions: dict[str, str]


def describe() -> Machine:
    """Describe the machine.

    RETURNS (Machine): the description, at this moment.
    """
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "cpu": _cpu_model(),
        "cores": _usable_cores(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "load_at_start": round(os.getloadavg()[0], 2),
        "versions": {"python": platform.python_version(), **_package_versions()},
    }


def _cpu_model() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf8").splitlines() if info.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or "unknown"


def _usable_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _package_versions() -> dict[str, str]:
    versions = {}
    # Looked up, not imported: Linux counts the memory of the starting process into the peak of a job.
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = "not installed"
    return versions
