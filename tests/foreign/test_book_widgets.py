"""The widgets of the book in Chromium: they move by keyboard, and what they say is computed right."""

import ast
import json
import math
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from book_pages import BUILDING, open_widget
from browser import PHONE
from extras import require_program

from dragoman.decoding.scores import ArrayScores
from dragoman.decoding.search import search
from dragoman.settings.search_config import SearchConfig
from dragoman.text.special_ids import SpecialIdPair, SpecialIds

WIDGETS = [
    path.stem
    for path in sorted((BUILDING / "scripts").glob("*.js"))
    if re.search(r"^widget\((?!\"try_it)", path.read_text(encoding="utf-8"), re.M)
]


#: What chapter 12 records of its run, but smaller.
WATCHED = {
    "pieces": {"source": ["▁A", "▁dog", "<eos>"], "read": ["<sos>", "▁Hund"], "written": ["▁Hund", "<eos>"]},
    "steps": [
        {
            "step": step,
            "text": text,
            "weights": {
                "cross": [[share, 1 - share, 0], [0.25, 0.25, 0.5]],
                "encoder": [[share, 0.5, 0.25]] * 3,
                "decoder": [[1, 0], [0.125, share]],
            },
        }
        for step, text, share in ((0, "", 0.75), (50, "Ein Hund", 0.5), (500, "Hund", 0.125))
    ],
}
DATA = {"learning": {"record": json.dumps(WATCHED)}}


@pytest.mark.parametrize("name", WIDGETS)
@pytest.mark.parametrize("language", ["en", "zh-CN"])
def test_widgets_have_a_name_and_fit_a_phone(name: str, language: str, browser: Any, tmp_path: Path) -> None:
    page = open_widget(browser, tmp_path, name, language, DATA.get(name), viewport=PHONE)
    place = page.locator(".widget")
    assert place.get_attribute("aria-label") == page.locator(".widget-title").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    has_chinese = re.search("[\u4e00-\u9fff]", place.inner_text()) is not None
    assert has_chinese == (language == "zh-CN")
    unnamed = "!each.labels?.length && !each.ariaLabel && !each.textContent.trim()"
    selector = ".widget :is(button, input, select, textarea)"
    assert page.evaluate(f"[...document.querySelectorAll('{selector}')].filter((each) => {unnamed}).length") == 0
    for one in page.locator("[type=range]").all():
        assert one.get_attribute("aria-valuetext") == one.locator("xpath=following-sibling::output").inner_text()
    assert page.problems == []
    page.close()


def test_masks_renormalise_and_an_empty_row_is_told(browser: Any, tmp_path: Path) -> None:
    page = open_widget(browser, tmp_path, "masks")

    def weights(row: int) -> list[float]:
        return [
            float(text) if text != "·" else 0.0
            for text in page.locator("tr").nth(row + 1).locator("button").all_inner_texts()
        ]

    assert [sum(weight > 0 for weight in weights(row)) for row in range(5)] == [1, 2, 3, 4, 5]
    page.locator("button", has_text="nothing hidden").focus()
    page.keyboard.press("Enter")
    before = weights(0)
    for _ in range(4):
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.ariaLabel").startswith("query 0, key 0")
    page.keyboard.press("Space")
    after = weights(0)
    assert after[0] == 0
    for one, other in zip(before[1:], after[1:], strict=True):
        assert math.isclose(other, one / (1 - before[0]), abs_tol=0.02)
    for _ in range(4):
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Space")
    assert weights(0) == [0] * 5
    assert "Query 0 sees nothing" in page.locator("[role=status]").inner_text()
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.ariaLabel").startswith("query 1, key 4")
    assert page.problems == []
    page.close()


TABLE = {
    "": {"a": 0.5, "b": 0.4, "c": 0.1},
    "a": {"b": 0.4, "c": 0.35, ".": 0.25},
    "b": {"c": 0.9, ".": 0.1},
    "c": {".": 1.0},
    "ab": {".": 0.6, "c": 0.4},
    "ac": {".": 1.0},
    "bc": {".": 1.0},
    "abc": {".": 1.0},
}
IDS = {"a": 4, "b": 5, "c": 6, ".": SpecialIds().end}


