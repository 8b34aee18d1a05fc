"""Inputs made bad at random: bytes, text, the structure of JSON and YAML, protocol buffers, safetensors, gzip.

Everything is a function of the given `random.Random`, so that a trial can be repeated.
"""

from __future__ import annotations

import codecs
import copy
import gzip
import json
import struct
from collections.abc import Callable
from random import Random
from typing import Any


class Raw(str):
    """Text that stands in JSON or YAML as it is, without quotes."""


#: Text that has broken programs before.
NASTY = [
    "",
    " ",
    "\u3000",
    "\t",
    "\n",
    "\r",
    "\r\n",
    "\0",
    "\x0b\x0c",
    "\x1b[2J\x1b]0;x\x07",
    "\x7f\x85\x9b",
    "\ufeff",
    "\ufffd",
    "\ufffe\uffff",
    "\u2028\u2029",
    "\u202eabc\u202c\u2066",
    "\u200b\u200d\u00ad",
    "\ud800",
    "\udfff\ud800",
    "\U0010ffff\ue000",
    "e\u0301\u0327",
    "\u0301" * 300,
    "\u1100\u1161\u11a8\uac01",
    "\ufdfa\ufb03\u0130\u1e9e\u00df",
    "👩‍👩‍👧‍👦🏳️‍🌈🇩🇪",
    "שלום مرحبا नमस्ते ไทย",
    "你好，世界。",
    "<pad><unk><sos><eos></s>",
    "<0x0A><0x00>",
    "▁▁▁",
    "../../../etc/passwd",
    "/dev/zero",
    "~",
    "-rf",
    "%s%n{0}${x}",
    "1e400",
    "NaN",
    "null",
    "true",
    "'\"\\`",
    "&amp; @-@ |||",
    "x" * 300,
    "word " * 400,
    "ä" * 5000,
]
NUMBERS = [
    *(0, -1, 1, 2, 3, 4, 7, 8, 127, 128, 255, 256, 257, 1000, 65_535, 65_536, 2**31 - 1, 2**31, 2**32, 2**53 + 1),
    *(2**63 - 1, 2**63, 2**64, -(2**63) - 1, 10**6, 10**7, 10**9, 10**12, 10**12 + 1, 10**30, 10**300),
    *(0.0, -0.0, 0.5, 1.0, 0.9999999999999999, 1.0000000000000002, 5e-324, 1e-300, 1e308, -1e308),
    *(float("nan"), float("inf"), -float("inf")),
]
#: What JSON and YAML can say, or nearly.
TOKENS = [
    *("1e400", "-1e400", "1" + "0" * 5000, "-", "[", "]", "{", "}", ",", ":", '"', '"\\ud800"', '"\\u0000"', '"\\x41"'),
    *("[" * 100_000, "[" * 300 + "]" * 300, '{"a":' * 300 + "1" + "}" * 300, "nul", "TRUE", "01", "+1", "1.", ".5", ""),
]
YAML_TOKENS = [
    *TOKENS,
    *(".nan", "-.inf", "0x" + "f" * 5000, "0b2", "0o7", "010", "1_000", "1:30:00", "2020-01-01", "2020-13-45", "yes"),
    *("!!bool x", "!!int ''", "!!int x", "!!float x", "!!timestamp x", "!!binary '%'", "!!binary ä", "!!set {a}"),
    *("!!omap [a: 1]", "!!omap a", "!!pairs [[a]]", "!!null x", "!!str [a]", "!!map [a]", "!!seq {a: b}", "!x y", "!"),
    *("!!python/object/apply:os.system [id]", "!!python/name:os.system", "!!value =", "!!merge <<", "!<tag:x> y"),
    *("*a", "&a [1]", "&a [*a]", "&a {a: *a}", "{<<: {a: 1}}", "<<", "=", "~", "? [a]\n  : b", "{? {a: b} : c}"),
    *("|\n    text", ">-\n    text", "@", "`", "%", "'", "# no value", "- a", "a: b: c", "\t1", '"\\U00110000"'),
    *(
        '"\\UFFFFFFFF"',
        '"\\xff\\0"',
        '"\\q"',
        '"open',
        "{1: 2}",
        "{[1]: 2}",
        "{null: 2}",
        "{a: 1, a: 2}",
        "--- 1",
        "...",
    ),
]
YAML_DOCUMENTS = [
    "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: [*c, *c]\n",
    "&a a: *a\n",
    "<<: {data: 1}\n",
    "--- \n--- \n",
    "%YAML 9.9\n---\n",
    "%TAG ! tag:x,2000:\n---\n",
    "{" * 3000,
    "- " * 3000,
    "? " * 3000,
    "a:\n" + "".join(" " * depth + "a:\n" for depth in range(1, 700)),
    "\ufeff",
    "\0",
    "\x1b",
    "\x85",
    "\ud800",
]


