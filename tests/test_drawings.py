"""The book's drawings: each in both languages, its links lead to pages, its names are the code's."""

import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

BOOK = Path(__file__).resolve().parent.parent / "docs" / "book"
sys.path.insert(0, str(BOOK / "building"))

import drawings  # noqa: E402
from chapters import chapters  # noqa: E402
from drawings import SVG, DrawingError, Place, draw, names  # noqa: E402
from pictures import PICTURES, picture_line, pictures, without_pictures  # noqa: E402

_USE = re.compile(r"^```\{drawing\} (?P<name>[\w-]+)\n(?P<options>(?::[^\n]*\n)*)", re.M)
#: A drawing that is as small as can be.
SMALL = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><title>{title}</title><desc>{title}</desc>
<a href="04-attention" data-part="one"><text>{word}</text><text class="name shape">x</text></a></svg>"""
WORDS = '[small]\ntitle = { en = "T", zh = "题" }\nword = { en = "word", zh = "词" }\n'

each_drawing = pytest.mark.parametrize("name", names())
each_language = pytest.mark.parametrize("language", ["en", "zh"])


def place(language: str = "en", id: str = "here") -> Place:
    return Place(language, lambda page: f"{page}.html", lambda page: f"title of {page}", id)


def parts(name: str) -> set[str]:
    """Return the parts of a drawing that can be lit."""
    return {
        each.attrib["data-part"]
        for each in ET.parse(BOOK / "drawings" / f"{name}.svg").iter()
        if "data-part" in each.attrib
    }


def uses(page: Path) -> list[tuple[str, str]]:
    """Return the drawings of a page and their options."""
    return [(found["name"], found["options"]) for found in _USE.finditer(page.read_text(encoding="utf-8"))]


@each_language
@each_drawing
def test_a_drawing_has_words_links_and_ids_of_its_own(name: str, language: str) -> None:
    svg = ET.fromstring(draw(name, place(language, "p-7"), shapes=True))
    texts = [text for each in svg.iter() for text in [each.text or ""] if text.strip()]
    assert not [text for text in texts if "{" in text]
    described = [svg.find(f"{{{SVG}}}{tag}") for tag in ("title", "desc")]
    assert all(each is not None and each.text for each in described)
    for link in svg.iter(f"{{{SVG}}}a"):
        assert (BOOK / language / link.attrib["href"]).with_suffix(".md").is_file()
        assert link.findtext(f"{{{SVG}}}title", "").startswith("title of ")
    ids = [each.attrib["id"] for each in svg.iter() if "id" in each.attrib]
    assert len(set(ids)) == len(ids)
    assert all(id.startswith("p-7-") for id in ids)
    referred = set(re.findall(r"url\(#([^)]+)\)", ET.tostring(svg, encoding="unicode")))
    referred |= {svg.attrib["aria-labelledby"], svg.attrib["aria-describedby"]}
    assert referred <= set(ids)


@each_drawing
def test_chinese_words_are_chinese_and_others_are_not(name: str) -> None:
    english, chinese = (drawings.words(name, language) for language in ("en", "zh"))
    assert english.keys() == chinese.keys()
    assert not re.search(r"[\u3400-\u9fff]", "".join(english.values()))
    assert all(re.search(r"[\u3400-\u9fff]", word) or word == english[key] for key, word in chinese.items())


@each_drawing
def test_nothing_stands_outside_of_a_drawing(name: str) -> None:
    """Boxes and circles, and the anchors of texts that are not in a group that is moved."""
    svg = ET.parse(BOOK / "drawings" / f"{name}.svg").getroot()
    left, top, width, height = map(float, svg.attrib["viewBox"].split())
    for each in svg.iter():
        if "transform" not in each.attrib and {"x", "y"} <= each.attrib.keys():
            x, y = float(each.attrib["x"]), float(each.attrib["y"])
            assert left <= x <= x + float(each.get("width", 0)) <= left + width, each.attrib
            assert top <= y <= y + float(each.get("height", 0)) <= top + height, each.attrib


@each_drawing
def test_all_drawings_flow_from_bottom_to_top(name: str) -> None:
    """No arrow points down; a line back to the beginning may, but it ends sideways."""
    for path in ET.parse(BOOK / "drawings" / f"{name}.svg").iter(f"{{{SVG}}}path"):
        if "marker-end" in path.attrib:
            steps = re.findall(r"([MHVC])([\d. ]+)", path.attrib["d"])
            heights = [float(numbers.split()[-1]) for command, numbers in steps if command != "H"]
            assert steps[-1][0] == "H" or heights[-1] < heights[-2], path.attrib["d"]


def test_names_in_the_model_are_those_of_the_code() -> None:
    """Each name in the drawing of the model is an attribute or variable of the reader's file, or the toolkit's."""
    source = (BOOK / "transformer.py").read_text(encoding="utf-8")
    source += "".join(path.read_text(encoding="utf-8") for path in (BOOK.parent.parent / "src").rglob("*.py"))
    svg = ET.parse(BOOK / "drawings" / "model.svg")
    shown = {each.text or "" for each in svg.iter() if "name" in each.get("class", "").split()}
    assert {"source_ids", "memory", "cross_attention", "attention_residual", "decoder_norm"} <= shown
    assert not [name for name in shown if not re.search(rf"\b{name}\b", source)]


@each_language
def test_every_chapter_shows_where_it_is(language: str) -> None:
    """Chapter 1 has the whole model, like the first page; the others have the map, with a part lit."""
    first, *others = chapters(language)
    assert ("model", "") in uses(first)
    assert ("model", "") in uses(BOOK / language / "index.md")
    lit = []
    for page in others:
        name, options = uses(page)[0] if uses(page) else ("", "")
        assert name == "map", f"{page.name}: begin with ```{{drawing}} map, and a part or `whole` after :here:"
        lit.append(options.removeprefix(":here: ").strip())
    assert set(lit) - {"whole"} == parts("map") - {"text"}
    assert len(set(lit) - {"whole"}) == len([each for each in lit if each != "whole"]), "each part has one chapter"


def test_both_languages_have_the_same_drawings() -> None:
    for page in sorted((BOOK / "en").rglob("*.md")):
        assert uses(page) == uses(BOOK / "zh" / page.relative_to(BOOK / "en")), page.name


@each_language
def test_every_use_is_drawn(language: str) -> None:
    used = set()
    for page in sorted((BOOK / language).rglob("*.md")):
        for name, options in uses(page):
            here = re.search(r"^:here: (.*)$", options, re.M)
            draw(name, place(language), here[1] if here else None, shapes=":shapes:" in options)
            used.add(name)
    assert used == set(names()), "a drawing that no page shows"


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one small drawing, which `draw` reads."""
    monkeypatch.setattr(drawings, "DRAWINGS", tmp_path)
    (tmp_path / "small.svg").write_text(SMALL, encoding="utf-8")
    (tmp_path / "words.toml").write_text(WORDS, encoding="utf-8")
    return tmp_path


