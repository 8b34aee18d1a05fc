"""The box with a translator, in Chromium and from a disk: what it shows is what the model does."""

import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from book_pages import BUILDING, write_widget
from browser import PHONE, open_page
from typescript import type_errors

from dragoman.alignment.capture import capture_attention
from dragoman.bundle.finding import find_bundle
from dragoman.exchange.text_rules import rules
from dragoman.translator import Translator

sys.path.insert(0, str(BUILDING))
from bundles import engine_script, model_script

pytestmark = pytest.mark.captions

MODEL = "multi30k-en-de"
TEXT = "A man is riding a horse on the beach."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("book")
    for language in ("en", "zh-CN"):
        write_widget(folder, "try_it", language, {"model": MODEL, "example": TEXT})
    (folder / "engine.js").write_text(engine_script(), encoding="utf-8")
    (folder / f"model-{MODEL}.js").write_text(model_script(MODEL, find_bundle(MODEL)), encoding="utf-8")
    return folder


def opened(browser: Any, folder: Path, language: str = "en", **options: Any) -> Any:
    page = open_page(
        browser, (folder / f"try_it-{language}.html").as_uri(), (folder.as_uri(), "blob:"), 60_000, **options
    )
    page.locator(".try-it-bars li").first.wait_for()
    return page


@pytest.fixture
def page(browser: Any, folder: Path) -> Iterator[Any]:
    page = opened(browser, folder)
    yield page
    assert page.problems == []
    page.close()


def bars(page: Any, step: int, token: str) -> dict[str, float]:
    """Return the tokens and probabilities of a step, once they are shown."""
    page.locator(".widget-status", has_text=f"Step {step + 1} of").wait_for()
    page.locator(".try-it-bars .widget-best", has_text=token).wait_for()
    rows = [row.locator("span").all_inner_texts() for row in page.locator(".try-it-bars li").all()]
    return {token: float(probability) for token, _, probability in rows}


def test_bars_are_the_most_probable_tokens_of_the_model(page: Any) -> None:
    translator = Translator.load(MODEL, device="cpu")
    (source, target), model = (translator.tokenizers.source, translator.tokenizers.target), translator.models[0]
    expected = translator.translate(TEXT)
    assert page.locator(".try-it-translation").inner_text() == expected.text
    pieces = target.pieces(range(target.vocab_size))
    ids = [pieces.index(token) for token in expected.tokens]
    with torch.no_grad():
        read = torch.tensor([[*source.encode(TEXT), source.special_ids.end]])
        logits = model(read, torch.tensor([[target.special_ids.start, *ids]]))
    page.locator("button[aria-current]").focus()
    for step, probabilities in enumerate(logits[0].softmax(-1)):
        written = [*expected.tokens, "<eos>"][step]
        shown = bars(page, step, written)
        best = probabilities.topk(5)
        names = ["<eos>" if i == target.special_ids.end else pieces[i] for i in best.indices.tolist()]
        assert list(shown) == names
        assert list(shown.values()) == pytest.approx(best.values.tolist(), abs=0.002)
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")


def test_attention_is_the_mean_of_the_heads_of_a_layer(page: Any) -> None:
    translator = Translator.load(MODEL, device="cpu")
    source, target = translator.tokenizers.source, translator.tokenizers.target
    read = torch.tensor([[*source.encode(TEXT), source.special_ids.end]])
    with torch.no_grad(), capture_attention(translator.models[0], ["cross"]) as maps:
        translator.models[0](read, torch.tensor([[target.special_ids.start]]))
    for layer, weights in enumerate(maps["cross"]):
        page.get_by_label("attention of layer").select_option(str(layer + 1))
        script = "(all) => all.map((one) => Number(one.style.getPropertyValue('--share')))"
        shares = page.locator("span.widget-token").filter(has_not=page.locator("small")).evaluate_all(script)
        assert shares == pytest.approx(weights[0].mean(dim=0)[0].tolist(), abs=1e-3)
        widths = page.locator("line").evaluate_all(
            "(all) => all.map((one) => Number(one.getAttribute('stroke-width')))"
        )
        assert widths == pytest.approx([8 * share for share in shares], abs=0.01)


