"""The server's page: nothing but its own files and answers, and in Chromium, translations as the API gives them."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import PHONE, open_page
from serving import client_of, require_server, served, write_many

from dragoman.translator import Translator

require_server()

TEXT = "Where is the station?"
GERMAN = "Wo ist der Bahnhof? Wir suchen ihn schon lange."


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_many(tmp_path_factory.mktemp("models") / "many")


def test_the_page_loads_only_what_the_server_has(model: Path) -> None:
    with client_of(model, url_prefix="/my/translator") as client:
        page = client.get("/my/translator/")
        assert page.headers["content-type"].startswith("text/html")
        policy = page.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'")
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        open_files, known = re.findall(r'(?:src|href)="(page/[^"]+)"', page.text), set[str]()
        open_files.append("page/worker.js")
        while open_files:
            name = open_files.pop()
            if name not in known:
                known.add(name)
                file = client.get(f"/my/translator/{name}")
                assert file.status_code == 200
                assert file.headers["x-content-type-options"] == "nosniff"
                parts = re.findall(r'^import .* from "\.(?:\./page)?/([^"]+)"', file.text, re.M)
                open_files += [f"page/{part}" for part in parts]
        assert {"page/page.js", "page/calls.js", "page/views.js", "page/page.css", "page/frame.css"} <= known
        assert not re.findall(r'(?:src|href)="(?!page/|data:)', page.text)
        for name in ("nothing.js", "index.html", "..%2f..%2f__init__.py", "dragoman.js"):
            assert client.get(f"/my/translator/page/{name}").status_code == 404


def test_the_page_knows_the_languages_of_now(model: Path) -> None:
    with client_of(model) as client:
        (site,) = re.findall(r'<script type="application/json" id="site">(.*?)</script>', client.get("/").text)
        directions = {tuple(pair) for pair in json.loads(site)["models"][0]["directions"]}
    assert directions == {
        (source, target)
        for source, targets in {"auto": ("de", "en", "zh"), "en": ("de", "zh"), "de": ("en", "zh")}.items()
        for target in targets
    }


def test_the_page_can_be_disabled(model: Path) -> None:
    with client_of(model, disable_web_ui=True) as client:
        assert client.get("/").status_code == 404
        assert client.get("/page/page.js").status_code == 404


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    if sys.platform == "win32":
        pytest.skip("the server is stopped by a signal")
    with served("everyday", "--workers", "1") as (_, address):
        yield f"{address}/"


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Any]:
    page = open_page(browser, address, ("data:",), locale="en-GB")
    yield page
    assert page.problems == []
    page.close()


@pytest.fixture(scope="module")
def expected() -> Any:
    translator = Translator.load("everyday", device="cpu")
    return translator.translate(TEXT, source_lang="en", target_lang="de", n_best=5, align=True)


def choose(page: Any, source: str, target: str) -> None:
    page.locator("#source-lang").select_option(source)
    page.locator("#target-lang").select_option(target)


def translated(page: Any, text: str, words: str = ".word") -> str:
    """Type, wait for the aligned translation, and return it."""
    page.locator("#text").fill(text)
    page.locator(f"#translation:not(.stale) {words}").first.wait_for()
    return str(page.locator("#translation").inner_text())


def test_it_translates_what_is_typed_and_shows_alternatives(page: Any, expected: Any) -> None:
    choose(page, "en", "de")
    assert translated(page, TEXT) == expected.text
    texts = list(dict.fromkeys(each.text for each in expected.alternatives))
    buttons = page.locator("#alternatives button")
    assert [line.split("\n")[0] for line in buttons.all_inner_texts()] == texts
    buttons.nth(1).click()
    assert page.locator("#translation").inner_text() == texts[1]


def test_a_word_lights_those_that_it_is_aligned_with_in_its_own_line(page: Any, expected: Any) -> None:
    choose(page, "en", "de")
    assert translated(page, f"{TEXT}\n\n  {TEXT}") == f"{expected.text}\n\n  {expected.text}"
    n_words, n_sources = len(expected.text.split()), len(TEXT.split())
    page.locator("#translation .word").nth(n_words).hover()
    lit = page.locator("#backdrop .word").evaluate_all("all => all.map(one => one.classList.contains('lit'))")
    links = [source for source, target in expected.alignment if target == 0]
    assert [number for number, is_lit in enumerate(lit) if is_lit] == [n_sources + source for source in links]


def test_the_language_is_detected_and_told(page: Any) -> None:
    choose(page, "auto", "en")
    assert "station" in translated(page, GERMAN)
    assert page.locator("#detected").inner_text() == "Detected: German"
    page.locator("#interface").click()
    page.locator("#detected", has_text="检测到：德语").wait_for()
    choose(page, "de", "en")
    page.locator("#detected:empty").wait_for(state="attached")


def test_a_detected_language_can_be_swapped_and_is_no_target(page: Any) -> None:
    choose(page, "auto", "de")
    page.locator("#text").fill(GERMAN)
    page.locator("#notes", has_text="in this language already").wait_for()
    assert page.locator("#swap").is_disabled()
    page.locator("#target-lang").select_option("en")
    page.locator("#translation:not(.stale)", has_text="station").wait_for()
    assert re.fullmatch(r"Confidence: 0\.\d\d of 1, not low\.", page.locator("#notes").inner_text())
    page.locator("#swap").click()
    assert [page.locator(f"#{side}-lang").input_value() for side in ("source", "target")] == ["en", "de"]
    assert "station" in page.locator("#text").input_value()


def test_terms_act_while_one_types_and_what_is_wrong_with_them_is_told(page: Any) -> None:
    choose(page, "en", "de")
    assert "Gaul" not in translated(page, "The horse is tired.")
    page.locator("#terms summary").click()
    page.locator("#term-lines").press_sequentially("horse =")
    page.wait_for_timeout(500)
    page.locator("#translation:not(.stale) .word").first.wait_for()  # a line that is not complete yet is no problem
    assert "term" not in page.locator("#notes").inner_text()
    page.locator("#term-lines").press_sequentially(" Gaul*")
    page.locator("#translation:not(.stale)", has_text="Gaul").wait_for()
    assert page.evaluate("document.activeElement.id") == "term-lines"
    assert "term" not in page.locator("#notes").inner_text()
    assert page.locator("#terms summary").inner_text() == "Terms (1)"
    page.locator("#term-lines").fill("horse =")
    page.locator("#text").focus()
    page.locator("#notes", has_text="line 1 of the terms has no target").wait_for()
    page.problems[:] = [problem for problem in page.problems if "400" not in problem]  # Chromium's own line


def test_a_line_without_a_translation_counts_once_the_caret_has_left_it(page: Any) -> None:
    choose(page, "en", "de")
    assert "Bahnhof" in translated(page, TEXT)
    page.locator("#terms summary").click()
    terms = page.locator("#term-lines")
    terms.press_sequentially("station")
    page.wait_for_timeout(500)
    assert "Bahnhof" in page.locator("#translation:not(.stale)").inner_text()
    terms.press("Enter")
    page.locator("#translation:not(.stale)", has_text="station").wait_for()
    terms.press("ArrowUp")
    page.locator("#translation:not(.stale)", has_text="Bahnhof").wait_for()
    page.locator("#text").click()
    page.locator("#translation:not(.stale)", has_text="station").wait_for()


def test_terms_typed_before_the_language_is_known_join_those_of_the_pair(page: Any) -> None:
    page.locator("#terms summary").click()
    terms = page.locator("#term-lines")
    choose(page, "en", "de")
    terms.fill("dog = Köter\ncat = Kater")
    choose(page, "auto", "de")
    terms.fill("horse = Gaul\ncat = Kater\n")
    page.evaluate(
        """text => {
            const box = document.getElementById("text");
            box.value = text;
            box.dispatchEvent(new Event("input"));
        }""",
        "The horse is very tired because it has been working all day.",
    )
    page.locator("#translation:not(.stale)", has_text="Gaul").wait_for()
    assert terms.input_value() == "horse = Gaul\ncat = Kater\n"  # somebody may be typing in it
    page.locator("#text").focus()
    assert terms.input_value() == "dog = Köter\ncat = Kater\nhorse = Gaul"
    page.reload()
    choose(page, "en", "de")
    assert terms.input_value() == "dog = Köter\ncat = Kater\nhorse = Gaul"


def test_terms_belong_to_their_languages(page: Any) -> None:
    page.locator("#terms summary").click()
    terms = page.locator("#term-lines")
    choose(page, "auto", "de")
    terms.fill("horse = Gaul")  # before the language of the text is known
    page.locator("#text").fill("The horse is very tired because it has been working all day.")
    page.locator("#translation:not(.stale)", has_text="Gaul").wait_for()
    choose(page, "en", "zh")
    assert terms.input_value() == ""
    terms.fill("horse = 骏马")
    page.locator("#translation:not(.stale)", has_text="骏马").wait_for()
    choose(page, "en", "de")
    assert terms.input_value() == "horse = Gaul"
    page.locator("#translation:not(.stale)", has_text="Gaul").wait_for()
    page.locator("#swap").click()
    assert terms.input_value() == ""
    page.reload()
    choose(page, "en", "zh")
    assert terms.input_value() == "horse = 骏马"
    page.locator("#terms summary").click()
    terms.fill(" ")
    assert not page.evaluate("Object.keys(localStorage).some((key) => key.endsWith('terms en zh'))")


def test_each_sentence_has_its_own_alternatives(page: Any) -> None:
    choose(page, "en", "de")
    before = translated(page, f"{TEXT} Thank you very much!\n\n  (The dog sleeps.)").split("\n\n")
    first, second, third = page.locator("#alternatives details").all()
    titles = [one.locator("summary") for one in (first, second, third)]
    assert before == [f"{titles[0].inner_text()} {titles[1].inner_text()}", f"  {titles[2].inner_text()}"]
    assert titles[2].inner_text().startswith("(")
    titles[1].click()
    button = second.locator("button").nth(1)
    other = button.locator("span").first.inner_text()
    button.click()
    assert (button.get_attribute("aria-pressed"), titles[1].inner_text()) == ("true", other)
    assert page.locator("#translation").inner_text() == f"{titles[0].inner_text()} {other}\n\n{before[1]}"
    page.locator("#translation .word").last.hover()
    assert "(The" not in page.locator("#backdrop .word.lit").all_inner_texts()
    assert page.locator("#backdrop .word.lit").count() >= 1
    titles[2].click()
    third.locator("button").nth(1).click()
    now = page.locator("#translation").inner_text()
    assert now == f"{titles[0].inner_text()} {other}\n\n  {titles[2].inner_text()}"
    assert now != f"{titles[0].inner_text()} {other}\n\n{before[1]}"


def test_links_are_given_to_their_sentences_in_one_pass(page: Any) -> None:
    found = page.evaluate(
        """async n => {
            const { Mix } = await import(new URL("page/mixing.js", location.href));
            const parts = Array.from({ length: n }, (_, i) => ({ text: `${i ? " " : ""}one two ${i}.`, score: 1 }));
            const text = parts.map((part) => part.text).join("");
            const words = text.split(" ");
            let reads = 0;
            const link = (to) => Object.defineProperty([to, 0], 1, { get: () => (reads++, to) });
            const alignment = words.map((_, i) => link(i));
            const mix = new Mix([{ text, parts, words, alignment, doubtful: [0, words.length - 1] }]);
            const { linked } = mix;
            return {
                reads,
                text: mix.text === text,
                words: linked.words.join() === words.join(),
                alignment: linked.alignment.every(([from, to], i) => from === i && to === i),
                second: [mix.chosen[1].alignment, mix.chosen[1].doubtful, mix.chosen[n - 1].doubtful],
                doubtful: linked.doubtful,
            };
        }""",
        100,
    )
    assert found == {
        "reads": 300,
        "text": True,
        "words": True,
        "alignment": True,
        "second": [[[3, 0], [4, 1], [5, 2]], [], [2]],
        "doubtful": [0, 299],
    }


def test_the_lines_of_a_text_with_warnings_are_listed(page: Any) -> None:
    choose(page, "en", "de")
    translated(page, f"{TEXT}\nThe mortgage broker underwrites 12 tranches of bespoke debt.")
    assert "Passages with a warning: 1 of 2." in page.locator("#notes").inner_text()
    page.locator("#text-report summary").click()
    text, _, reason = page.locator("#text-report ol li").inner_text().split("\n")
    assert text.startswith("The mortgage broker")
    assert re.fullmatch(r"Confidence: only 0\.[0-4]\d of 1\.", reason)
    page.locator("#text").fill("")
    page.locator("#text-report:empty").wait_for(state="attached")


def test_a_problem_is_told(page: Any) -> None:
    choose(page, "en", "de")
    page.locator("#text").fill("x" * 100_001)
    page.locator("#notes", has_text="exceeds text limit (100000)").wait_for()
    page.problems[:] = [problem for problem in page.problems if "400" not in problem]  # Chromium's own line


@pytest.mark.parametrize("viewport", [PHONE, None])
def test_it_fits(browser: Any, address: str, viewport: Any) -> None:
    page = open_page(browser, address, ("data:",), locale="en-GB", **({"viewport": viewport} if viewport else {}))
    choose(page, "en", "zh")
    translated(page, TEXT)
    assert "server" in page.locator("footer").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.problems == []
    page.close()
