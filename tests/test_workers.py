"""Processes that search at once: the same translations in the same order, and no work lost without a word."""

import math
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dragoman.cli.program import explain
from dragoman.errors import ConfigError, ResourceError
from dragoman.machine.locks import lock_folder
from dragoman.machine.workers import Workers

linux = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is one process")


@linux
def test_results_come_in_order_from_several_processes() -> None:
    workers = Workers(lambda job: (time.sleep(0.02 * (job % 3)), job * job, os.getpid()), 3)
    for _ in range(2):
        results = workers.map(range(20))
        assert [square for _, square, _ in results] == [job * job for job in range(20)]
        assert len({process for *_, process in results} - {os.getpid()}) == 3


@linux
def test_several_threads_take_turns() -> None:
    workers = Workers(lambda job: (time.sleep(0.001), job * job), 2)
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(workers.map, [range(n, n + 5) for n in range(12)]))
    assert [[square for _, square in each] for each in found] == [[k * k for k in range(n, n + 5)] for n in range(12)]


@pytest.mark.parametrize("n_workers", [1, 2, 3])
def test_results_come_while_jobs_are_still_made(n_workers: int) -> None:
    made: list[int] = []

    def jobs() -> Iterator[int]:
        for job in range(10):
            made.append(job)
            yield job

    workers = Workers(lambda job: (time.sleep(0.01 * (job % 3)), job * job), n_workers)
    for number, (_, square) in enumerate(workers.imap(jobs())):
        assert square == number * number
        assert len(made) <= number + 1 + n_workers
    assert made == [*range(10)]
    assert [*workers.imap([])] == []
    assert [square for _, square in workers.map([4, 2, 3])] == [16, 4, 9]


@linux
def test_a_failure_among_results_ends_the_workers() -> None:
    workers = Workers(lambda job: os.getpid() if job < 8 else math.log(-1), 3)
    results = workers.imap(range(20))
    processes = {next(results) for _ in range(8)}
    assert len(processes) == 3
    with pytest.raises(ValueError, match="math domain"):
        next(results)
    assert have_ended([*processes])
    results = workers.imap(range(5))
    processes = {next(results), next(results)}
    results.close()
    assert have_ended([*processes])
    assert len(set(workers.imap(range(5)))) == 3


@linux
def test_a_call_between_the_results_of_another_is_refused() -> None:
    workers = Workers(lambda job: job * job, 2)
    results = workers.imap(range(6))
    assert next(results) == 0
    with pytest.raises(RuntimeError, match="jobs of another call"):
        workers.map([10, 20, 30])
    assert [*results] == [1, 4, 9, 16, 25]
    assert workers.map([10, 20]) == [100, 400]


@linux
def test_a_worker_has_no_workers() -> None:
    outer = Workers(lambda _: (os.getpid(), Workers(lambda __: os.getpid(), 3).map([1, 2, 3])), 2)
    for process, found in outer.map([1, 2, 3]):
        assert found == [process] * 3


@linux
def test_a_copy_of_the_process_has_workers_of_its_own() -> None:
    """A server that loads a model, and then divides."""
    workers = Workers(lambda job: (time.sleep(0.002), os.getpid(), job * job), 2)
    first = {process for _, process, _ in workers.map(range(8))}

    def found(start: int) -> tuple[set[int], list[int]]:
        results = [workers.map(range(start, start + 8)) for _ in range(5)]
        return {process for each in results for _, process, _ in each}, [n for each in results for *_, n in each]

    here, there = multiprocessing.Pipe()
    if not (copy := os.fork()):
        there.send(found(100))
        os._exit(0)
    ours, squares = found(0)
    theirs, other_squares = here.recv()
    os.waitpid(copy, 0)
    assert ours == first
    assert not theirs & first
    assert squares == [n * n for n in range(8)] * 5
    assert other_squares == [n * n for n in range(100, 108)] * 5


@linux
def test_a_process_that_may_have_none_works_itself() -> None:
    workers = Workers(lambda job: job * job, 2)
    process = multiprocessing.get_context("fork").Process(target=workers.map, args=([1, 2, 3],), daemon=True)
    process.start()
    process.join()
    assert process.exitcode == 0