def nasty_text(dice: Random) -> str:
    """Some nasty things, with plain words between."""
    parts = [dice.choice(NASTY) if dice.random() < 0.6 else dice.choice(["a", "Man ", "horse. "]) for _ in range(4)]
    return "".join(parts[: dice.randint(1, 4)])


def nasty_line(dice: Random) -> bytes:
    """A line without its end, often of text, sometimes of random bytes. Longer ones would take most of the time."""
    if dice.random() < 0.15:
        return dice.randbytes(dice.randint(0, 60)).replace(b"\n", b" ")
    text = nasty_text(dice).encode("utf-8", "surrogatepass").replace(b"\n", b" ")
    line = damage_bytes(dice, text).replace(b"\n", b" ") if dice.random() < 0.3 else text
    return line[:300]


def _part(dice: Random, content: bytes) -> tuple[int, int]:
    """Two places in a content, not far from each other."""
    start = dice.randint(0, len(content))
    return start, min(len(content), start + dice.choice([1, 2, 4, 16, 100, 1000]))


def _flip(dice: Random, content: bytes) -> bytes:
    changed = bytearray(content or b"\0")
    for _ in range(dice.choice([1, 1, 4])):
        changed[dice.randrange(len(changed))] ^= 1 << dice.randrange(8)
    return bytes(changed)


def _delete(dice: Random, content: bytes) -> bytes:
    start, end = _part(dice, content)
    return content[:start] + content[end:]


def _duplicate(dice: Random, content: bytes) -> bytes:
    start, end = _part(dice, content)
    return content[:start] + content[start:end] * dice.choice([2, 2, 10]) + content[end:]


def _splice(dice: Random, content: bytes) -> bytes:
    start, end = _part(dice, content)
    at = dice.randint(0, len(content))
    return content[:at] + content[start:end] + content[at + (end - start if dice.random() < 0.5 else 0) :]


def _truncate(dice: Random, content: bytes) -> bytes:
    return content[: dice.randint(0, len(content))]


def _insert(dice: Random, content: bytes) -> bytes:
    bad = [
        b"\0",
        b"\xff",
        b"\x80",
        b"\xc0\xaf",
        b"\xed\xa0\x80",
        b"\xe2\x82",
        b"\xf4\x90\x80\x80",
        b"\r",
        b"\n",
        b"\r\n",
    ]
    added = dice.choice(bad) if dice.random() < 0.5 else dice.choice(NASTY).encode("utf-8", "surrogatepass")
    at = dice.randint(0, len(content))
    return content[:at] + added + content[at:]


def _number(dice: Random, content: bytes) -> bytes:
    """An interesting integer over the bytes that were there."""
    number = dice.choice([each for each in NUMBERS if isinstance(each, int)])
    size = dice.choice([1, 2, 4, 8])
    at = dice.randint(0, len(content))
    added = (number % (1 << 8 * size)).to_bytes(size, dice.choice(["little", "big"]))
    return content[:at] + added + content[at + size :]


BYTES: list[Callable[[Random, bytes], bytes]] = [_flip, _delete, _duplicate, _splice, _truncate, _insert, _number]


def damage_bytes(dice: Random, content: bytes) -> bytes:
    """One to three changes of a content, whatever it is."""
    for _ in range(dice.choice([1, 1, 2, 3])):
        content = dice.choice(BYTES)(dice, content)
    return content


def damage_text(dice: Random, content: bytes) -> bytes:
    """The same, or what befalls text files as wholes: encodings, ends of lines, huge lines."""
    at = dice.randint(0, len(content))
    ends = [b"\r", b"\r\n", b"\n\n", b"\xe2\x80\xa8", b"\xc2\x85", b""]
    huge = [b"a " * 100_000, b"a" * 99_999, "ü".encode() * 60_000, b"\0" * 200_000, b"\t" * 150_000]
    text = content.decode(errors="replace")
    wholes: list[Callable[[], bytes]] = [
        lambda: text.encode(dice.choice(["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-7"])),
        lambda: text.encode(dice.choice(["latin-1", "cp437", "ascii"]), "replace"),
        lambda: codecs.BOM_UTF8 * dice.randint(1, 2) + content,
        lambda: content.replace(b"\n", dice.choice(ends)),
        lambda: content[:at] + dice.choice(ends) + content[at:],
        lambda: content[:at] + dice.choice(huge) + content[at:],
        lambda: content.rstrip(b"\n") + b"\n" * dice.randint(0, 3),
        lambda: b"",
        lambda: b"\n" * dice.randint(1, 40),
        lambda: b"".join(nasty_line(dice) + b"\n" for _ in range(dice.randint(1, 20))),
    ]
    return dice.choice(wholes)() if dice.random() < 0.5 else damage_bytes(dice, content)


