"""Searches that callers of several threads share, with a search that counts and can be held."""

import copy
import multiprocessing
import os
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from typing import Any

import pytest
from forks import PATIENCE
from hypothesis import given
from hypothesis import strategies as st
from tiny import PAIRS, tiny_bundle, tiny_tokenizers

import dragoman.translator
from dragoman.cli.program import explain
from dragoman.decoding.scores import Ints
from dragoman.decoding.state import State
from dragoman.errors import ConfigError, DeadlineError, StoppedError
from dragoman.settings.search_config import SearchConfig
from dragoman.translator import Candidate, ComputeOptions, Request, SearchJob, StopCondition, Translator
from dragoman.translator.batcher import Batcher

SOURCES = [source for source, _ in PAIRS]
CONFIGS = [SearchConfig(beam_size=size) for size in (1, 2, 3)]


def job(number: int, length: int = 1, config: SearchConfig = CONFIGS[0]) -> SearchJob:
    return SearchJob([number] * length, (), config)


class ToySearch:
    """Answers each job with its own number. Jobs of the number -1 fail; a held search waits until it is let go."""

    def __init__(self, *, is_held: bool = False) -> None:
        self.batches: list[list[SearchJob]] = []
        self.batch_sizes: list[int | None] = []
        self.started, self.let_go = threading.Event(), threading.Event()
        if not is_held:
            self.let_go.set()

    def search(
        self, jobs: Sequence[SearchJob], *, batch_size: int | None = None, stop: StopCondition | None = None
    ) -> list[list[Any]]:
        self.batches.append(list(jobs))
        self.batch_sizes.append(batch_size)
        self.started.set()
        while not self.let_go.wait(0.001):
            if stop is not None and stop():
                raise stop.error()
        if any(-1 in each.ids for each in jobs):
            raise ConfigError("a job that cannot be searched")
        return [[(each.ids[0], each.config)] for each in jobs]


def first_number(answers: Sequence[Sequence[Any]]) -> int:
    """Return the number of the first job that a `ToySearch` answered."""
    number: int = answers[0][0][0]
    return number


def held(batcher: Batcher, search: ToySearch) -> Future[list[list[Candidate]]]:
    """Submit a job, and return when it is being searched."""
    future = batcher.submit([job(0)])
    assert search.started.wait(PATIENCE)
    return future


@given(
    st.lists(
        st.tuples(
            st.lists(st.tuples(st.integers(0, 9), st.integers(1, 8), st.sampled_from(CONFIGS)), max_size=8),
            st.sampled_from([None, 1, 16]),
        ),
        max_size=8,
    ),
    st.integers(1, 3),
)
def test_each_caller_gets_its_own_and_batches_have_equal_settings(
    given_calls: list[tuple[list[tuple[int, int, SearchConfig]], int | None]], n_threads: int
) -> None:
    calls = [([job(*each) for each in jobs], batch_size) for jobs, batch_size in given_calls]
    search = ToySearch(is_held=True)
    with Batcher([search] * n_threads, 12) as batcher:
        futures = [batcher.submit(jobs, batch_size=batch_size) for jobs, batch_size in calls]
        search.let_go.set()
        for future, (jobs, _) in zip(futures, calls, strict=True):
            assert future.result(10) == [[(each.ids[0], each.config)] for each in jobs]
    assert sum(map(len, search.batches)) == sum(len(jobs) for jobs, _ in calls)
    for batch in search.batches:
        assert len({each.config for each in batch}) == 1
        longest = max(len(each.ids) + 1 for each in batch)
        assert len(batch) == 1 or len(batch) * longest <= 16


def test_what_gathers_during_a_search_is_searched_together() -> None:
    search = ToySearch(is_held=True)
    with Batcher([search], 100) as batcher:
        first = held(batcher, search)
        others = [batcher.submit([job(number)]) for number in range(1, 9)]
        search.let_go.set()
        assert [each.result(10)[0][0][0] for each in (first, *others)] == list(range(9))
    assert list(map(len, search.batches)) == [1, 8]


