"""The server's small parts: lines of a text, ways between languages, the cache, the queue, limits, detection, files."""

from __future__ import annotations

import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from serving import require_server

from dragoman.documents import parse_document

require_server()

from dragoman.server.api_errors import ApiError  # noqa: E402
from dragoman.server.detection import UNDETECTABLE, Detector  # noqa: E402
from dragoman.server.document_report import document_report  # noqa: E402
from dragoman.server.downloads import MAX_SECONDS, Downloads, content_disposition  # noqa: E402
from dragoman.server.line_queue import MOST_SECONDS, LineQueue  # noqa: E402
from dragoman.server.rate_limit import RateLimit  # noqa: E402
from dragoman.server.result_cache import ResultCache  # noqa: E402
from dragoman.server.routing import Directory, Leg  # noqa: E402
from dragoman.server.text_lines import split_lines  # noqa: E402
from dragoman.text.terms import Term, TermList  # noqa: E402
from dragoman.translator import Request, Translation  # noqa: E402
from dragoman.translator.results import Flag  # noqa: E402


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


# ------------------------------------------------------------------------------------------------ lines


@given(st.text(alphabet=st.sampled_from("aé9 😀\t\r\n\u3000.")))
def test_lines_and_the_space_around_them_are_the_text(text: str) -> None:
    lines = split_lines(text)
    assert lines.join(lines.lines) == text
    for line in lines.lines:
        assert line == line.strip()
        assert not {"\r", "\n"} & set(line)
        assert any(character.isalnum() for character in line)
    assert text.upper().count("A") == sum(line.upper().count("A") for line in lines.lines)


def test_a_translation_too_many_is_refused() -> None:
    with pytest.raises(ValueError, match="more translations"):
        split_lines("a\nb").join(["x", "y", "z"])


# ------------------------------------------------------------------------------------------------ languages

DIRECTORY = Directory(
    {"first": [("en", "de"), ("de", "en")], "second": [("en", "zh"), ("en", "de")], "third": [("fr", "pt-BR")]}
)


def test_a_direct_model_wins_and_the_first_of_two() -> None:
    assert DIRECTORY.route("en", "de") == [Leg("first", "en", "de")]
    assert DIRECTORY.route("de", "zh") == [Leg("first", "de", "en"), Leg("second", "en", "zh")]
    assert DIRECTORY.route("de", "de") == []
    assert DIRECTORY.route("zh", "de") is None
    assert DIRECTORY.targets("de") == ["de", "en", "zh"]


def test_english_is_the_preferred_language_in_the_middle() -> None:
    directory = Directory({"one": [("a", "b"), ("b", "c")], "two": [("a", "en"), ("en", "c")]})
    assert directory.route("a", "c") == [Leg("two", "a", "en"), Leg("two", "en", "c")]


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("EN", "en"),
        ("zh-Hans", "zh"),
        ("ZH-hans", "zh"),
        ("zt", None),
        ("zh-Hant", None),
        ("pb", "pt-BR"),
        ("pt-br", "pt-BR"),
        ("de-AT", "de"),
        ("deu", "de"),
        ("zz", None),
        ("", None),
        ("e" * 5000, None),
    ],
)
def test_codes_of_languages_and_their_aliases(code: str, found: str | None) -> None:
    assert DIRECTORY.find(code) == found


def test_aliases_go_both_ways() -> None:
    directory = Directory({"model": [("zh-Hans", "zh-Hant"), ("pb", "en")]})
    assert [directory.find(code) for code in ("zh", "zt", "pt-BR")] == ["zh-Hans", "zh-Hant", "pb"]


SENTENCES = {
    "en": "The weather is very nice today, and we are going to the beach.",
    "de": "Das Wetter ist heute sehr schön, und wir gehen an den Strand.",
    "fr": "Il fait très beau aujourd'hui, et nous allons à la plage.",
    "zh": "今天天气很好，我们去海边。",
}


def test_the_language_of_a_sentence_is_detected_among_those_of_the_server() -> None:
    detector = Detector()
    for code, sentence in SENTENCES.items():
        best = detector.detect(sentence, list(SENTENCES))[0]
        assert best.language == code
        assert best.confidence > 90
        others = [each for each in SENTENCES if each != code]
        assert detector.detect(sentence, others)[0].language == code  # clearly in none of them
    assert detector.detect(SENTENCES["zh"], ["en", "zh-Hans"])[0].language == "zh-Hans"


def test_a_short_text_is_unsure_and_one_without_letters_undetectable() -> None:
    detector = Detector()
    assert detector.detect("Guten Morgen", list(SENTENCES))[0].confidence < 70
    assert detector.detect("Hi", list(SENTENCES))[0].confidence < 15
    for text in ("", "😀 123 !", " "):
        assert detector.detect(text, list(SENTENCES)) == [UNDETECTABLE]
    assert detector.detect("Guten Morgen", ["xx"]) == [UNDETECTABLE]


# ------------------------------------------------------------------------------------------------ limits