def damaged_gzip(dice: Random, content: bytes) -> bytes:
    """A gzip file whose text or whose bytes are damaged, or that is unusual."""
    if dice.random() < 0.4:
        return gzip.compress(damage_text(dice, content), mtime=0)
    zipped = gzip.compress(content, mtime=0)
    if dice.random() < 0.5:
        return damage_bytes(dice, zipped)
    bomb = gzip.compress(dice.choice([b"\0", b"a", b"\n"]) * 1_000_000, 1, mtime=0)
    return dice.choice(
        [zipped + zipped, zipped + b"rest", zipped + b"\0" * 9, zipped + bomb, content, b"\x1f\x8b", b""]
    )


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) inside a value."""
    keys: list[Any] = list(value) if isinstance(value, dict) else list(range(len(value)))
    found = [(value, key) for key in keys]
    for key in keys:
        if isinstance(value[key], dict | list):
            found += _places(value[key])
    return found


def _other_value(dice: Random, value: Any, tokens: list[str]) -> Any:
    """Something else in place of a value: of its own type, of another, or nothing that could be."""
    near: list[Any] = [value, [value], {"a": value}, None, str(value), repr(value)]
    if isinstance(value, int | float):
        near += [-value, value + 1, value - 1, value * 1000, float(value), bool(value)]
    drawn = [dice.choice(near), dice.choice(NUMBERS), nasty_text(dice), Raw(dice.choice(tokens))]
    return dice.choice([*drawn, dice.choice([True, False, None, [], {}, [[]], [1, "a", None], {"": {}}])])


def damage_structure(dice: Random, value: Any, tokens: list[str] = TOKENS) -> Any:
    """Drop, rename, double, swap or change one to three parts of a JSON value."""
    value = copy.deepcopy(value)
    for _ in range(dice.choice([1, 1, 2, 3])):
        places = _places(value)
        if not places:
            return _other_value(dice, value, tokens)
        inside, key = dice.choice(places)
        change = dice.randrange(8)
        if change == 0:
            del inside[key]
        elif change == 1 and isinstance(inside, dict):
            text = str(key)
            other = [text + "x", text[1:], text.upper(), nasty_text(dice), text * 3, Raw(dice.choice(tokens))]
            inside[dice.choice(other)] = inside.pop(key)
        elif change == 2:
            other_inside, other_key = dice.choice(places)
            if other_key in other_inside if isinstance(other_inside, dict) else other_key < len(other_inside):
                inside[key] = copy.deepcopy(other_inside[other_key])
        elif change == 3 and isinstance(inside, dict):
            inside[nasty_text(dice)] = _other_value(dice, inside[key], tokens)
        elif change == 4 and isinstance(inside, list):
            inside.insert(dice.randint(0, len(inside)), inside[key])
        else:
            inside[key] = _other_value(dice, inside[key], tokens)
    return value


def to_text(value: Any) -> str:
    """A value as JSON, which YAML reads as well."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{to_text(key)}: {to_text(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(to_text, value)) + "]"
    return str(value) if isinstance(value, Raw) else json.dumps(value)


def to_yaml(settings: Any) -> str:
    """A recipe as people write it: sections, and a setting a line."""
    if not isinstance(settings, dict):
        return to_text(settings)
    text = ""
    for section, values in settings.items():
        if isinstance(values, dict) and values:
            lines = "".join(f"  {_word(name)}: {to_text(value)}\n" for name, value in values.items())
            text += f"{_word(section)}:\n{lines}"
        else:
            text += f"{_word(section)}: {to_text(values)}\n"
    return text


def _word(name: str) -> str:
    return name if isinstance(name, Raw) or name.isidentifier() else json.dumps(name)


def damaged_recipe(dice: Random, settings: dict[str, Any]) -> bytes:
    """A recipe damaged in its structure, its bytes, or with whole documents before or behind it."""
    if dice.random() < 0.7:
        text = to_yaml(damage_structure(dice, settings, YAML_TOKENS))
    else:
        text = to_yaml(settings)
        text = dice.choice([text, text, text + dice.choice(YAML_DOCUMENTS), dice.choice(YAML_DOCUMENTS) + text])
    content = text.encode("utf-8", "surrogatepass")
    return damage_text(dice, content) if dice.random() < 0.3 else content