def test_a_long_text_does_not_delay_a_short_one() -> None:
    search = ToySearch(is_held=True)
    with Batcher([search], 8) as batcher:
        held(batcher, search)
        long, other = batcher.submit([job(1) for _ in range(100)]), batcher.submit([job(3, 1, CONFIGS[1])] * 100)
        short = batcher.submit([job(2)])
        search.let_go.set()
        short.result(10)
        long.result(10), other.result(10)
    assert {each.ids[0] for each in search.batches[1]} == {1, 2}
    assert {each.ids[0] for each in search.batches[2]} == {3}


def test_a_failure_is_told_to_the_caller_it_concerns_alone() -> None:
    search = ToySearch(is_held=True)
    with Batcher([search], 100) as batcher:
        held(batcher, search)
        good, bad, other = batcher.submit([job(1)]), batcher.submit([job(2), job(-1)]), batcher.submit([job(3)])
        search.let_go.set()
        assert good.result(10)[0][0][0] == 1
        assert other.result(10)[0][0][0] == 3
        with pytest.raises(ConfigError, match="cannot be searched"):
            bad.result(10)


def test_a_search_with_too_few_results_fails_its_callers_and_not_the_thread() -> None:
    class ForgetfulSearch(ToySearch):
        def search(self, jobs: Sequence[SearchJob], **options: Any) -> list[list[Any]]:
            found = super().search(jobs, **options)
            return found[:-1] if any(9 in each.ids for each in jobs) else found

    search = ForgetfulSearch(is_held=True)
    with Batcher([search], 100) as batcher:
        held(batcher, search)
        good, bad = batcher.submit([job(1)]), batcher.submit([job(9), job(2)])
        search.let_go.set()
        assert first_number(good.result(10)) == 1
        with pytest.raises(ValueError, match="shorter"):
            bad.result(10)
        assert first_number(batcher.search([job(3)], stop=StopCondition.after(10))) == 3


def test_a_deadline_ends_its_own_call_alone() -> None:
    search = ToySearch(is_held=True)
    with Batcher([search], 100) as batcher:
        patient = held(batcher, search)
        with pytest.raises(DeadlineError, match="not enough time for the translation; allow more") as caught:
            batcher.search([job(1)], stop=StopCondition.after(0.02))
        assert explain(caught.value)[0] == DeadlineError.exit_code == 6
        assert not patient.done()
        search.let_go.set()
        assert patient.result(10)[0][0][0] == 0
    assert [each.ids[0] for batch in search.batches for each in batch] == [0]


def test_a_search_that_nobody_waits_for_is_stopped() -> None:
    search = ToySearch(is_held=True)
    with Batcher([search], 100) as batcher:
        with pytest.raises(DeadlineError):
            batcher.search([job(1)], stop=StopCondition.after(0.02))
        cancelled = held(batcher, search)
        assert cancelled.cancel()
        assert wait([cancelled], PATIENCE).done == {cancelled}
        with pytest.raises(CancelledError):
            cancelled.result(10)
        is_cancelled = threading.Event()
        asked = batcher.submit([job(2)], stop=StopCondition(is_cancelled=is_cancelled.is_set))
        is_cancelled.set()
        with pytest.raises(StoppedError, match="the translation was cancelled"):
            asked.result(10)
        search.let_go.set()
        assert first_number(batcher.search([job(3)])) == 3


def test_no_caller_can_end_the_searches_of_others() -> None:
    search = ToySearch()
    with Batcher([search], 100) as batcher:
        exiting = batcher.submit([job(1)], stop=StopCondition(is_cancelled=sys.exit))
        with pytest.raises(SystemExit):
            exiting.result(10)
        with pytest.raises(ConfigError, match="batch_size is a str"):
            batcher.submit([job(1)], batch_size="8")  # type: ignore[arg-type]
        assert first_number(batcher.submit([job(2)]).result(10)) == 2


def test_a_closed_batcher_finishes_its_calls_and_takes_no_more() -> None:
    search = ToySearch(is_held=True)
    batcher = Batcher([search], 100)
    futures = [held(batcher, search), batcher.submit([job(1)])]
    threading.Timer(0.02, search.let_go.set).start()
    batcher.close()
    assert all(each.done() for each in futures)
    with pytest.raises(RuntimeError, match="closed"):
        batcher.submit([job(2)])
    batcher.close()
    Batcher([search], 100).close()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no process is forked")