@given(st.lists(st.tuples(st.integers(0, 30), st.text(string.ascii_letters, max_size=500)), max_size=60))
def test_the_cache_keeps_the_last_used_within_its_bytes(asked: list[tuple[int, str]]) -> None:
    cache = ResultCache(20_000)
    last: dict[int, str] = {}
    for key, text in asked:
        cache.add(key, Request(text), Translation(text, 0.0, ()))
        last[key] = text
        assert cache.n_bytes <= 20_000
        kept = cache.get(key)
        assert kept is not None
        assert kept.text == text
    for key, text in last.items():
        kept = cache.get(key)
        assert kept is None or kept.text == text


def test_the_cache_counts_all_of_a_key() -> None:
    cache = ResultCache(20_000)
    for number, request in enumerate(
        (
            Request("x" * 5_000),
            Request("x", "y" * 5_000),
            Request("x", verbatim=[(0, 1)] * 1_000),
            Request("x", marked=["1"] * 1_000),
            Request("x", terms=TermList(Term(f"a{n}", ("b", "c")) for n in range(500))),
        )
    ):
        cache.add(number, request, Translation("y", 0.0, ()))
    assert cache.n_bytes == 0


def test_a_cache_without_bytes_keeps_nothing() -> None:
    cache = ResultCache(0)
    cache.add("key", Request("text"), Translation("text", 0.0, ()))
    assert cache.get("key") is None


def test_a_client_may_send_so_much_in_a_minute() -> None:
    clock = Clock()
    limit = RateLimit(60, clock)
    limit.take("a", 60)
    limit.take("b", 1)
    with pytest.raises(ApiError, match="Slowdown: 60 per 1 minute") as caught:
        limit.take("a", 10)
    assert (caught.value.status, caught.value.retry_after) == (429, 11)
    clock.now = 10
    limit.take("a", 10)
    clock.now = 70
    limit.take("a", 1_000)  # more than a minute's: it needs a full bucket, and empties it
    with pytest.raises(ApiError):
        limit.take("a", 1)
    RateLimit(-1).take("a", 10**9)
    with pytest.raises(ApiError):
        RateLimit(0).take("a", 1)


def test_the_queue_is_bounded_and_says_when_to_come_back() -> None:
    clock = Clock()
    queue = LineQueue(10, clock)
    with queue.accept(8):
        with queue.accept(2), pytest.raises(ApiError, match="10 lines are waiting") as caught, queue.accept(1):
            pass
        assert caught.value.status == 503
        assert 1 <= (caught.value.retry_after or 0) <= MOST_SECONDS
        with queue.hold(5):  # of a request that was accepted
            assert queue.n_waiting == 13
    with queue.accept(1_000):  # alone, however long
        assert queue.n_waiting == 1_000
        clock.now = 10
    with queue.accept(500):
        assert 1 <= queue.busy_seconds <= MOST_SECONDS
    assert queue.n_waiting == 0
    queue.is_closed = True
    with pytest.raises(ApiError, match="stops"), queue.accept(1):
        pass


def test_files_are_kept_for_a_while_and_within_bytes() -> None:
    clock = Clock()
    downloads = Downloads(100, clock)
    first = downloads.add("a.txt", b"x" * 60)
    assert downloads.get(first) == ("a.txt", b"x" * 60)
    second = downloads.add("b.txt", b"y" * 60)
    assert downloads.get(first) is None
    clock.now = MAX_SECONDS
    assert downloads.get(second) is None
    assert downloads.get("../../etc/passwd") is None


def test_a_report_counts_all_segments_and_lists_the_first() -> None:
    document = parse_document("\n\n".join(f"Line {number}. {'x ' * 200}" for number in range(1, 101)).encode(), "txt")
    flags: tuple[Flag, ...] = ("number", "low_confidence")
    translations = [
        Translation("y" * 999, 0.0, (), flags=() if number % 3 else flags[: 2 - number % 2], confidence=number / 100)
        for number in range(1, 101)
    ]
    report = document_report(document, document.segments(), translations)
    assert (report["segments"], report["to_check"], report["notes"]) == (100, 33, [])
    assert report["flags"] == {"number": 33, "low_confidence": 16}
    assert report["confidence"] == 0.505
    assert [one["number"] for one in report["flagged"]] == list(range(3, 61, 3))
    assert report["flagged"][0]["text"].startswith("Line 3. x x")
    assert report["flagged"][0]["translation"] == "y" * 200 + " …"
    nothing = document_report(document, document.segments(), [Translation("y", 0.0, ())] * 100)
    assert (nothing["to_check"], nothing["flags"], nothing["flagged"], nothing["confidence"]) == (0, {}, [], None)


def test_a_file_keeps_the_letters_of_its_name() -> None:
    downloads = Downloads()
    name, _ = downloads.get(downloads.add("../résumé ü 空_de.txt", b"")) or ("", b"")
    assert name == "résumé ü 空_de.txt"
    assert content_disposition(name).endswith("; filename*=UTF-8''r%C3%A9sum%C3%A9%20%C3%BC%20%E7%A9%BA_de.txt")
    assert content_disposition("a.txt") == 'attachment; filename="a.txt"'


@given(st.text(max_size=300))
def test_the_name_of_a_file_is_plain(name: str) -> None:
    key = Downloads().add(name, b"")
    assert set(key) <= set(string.ascii_letters + string.digits + "._-")
    assert len(key) < 160
    found: Any = Downloads()
    assert found.get(key) is None