def damaged_json(dice: Random, content: bytes) -> bytes:
    """A JSON file damaged in its structure, or in its bytes."""
    if dice.random() < 0.75:
        return to_text(damage_structure(dice, json.loads(content))).encode("utf-8", "surrogatepass")
    return damage_text(dice, content)


def damaged_safetensors(dice: Random, content: bytes) -> bytes:
    """A safetensors file: its head's length, the head's structure, its bytes, or the numbers behind it."""
    (length,) = struct.unpack("<Q", content[:8])
    head, data = content[8 : 8 + length], content[8 + length :]
    change = dice.randrange(8)
    if change == 0:
        number = dice.choice([each for each in NUMBERS if isinstance(each, int)]) % 2**64
        return struct.pack("<Q", dice.choice([number, length + 1, length - 1, len(content)])) + head + data
    if change == 1:
        special = struct.pack("<f", dice.choice([float("nan"), float("inf"), 3e38, 1e-45, -0.0]))
        at = 4 * dice.randrange(len(data) // 4)
        return content[: 8 + length] + data[:at] + special + data[at + 4 :]
    if change == 2:
        data = dice.choice([data[:-1], data[:-4], data + b"\0", data + b"\0" * 4096, b"", data[::-1]])
    elif change == 3:
        return damage_bytes(dice, content)
    elif change == 4:
        head = damage_bytes(dice, head)
    else:
        head = to_text(damage_structure(dice, json.loads(head))).encode("utf-8", "surrogatepass")
    return struct.pack("<Q", len(head)) + head + data


def damaged_message(dice: Random, content: bytes) -> bytes:
    """A protocol buffer: its bytes, or one of its fields, of those inside them perhaps."""
    if dice.random() < 0.25:
        return damage_bytes(dice, content)
    fields = _fields(content)
    if not fields:
        return damage_bytes(dice, content)
    for _ in range(dice.choice([1, 1, 2, 5])):
        rare = [index for index, (tag, _) in enumerate(fields) if tag >> 3 != 1]  # all but SentencePiece's pieces
        index = dice.choice(rare) if rare and dice.random() < 0.4 else dice.randrange(len(fields))
        tag, value = fields[index]
        change = dice.randrange(8)
        if change == 0 and len(fields) > 1:
            del fields[index]
        elif change == 1:
            fields.insert(dice.randint(0, len(fields)), (tag, value))
        elif change == 2:
            fields[index] = (dice.choice([tag + 8, tag ^ 1, tag ^ 2, 7, 8, 2**29 * 8]), value)
        else:
            fields[index] = (tag, _other_field(dice, tag, value))
    return b"".join(_varint(tag) + value for tag, value in fields)


def _other_field(dice: Random, tag: int, value: bytes) -> bytes:
    if tag & 7 == 0:
        number = dice.choice([*range(8), *(each for each in NUMBERS if isinstance(each, int))])
        return _varint(number % 2**64)
    if tag & 7 == 5:
        return struct.pack("<f", dice.choice([float("nan"), float("inf"), -float("inf"), 0.0, 1e38, -1e38, 1e-45, 1.0]))
    if tag & 7 != 2:
        return value
    inner = value[len(_varint(_read_varint(value, 0)[0])) :]
    if dice.random() < 0.6 and _fields(inner):
        inner = damaged_message(dice, inner)
    else:
        text = dice.choice(NASTY).encode("utf-8", "surrogatepass")
        inner = dice.choice([text, text, damage_bytes(dice, inner), inner + text, b"x" * 100_000])
    return _varint(len(inner)) + inner


def _read_varint(content: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = content[at]
        number |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return number, at


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes((*out, number))


def _fields(content: bytes) -> list[tuple[int, bytes]]:
    """The fields of a message as (tag, bytes of the value with its length); none if it is no message."""
    fields, at = [], 0
    sizes = {1: 8, 5: 4}
    try:
        while at < len(content):
            tag, start = _read_varint(content, at)
            if tag & 7 == 0:
                at = _read_varint(content, start)[1]
            elif tag & 7 == 2:
                length, at = _read_varint(content, start)
                at += length
            else:
                at = start + sizes[tag & 7]
            fields.append((tag, content[start:at]))
    except (IndexError, KeyError):
        return []
    return fields if at == len(content) else []
