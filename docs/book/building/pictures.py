"""Pictures of drawings and widgets, for those who read the pages of the book as plain Markdown.

A line such as `![...](../pictures/en/masks.svg)` stands above each of these blocks. The site has the block and leaves
the line out. Pictures of drawings follow from the drawings; those of widgets are taken in Chromium.

    python docs/book/building/pictures.py             # writes the pictures of drawings
    python docs/book/building/pictures.py --widgets   # and takes those of widgets
"""

import argparse
import html
import re
import sys
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

from drawings import LANGUAGES, Place, draw, names, words

BUILDING = Path(__file__).resolve().parent
PICTURES = BUILDING.parent / "pictures"
#: A picture above its block, and the rules of the style sheet that a picture does not need.
_PICTURE = re.compile(r"^!\[[^\]\n]*\]\(\.\./pictures/[^)\n]*\)\n\n(?=```\{(?:drawing|widget|try-it)\})", re.M)
#: A block that a script fills, below its picture, and the text that a `try-it` box is introduced by.
_BLOCK = re.compile(
    r"^!\[[^\]\n]*\]\((?P<picture>\.\./pictures/[^)\n]*)\)\n\n"
    r"```\{(?P<kind>widget|try-it)\} (?P<name>[\w-]+)\n(?::[^\n]*\n)*(?P<text>.*?)^```$",
    re.M | re.S,
)
_TITLE = re.compile(r'^\s+title: "(.*)",$', re.M)
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_UNUSED = re.compile(r"\.lit|\.caption|:hover|\.drawing svg|\.drawing-map|\.drawing a")
#: What stands under the picture of a widget.
PLAYED_WITH = {"en": "On the site, this can be played with.", "zh": "在网页版里，这是一个可以操作的小工具。"}
#: The colours and fonts of the site's theme.
_LIGHT = "--color-background-primary:#fff;--color-foreground-primary:#111;--color-foreground-secondary:#5a5c63"
_DARK = "--color-background-primary:#131416;--color-foreground-primary:#cfd0d0;--color-foreground-secondary:#9ca0a5"
_REST = (
    "--color-foreground-muted:#81868d;--color-link:#2757dd;--font-stack:sans-serif;--font-stack--monospace:monospace"
)
_SCALE, _MARGIN = 1.15, 24
#: A picture of a widget: its width in pixels, its colours; the model of the box with a translator, and its text.
_WIDTH, _COLOURS = 640, 32
_TRY_IT = ("multi30k-en-de", "A man is riding a horse on the beach.")
#: Rules for some readers only, such as those who print.
_CONDITIONAL = re.compile(r"@[^{};]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}")


def without_pictures(text: str) -> str:
    """Return a page without the pictures of its drawings and widgets."""
    return _PICTURE.sub("", text)


def widget_title(name: str, language: str) -> str:
    """Return the title of a widget, from its script or the labels beside it.

    Raises:
        ValueError: there is not one title for each language.
    """
    found = [
        _TITLE.findall(path.read_text(encoding="utf-8")) for path in sorted((BUILDING / "scripts").glob(f"{name}*.js"))
    ]
    titles = next((each for each in found if each), [])
    if len(titles) != len(LANGUAGES):
        raise ValueError(f"the script of the widget {name!r} has {len(titles)} titles; needed: {LANGUAGES}")
    return titles[LANGUAGES.index(language)]


def with_pictures(text: str, language: str) -> str:
    """Return a page with a figure of its first state for each widget."""

    def figure(block: re.Match[str]) -> str:
        title = widget_title("try_it" if block["kind"] == "try-it" else block["name"], language)
        caption = f"**{title}** {PLAYED_WITH[language]}"
        return f"{block['text']}\n```{{figure}} {block['picture']}\n:alt: {title}\n:class: widget\n\n{caption}\n```"

    return _BLOCK.sub(figure, text)


