"""A rule for the ends of sentences as an ONNX graph, in the form of MiniSBD's models.

Argos Translate cuts texts into sentences by such a model and downloads one if a package has none. With this graph a
package needs no network. A sentence ends at `!` or `?` before a space, at `.` before a space and a capital unless it
ends an abbreviation such as "Dr." or "J.", and at the marks of Chinese and Japanese.
"""

from __future__ import annotations

import json

import onnx

_SPACE, _DOT, _MARK, _WIDE = 2, 3, 4, 5
_CHARACTERS = {" ": _SPACE, ".": _DOT, "!": _MARK, "?": _MARK, "。": _WIDE, "！": _WIDE, "？": _WIDE}
#: Characters that the rule sees before and after each: the graph pads a text with spaces.
_BEFORE, _AFTER = 4, 2
#: Classes of characters in MiniSBD; of these, 0 is inside a token, 2 is the last of a sentence.
_CLASSES, _INSIDE, _LAST = 5, 0, 2

_GRAPH = f"""
<ir_version: 8, opset_import: ["" : 17]>
sentences (int64[B, N] units, float[B, N, 1] features) => (float[B, N, C] scores)
<int64[4] pads = {{0, {_BEFORE}, 0, {_AFTER}}}, int64[1] axis = {{1}}, int64[1] last_axis = {{2}},
 int64 space = {{{_SPACE}}}, int64 dot = {{{_DOT}}}, int64 mark = {{{_MARK}}}, int64 wide = {{{_WIDE}}},
 int64 zero = {{0}}, int64 inside = {{{_INSIDE}}}, int64 last = {{{_LAST}}}, int64 classes = {{{_CLASSES}}},
 float[2] values = {{0, 1}}>
{{
    flat = Squeeze(features, last_axis)
    capital = Cast <to = 7> (flat)
    padded = Pad(units, pads, space)
    padded_capital = Pad(capital, pads, zero)
    %s
    is_wide = Equal(units, wide)
    is_mark = Equal(units, mark)
    is_dot = Equal(units, dot)
    one_letter = And(capital_b1, space_b2)
    two_letters = And(capital_b2, space_b3)
    three_letters = And(capital_b3, space_b4)
    short = Or(one_letter, two_letters)
    shorter = Or(short, three_letters)
    is_word = Not(shorter)
    before_capital = And(space_a1, capital_a2)
    full_stop = And(is_dot, before_capital)
    dot_ends = And(full_stop, is_word)
    mark_ends = And(is_mark, space_a1)
    ends_by_point = Or(dot_ends, mark_ends)
    ends = Or(ends_by_point, is_wide)
    class = Where(ends, last, inside)
    scores = OneHot(class, classes, values)
}}
"""


def sentence_graph(language: str) -> bytes:
    """Return the model's file.

    Args:
        language: the code of the texts' language, for information.
    """
    neighbours = [_neighbour("space", 1), _neighbour("capital", 2)]
    neighbours += [_neighbour("capital", -n) for n in (1, 2, 3)] + [_neighbour("space", -n) for n in (2, 3, 4)]
    model = onnx.parser.parse_model(_GRAPH % "\n".join(neighbours))
    onnx.checker.check_model(model, full_check=True)
    units = {"<PAD>": 0, "<UNK>": 1, **_CHARACTERS}
    vocabulary = {"lang": language, "idx": 0, "cutoff": 0, "lower": False, "_unit2id": units, "_id2unit": [*units]}
    facts = {
        "lang_code": language,
        "config": json.dumps({"feat_funcs": ["capitalized"], "batch_size": 32}),
        "vocab": json.dumps(vocabulary),
        "lexicon": "null",
    }
    onnx.helper.set_model_props(model, facts)
    content: bytes = model.SerializeToString(deterministic=True)
    return content


def _neighbour(kind: str, distance: int) -> str:
    """Return the lines for `space_a1`, `capital_b2` and so on: a space 1 character after, a capital 2 before."""
    name = f"{kind}_{'a' if distance > 0 else 'b'}{abs(distance)}"
    start, missing = _BEFORE + distance, _AFTER - distance
    end = f"-{missing}" if missing else "9223372036854775807"
    padded, test = ("padded", "space") if kind == "space" else ("padded_capital", "zero")
    lines = [
        f"{name}_start = Constant <value_ints = [{start}]> ()",
        f"{name}_end = Constant <value_ints = [{end}]> ()",
        f"{name}_ids = Slice({padded}, {name}_start, {name}_end, axis)",
    ]
    if kind == "space":
        return "\n".join([*lines, f"{name} = Equal({name}_ids, {test})"])
    return "\n".join([*lines, f"{name} = Greater({name}_ids, {test})"])