def test_a_copy_of_the_process_searches_by_itself() -> None:
    with Batcher([ToySearch(), ToySearch()], 100) as batcher:
        batcher.search([job(1)])
        here, there = multiprocessing.Pipe()
        if not (copy := os.fork()):
            with ThreadPoolExecutor(4) as threads:
                there.send(list(threads.map(lambda number: batcher.search([job(number)])[0][0][0], range(20))))
            os._exit(0)
        assert here.poll(30)
        assert here.recv() == list(range(20))
        os.waitpid(copy, 0)
        assert first_number(batcher.search([job(2)])) == 2


# ---------------------------------------------------------------------------------------------------- translators


@pytest.fixture(scope="module")
def translator() -> Translator:
    tokenizers = tiny_tokenizers()
    return Translator([tiny_bundle(tokenizers)], tokenizers, SearchConfig(beam_size=2))


@pytest.fixture
def sizes(translator: Translator, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of sources of each search."""
    found: list[int] = []
    start = translator.scorer.start

    def noted(source_ids: Ints) -> State:
        found.append(len(source_ids))
        return start(source_ids)

    monkeypatch.setattr(translator.scorer, "start", noted)
    # The engine would take single sentences and few ones, and not ask the scorer.
    monkeypatch.setattr("dragoman.translator.searching._LEAST_BATCH", 1)
    monkeypatch.setattr("dragoman.translator.searching.is_fast", lambda _config: False)
    return found


def at_once(n_threads: int, call: Callable[[int], Any]) -> list[Any]:
    barrier = threading.Barrier(n_threads)

    def wait_and_call(number: int) -> Any:
        barrier.wait(PATIENCE)
        return call(number)

    with ThreadPoolExecutor(n_threads) as threads:
        return list(threads.map(wait_and_call, range(n_threads)))


def test_threads_share_searches_and_get_what_they_get_alone(
    translator: Translator, sizes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = [*SOURCES, "A man", "", "She is reading a book. The cat is on the mat.", "x" * 300] * 2
    prefixes = ["", "Ein", "", "Zwei"] * 4
    options: list[dict[str, Any]] = [{}, {}, {"beam_size": 1}, {"n_best": 2, "align": True}] * 4
    calls = list(zip(sources, prefixes, options, strict=True))
    alone = [translator.translate(text, prefixes=prefix, **options) for text, prefix, options in calls]
    n_alone = len(sizes)
    sizes.clear()
    start, submit, submitted = translator.scorer.start, Batcher.submit, threading.Semaphore(0)

    def counted(*arguments: Any, **options: Any) -> Any:
        future = submit(*arguments, **options)
        submitted.release()
        return future

    def start_when_all_have_called(source_ids: Ints) -> State:
        if not sizes:
            assert all(submitted.acquire(timeout=PATIENCE) for _ in calls)
        return start(source_ids)

    monkeypatch.setattr(Batcher, "submit", counted)
    monkeypatch.setattr(translator.scorer, "start", start_when_all_have_called)
    with translator.shared() as shared:

        def call(number: int) -> Any:
            text, prefix, options = calls[number]
            return shared.translate(text, prefixes=prefix, **options)

        together = at_once(len(calls), call)
    assert len(sizes) < n_alone / 2
    assert max(sizes) > 2
    for one, other in zip(together, alone, strict=True):
        assert [each.text for each in one.alternatives] == [each.text for each in other.alternatives]
        assert (one.text, one.tokens, one.flags, one.n_parts) == (other.text, other.tokens, other.flags, other.n_parts)
        assert one.alignment == other.alignment
        assert one.score == pytest.approx(other.score, abs=1e-4)


def test_a_late_caller_has_an_error_and_the_others_their_translations(translator: Translator) -> None:
    with translator.shared() as shared:

        def call(number: int) -> str:
            try:
                return shared.translate("A man", timeout=1e-6 if number % 2 else None).text
            except DeadlineError:
                return "late"

        found = at_once(6, call)
    assert found == [translator.translate("A man").text, "late"] * 3


def test_a_translator_that_nobody_shares_has_deadlines_too(translator: Translator) -> None:
    with pytest.raises(DeadlineError):
        translator.translate(SOURCES * 20, timeout=1e-9)
    assert translator.translate("A man", timeout=60) == translator.translate("A man")
    for wrong in (0, -1, float("nan"), True, "1"):
        with pytest.raises(ConfigError, match=r"timeout is .*; give seconds"):
            translator.translate("A man", timeout=wrong)  # type: ignore[arg-type]


def test_after_the_deadline_no_source_is_read(translator: Translator, sizes: list[int]) -> None:
    with pytest.raises(DeadlineError):
        translator.translate(SOURCES * 20, batch_size=1, timeout=1e-9)
    assert not sizes


def test_a_wrong_prefix_is_an_error_for_its_caller_alone(translator: Translator) -> None:
    with translator.shared() as shared:

        def call(number: int) -> str:
            try:
                return shared.translate("A man", prefixes="ein " * 30 if number == 1 else None).text
            except ConfigError as error:
                return error.message

        found = at_once(4, call)
    assert "the prefix of text 1 has" in found[1]
    assert {*found[:1], *found[2:]} == {translator.translate("A man").text}


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is one process")
def test_threads_share_worker_processes() -> None:
    tokenizers = tiny_tokenizers()
    alone = Translator([tiny_bundle(tokenizers)], tokenizers)
    several = Translator([tiny_bundle(tokenizers)], tokenizers, compute=ComputeOptions(workers=2))
    lines = [SOURCES * 5, ["A man"], [*reversed(SOURCES)], ["Two dogs"] * 9]
    with several.shared() as shared:
        for _ in range(2):
            found = at_once(4, lambda number: shared.translate(lines[number], batch_size=40))
            for translations, texts in zip(found, lines, strict=True):
                assert [each.text for each in translations] == [each.text for each in alone.translate(texts)]
        with pytest.raises(DeadlineError):
            shared.translate(SOURCES * 50, timeout=1e-9, batch_size=20)
        with pytest.raises(DeadlineError):
            several.translate(SOURCES * 50, timeout=1e-9, batch_size=20)
        assert shared.translate("A man").text == alone.translate("A man").text


def test_one_thread_gets_the_same_bits_from_a_shared_translator(translator: Translator) -> None:
    with translator.shared() as shared:
        assert list(shared.translate_stream(SOURCES, batch_size=1)) == translator.translate(SOURCES, batch_size=1)
        assert shared.translate(SOURCES * 20, batch_size=50) == translator.translate(SOURCES * 20, batch_size=50)
        other = copy.deepcopy(shared)
    assert other.translate("A man") == translator.translate("A man")
    with pytest.raises(RuntimeError, match="closed"):
        shared.translate("A man")


# --------------------------------------------------------------------------------------------- plan, search, finish


def test_the_steps_give_what_translate_gives(translator: Translator) -> None:
    pipeline = translator.pipeline
    requests = [
        Request("A man is riding a horse.", prefix="Ein"),
        Request(""),
        Request("She is reading a book. The cat is on the mat.", sentences=True, align=True),
        Request("x" * 300 + " A man"),
    ]
    config = translator.search_config(n_best=2)
    plan = pipeline.plan(requests, config)
    assert [len(text.segments) for text in plan.texts] == [1, 0, 2, 2]
    assert len(plan.jobs) == 4  # the row of letters is copied
    found = pipeline.finish(plan, pipeline.search(plan.jobs))
    for request, translation in zip(requests, found, strict=True):
        options: dict[str, Any] = {"prefixes": request.prefix, "sentences": request.sentences, "align": request.align}
        alone = translator.translate(request.text, n_best=2, **options)
        assert (translation.text, translation.flags) == (alone.text, alone.flags)
        assert translation.alignment == alone.alignment
        assert (translation.alignment is None) == (not request.align)


def test_the_example_of_the_package_runs() -> None:
    lines = (dragoman.translator.__doc__ or "").split("\n")
    first = lines.index("    from dragoman.translator import Request")
    names: dict[str, Any] = {"translator": Translator.load("everyday", device="cpu")}
    exec("\n".join(line.removeprefix("    ") for line in lines[first:] if line.startswith("    ")), names)
    french, german = names["translations"]
    assert french.text.startswith("Merci")
    assert "lies" in german.text
    assert german.alignment


def test_jobs_of_any_plans_and_settings_are_searched_by_one_call(translator: Translator, sizes: list[int]) -> None:
    pipeline = translator.pipeline
    configs = [translator.search_config(beam_size=size) for size in (1, 2, 1)]
    plans = [pipeline.plan([Request(text) for text in SOURCES], config) for config in configs]
    jobs = [job for plan in plans for job in plan.jobs]
    candidates = pipeline.search(jobs)
    assert sizes == [8, 4]
    for number, plan in enumerate(plans):
        found = pipeline.finish(plan, candidates[4 * number : 4 * number + 4])
        alone = translator.translate(SOURCES, beam_size=plan.config.beam_size, off=["numbers", "spans"])
        assert [each.text for each in found] == [each.text for each in alone]


def test_planning_and_finishing_do_not_search(translator: Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = translator.pipeline.plan([Request("A man"), Request("She")])
    candidates = translator.pipeline.search(plan.jobs)
    monkeypatch.setattr(translator.scorer, "start", None)
    again = translator.pipeline.plan([Request("A man"), Request("She")])
    assert again == plan
    assert translator.pipeline.finish(again, candidates) == translator.pipeline.finish(plan, candidates)
    with pytest.raises(ValueError, match="candidates of 1 jobs for a plan of 2"):
        translator.pipeline.finish(plan, candidates[:1])


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ("A", "request 2 is a str; give Requests"),
        (Request(None), "the text of request 2 is None; give strings"),  # type: ignore[arg-type]
        (Request("A", prefix=3), "the prefix of request 2 is 3, a number"),  # type: ignore[arg-type]
        (Request("A", sentences=1), "sentences of request 2 is 1, a number"),  # type: ignore[arg-type]
        (Request("A", align="yes"), "align of request 2 is a str"),  # type: ignore[arg-type]
        (Request("A", prefix="ein " * 30), r"the prefix of text 2 has \d+ tokens"),
    ],
    ids=str,
)
def test_a_bad_request_is_named_with_its_place(translator: Translator, request_: Request, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        translator.pipeline.plan([Request("A man"), request_])


@pytest.mark.parametrize("n_steps", [0, 1, 3])
@pytest.mark.parametrize("options", [{"beam_size": 1}, {"beam_size": 3}, {"sample": True}], ids=str)
def test_a_search_can_be_cancelled_at_any_step(translator: Translator, n_steps: int, options: dict[str, Any]) -> None:
    asked = iter(range(100))
    plan = translator.pipeline.plan([Request("A man")], translator.search_config(**options))
    with pytest.raises(StoppedError, match="cancelled"):
        translator.pipeline.search(plan.jobs, stop=StopCondition(is_cancelled=lambda: next(asked) >= n_steps))
    assert next(asked) <= n_steps + 3


def test_turns_go_round_all_calls() -> None:
    """With more long calls than a round has jobs, each call has its turn before any has a second one."""
    search = ToySearch(is_held=True)
    with Batcher([search], 4) as batcher:
        held(batcher, search)
        futures = [batcher.submit([job(number)] * 3) for number in range(1, 8)]
        search.let_go.set()
        wait(futures, PATIENCE)
    turns = [each.ids[0] for batch in search.batches[1:] for each in batch]
    assert sorted(turns[:7]) == sorted(turns[7:14]) == sorted(turns[14:]) == list(range(1, 8))


def test_batches_that_calls_share_are_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call of many jobs has one in the batches of others, and in those soon after them, then fills its own."""
    monkeypatch.setattr("dragoman.translator.batcher.SHARED_SECONDS", 60.0)
    search = ToySearch(is_held=True)
    with Batcher([search], 512) as batcher:
        held(batcher, search)
        futures = [batcher.submit([job(1, 15)] * 20), *(batcher.submit([job(number, 15)]) for number in (2, 3))]
        search.let_go.set()
        wait(futures, PATIENCE)
        assert [[each.ids[0] for each in batch] for batch in search.batches[1:]] == [[1, 2, 3], *[[1]] * 19]
        monkeypatch.setattr("dragoman.translator.batcher.SHARED_SECONDS", 0.0)
        batcher.search([job(1, 15)] * 64)
    assert [len(batch) for batch in search.batches[-2:]] == [32, 32]


def test_a_batch_has_jobs_of_similar_length_and_the_first_call_waits_no_longer() -> None:
    search = ToySearch(is_held=True)
    with Batcher([search], 36) as batcher:
        held(batcher, search)
        lengths = {1: [9], 2: [2, 8, 20], 3: [30], 4: [3], 5: [10, 40]}
        futures = [batcher.submit([job(number, each - 1) for each in own]) for number, own in lengths.items()]
        search.let_go.set()
        wait(futures, PATIENCE)
    batches = [[(each.ids[0], len(each.ids) + 1) for each in batch] for batch in search.batches[1:]]
    assert batches[0] == [(1, 9), (2, 8), (5, 10)]
    assert [batch[0][0] for batch in batches[1:3]] == [3, 4]


@pytest.mark.parametrize(("n_jobs", "config", "sizes"), [(3, 1, [1, 1, 1]), (4, 1, [4]), (3, 0, [3])])
def test_jobs_too_few_for_a_batch_are_searched_one_after_the_other(n_jobs: int, config: int, sizes: list[int]) -> None:
    search = ToySearch(is_held=True)
    with Batcher([search], 512, lambda config: 4 if config == CONFIGS[1] else 1) as batcher:
        held(batcher, search)
        futures = [batcher.submit([job(number, config=CONFIGS[config])]) for number in range(n_jobs)]
        search.let_go.set()
        assert [first_number(each.result(PATIENCE)) for each in futures] == list(range(n_jobs))
    assert list(map(len, search.batches)) == [1, *sizes]


def test_the_first_turn_of_each_call_fills_whole_batches() -> None:
    search = ToySearch(is_held=True)
    with Batcher([search], 512) as batcher:
        held(batcher, search)
        futures = [batcher.submit([job(number, 15)]) for number in range(32)]
        search.let_go.set()
        wait(futures, PATIENCE)
    assert list(map(len, search.batches)) == [1, 32]


class HoldingSearch(ToySearch):
    """Holds the jobs of some numbers, each until it is let go."""

    def __init__(self, *numbers: int) -> None:
        super().__init__()
        self.holds = {number: threading.Event() for number in numbers}
        self.arrived = threading.Semaphore(0)

    def search(
        self, jobs: Sequence[SearchJob], *, batch_size: int | None = None, stop: StopCondition | None = None
    ) -> list[list[Any]]:
        for each in jobs:
            if hold := self.holds.get(each.ids[0]):
                self.arrived.release()
                assert hold.wait(PATIENCE)
        return super().search(jobs, batch_size=batch_size, stop=stop)


def test_no_batch_waits_for_another_one() -> None:
    search = HoldingSearch(1)
    with Batcher([search] * 2, 100) as batcher:
        slow = batcher.submit([job(1)])
        assert search.arrived.acquire(timeout=PATIENCE)
        for number in range(2, 6):
            assert first_number(batcher.submit([job(number)]).result(10)) == number
        assert not slow.done()
        search.holds[1].set()
        assert first_number(slow.result(10)) == 1


def test_a_thread_leaves_the_other_ones_their_part_of_the_calls() -> None:
    search = HoldingSearch(1, 2)
    with Batcher([search] * 2, 512) as batcher:
        futures = [batcher.submit([job(number)]) for number in (1, 2)]
        assert all(search.arrived.acquire(timeout=PATIENCE) for _ in futures)
        futures += [batcher.submit([job(number)]) for number in range(3, 11)]
        search.holds[1].set()
        wait(futures[2:], PATIENCE)
        search.holds[2].set()
    # Of nine open calls five, of the four that are left two, of the other two one.
    assert list(map(len, search.batches)) == [1, 5, 2, 1, 1]


def test_one_call_is_shared_among_idle_threads() -> None:
    barrier = threading.Barrier(2)

    class MeetingSearch(ToySearch):
        def search(self, jobs: Sequence[SearchJob], **options: Any) -> list[list[Any]]:
            barrier.wait(PATIENCE)
            return super().search(jobs, **options)

    search = MeetingSearch()
    for n_jobs in (2, 7, 50):
        with Batcher([search] * 2, 512) as batcher:
            found = batcher.search([job(number, length=9) for number in range(n_jobs)])
            assert [first_number([each]) for each in found] == list(range(n_jobs))
    assert sorted(map(len, search.batches)) == [1, 1, 3, 4, 25, 25]
    assert set(search.batch_sizes) == {10, 30, 40, 250}
