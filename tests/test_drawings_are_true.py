"""What the book's small drawings show is what the book computes: angles, weights, masks, probabilities."""

import ast
import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import torch

BOOK = Path(__file__).resolve().parent.parent / "docs" / "book"
sys.path.insert(0, str(BOOK / "building"))
sys.path.insert(0, str(BOOK))

import transformer  # noqa: E402
from chapters import cells  # noqa: E402
from drawings import SVG, Place, draw  # noqa: E402
from drawings import words as words_of  # noqa: E402

pytestmark = pytest.mark.torch


def parse(name: str) -> ET.Element:
    return ET.parse(BOOK / "drawings" / f"{name}.svg").getroot()


def of_class(svg: ET.Element, tag: str, *kinds: str) -> list[ET.Element]:
    """Return the elements of a tag that have one of these classes."""
    return [each for each in svg.iter(f"{{{SVG}}}{tag}") if set(kinds) & set(each.get("class", "").split())]


def literal(page: str, name: str, language: str = "en") -> object:
    """Return the first value that a page's cells give to a name, which must be a literal."""
    for cell in cells(BOOK / language / page):
        for statement in ast.parse(cell.text).body if cell.is_code else ():
            if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == name:
                return ast.literal_eval(statement.value)
    raise AssertionError(name)


def test_hands_of_the_clock_are_the_table() -> None:
    table = transformer.sinusoidal_table(6, 8)
    hands = [re.findall(r"-?[\d.]+", hand.attrib["d"]) for hand in of_class(parse("clock"), "path", "hand")]
    centres = [
        (float(circle.attrib["cx"]), float(circle.attrib["cy"])) for circle in parse("clock").iter(f"{{{SVG}}}circle")
    ]
    radius = 17
    drawn = [
        [(y - float(b)) / radius, (float(a) - x) / radius] for (_, _, a, b), (x, y) in zip(hands, centres, strict=True)
    ]
    expected = torch.stack([table[:, 2 * i : 2 * i + 2] for i in range(3)]).flatten(0, 1)
    torch.testing.assert_close(torch.tensor(drawn), expected, atol=0.01, rtol=0)


def test_bars_of_attention_are_the_weights_of_the_chapters_example() -> None:
    svg = parse("attend")
    shown = [each.text or "" for each in of_class(svg, "text", "name")]
    keys, query = shown[:3], shown[3]
    vectors = [torch.tensor([float(number) for number in each.split(",")]) for each in (query, *keys)]
    scores = torch.stack(vectors[1:]) @ vectors[0] / 2**0.5
    weights = scores.softmax(dim=0)
    bars = [float(rect.attrib["height"]) for group in of_class(svg, "g", "bar") for rect in group]
    torch.testing.assert_close(torch.tensor(bars) / sum(bars), weights, atol=0.01, rtol=0)
    result = weights @ torch.tensor([float(each) for each in shown[4:]])
    numbers = [each.text for each in of_class(svg, "text", "math") if each.text != "·"]
    assert numbers == [*(f"{each:.2f}" for each in [*scores, *weights]), f"{result:.1f}"]
    code = "\n".join(cell.text for cell in cells(BOOK / "en" / "04-attention.md") if cell.is_code)
    for shown_vector in (query, *keys, *shown[4:]):
        assert ", ".join(f"{float(number):.1f}" for number in shown_vector.split(",")) in code


def test_grids_of_the_masks_are_the_masks() -> None:
    source, target = torch.tensor([[4, 5, 6, 3, 0]]), torch.tensor([[2, 4, 5, 6]])
    padding = transformer.padding_mask(source)[0, 0]
    causal = transformer.padding_mask(target)[0, 0] & transformer.causal_mask(4)
    expected = [*padding.expand(5, 5).flatten(), *causal.flatten(), *padding.expand(4, 5).flatten()]
    groups = of_class(parse("masks"), "g", "cells")[:3]
    drawn = [cell.get("class") == "may" for group in groups for cell in group]
    assert drawn == [bool(each) for each in expected]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_shifted_words_are_the_chapters(language: str) -> None:
    words = literal("12-training.md", "words", language)
    assert isinstance(words, list)
    svg = ET.fromstring(draw("shifted", Place(language, str, str, "here")))
    shown = [each.text for each in of_class(svg, "text", "sample")]
    assert shown[1::2] == words[:-1], "what it reads"
    assert shown[0::2] == words[1:], "what it should say"