def test_decoding_is_played_paused_and_stepped_by_keyboard(page: Any) -> None:
    current = page.locator("button[aria-current=step]")
    page.locator("textarea").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    assert page.evaluate("document.activeElement.textContent") == "pause"
    page.locator("[aria-current=step]", has_text="▁reitet").wait_for()
    page.keyboard.press("Space")
    assert page.evaluate("document.activeElement.textContent") == "play"
    step = page.locator("[type=range]")
    at = int(step.input_value())
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert int(step.input_value()) == at + 1
    page.keyboard.press("Tab")
    page.keyboard.press("Home")
    assert current.inner_text() == "▁Ein"
    page.keyboard.press("End")
    assert current.inner_text() == "<eos>"
    page.locator(".try-it-bars .widget-best", has_text="<eos>").wait_for()


def test_the_tree_has_the_best_translation(page: Any) -> None:
    page.locator("summary").click()
    tokens = page.locator(".widget-tree .widget-best").all_inner_texts()
    assert [token.split()[0] for token in tokens] == page.locator("button.widget-token").all_inner_texts()


def test_the_example_of_chapter_13_is_one_where_greedy_search_goes_wrong(page: Any) -> None:
    chapter = (BUILDING.parent / "en" / "13-search.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"^:example: (.*)$", chapter, re.M)
    translator = Translator.load(MODEL, device="cpu")
    beam, greedy = translator.translate(text), translator.translate(text, beam_size=1)
    assert greedy.text.rstrip(".") in " ".join(chapter.split())
    page.locator("textarea").fill(text)
    page.locator(".try-it-translation", has_text=beam.text).wait_for()
    step = beam.tokens.index("▁Haufen") + 1
    page.locator("button.widget-token").nth(step).click()
    shown = list(bars(page, step, beam.tokens[step]))
    assert shown.index(greedy.tokens[step]) < shown.index(beam.tokens[step])


def test_other_texts_follow(page: Any) -> None:
    text = page.locator("textarea")
    text.fill("Two dogs.")
    page.locator(".try-it-translation", has_text="Zwei Hunde").wait_for()
    assert page.locator("span.widget-token").first.inner_text() == "▁Two"
    text.fill("A dog runs. " * 30)
    page.get_by_text("Only the first part").wait_for()
    text.fill("????")
    page.get_by_text("it was copied").wait_for()
    assert not page.locator(".try-it-bars").is_visible()
    text.fill("")
    page.get_by_text("it was copied").wait_for(state="detached")


def test_it_fits_a_phone_in_chinese(browser: Any, folder: Path) -> None:
    page = opened(browser, folder, "zh-CN", viewport=PHONE)
    page.locator("summary").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert "第 1 步" in page.locator(".widget-status").inner_text()
    assert page.problems == []
    page.close()


def test_a_missing_model_is_told(browser: Any, folder: Path, tmp_path: Path) -> None:
    write_widget(tmp_path, "try_it", "en", {"model": MODEL, "example": TEXT})
    page = open_page(browser, (tmp_path / "try_it-en.html").as_uri(), (tmp_path.as_uri(),))
    page.get_by_text("This did not work: cannot read").wait_for()
    page.close()


def test_a_page_weighs_at_most_8_megabytes(folder: Path) -> None:
    """With its model, for which 8 MB are the limit; without it, 3 MB is that of a page with its own small model."""
    sizes = {path.name: path.stat().st_size for path in folder.glob("*.js")}
    assert sum(sizes.values()) < 7.5e6
    assert sum(sizes.values()) - sizes[f"model-{MODEL}.js"] < 0.5e6


def test_the_types_are_right(tmp_path: Path) -> None:
    root = BUILDING.parents[2]
    for name in ("docs/book/building/scripts", "src/dragoman/web"):
        shutil.copytree(root / name, tmp_path / name)
    (tmp_path / "src/dragoman/web/dragoman/rules.js").write_text(rules(), encoding="utf-8")
    (tmp_path / "src/dragoman/web/page/views.js").write_text(
        'export const PLACEHOLDER = "";\n/** @type {Record<string, string>} */ export const VIEWS = {};\n'
    )
    assert type_errors(tmp_path) == ""