@linux
def test_workers_do_not_hold_the_locks_of_their_process(tmp_path: Path) -> None:
    program = (
        "import os, signal, sys, time; from pathlib import Path\n"
        "from dragoman.machine.locks import lock_folder; from dragoman.machine.workers import Workers\n"
        "with lock_folder(Path(sys.argv[1])):\n"
        "    workers = Workers(time.sleep, 2)\n"
        "    workers.map([0, 0])  # both have started, and have closed what they inherited\n"
        "    next(workers.imap([0, 30, 0]))\n"
        "    os.kill(os.getpid(), signal.SIGKILL)"
    )
    command = [sys.executable, "-c", program, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.wait() == -signal.SIGKILL
        try:
            with lock_folder(tmp_path):  # while a worker still sleeps
                pass
        finally:
            os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.parametrize("n_workers", [1, 2])
def test_what_a_job_raises_is_raised(n_workers: int) -> None:
    def work(job: int) -> int:
        if job == 2:
            raise ConfigError("two", advice="three")
        return job

    with pytest.raises(ConfigError, match="two; three"):
        Workers(work, n_workers).map(range(4))


@linux
def test_a_killed_worker_is_noticed() -> None:
    workers = Workers(lambda job: os.kill(os.getpid(), signal.SIGKILL), 2)
    with pytest.raises(ResourceError, match="was killed; use fewer") as found:
        workers.map(range(6))
    assert explain(found.value)[0] == 5


@linux
def test_a_worker_that_was_killed_while_it_waited_is_told_of() -> None:
    workers = Workers(lambda job: (time.sleep(0.01), os.getpid()), 2)
    processes = {process for _, process in workers.map(range(6))}
    for process in processes:
        os.kill(process, signal.SIGKILL)
    assert have_ended([*processes])
    with pytest.raises(ResourceError, match="was killed") as found:
        workers.map(range(6))
    assert explain(found.value)[0] == 5


@linux
def test_after_a_failure_no_earlier_result_is_taken_for_a_later_one() -> None:
    """The other workers were still at their jobs when one failed."""

    def work(job: int) -> int:
        if job < 0:
            raise ConfigError("negative")
        time.sleep(0.01 * job)
        return job * job

    workers = Workers(work, 3)
    for _ in range(2):
        with pytest.raises(ConfigError, match="negative"):
            workers.map([9, -1, 8, 7, 6, 5])
        assert workers.map([1, 2, 3, 4]) == [1, 4, 9, 16]


@linux
def test_after_a_killed_worker_there_are_others() -> None:
    workers = Workers(lambda job: os.kill(os.getpid(), signal.SIGKILL) if job == 3 else job, 2)
    with pytest.raises(ResourceError, match="was killed"):
        workers.map(range(6))
    assert workers.map([1, 2]) == [1, 2]


def is_running(process: int) -> bool:
    """Return True if a process exists and has not ended."""
    status = Path(f"/proc/{process}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] not in "ZX"


def have_ended(processes: list[int]) -> bool:
    """Return True if all of them end within seconds."""
    deadline = time.monotonic() + 10
    while any(map(is_running, processes)) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not any(map(is_running, processes))


@linux
def test_workers_end_after_a_failure() -> None:
    workers = Workers(lambda job: os.getpid() if job < 99 else math.log(-1), 3)
    first = set(workers.map(range(20)))
    with pytest.raises(ValueError, match="math domain"):
        workers.map([1, 99])
    assert have_ended([*first])


@linux
def test_workers_end_with_those_they_work_for() -> None:
    workers = Workers(lambda job: os.getpid(), 3)
    processes = set(workers.map(range(20)))
    assert all(map(is_running, processes))
    del workers
    assert have_ended([*processes])


@linux
def test_workers_end_with_the_process_that_started_them() -> None:
    program = (
        "import os, signal; from dragoman.machine.workers import Workers\n"
        "print(*Workers(lambda job: os.getpid(), 2).map(range(20)), flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    processes = [*set(map(int, done.stdout.split()))]
    assert len(processes) == 2
    assert done.returncode == -signal.SIGKILL
    assert have_ended(processes)


@pytest.mark.parametrize("n_workers", [0, -1])
def test_no_workers_are_refused(n_workers: int) -> None:
    with pytest.raises(ConfigError, match=f"{n_workers} workers; use at least 1"):
        Workers(print, n_workers)


def test_one_job_and_one_worker_need_no_other_process() -> None:
    assert Workers(lambda job: os.getpid(), 4).map([1]) == [os.getpid()]
    assert Workers(lambda job: os.getpid(), 1).map([1, 2]) == [os.getpid()] * 2
    assert Workers(lambda job: job, 4).map([]) == []


@linux
def test_work_apart_is_done_by_another_process_however_little() -> None:
    workers = Workers(lambda job: os.getpid(), 1, is_apart=True)
    (process,) = workers.map([1])
    assert process != os.getpid()
    assert [*workers.imap([1, 2])] == workers.map([1, 2]) == [process] * 2


@linux
def test_a_worker_keeps_no_connection_of_a_client_open() -> None:
    """A server's client sees the end of its answer when the server closes the connection, whoever was copied since."""
    ours, client = socket.socketpair()
    workers = Workers(lambda job: job, 2)
    assert workers.map([1, 2]) == [1, 2]
    ours.close()
    client.settimeout(10)
    assert client.recv(1) == b""
    assert workers.map([1, 2]) == [1, 2]
    client.close()
