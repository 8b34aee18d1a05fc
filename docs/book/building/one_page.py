"""The pages of an EPUB as one page, in their order and with all that is folded open, for a browser to print."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

_XHTML = "http://www.w3.org/1999/xhtml"
_HEAD, _STYLE, _BODY, _DIV, _DETAILS = (f"{{{_XHTML}}}{tag}" for tag in ("head", "style", "body", "div", "details"))
_ITEMREF, _ITEM = (f"{{http://www.idpf.org/2007/opf}}{tag}" for tag in ("itemref", "item"))
#: The rules of a sheet of paper, which an EPUB must not have.
_PAPER = "@page { size: A4; margin: 20mm 19mm 22mm; @bottom-center { content: counter(page); font: 9pt sans-serif; } }"
#: Attributes that name elements of their page.
_NAMES = {"id", "aria-labelledby", "aria-describedby"}


def joined(folder: Path) -> Path:
    """Write all pages of an EPUB into one beside them, in their order, with all that is folded open; return that."""
    package = ET.parse(folder / "content.opf")
    hrefs = {item.attrib["id"]: item.attrib["href"] for item in package.iter(_ITEM)}
    names = [hrefs[each.attrib["idref"]] for each in package.iter(_ITEMREF)]
    whole = ET.parse(folder / names[0])
    head, body = next(whole.iter(_HEAD)), next(whole.iter(_BODY))
    ET.SubElement(head, _STYLE).text = _PAPER
    body.clear()
    for name in names:
        page = ET.parse(folder / name).getroot()
        rename(page, name, set(names))
        section = ET.SubElement(body, _DIV, {"class": "page", "id": Path(name).stem})
        section.extend(page.find(_BODY) or [])
    ET.register_namespace("", _XHTML)
    path = folder / "whole.xhtml"
    whole.write(path, encoding="utf-8", xml_declaration=True)
    return path


def rename(page: ET.Element, name: str, names: set[str]) -> None:
    """Make the anchors of a page its own among all pages, lead its links to them, and open its folds."""
    own = Path(name).stem
    for element in page.iter():
        if element.tag == _DETAILS:
            element.set("open", "open")
        for key, value in element.attrib.items():
            if key in _NAMES:
                element.set(key, f"{own}-{value}")
            elif key == "href":
                target, _, anchor = value.partition("#")
                if (target or name) in names:
                    element.set(key, "#" + "-".join(filter(None, [Path(target or name).stem, anchor])))
            else:
                element.set(key, re.sub(r"url\(#([^)]*)\)", rf"url(#{own}-\1)", value))