def picture(name: str, language: str, *, shapes: bool = False) -> str:
    """Return a drawing as a file of its own, light or dark as its reader prefers."""
    place = Place(language, lambda page: f"{page}.md", lambda page: page, name)
    root = ET.fromstring(draw(name, place, shapes=shapes))
    left, top, width, height = (float(each) for each in root.attrib.pop("viewBox").split())
    width, height = width + 2 * _MARGIN, height + 2 * _MARGIN  # words may stand a little outside
    del root.attrib["style"]
    root.set("viewBox", f"{left - _MARGIN:g} {top - _MARGIN:g} {width:g} {height:g}")
    root.set("width", f"{_SCALE * width:.0f}")
    root.set("height", f"{_SCALE * height:.0f}")
    root.set("class", f"drawing drawing-{name}")
    for parent in list(root.iter()):
        for child in [one for one in parent if one.text and one.text == words(name, language).get("here")]:
            parent.remove(child)  # no part is lit
    svg = ET.tostring(root, encoding="unicode")
    return svg.replace(">", f"><style>{html.escape(_style(), quote=False)}</style>", 1) + "\n"


def pictures() -> dict[Path, str]:
    """Return the content of each picture of a drawing; `-shapes` has the shapes."""
    found = {}
    for language in LANGUAGES:
        for name in names():
            plain, shaped = picture(name, language), picture(name, language, shapes=True)
            found[PICTURES / language / f"{name}.svg"] = plain
            if shaped != plain:
                found[PICTURES / language / f"{name}-shapes.svg"] = shaped
    return found


def picture_line(block: str, options: str, language: str) -> str:
    """Return the line for the block of a drawing or a widget.

    Args:
        block: its first line, such as "{drawing} masks".
    """
    kind, name = re.fullmatch(r"\{([\w-]+)\} ([\w-]+)", block).groups()  # type: ignore[union-attr]
    if kind == "drawing":
        shapes = "-shapes" if ":shapes:" in options else ""
        return f"![{words(name, language)['title']}](../pictures/{language}/{name}{shapes}.svg)"
    label = {"en": "On the site, this can be played with.", "zh": "网页版在这里有一个可以操作的小工具。"}[language]
    return f"![{label}](../pictures/{language}/{'try_it' if kind == 'try-it' else name}.png)"


def _style() -> str:
    """Return what a picture needs of the style sheet, without comments."""
    sheet = re.sub(r"/\*.*?\*/", "", (BUILDING / "static" / "drawing.css").read_text(encoding="utf-8"), flags=re.S)
    sheet = _CONDITIONAL.sub("", sheet)
    rules = [(" ".join(one.split()), " ".join(rule.split())) for one, rule in _RULE.findall(sheet)]
    own = "".join(f"{one}{{{rule}}}" for one, rule in rules if not _UNUSED.search(one))
    return f"svg{{{_LIGHT};{_REST};background:var(--color-background-primary)}}{own}" + (
        f"@media (prefers-color-scheme:dark){{svg{{{_DARK}}}}}"
    )


def main() -> None:
    """Write the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--widgets", action="store_true")
    for path, content in pictures().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    if parser.parse_args().widgets:
        _take_widgets()


def _take_widgets() -> None:
    """Take the pictures of widgets, as the tests open them."""
    tests = BUILDING.parents[2] / "tests"
    sys.path[:0] = [str(tests), str(tests / "foreign")]
    from book_pages import write_widget
    from browser import chromium
    from bundles import engine_script, model_script
    from PIL import Image
    from test_book_widgets import DATA, WIDGETS

    from dragoman.bundle.finding import find_bundle

    (model, example), try_it = _TRY_IT, "try_it"
    with tempfile.TemporaryDirectory() as scratch, chromium() as browser:
        folder = Path(scratch)
        (folder / "engine.js").write_text(engine_script(), encoding="utf-8")
        (folder / f"model-{model}.js").write_text(model_script(model, find_bundle(model)), encoding="utf-8")
        data = {**DATA, try_it: {"model": model, "example": example}}
        for language, code in (("en", "en"), ("zh", "zh-CN")):
            for name in [*WIDGETS, try_it]:
                page = browser.new_page(viewport={"width": _WIDTH, "height": 900}, color_scheme="light")
                page.goto(write_widget(folder, name, code, data.get(name)).as_uri())
                page.locator(".try-it-bars li" if name == try_it else ".widget-title").first.wait_for(timeout=120_000)
                page.add_style_tag(content=f"body{{{_LIGHT};{_REST};font-family:sans-serif}}")
                path = PICTURES / language / f"{name}.png"
                page.locator(".widget").screenshot(path=str(path))
                Image.open(path).convert("RGB").quantize(_COLOURS).save(path, optimize=True)
                page.close()


if __name__ == "__main__":
    main()