class TableState:
    """A model that is a table, as in chapter 13."""

    def __init__(self, table: dict[str, dict[str, float]], n_rows: int) -> None:
        self.table, self.beginnings = table, [""] * n_rows

    def step(self, last_ids: Any) -> ArrayScores:
        words = {number: token for token, number in IDS.items()}
        self.beginnings = [text + words.get(number, "") for text, number in zip(self.beginnings, last_ids, strict=True)]
        log_probs = np.full((len(self.beginnings), 7), -np.inf, dtype=np.float32)
        for row, text in enumerate(self.beginnings):
            for token, probability in self.table[text].items():
                log_probs[row, IDS[token]] = math.log(probability)
        return ArrayScores(log_probs)

    def select(self, rows: Any) -> None:
        self.beginnings = [self.beginnings[row] for row in rows]


class TableScorer:
    vocab_size, max_length, special_ids = 7, 10, SpecialIdPair()

    def __init__(self, table: dict[str, dict[str, float]]) -> None:
        self.table = table

    def start(self, source_ids: Any) -> TableState:
        return TableState(self.table, len(source_ids))


def test_the_beam_finds_what_dragoman_finds(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    tables = [TABLE] + [
        {text: dict(zip(row, random.dirichlet(np.ones(len(row))).tolist(), strict=True)) for text, row in TABLE.items()}
        for _ in range(40)
    ]
    settings = [(i, size, alpha) for i in range(len(tables)) for size in (1, 2, 3) for alpha in (0.0, 0.6, 1.7)]
    script = f"""
        import {{ beamSearch }} from {json.dumps((BUILDING / "scripts/beam_search.js").as_uri())};
        const tables = {json.dumps(tables)};
        console.log(JSON.stringify({json.dumps(settings)}.map(([i, ...rest]) => beamSearch(tables[i], ...rest).ended)));
    """
    (tmp_path / "run.mjs").write_text(script)
    command = [require_program("node", "nodejs"), tmp_path / "run.mjs"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    for (i, size, alpha), found in zip(settings, json.loads(done.stdout), strict=True):
        config = SearchConfig(beam_size=size, n_best=size, length_penalty=alpha)
        source = np.array([[4, 4, 4, IDS["."]]])
        words = {number: token for token, number in IDS.items()}
        (expected,) = search(TableScorer(tables[i]), source, config)
        assert [each["text"] for each in found] == ["".join(words[number] for number in one.ids) for one in expected]
        assert [each["score"] for each in found] == pytest.approx([one.score for one in expected], abs=1e-5)


def test_the_beam_follows_the_table_its_size_and_the_penalty(browser: Any, tmp_path: Path) -> None:
    page = open_widget(browser, tmp_path, "beam")
    chapter = (BUILDING.parent / "en" / "13-search.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^table = (\{.*?^\})", chapter, re.M | re.S)
    assert ast.literal_eval(code) == TABLE
    for text, row in TABLE.items():
        for token, probability in row.items():
            name = f"probability of {token} after {text}" if text else f"probability of {token} at the start"
            assert float(page.get_by_label(name, exact=True).input_value()) == probability
    status, best = page.locator("[role=status]"), page.locator("ol .widget-best")
    assert "but “bc” has a better score" in status.inner_text()
    page.get_by_label("beam size").focus()
    page.keyboard.press("ArrowRight")
    assert best.inner_text().startswith("bc: 0.360")
    assert "best of all" in status.inner_text()
    page.get_by_label("length penalty").focus()
    page.keyboard.press("End")
    page.get_by_label("probability of b at the start").fill("0")
    assert best.inner_text().startswith("ac: 0.292")  # 0.5 / 0.6 * 0.35
    page.get_by_role("button", name="reset").click()
    assert best.inner_text().startswith("bc: 0.360")
    for text in ("a", "b", "c"):
        page.get_by_label(f"probability of {text} at the start").fill("0")
    assert "found none" in status.inner_text()
    assert page.problems == []
    page.close()


def test_arrows_are_moved_by_keys_and_by_the_mouse(browser: Any, tmp_path: Path) -> None:
    page = open_widget(browser, tmp_path, "arrows")
    query, rows = page.locator("g[role=button]").first, page.locator("tbody tr")

    def numbers() -> tuple[list[float], list[float]]:
        cells = [[float(text) for text in row.locator("td").all_inner_texts()] for row in rows.all()]
        return [row[0] for row in cells], [row[1] for row in cells]

    def check(x: float, y: float, factor: float, temperature: float = 1) -> None:
        scores, weights = numbers()
        expected = [factor * score for score in (x, y, x + y)]  # keys (1, 0), (0, 1), (1, 1)
        assert scores == pytest.approx(expected, abs=0.01)
        powers = np.exp(np.array(expected) / temperature)
        assert weights == pytest.approx((powers / powers.sum()).tolist(), abs=0.01)

    check(2, 0.5, math.sqrt(1 / 2))
    query.focus()
    for key in ("ArrowUp", "ArrowUp", "ArrowLeft"):
        page.keyboard.press(key)
    check(1.75, 1, math.sqrt(1 / 2))
    page.get_by_label("width d").focus()
    page.keyboard.press("ArrowRight")
    check(1.75, 1, math.sqrt(1 / 2))  # with the root, the width does not matter
    page.get_by_label("divide by").uncheck()
    check(1.75, 1, math.sqrt(8 / 2))
    page.get_by_label("temperature").focus()
    page.keyboard.press("End")
    check(1.75, 1, math.sqrt(8 / 2), temperature=3)
    tip, frame = query.locator("circle").bounding_box(), page.locator("svg").bounding_box()
    page.mouse.move(tip["x"] + tip["width"] / 2, tip["y"] + tip["height"] / 2)
    page.mouse.down()
    page.mouse.move(frame["x"] + frame["width"] * 5 / 6, frame["y"] + frame["height"] / 2)  # x = 2, y = 0
    page.mouse.up()
    check(2, 0, math.sqrt(8 / 2), temperature=3)
    for _ in range(40):
        page.keyboard.press("ArrowRight")
    assert "2.80, " in query.get_attribute("aria-label")
    page.keyboard.press("ArrowUp")
    page.get_by_label("width d").focus()
    page.keyboard.press("End")
    page.get_by_label("temperature").focus()
    page.keyboard.press("Home")
    assert "next to nothing" in page.locator("[role=status]").inner_text()
    assert page.problems == []
    page.close()


def test_learning_shows_each_step_and_each_attention(browser: Any, tmp_path: Path) -> None:
    page = open_widget(browser, tmp_path, "learning", data=DATA["learning"])

    def cells() -> list[str]:
        return page.locator("td .widget-cell").all_inner_texts()

    step, status = page.get_by_label("after step"), page.locator("[role=status]")
    assert cells() == ["75", "25", "·", "25", "25", "50"]
    assert status.inner_text() == "After 0 steps it writes: nothing that is a word"
    step.focus()
    page.keyboard.press("ArrowRight")
    assert step.get_attribute("aria-valuetext") == "50"
    assert status.inner_text() == "After 50 steps it writes: Ein Hund"
    assert cells()[:2] == ["50", "50"]
    page.keyboard.press("End")
    assert status.inner_text() == "After 500 steps it writes: Hund"
    page.get_by_label("attention").select_option("decoder")
    assert page.locator("th[scope=row]").all_inner_texts() == WATCHED["pieces"]["written"]
    assert page.locator("th[scope=col]").all_inner_texts() == WATCHED["pieces"]["read"]
    assert cells() == ["100", "·", "13", "13"]
    shades = page.locator(".widget-cell").evaluate_all(
        "(all) => all.map((one) => one.style.getPropertyValue('--share'))"
    )
    assert [float(each) for each in shades] == [1, 0, 0.125, 0.125]
    assert page.problems == []
    page.close()