def test_words_links_and_lit_parts_are_put_in(small: Path) -> None:
    drawn = draw("small", place("zh"), "one")
    assert ">词<" in drawn
    assert 'href="04-attention.html"' in drawn
    assert 'class="lit"' in drawn
    assert ">x<" not in drawn
    assert ">x<" in draw("small", place("zh"), shapes=True)
    assert 'class="lit"' not in draw("small", place("zh"))


@pytest.mark.parametrize(
    ("svg", "table", "message"),
    [
        (SMALL, WORDS.replace(', zh = "词"', ""), "words.toml: small.word is in ['en']"),
        (SMALL, WORDS + 'more = { en = "m", zh = "多" }\n', "does not use small.more"),
        (SMALL.replace("{word}", "{ward}"), WORDS, "no word small.ward"),
        (SMALL.replace("{word}", "word"), WORDS, "'word' is in one language only"),
        (SMALL.replace("<desc>{title}</desc>", ""), WORDS, "needs a <desc>"),
    ],
)
def test_what_is_wrong_is_said(small: Path, svg: str, table: str, message: str) -> None:
    (small / "small.svg").write_text(svg, encoding="utf-8")
    (small / "words.toml").write_text(table, encoding="utf-8")
    with pytest.raises(DrawingError, match=re.escape(message)):
        draw("small", place())


def test_unknown_drawings_and_parts_are_named(small: Path) -> None:
    with pytest.raises(DrawingError, match="no drawing 'large'; there are: small"):
        draw("large", place())
    with pytest.raises(DrawingError, match="no part 'two'; there are: one, whole"):
        draw("small", place(), "two")


@each_language
def test_plain_markdown_shows_a_picture_of_each_drawing_and_widget(language: str) -> None:
    blocks = re.compile(
        r"(?P<before>[^\n]*)\n\n^```(?P<block>\{(?:drawing|widget|try-it)\} [\w-]+)\n(?P<options>(?::[^\n]*\n)*)", re.M
    )
    n_blocks = 0
    for page in (BOOK / language).glob("**/*.md"):
        text = page.read_text(encoding="utf-8")
        for found in blocks.finditer(text):
            line = picture_line(found["block"], found["options"], language)
            assert found["before"] == line, page
            assert (page.parent / line.rpartition("(")[2].rstrip(")")).is_file()
            n_blocks += 1
        assert "](../pictures/" not in without_pictures(text)
        assert without_pictures(text).count("\n```{") == text.count("\n```{")
    assert n_blocks > 40


def test_pictures_are_those_of_the_drawings_as_they_are() -> None:
    expected = pictures()
    assert set(PICTURES.glob("*/*.svg")) == set(expected), "run docs/book/building/pictures.py"
    for path, content in expected.items():
        assert path.read_text(encoding="utf-8") == content, "run docs/book/building/pictures.py"
        assert ET.fromstring(content).find(f"{{{SVG}}}style") is not None
