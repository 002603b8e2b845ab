"""How many threads this process may use, and running work on them without oversubscribing BLAS."""

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

Work = TypeVar("Work")
Result = TypeVar("Result")

CGROUP_V2 = Path("/sys/fs/cgroup/cpu.max")
CGROUP_V1 = Path("/sys/fs/cgroup/cpu")


def available_threads() -> int:
    """CPUs that this process may use, at least 1: its affinity, cut to its cgroup's quota; 1 in worker processes."""
    if multiprocessing.parent_process() is not None:
        return 1  # one of the `n_process` workers: the others have the remaining CPUs
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = _cgroup_quota()
    return cpus if quota is None else max(1, min(cpus, int(quota)))


def _cgroup_quota() -> float | None:
    """CPUs that the control group grants, None where it does not say."""
    try:
        quota, period = CGROUP_V2.read_text().split()
    except (OSError, ValueError):
        try:
            quota, period = ((CGROUP_V1 / f"cpu.cfs_{name}_us").read_text().strip() for name in ("quota", "period"))
        except OSError:
            return None
    return None if quota == "max" or int(quota) <= 0 else int(quota) / int(period)


class _Blas:
    """The limit of BLAS threads in this process, and how many hold it."""

    lock = Lock()
    holders = 0
    controller: Any = None  # finding the libraries takes milliseconds: once a process
    limit: Any = None


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Keep BLAS to one thread: our blocks are the unit of parallel work, and sums must not depend on threads.

    The first holder sets the limit, the last one lifts it.
    """
    from threadpoolctl import ThreadpoolController

    with _Blas.lock:
        _Blas.controller = _Blas.controller or ThreadpoolController()
        if not _Blas.holders:
            _Blas.limit = _Blas.controller.limit(limits=1, user_api="blas")
        _Blas.holders += 1
    try:
        yield
    finally:
        with _Blas.lock:
            _Blas.holders -= 1
            if not _Blas.holders:
                _Blas.limit.restore_original_limits()


def run_parallel(function: Callable[[Work], Result], work: Sequence[Work], n_threads: int) -> list[Result]:
    """Apply a function to pieces of work, in their order, on threads where that helps; 0 for all available ones."""
    n_threads = min(n_threads or available_threads(), len(work))
    with single_threaded_blas():
        if n_threads <= 1:
            return [function(piece) for piece in work]
        with ThreadPoolExecutor(n_threads) as pool:
            return list(pool.map(function, work))
