"""How many threads this process may use, running work on them without oversubscribing BLAS, and locks for them."""

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar, TypeVar
from weakref import WeakValueDictionary

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


class ForkSafeLock:
    """A lock that is free in a forked process, where what it guards is whole: a fork waits until nobody holds it.

    A plain lock that another thread holds in that moment stays locked in the new process for ever. Whoever holds one
    may wait for older ones only, and may not fork.
    """

    _alive: ClassVar["WeakValueDictionary[int, ForkSafeLock]"] = WeakValueDictionary()  # by age
    _ages = count()
    _held: ClassVar["list[ForkSafeLock]"] = []  # for a fork

    def __init__(self) -> None:
        self._lock = Lock()
        self._alive[next(self._ages)] = self

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    @classmethod
    def acquire_all(cls) -> None:
        """Wait for all locks, the youngest first."""
        locks = [lock for _, lock in sorted(cls._alive.items(), reverse=True)]
        for lock in locks:
            lock._lock.acquire()
        cls._held = locks

    @classmethod
    def release_all(cls) -> None:
        """Release what `acquire_all` took."""
        held, cls._held = cls._held, []
        for lock in held:
            lock._lock.release()


if hasattr(os, "register_at_fork"):
    _after = ForkSafeLock.release_all
    os.register_at_fork(before=ForkSafeLock.acquire_all, after_in_parent=_after, after_in_child=_after)


class _Blas:
    """The limit of BLAS threads in this process, and how many hold it."""

    lock = ForkSafeLock()
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