def test_the_tree_of_the_beam_is_the_chapters_table() -> None:
    table = literal("13-search.md", "table")
    assert isinstance(table, dict)
    nodes = {}
    for group in of_class(parse("beam"), "g", "kept", "cut", "best"):
        beginning, probability = (text.text or "" for text in group.iter(f"{{{SVG}}}text"))
        nodes[beginning] = (float(probability), group.attrib["class"])
    beam = {"": 1.0}
    for _ in range(3):
        continued = {
            beginning + word: probability * p
            for beginning, probability in beam.items()
            for word, p in table[beginning].items()
        }
        kept = sorted(continued, key=lambda each: -continued[each])[:2]
        for beginning, probability in continued.items():
            shown, kind = nodes.pop(beginning)
            assert shown == pytest.approx(probability)
            assert (kind != "cut") == (beginning in kept)
            assert (kind == "best") == (beginning == "bc.")
        beam = {each: continued[each] for each in kept if not each.endswith(".")}
    assert not nodes


def test_the_model_is_drawn_as_it_is_built() -> None:
    """The residuals of both layers in their order, each norm before its part; what is tied is green and joined."""
    model = transformer.Transformer(5, 6, d_model=4, d_ff=8, n_heads=1)
    layers = model.encoder_layers[0], model.decoder_layers[0]
    built = [
        name for layer in layers for name, child in layer.named_children() if isinstance(child, transformer.Residual)
    ]
    groups = [group for group in parse("model").iter(f"{{{SVG}}}g") if "data-residual" in group.attrib]
    assert [group.attrib["data-residual"] for group in groups] == built
    for group in groups:
        heights = {
            link.attrib["data-part"]: float(rect.attrib["y"])
            for link in group.iter(f"{{{SVG}}}a")
            for rect in link.iter(f"{{{SVG}}}rect")
        }
        part = min(heights[each] for each in heights.keys() & {"attention", "feed-forward"})
        assert heights["norms"] > part > heights["residuals"], "from bottom to top"
    assert model.output_projection.weight is model.target_embedding.tokens.weight
    assert model.output_projection.weight is not model.source_embedding.tokens.weight
    ends = re.findall(r"[\d.]+", of_class(parse("model"), "path", "tied")[0].attrib["d"])
    boxes = {
        link.findtext(f"{{{SVG}}}text"): link.find(f"{{{SVG}}}rect") for link in parse("model").iter(f"{{{SVG}}}a")
    }
    for name, y in (("target_embedding", ends[1]), ("output_projection", ends[3])):
        box = boxes[name]
        assert box is not None
        assert float(box.attrib["y"]) < float(y) < float(box.attrib["y"]) + float(box.attrib["height"])


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_the_path_writes_is_the_word_with_the_longest_bar(language: str) -> None:
    """And each word of the source has an id, a vector, and a vector of the memory."""
    svg = parse("path")
    table = words_of("path", language)
    samples = [(each.text or "").strip("{}") for each in of_class(svg, "text", "sample")]
    sentence, (*source, start, first, second) = samples[0], samples[1:8]
    *choices, following, whole = samples[8:]
    assert re.findall(r"\w+|\.", sentence) == source
    assert len(of_class(svg, "text", "name")) == len(source)
    for group in of_class(svg, "g", "cells"):
        assert len({each.get("x") for each in group}) == len(source)
    widths = [float(rect.attrib["width"]) for group in of_class(svg, "g", "bar") for rect in group]
    assert len(widths) == len(choices)
    assert widths[choices.index(following)] == max(widths)
    assert start == "<sos>"
    written = [table[each] for each in (first, second, following)]
    assert table[whole].replace(" ", "") == "".join(written) + {"en": ".", "zh": "。"}[language]
