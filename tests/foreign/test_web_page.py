"""The exported pages in Chromium, without a network: typing, alternatives, hovering, keys, and one page from a disk."""

import functools
import http.server
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from accessible import findings
from browser import DESKTOP, PHONE, open_page

from dragoman.cli import program
from dragoman.translator import Translator

TEXT = "A man is riding a brown horse on the beach."


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


pytestmark = pytest.mark.captions


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site with two models, and a page with one."""
    folder = tmp_path_factory.mktemp("web")
    models = ["-m", "multi30k-en-de", "-m", "everyday"]
    assert program.run(["export", "web", *models, "-o", str(folder / "site")]) == 0
    assert program.run(["export", "web", *models[:2], "--single-file", "-o", str(folder / "page.html")]) == 0
    return folder


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    handler = functools.partial(Quiet, directory=str(folder / "site"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def expected() -> Any:
    return Translator.load("multi30k-en-de", device="cpu", short_list=False).translate(TEXT, n_best=5, align=True)


def opened(browser: Any, address: str, **options: Any) -> Any:
    """The page, which may ask for nothing of other sites and may report no error."""
    return open_page(browser, address, ("blob:", "data:"), timeout=120_000, **{"locale": "en-GB", **options})


def translated(page: Any, text: str = TEXT) -> str:
    """Type, wait for the aligned translation, and return it."""
    page.locator("#text").fill(text)
    page.locator("#translation:not(.stale) .word").first.wait_for()
    return str(page.locator("#translation").inner_text())


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Any]:
    page = opened(browser, address)
    yield page
    assert page.problems == []
    page.close()


def test_it_translates_what_is_typed(page: Any, expected: Any) -> None:
    page.locator("#text").press_sequentially("A dog", delay=30)
    page.locator("#text").press_sequentially(" runs.", delay=30)
    page.locator("#translation:not(.stale) .word").first.wait_for()
    dog = Translator.load("multi30k-en-de", device="cpu", short_list=False).translate("A dog runs.").text
    assert page.locator("#translation").inner_text() == dog
    assert translated(page) == expected.text
    page.locator("#clear").click()
    page.locator("#translation:empty").wait_for(state="attached")
    assert page.locator("#text").input_value() == ""


def test_a_page_without_network_goes_on_translating(browser: Any, address: str, expected: Any) -> None:
    page = opened(browser, address)
    translated(page, "A cat.")
    page.context.set_offline(True)
    assert translated(page) == expected.text
    assert page.problems == []
    page.close()


def test_one_file_translates_from_a_disk(browser: Any, folder: Path, expected: Any) -> None:
    page = opened(browser, (folder / "page.html").as_uri(), offline=True)
    assert translated(page) == expected.text
    page.locator("#attention summary").click()
    page.frame_locator("#attention iframe").locator("#map td").first.wait_for()
    assert page.problems == []
    page.close()


def test_alternatives_are_those_of_the_search(page: Any, expected: Any) -> None:
    translated(page)
    texts = list(dict.fromkeys(each.text for each in expected.alternatives if each.text))
    buttons = page.locator("#alternatives button")
    assert [line.split("\n")[0] for line in buttons.all_inner_texts()] == texts
    buttons.nth(1).click()
    assert page.locator("#translation").inner_text() == texts[1]
    assert buttons.nth(1).get_attribute("aria-pressed") == "true"
    assert buttons.nth(0).get_attribute("aria-pressed") == "false"


def test_a_word_lights_those_that_it_is_aligned_with(page: Any, expected: Any) -> None:
    translated(page)
    words = page.locator("#translation .word")
    for number in (1, 3, 6):
        words.nth(number).hover()
        lit = page.locator("#backdrop .word.lit").all_inner_texts()
        assert lit == [TEXT.split()[source] for source, target in expected.alignment if target == number]
    page.locator("h1").hover()
    assert page.locator(".word.lit").count() == 0
    page.locator("#text").click(position={"x": 40, "y": 30})  # into the first words
    assert page.locator("#translation .word.lit").count() >= 1


def test_keys_reach_everything(page: Any, expected: Any) -> None:
    translated(page)
    page.locator("#translation").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    said = page.locator("#link").inner_text()
    linked = [TEXT.split()[source] for source, target in expected.alignment if target == 1]
    assert said == f"{expected.text.split()[1]} — {' '.join(linked)}"
    page.keyboard.press("End")
    assert page.locator("#translation .here").inner_text() == expected.text.split()[-1]
    page.locator("#attention summary").focus()
    page.keyboard.press("Enter")
    page.locator("#attention iframe").wait_for()
    for element in page.locator("button:visible, select:visible, textarea").all():
        name = (
            element.get_attribute("aria-label")
            or element.inner_text()
            or element.evaluate("each => each.labels?.[0]?.innerText")
        )
        assert name, "each control has a name"


def test_the_inside_is_that_of_the_translation(page: Any, expected: Any) -> None:
    translated(page)
    for name in ("attention", "search"):
        page.locator(f"#{name} summary").click()
    tree = page.frame_locator("#search iframe")
    tree.locator(".node").first.wait_for()
    best = [text.split("\n")[0] for text in tree.locator(".node.best span:first-child").all_inner_texts()]
    pieces = [token.lstrip("▁") for token in expected.tokens]
    assert best == [*pieces, "<eos>"]
    assert tree.locator(".node[data-fate=finished]").count() == len(expected.alternatives)
    map_ = page.frame_locator("#attention iframe")
    assert map_.locator("#queries .word").all_inner_texts() == [*pieces, "<eos>"]


def test_the_inside_of_a_long_text_is_that_of_its_first_part(page: Any) -> None:
    for name in ("attention", "search"):
        page.locator(f"#{name} summary").click()
        page.locator(f"#{name} .view", has_text="Translate something first.").wait_for()
    page.locator("#text").fill("A man is riding a horse. " * 40)
    for name in ("attention", "search"):
        page.locator(f"#{name} .view", has_text="Only the first part").wait_for()
        page.locator(f"#{name} iframe").wait_for()
    page.locator("#text").fill("A man.")
    for name in ("attention", "search"):
        page.locator(f"#{name} .view p").wait_for(state="detached")


def test_the_translation_that_is_shown_is_swapped(page: Any) -> None:
    page.locator("#model").select_option("everyday")
    translated(page)
    page.locator("#alternatives button").nth(1).click()
    chosen = page.locator("#translation").inner_text()
    page.locator("#swap").click()
    assert page.locator("#text").input_value() == chosen


def test_languages_and_models_are_chosen(page: Any) -> None:
    translated(page)
    assert page.locator("#swap").is_disabled()
    page.locator("#model").select_option("everyday")
    page.locator("#source-lang").select_option("zh")
    assert page.locator("#target-lang option").all_inner_texts() == ["English"]
    english = translated(page, "我喜欢这本书。")
    assert "book" in english
    page.locator("#swap").click()
    assert page.locator("#text").input_value() == english
    page.locator("#translation", has_text="书").wait_for()


@pytest.mark.parametrize("viewport", [PHONE, DESKTOP])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_phones_and_desktops(
    browser: Any, address: str, viewport: dict[str, int], scheme: str, expected: Any
) -> None:
    page = opened(browser, address, viewport=viewport, color_scheme=scheme, locale="zh-CN")
    assert translated(page) == expected.text
    assert page.locator("html").get_attribute("lang") == "zh"
    assert page.locator("#copy").inner_text() == "复制"
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
    backgrounds = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (backgrounds == "rgb(251, 250, 247)") == (scheme == "light")
    page.locator("#interface").click()
    assert page.locator("html").get_attribute("lang") == "en"
    assert page.locator("#copy").inner_text() == "Copy"
    assert page.problems == []
    page.close()


def test_hostile_text_stays_text(page: Any) -> None:
    tags = "</script><b id=evil>&lt;!--<img src=x onerror=alert(1)> ☃"
    assert translated(page, tags) == tags  # no word to translate: copied whole, as Python copies it
    assert translated(page, f"A man {tags} runs.")
    for name in ("attention", "search"):
        page.locator(f"#{name} summary").click()
        page.frame_locator(f"#{name} iframe").locator(".token, .node").first.wait_for()
    assert page.locator("#evil").count() == 0


def test_a_missing_model_is_told(browser: Any, address: str) -> None:
    page = browser.new_page(locale="en-GB")
    page.route("**/*.dragoman", lambda route: route.fulfill(status=404))
    page.goto(address)
    page.locator("#text").fill("A man.")
    page.locator("#notes", has_text="404").wait_for()
    assert "not loaded" in page.locator("#notes").inner_text()
    page.close()


def test_the_inside_is_told_in_chinese(browser: Any, address: str) -> None:
    page = opened(browser, address, locale="zh-CN")
    translated(page)
    for name in ("attention", "search"):
        page.locator(f"#{name} summary").click()
        frame = page.frame_locator(f"#{name} iframe")
        frame.locator(".token, .node").first.wait_for()
        shown = frame.locator("main, footer, form").all_inner_texts()
        english = re.findall(
            r"\b(?:layer|head|mean|attend\w*|finished|token|score|hypothesis|point)\b", " ".join(shown), re.I
        )
        assert not english
    assert page.problems == []
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_axe_finds_nothing_serious(browser: Any, address: str, scheme: str, viewport: dict[str, int]) -> None:
    page = opened(browser, address, viewport=viewport, color_scheme=scheme)
    assert findings(page) == []
    translated(page)
    for name in ("attention", "search", "history"):
        page.locator(f"#{name} summary").click()
    for name in ("attention", "search"):
        page.frame_locator(f"#{name} iframe").locator(".token, .node").first.wait_for()
    assert findings(page) == []
    page.close()


def test_what_was_translated_is_kept_on_this_device(browser: Any, folder: Path) -> None:
    page = opened(browser, (folder / "page.html").as_uri(), offline=True)
    translated(page)
    page.locator("#history summary").click()
    page.locator("#history li", has_text=TEXT).wait_for()
    assert not page.get_by_label("API key").is_visible()
    assert not page.locator("#choose-file").is_visible()
    page.get_by_role("button", name="Delete all").click()
    assert page.locator("#history li").count() == 0
    assert page.problems == []
    page.close()
