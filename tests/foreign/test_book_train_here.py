"""The model that "One sentence" trains in the page, in Chromium: it learns, and what the page says comes true."""

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from accessible import findings
from book_pages import open_widget
from browser import PHONE

N_STEPS = 600
#: The loss of a model that guesses article and verb, two of four words, among three each.
FLOOR = math.log(3) / 2
#: A machine may be busy with other tests.
TIMEOUT = 120_000


@pytest.fixture
def page(browser: Any, tmp_path: Path) -> Iterator[Any]:
    page = open_widget(browser, tmp_path, "train_here", timeout=TIMEOUT)
    yield page
    assert page.problems == []
    page.close()


def progress(page: Any) -> dict[str, float]:
    """Return what the line above the curve says."""
    text = page.get_by_text(re.compile(r"^Step \d+ of")).inner_text()
    names = ("step", "rate", "loss", "right")
    found = re.fullmatch(rf"Step (\d+) of {N_STEPS} · rate (\S+) · loss (\S+) · (\d) of 9 right", text)
    assert found, text
    return {name: float(number) for name, number in zip(names, found.groups(), strict=True)}


def move_to(page: Any, slider: str, value: str) -> None:
    """Move a slider by keyboard."""
    place = page.get_by_label(slider)
    place.focus()
    page.keyboard.press("Home")
    for _ in range(30):
        if place.get_attribute("aria-valuetext") == value:
            return
        page.keyboard.press("ArrowRight")
    raise AssertionError(f"{slider} has no {value}")


def train(page: Any, rate: str = "0.004", warmup: str = "50", norm: str = "pre") -> dict[str, float]:
    """Train to the end, as fast as the page can, and return what it has become."""
    move_to(page, "highest rate", rate)
    move_to(page, "warm-up steps", warmup)
    page.get_by_role("combobox").select_option(norm)
    move_to(page, "steps at a time", "20")
    page.get_by_role("button", name="Train").focus()
    page.keyboard.press("Enter")
    page.get_by_text(re.compile(f"^Done: after {N_STEPS} steps")).wait_for()
    return progress(page)


def translations(page: Any) -> list[str]:
    texts = page.locator(".train-sentence").all_inner_texts()
    return [re.findall("→ (.*) [✓×]$", text)[0] for text in texts]


def test_all_nine_sentences_are_learned(page: Any) -> None:
    status = page.locator("[role=status]")
    page.get_by_role("button", name="Train").click()
    page.get_by_text(re.compile(r"^After \d+ steps all nine sentences are right")).wait_for()
    page.get_by_role("button", name="Pause").click()
    assert "Paused" in status.inner_text()
    assert progress(page)["right"] == 9
    assert page.get_by_label("right", exact=True).count() == 9
    assert translations(page)[:4] == ["der Hund schläft", "der Hund isst", "der Hund singt", "die Katze schläft"]
    drawn = page.locator(".train-now").get_attribute("d")
    assert drawn.count("L") + 1 == progress(page)["step"]
    page.get_by_role("button", name="Begin anew").click()
    assert page.locator(".train-before").get_attribute("d") == drawn
    assert progress(page)["step"] == progress(page)["right"] == 0


def test_one_step_moves_weights_and_attention(page: Any) -> None:
    def numbers() -> list[float]:
        return [float(text) for text in page.locator(".train-numbers .widget-cell").all_inner_texts()]

    def attention() -> list[list[float]]:
        rows = page.locator(".train-attention tr:has(.widget-cell)").all()
        cells = [row.locator(".widget-cell").all_inner_texts() for row in rows]
        return [[0 if text == "·" else float(text) for text in row] for row in cells]

    move_to(page, "warm-up steps", "0")
    move_to(page, "highest rate", "0.05")
    before = numbers(), attention()
    assert len(before[0]) == 13 * 4
    page.get_by_role("button", name="One step").focus()
    page.keyboard.press("Enter")
    assert progress(page) == {**progress(page), "step": 1, "rate": 0.05}
    assert page.locator("[role=status]").inner_text() == "Paused after 1 step."
    moved = [abs(new - old) for new, old in zip(numbers(), before[0], strict=True)]
    assert 0.03 < max(moved) < 0.07  # Adam's first step is as long as the rate
    assert attention() != before[1]
    assert len(attention()) == 12
    for row in attention():
        assert abs(sum(row) - 100) <= 2
    assert [row.index(next(filter(None, reversed(row)))) for row in attention()[8:]] == [0, 1, 2, 3], "no later word"


def test_a_sentence_and_a_matrix_are_chosen_by_keyboard(page: Any) -> None:
    heads = page.locator(".train-attention table").first.locator("th[scope=col]")
    assert heads.all_inner_texts() == ["the", "dog", "sleeps", "<eos>"]
    page.locator(".train-sentence").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert heads.all_inner_texts() == ["the", "dog", "eats", "<eos>"]
    matrices, vectors = page.locator(".train-maps div").all()
    page.get_by_label("source_embedding.tokens.weight").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    name = page.evaluate("document.activeElement.ariaLabel")
    assert name == "encoder_layers.0.self_attention.query_projection.weight"
    assert page.locator(".train-numbers caption").inner_text() == name
    assert page.locator(".train-numbers .widget-cell").count() == 16
    n_numbers = page.locator("canvas").evaluate_all(
        "(all) => all.reduce((n, one) => n + one.width * one.height / 49, 0)"
    )
    assert n_numbers == 557
    assert matrices.locator("button").count() == 18
    page.get_by_role("combobox").select_option("post")
    assert vectors.locator("button").count() == 16 + 1 + 2 * 5  # without the last norms
    assert page.locator(".train-numbers caption").inner_text() == name


def test_a_rate_that_is_too_high_or_too_low_does_not_get_there(page: Any) -> None:
    high = train(page, rate="1")
    assert high["right"] <= 2
    assert high["loss"] > FLOOR
    low = train(page, rate="0.001")
    assert low["right"] <= 2
    assert low["loss"] > 2 * FLOOR


def test_post_norm_without_warm_up_does_not_read(page: Any) -> None:
    assert train(page, rate="0.2", warmup="0", norm="post")["loss"] > FLOOR
    assert train(page, rate="0.2", warmup="100", norm="post")["loss"] < 0.7 * FLOOR
    assert train(page, rate="0.2", warmup="0")["loss"] < 0.7 * FLOOR


def test_other_first_weights_need_another_rate(page: Any) -> None:
    move_to(page, "first weights no.", "3")
    assert train(page)["right"] < 9
    assert train(page, rate="0.01")["right"] == 9


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_accessible_and_still_for_those_who_want_it(scheme: str, browser: Any, tmp_path: Path) -> None:
    options = {"viewport": PHONE, "color_scheme": scheme, "reduced_motion": "reduce", "timeout": TIMEOUT}
    page = open_widget(browser, tmp_path, "train_here", **options)
    watch = """() => {
        window.changes = 0;
        const count = () => (window.changes += 1);
        new MutationObserver(count).observe(document.querySelector(".train-now"), {attributes: true});
    }"""
    page.evaluate(watch)
    page.get_by_role("button", name="Train").click()
    page.get_by_text(re.compile(f"^Done: after {N_STEPS} steps")).wait_for()
    assert page.evaluate("window.changes") == N_STEPS / 100
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert findings(page) == []
    assert page.problems == []
    page.close()
