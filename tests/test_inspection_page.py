"""The pages of `dragoman inspect` in a real browser: what lights up is what the model did."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from browser import DESKTOP, PHONE, open_page
from tiny import tiny_model, tiny_tokenizers
from torch import Tensor

from dragoman.inspection import Attention, inspect_attention, inspect_search
from dragoman.inspection.attention_maps import attention_page
from dragoman.inspection.page import build_page
from dragoman.translator import Translator

pytestmark = pytest.mark.torch

HOSTILE = "</script><b id=evil>&lt;!--<img src=x onerror=alert(1)> \u2028 ☃"


@pytest.fixture(scope="module")
def translator() -> Translator:
    tokenizers = tiny_tokenizers()
    model = tiny_model(tokenizers, n_encoder_layers=2, n_decoder_layers=2, max_length=120)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(2)  # weights of attention that differ
    return Translator([model], tokenizers)


@pytest.fixture(scope="module")
def attention(translator: Translator) -> Attention:
    return inspect_attention(translator, "A man is riding a horse.", "Ein Mann reitet.")


def opened(browser: Any, content: bytes, path: Path, viewport: dict[str, int] = DESKTOP) -> Any:
    """The page, which may ask for nothing but itself and may report no error."""
    path.write_bytes(content)
    return open_page(browser, path.as_uri(), viewport=viewport, reduced_motion="reduce")


@pytest.fixture
def page(browser: Any, attention: Attention, tmp_path: Path) -> Iterator[Any]:
    page = opened(browser, attention_page(attention), tmp_path / "attention.html")
    yield page
    assert page.problems == []
    page.close()


def choose(page: Any, name: str, value: object) -> None:
    page.locator(f"input[name={name}][value='{value}']").check(force=True)


def numbers(page: Any, side: str) -> list[str]:
    return [str(text) for text in page.locator(f"#{side} .weight").all_inner_texts()]


def same(found: list[str], weights: Tensor) -> bool:
    """Two digits, give or take one in the last: a weight may lie between two of them."""
    values = [1.0 if text == "1" else 0.0 if text == "·" else float(text) for text in found]
    return len(values) == len(weights) and torch.allclose(torch.tensor(values), weights, atol=0.0101)


def brightness(page: Any, selector: str) -> list[float]:
    colours = page.locator(selector).evaluate_all("all => all.map((one) => getComputedStyle(one).backgroundColor)")
    return [sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in colours]


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_the_right_cells_light_up(page: Any, attention: Attention, kind: Any) -> None:
    choose(page, "kind", kind)
    for layer, head in ((0, 1), (1, 0)):
        choose(page, "layer", layer)
        choose(page, "head", head)
        weights = attention.weights(kind)[layer, head]
        cells = page.locator("#map td[data-weight]").evaluate_all("all => all.map((one) => Number(one.dataset.weight))")
        torch.testing.assert_close(torch.tensor(cells).view_as(weights), weights, atol=1e-4, rtol=0)
        for row in (2, len(weights) - 1):
            page.locator("#queries .token").nth(row).hover()
            assert same(numbers(page, "keys"), weights[row])
            assert set(numbers(page, "queries")) == {""}
            lit = page.locator("#map td.lit").evaluate_all("all => all.map((one) => one.dataset.row)")
            assert lit == [str(row)] * weights.size(1)
            levels = brightness(page, "#keys .token")
            assert levels[int(weights[row].argmax())] == min(levels), "more attention is darker on a light page"
        page.locator("#keys .token").nth(1).hover()
        assert same(numbers(page, "queries"), weights[:, 1])
        lit = page.locator("#map td.lit").evaluate_all("all => all.map((one) => one.dataset.column)")
        assert lit == ["1"] * len(weights)


def test_the_mean_of_the_heads_and_the_cells_of_the_map(page: Any, attention: Attention) -> None:
    mean = attention.cross[0].mean(dim=0)
    page.locator("#map td[data-row='1'][data-column='2']").hover()
    assert same(numbers(page, "keys"), mean[1])
    assert f"{mean[1, 2]:.3f}"[:4] in page.locator("#readout").inner_text()


def test_all_heads_are_shown_small_and_can_be_picked(page: Any, attention: Attention) -> None:
    small = page.locator(".small")
    assert small.count() == attention.cross.size(0) * attention.cross.size(1)
    small.nth(3).focus()
    page.keyboard.press("Enter")
    assert page.locator("input[name=layer]:checked").input_value() == "1"
    assert page.locator("input[name=head]:checked").input_value() == "1"
    assert page.locator(".small[aria-pressed=true]").count() == 1
    page.locator("#queries .token").first.hover()
    assert same(numbers(page, "keys"), attention.cross[1, 1, 0])


def test_the_keyboard_is_enough(page: Any, attention: Attention) -> None:
    page.locator("input[name=kind]:checked").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("input[name=kind]:checked").input_value() == "encoder"
    for _ in range(3):  # layers, heads, words
        page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    assert page.locator(".token.active").get_attribute("data-index") == "2"
    assert same(numbers(page, "keys"), attention.encoder[0].mean(dim=0)[2])
    page.keyboard.press("End")
    assert page.locator("#readout b").inner_text() == attention.source[-1]
    page.keyboard.press("Tab")
    assert page.locator(".token.active").get_attribute("data-side") == "keys"


def test_text_from_a_stranger_is_text(browser: Any, translator: Translator, tmp_path: Path) -> None:
    attention = inspect_attention(translator, HOSTILE, HOSTILE)
    tree = inspect_search(translator, HOSTILE)
    for number, content in enumerate(
        [attention_page(attention), build_page("search", HOSTILE, {**tree.to_dict(), "target_text": HOSTILE})]
    ):
        page = opened(browser, content, tmp_path / f"{number}.html")
        assert page.locator("#source-text").text_content() == attention.source_text
        assert page.locator("#evil, img").count() == 0
        assert page.problems == []
        page.close()


def test_long_sentences_stay_within_a_phone(browser: Any, translator: Translator, tmp_path: Path) -> None:
    long = inspect_attention(translator, "a man is riding a horse . " * 6, "Ein Mann reitet . " * 9)
    assert max(len(long.source), len(long.read)) >= 80
    pages = [attention_page(long), build_page("search", "x", inspect_search(translator, long.source_text).to_dict())]
    for number, content in enumerate(pages):
        page = opened(browser, content, tmp_path / f"{number}.html", PHONE)
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        assert page.problems == []
        page.close()


def test_light_and_dark_differ(browser: Any, attention: Attention, tmp_path: Path) -> None:
    page = opened(browser, attention_page(attention), tmp_path / "attention.html")
    light = brightness(page, "body, #map td[data-row]")
    page.emulate_media(color_scheme="dark")
    for _ in range(100):  # the page is told of it, and draws again, a little later
        dark = brightness(page, "body, #map td[data-row]")
        if dark[0] != light[0] and 0 < dark[1] != light[1]:
            break
        page.wait_for_timeout(50)
    assert light[0] > 600 > 150 > dark[0]
    assert light.index(min(light[1:])) == dark.index(max(dark[1:])), "the same cell stands out most"
    page.close()


def test_the_tree_of_a_search(browser: Any, translator: Translator, tmp_path: Path) -> None:
    tree = inspect_search(translator, "A man.", beam_size=3)
    page = opened(browser, build_page("search", "Search", tree.to_dict()), tmp_path / "search.html")
    nodes = list(tree.nodes())
    assert page.locator(".node").count() == len(nodes)
    assert page.locator(".node.best").count() == len(tree.best.path)
    for number in (0, len(nodes) - 1):
        page.locator(".node").nth(number).focus()
        assert f"token {nodes[number].length} " in page.locator("#fate").inner_text()
        assert f"{nodes[number].total:.3f}"[:5] in page.locator("#fate").inner_text()
        probabilities = [float(text) for text in page.locator(".rival .number").all_inner_texts()]
        assert probabilities == sorted(probabilities, reverse=True)
        assert len(probabilities) == len(nodes[number].rivals) + 1
    page.locator(".node").first.focus()
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.style.gridColumn").startswith("1")
    page.locator(".node.best").first.focus()
    page.keyboard.press("ArrowRight")
    assert "token 2 " in page.locator("#fate").inner_text()
    page.keyboard.press("ArrowLeft")
    assert "token 1 " in page.locator("#fate").inner_text()
    assert page.problems == []
    page.close()
