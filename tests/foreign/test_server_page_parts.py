"""The server's page in Chromium: the inside of translations, history, key, documents, languages, and axe-core."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from accessible import findings
from browser import DESKTOP, PHONE, open_page
from serving import KEY, require_server, served

from dragoman.translator import Translator

require_server()

TEXT = "Where is the station?"
ENGLISH = "Where is the station? I have been looking for it for an hour, and nobody could help me."


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with served("everyday", "--workers", "1") as (_, address):
        yield f"{address}/"


@pytest.fixture(scope="module")
def guarded() -> Iterator[str]:
    """A server below a prefix that wants a key."""
    with served("everyday", "--workers", "1", "--api-keys", KEY, "--url-prefix", "/my/mt") as (_, address):
        yield f"{address}/"


def opened(browser: Any, address: str, **options: Any) -> Any:
    return open_page(browser, address, ("data:",), **{"locale": "en-GB", **options})


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Any]:
    page = opened(browser, address)
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


def translated(page: Any, text: str = TEXT) -> str:
    page.locator("#text").fill(text)
    page.locator("#translation:not(.stale) .word").first.wait_for()
    return str(page.locator("#translation").inner_text())


def past(page: Any) -> list[str]:
    return [text.split("\n")[1] for text in page.locator("#history li").all_inner_texts()]


def is_kept(page: Any, n_entries: int) -> None:
    """Wait until the history has so many entries."""
    page.wait_for_function("n => document.querySelectorAll('#history li').length === n", arg=n_entries)


def test_the_inside_is_that_of_the_translation(page: Any, expected: Any) -> None:
    choose(page, "en", "de")
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


def test_the_inside_of_several_lines_is_that_of_the_first(page: Any) -> None:
    choose(page, "en", "de")
    for name in ("attention", "search"):
        page.locator(f"#{name} summary").click()
        page.locator(f"#{name} .view", has_text="Translate something first.").wait_for()
    page.locator("#text").fill(f"{TEXT}\n{TEXT}")
    for name in ("attention", "search"):
        page.locator(f"#{name} .view", has_text="Only the first part").wait_for()
        page.locator(f"#{name} iframe").wait_for()


def test_through_a_third_language_there_is_no_inside(page: Any) -> None:
    choose(page, "de", "zh")
    page.locator("#attention summary").click()
    page.locator("#text").fill("Wo ist der Bahnhof?")
    page.locator("#attention .view", has_text="third language").wait_for()
    assert page.locator("#attention iframe").count() == 0


def test_what_was_translated_is_kept_in_this_browser_and_can_be_forgotten(browser: Any, address: str) -> None:
    page = opened(browser, address)
    choose(page, "en", "de")
    page.locator("#history summary").click()
    assert page.locator("#history").get_by_text("There are none yet.").is_visible()
    translated(page, "Where is")
    german = translated(page)  # what was typed before it is no entry of its own
    is_kept(page, 1)
    translated(page, "Thank you.")
    is_kept(page, 2)
    assert past(page) == ["Thank you.", TEXT]
    page.reload()
    page.locator("#history summary").click()
    page.locator("#history li button").nth(1).click()
    page.locator("#translation:not(.stale)", has_text=german).wait_for()
    assert page.locator("#text").input_value() == TEXT
    assert [page.locator(f"#{side}-lang").input_value() for side in ("source", "target")] == ["en", "de"]
    page.get_by_role("button", name="Delete all").click()
    assert past(page) == []
    assert "station" not in page.evaluate("JSON.stringify(localStorage)")
    assert page.problems == []
    page.close()


def test_nothing_is_kept_once_it_is_turned_off(browser: Any, address: str) -> None:
    page = opened(browser, address)
    choose(page, "en", "de")
    translated(page)
    is_kept(page, 1)
    page.locator("#history summary").click()
    page.get_by_label("Keep my translations").uncheck()
    assert past(page) == []
    page.reload()
    translated(page, "Thank you.")
    page.wait_for_timeout(2_000)
    page.reload()
    assert past(page) == []
    assert not re.search("station|Thank", page.evaluate("JSON.stringify(localStorage)"))
    assert not page.get_by_label("Keep my translations").is_checked()
    page.close()


def test_a_damaged_history_is_no_problem(browser: Any, address: str) -> None:
    page = opened(browser, address)
    for damaged in ("{", "7", '[1, {"text": 5}, null]', '"x"'):
        page.evaluate("value => localStorage.setItem('dragoman / entries', value)", damaged)
        page.reload()
        assert translated(page)
    page.close()
    page = opened(browser, address)
    hostile = "</script><img src=x onerror=alert(1)>"
    entry = {"model": "server", "source": "en", "target": "de", "text": hostile, "translation": hostile}
    page.evaluate("value => localStorage.setItem('dragoman / entries', value)", json.dumps([entry]))
    page.reload()
    page.locator("#history summary").click()
    assert past(page) == [hostile]
    assert page.problems == []
    page.close()


def test_a_browser_that_keeps_nothing_has_no_history(browser: Any, address: str) -> None:
    context = browser.new_context(locale="en-GB")
    context.add_init_script("Object.defineProperty(window, 'localStorage', {get() { throw new Error('no'); }})")
    page = context.new_page()
    page.goto(address)
    assert translated(page)
    assert not page.locator("#history").is_visible()
    context.close()


def test_a_key_is_asked_for_kept_and_sent(browser: Any, guarded: str) -> None:
    page = opened(browser, guarded)
    choose(page, "en", "de")
    page.locator("#text").fill(TEXT)
    page.locator("#notes", has_text="wants an API key").wait_for()
    page.get_by_label("API key").fill("not-the-key")
    page.keyboard.press("Enter")
    page.locator("#notes", has_text="does not know this API key").wait_for()
    page.get_by_label("API key").fill(KEY)
    page.keyboard.press("Enter")
    page.locator("#translation:not(.stale)", has_text="Bahnhof").wait_for()
    page.problems[:] = [problem for problem in page.problems if "403" not in problem]  # Chromium's own line
    assert "API key" not in page.locator("#notes").inner_text()
    page.reload()
    choose(page, "en", "de")
    assert "Bahnhof" in translated(page)
    assert not [address for address in page.addresses if KEY in address]
    assert page.problems == []
    page.close()


def test_a_server_without_keys_asks_for_none(page: Any) -> None:
    assert not page.locator("#key").is_visible()


@pytest.mark.parametrize(
    ("locale", "target"), [("zh-CN", "zh"), ("zh-TW", "zh"), ("de-AT", "de"), ("en-GB", "en"), ("ja-JP", "de")]
)
def test_the_visitors_language_is_the_target(browser: Any, address: str, locale: str, target: str) -> None:
    page = opened(browser, address, locale=locale)
    assert page.locator("#source-lang").input_value() == "auto"
    assert page.locator("#target-lang").input_value() == target
    page.close()


def test_who_types_their_own_language_gets_another_one(page: Any) -> None:
    assert page.locator("#target-lang").input_value() == "en"
    page.locator("#text").fill(ENGLISH)
    page.locator("#translation:not(.stale)", has_text="Bahnhof").wait_for()
    assert page.locator("#target-lang").input_value() == "de"
    page.locator("#target-lang").select_option("en")  # who chooses it wants it
    page.locator("#notes", has_text="in this language already").wait_for()


@pytest.mark.parametrize("way", ["dropped", "chosen"])
def test_documents_are_translated(browser: Any, guarded: str, tmp_path: Path, way: str) -> None:
    page = opened(browser, guarded, accept_downloads=True)
    page.get_by_label("API key").fill(KEY)
    choose(page, "en", "de")
    file = tmp_path / "my letter.html"
    file.write_text(f"<p>{TEXT}</p><p>Thank you.</p>", encoding="utf-8")
    if way == "chosen":
        with page.expect_file_chooser() as chooser:
            page.get_by_role("button", name="Translate a document").press("Enter")
        chooser.value.set_files(file)
    else:
        data = page.evaluate_handle(
            """([name, text]) => {
                const data = new DataTransfer();
                data.items.add(new File([text], name));
                return data;
            }""",
            [file.name, file.read_text(encoding="utf-8")],
        )
        page.dispatch_event("#text", "dragover", {"dataTransfer": data})
        assert page.locator("body.dropping").count() == 1
        page.dispatch_event("#text", "drop", {"dataTransfer": data})
        assert page.locator("body.dropping").count() == 0
    link = page.get_by_role("link", name="Save the translation of my letter.html")
    link.wait_for()
    with page.expect_download() as download:
        link.click()
    content = Path(download.value.path()).read_text(encoding="utf-8")
    assert re.fullmatch(r"<p>Wo ist der Bahnhof\?</p><p>.+</p>", content.strip())
    assert page.problems == []
    page.close()


PAGE = """<html lang="fr"><h1>Where is the station?</h1><p>The mortgage broker underwrites 12 tranches of debt.</p>
<p>The horse is tired.</p></html>"""


@pytest.mark.parametrize(("locale", "viewport"), [("en-GB", DESKTOP), ("zh-CN", PHONE)])
def test_the_warnings_of_a_document_stand_beside_it(
    browser: Any, address: str, tmp_path: Path, locale: str, viewport: Any
) -> None:
    page = opened(browser, address, locale=locale, viewport=viewport)
    choose(page, "en", "de")
    page.locator("#terms summary").click()
    page.locator("#term-lines").fill("horse = Gaul")
    file = tmp_path / "page.html"
    file.write_text(PAGE, encoding="utf-8")
    page.locator("#file").set_input_files(file)
    page.locator("#document a").wait_for()
    link = page.locator("#document a").get_attribute("href")
    assert "Gaul" in page.evaluate("link => fetch(link).then((answer) => answer.text())", link)
    told = page.locator("#document").inner_text()
    counts = page.locator("#document-report ul li").all_inner_texts()
    listed = page.locator("#document-report ol li").all()
    assert listed[0].evaluate("item => item.value") == 2
    assert "underwrites 12 tranches" in listed[0].inner_text()
    assert "in fr, but is translated from en" in counts[-1]  # as the command says it
    n_found = len(listed)
    assert re.search(
        rf"warning: {n_found} of 3\. Confidence: 0" if locale == "en-GB" else f"3 段，其中 {n_found} 段", told
    )
    assert re.match(f"{n_found} × (Probably wrong:|译文很可能有误)", counts[0])
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert findings(page) == []
    assert page.problems == []
    page.close()


def test_the_page_asks_for_the_columns_of_a_table(page: Any, tmp_path: Path) -> None:
    file = tmp_path / "my.csv"
    file.write_text("id,text\n7,Where is the station?\n", encoding="utf-8")
    page.evaluate("window.prompt = (question) => { window.asked = question; return window.answer ?? null; }")
    page.locator("#file").set_input_files(file)
    assert page.evaluate("window.asked").startswith("Columns of my.csv to translate")
    assert page.locator("#document").inner_text() == ""  # cancelled
    page.evaluate("window.answer = 'text'")
    page.locator("#file").set_input_files(file)
    page.get_by_role("link", name="Save the translation of my.csv").wait_for()


def test_a_document_that_cannot_be_translated_is_told(page: Any, tmp_path: Path) -> None:
    file = tmp_path / "picture.png"
    file.write_bytes(b"\x89PNG")
    page.locator("#file").set_input_files(file)
    page.locator("#document", has_text="picture.png was not translated. These kinds of files are read: .txt").wait_for()
    file = tmp_path / "letter.docx"
    file.write_bytes(b"\x89PNG")
    page.locator("#file").set_input_files(file)
    page.locator("#document", has_text="letter.docx was not translated: ").wait_for()
    page.problems[:] = [problem for problem in page.problems if "400" not in problem]  # Chromium's own line


@pytest.mark.parametrize("locale", ["en-GB", "zh-CN"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_axe_finds_nothing_serious(browser: Any, guarded: str, locale: str, scheme: str, viewport: Any) -> None:
    page = opened(browser, guarded, locale=locale, color_scheme=scheme, viewport=viewport)
    assert findings(page) == []
    page.locator("#key").fill(KEY)
    choose(page, "en", "de")
    translated(page)
    is_kept(page, 1)
    page.locator("#text").fill(f"{TEXT} {TEXT}\nThe mortgage broker underwrites 12 tranches of debt.")
    page.locator("#alternatives summary").first.click()
    page.locator("#text-report summary").click()
    for name in ("attention", "search", "history", "terms"):
        page.locator(f"#{name} summary").click()
    for name in ("attention", "search"):
        page.frame_locator(f"#{name} iframe").locator(".token, .node").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert findings(page) == []
    page.close()
