"""How many threads, and work on them."""

import multiprocessing
import os
import threading
import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from spacy_crf.core import threads


@pytest.fixture(autouse=True)
def eight_cpus_without_quota(monkeypatch, tmp_path):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(8)), raising=False)
    monkeypatch.setattr(threads, "CGROUP_V2", tmp_path / "cpu.max")
    monkeypatch.setattr(threads, "CGROUP_V1", tmp_path)


def test_affinity_counts():
    assert threads.available_threads() == 8


def test_all_cpus_where_the_system_knows_no_affinity(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 5)
    assert threads.available_threads() == 5


@pytest.mark.parametrize(
    "text,expected", [("max 100000", 8), ("300000 100000", 3), ("250000 100000", 2), ("50000 100000", 1), ("", 8)]
)
def test_quota_of_a_second_version_group(text, expected):
    threads.CGROUP_V2.write_text(text)
    assert threads.available_threads() == expected


@pytest.mark.parametrize("quota,expected", [("-1", 8), ("400000", 4), ("1600000", 8), ("1000", 1)])
def test_quota_of_a_first_version_group(quota, expected):
    (threads.CGROUP_V1 / "cpu.cfs_quota_us").write_text(quota + "\n")
    (threads.CGROUP_V1 / "cpu.cfs_period_us").write_text("100000\n")
    assert threads.available_threads() == expected


def test_a_worker_process_takes_one_thread():
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert pool.submit(threads.available_threads).result() == 1


@pytest.mark.parametrize("n_threads", [0, 1, 3, 20])
def test_results_keep_the_order_of_the_work(n_threads):
    def slow_first(piece: int) -> int:
        time.sleep(0.02 if piece == 0 else 0)
        return piece * piece

    assert threads.run_parallel(slow_first, range(6), n_threads) == [0, 1, 4, 9, 16, 25]
    assert threads.run_parallel(slow_first, [], n_threads) == []


def test_work_runs_on_as_many_threads_as_asked_for():
    together = threading.Barrier(3, timeout=10)
    assert len(set(threads.run_parallel(lambda piece: together.wait(), range(3), 3))) == 3
    here = threading.get_ident()
    assert threads.run_parallel(lambda piece: threading.get_ident(), range(3), 1) == [here] * 3


def test_errors_of_the_work_come_through():
    with pytest.raises(ZeroDivisionError):
        threads.run_parallel(lambda piece: 1 // piece, [1, 0], 2)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_blas_has_one_thread_inside_and_its_own_outside(n_threads):
    def blas_threads(_: int = 0) -> list[int]:
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    np.ones((2, 2)) @ np.ones((2, 2))
    before = blas_threads()
    assert all(set(inside) <= {1} for inside in threads.run_parallel(blas_threads, [0, 1], n_threads))
    assert blas_threads() == before


def test_nested_holders_lift_the_limit_together():
    def blas_threads():
        return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

    before = blas_threads()
    first, second = threads.single_threaded_blas(), threads.single_threaded_blas()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert set(blas_threads()) == {1}
    second.__exit__(None, None, None)
    assert blas_threads() == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing is forked here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_a_fork_waits_for_what_locks_guard():
    outer, guarded, holds = threads.ForkSafeLock(), [0, 0], threading.Event()
    inner = threads.ForkSafeLock()

    def change():
        with inner, outer:
            guarded[0] = 1
            holds.set()
            time.sleep(0.2)
            guarded[1] = 1

    other = threading.Thread(target=change)
    other.start()
    holds.wait()
    process = multiprocessing.get_context("fork").Process(target=look, args=(inner, outer, guarded))
    process.start()
    other.join()
    process.join(10)
    process.kill()
    assert process.exitcode == 0
    with inner, outer:
        assert guarded == [1, 1]


def look(inner, outer, guarded):
    with inner, outer:
        os._exit(guarded != [1, 1])
