"""Processes that are ended when a call takes too much, and turns of clients for them."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import threading
import time
from pathlib import Path

import pytest

from dragoman.documents.table_columns import UnnamedColumnsError
from dragoman.errors import DataError, DeadlineError, DragomanError, ResourceError
from dragoman.machine.forks import can_fork
from dragoman.machine.limited_process import LimitedProcess
from dragoman.translator import StopCondition

pytestmark = pytest.mark.skipif(not can_fork(), reason="only Linux copies processes safely")


_KEPT: list[bytearray] = []


def work(job: object) -> object:
    """Do what a job says."""
    match job:
        case "spin":
            while True:
                pass
        case "pattern":  # one call into C, which holds the interpreter, as no thread could end it
            return re.match("(a+)+b", "a" * 60)
        case "sleep":
            time.sleep(60)
        case "ram":
            return len(bytearray(2**30))
        case "grow":
            return _KEPT.append(bytearray(2**27))
        case "die":
            os.kill(os.getpid(), signal.SIGKILL)
        case "wrong":
            raise DataError("wrong", "file", line=3, advice="mend it")
        case "columns":
            raise UnnamedColumnsError(Path("a.csv"), ["a", "b"], ["b"])
    return os.getpid(), job


@pytest.fixture
def process() -> LimitedProcess[object, object]:
    return LimitedProcess(work)


@pytest.mark.parametrize("job", ["spin", "pattern", "sleep"])
def test_a_call_that_takes_too_long_is_ended(process: LimitedProcess[object, object], job: str) -> None:
    start = time.monotonic()
    with pytest.raises(DeadlineError, match="too long to prepare"):
        process.call(job, 0.3)
    assert time.monotonic() - start < 20
    assert process.call(1, 20)[1] == 1  # type: ignore[index]


def test_a_call_that_nobody_wants_is_ended(process: LimitedProcess[object, object]) -> None:
    with pytest.raises(DeadlineError):
        process.call("spin", 60, lambda: False)


def test_a_call_that_takes_too_much_ram_is_the_clients_error(process: LimitedProcess[object, object]) -> None:
    with pytest.raises(DataError, match="too much RAM"):
        process.call("ram", 20)
    assert process.call(1, 20)[1] == 1  # type: ignore[index]


def test_a_process_that_grew_is_replaced_and_others_are_kept(process: LimitedProcess[object, object]) -> None:
    first = process.call(1, 20)
    assert process.call(1, 20) == first
    process.call("grow", 20)
    assert process.call(1, 20) != first


def test_a_killed_process_fails_one_call(process: LimitedProcess[object, object]) -> None:
    with pytest.raises(ResourceError, match="killed"):
        process.call("die", 20)
    assert process.call(1, 20)[1] == 1  # type: ignore[index]


def test_errors_come_back_as_they_are(process: LimitedProcess[object, object]) -> None:
    for job in ("wrong", "columns"):
        with pytest.raises(DragomanError) as here:
            work(job)
        with pytest.raises(type(here.value)) as there:
            process.call(job, 20)
        assert there.value.message == here.value.message
    assert isinstance(there.value, UnnamedColumnsError)
    assert "columns=b" in there.value.for_form().message


def test_a_call_ends_when_the_process_is_killed_by_another_thread(process: LimitedProcess[object, object]) -> None:
    process.start()
    threading.Timer(0.3, process.kill).start()
    with pytest.raises(ResourceError, match="killed"):
        process.call("spin", 60)


# ------------------------------------------------------------------------------------------------ turns


def record(shared: list[str], name: str, seconds: float) -> str:
    time.sleep(seconds)
    return name


def test_the_client_with_the_fewest_running_calls_is_next() -> None:
    from dragoman.server.helpers import CLIENT, Helpers

    helpers: Helpers[list[str]] = Helpers(2, 20, [])
    order: list[str] = []

    async def ask(client: str) -> None:
        CLIENT.set(client)
        order.append(await helpers.call(record, client, 0.1, stop=StopCondition.after(20)))

    async def ask_all() -> None:
        many = [asyncio.create_task(ask("many")) for _ in range(10)]
        await asyncio.sleep(0)
        await asyncio.gather(*many, asyncio.create_task(ask("one")))

    asyncio.run(ask_all())
    helpers.close()
    assert len(order) == 11
    assert order.index("one") < 5


def test_who_waits_too_long_or_goes_away_leaves_no_trace() -> None:
    from dragoman.server.helpers import Helpers

    helpers: Helpers[list[str]] = Helpers(1, 20, [])

    async def ask_all() -> None:
        running = asyncio.create_task(helpers.call(record, "a", 0.5, stop=StopCondition.after(20)))
        await asyncio.sleep(0.05)
        with pytest.raises(DeadlineError):
            await helpers.call(record, "b", 0, stop=StopCondition.after(0.05))
        gone = asyncio.create_task(helpers.call(record, "c", 0, stop=StopCondition.after(20)))
        await asyncio.sleep(0.05)
        gone.cancel()
        running.cancel()  # its process goes on for a moment, and is there again after that
        assert await helpers.call(record, "d", 0, stop=StopCondition.after(20)) == "d"

    asyncio.run(ask_all())
    helpers.close()
