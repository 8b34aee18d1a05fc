"""Questions for servers of LibreTranslate's API, each as the bytes of a request."""

from __future__ import annotations

import base64
import json
from typing import Any, NamedTuple
from urllib.parse import urlencode

GOOD: dict[str, Any] = {"q": "Where is the station?", "source": "en", "target": "de"}
GERMAN = "Wo ist der Bahnhof, und wann fährt der Zug nach Hamburg?"
TEXTS = ["Thank you.", "I have two dogs."]
PAGE = '<p>She reads a <b>book</b>.</p><a href="/x?a=1&amp;b=2">Thank you.</a>'
#: Limits of both servers.
CHARACTERS, BATCH, ALTERNATIVES = 200, 5, 4
FORM, JSON, BOUNDARY = "application/x-www-form-urlencoded", "application/json", "a-line-between-parts"


class Question(NamedTuple):
    """A request."""

    name: str
    method: str
    path: str
    body: bytes = b""
    content_type: str = ""

    def to_json(self) -> dict[str, str]:
        return {**self._asdict(), "body": base64.b64encode(self.body).decode()}


def as_json(name: str, value: Any, path: str = "/translate") -> Question:
    return Question(name, "POST", path, json.dumps(value).encode(), JSON)


def as_form(name: str, value: Any, path: str = "/translate") -> Question:
    return Question(name, "POST", path, urlencode(value, doseq=True).encode(), FORM)


def as_query(name: str, value: Any, path: str = "/translate") -> Question:
    return Question(name, "POST", f"{path}?{urlencode(value, doseq=True)}")


def as_parts(name: str, fields: dict[str, str], file: tuple[str, bytes] | None, path: str) -> Question:
    lines = [f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{fields[key]}\r\n' for key in fields]
    body = "".join(lines).encode()
    if file is not None:
        head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="{file[0]}"\r\n'
        body += f"{head}Content-Type: application/octet-stream\r\n\r\n".encode() + file[1] + b"\r\n"
    return Question(
        name, "POST", path, body + f"--{BOUNDARY}--\r\n".encode(), f"multipart/form-data; boundary={BOUNDARY}"
    )


def without(*names: str, **others: Any) -> dict[str, Any]:
    return {key: value for key, value in {**GOOD, **others}.items() if key not in names}


def _translate() -> list[Question]:
    changes: dict[str, dict[str, Any]] = {
        "good": {},
        "languages in capitals": {"source": "EN", "target": "DE"},
        "format text": {"format": "text"},
        "format empty": {"format": ""},
        "html": {"q": PAGE, "format": "html"},
        "html with alternatives": {"q": PAGE, "format": "html", "alternatives": 2},
        "auto": {"q": GERMAN, "source": "auto", "target": "en"},
        "auto, into its own language": {"q": GERMAN, "source": "auto"},
        "auto, a list": {"q": [GERMAN, GERMAN], "source": "auto", "target": "en"},
        "auto, emoji": {"q": "😀", "source": "auto"},
        "auto, html": {"q": "<p>Wo ist der Bahnhof?</p>", "source": "auto", "target": "en", "format": "html"},
        "the same language": {"target": "en"},
        "a list": {"q": TEXTS},
        "a list of one": {"q": TEXTS[:1]},
        "a list with an empty text": {"q": ["", "Thank you."]},
        "an empty list": {"q": []},
        "a list that is too long": {"q": ["a"] * (BATCH + 1)},
        "a text in a list that is too long": {"q": ["a", "a" * (CHARACTERS + 1)]},
        "a list, html": {"q": [PAGE, "<b>Thank you.</b>"], "format": "html"},
        "alternatives": {"alternatives": 3},
        "alternatives of a list": {"q": TEXTS, "alternatives": 2},
        "alternatives, none": {"alternatives": 0},
        "alternatives, fewer than none": {"alternatives": -1},
        "alternatives in a string": {"alternatives": "2"},
        "alternatives, too many": {"alternatives": ALTERNATIVES + 1},
        "alternatives, a fraction": {"alternatives": 1.5},
        "alternatives, true": {"alternatives": True},
        "alternatives, words": {"alternatives": "many"},
        "alternatives, empty": {"alternatives": ""},
        "alternatives, null": {"alternatives": None},
        "alternatives, a list": {"alternatives": [1]},
        "q empty": {"q": ""},
        "q null": {"q": None},
        "q space": {"q": "  \n "},
        "q a number": {"q": 7},
        "q a list of numbers": {"q": [7]},
        "q an object": {"q": {"text": "a"}},
        "q true": {"q": True},
        "q of two lines": {"q": "Thank you.\n\nWhere is the station?"},
        "q at the limit": {"q": "a" * CHARACTERS},
        "q too long": {"q": "a" * (CHARACTERS + 1)},
        "q emoji": {"q": "😀 🎉"},
        "q zero": {"q": 0},
        "source empty": {"source": ""},
        "source null": {"source": None},
        "source unknown": {"source": "zz"},
        "source a list": {"source": ["en"]},
        "source a number": {"source": 1},
        "target empty": {"target": ""},
        "target unknown": {"target": "zz"},
        "target a language of the world": {"target": "es"},
        "target auto": {"target": "auto"},
        "target a number": {"target": 1},
        "both unknown": {"source": "yy", "target": "zz"},
        "a language with a region": {"target": "de-DE"},
        "a language that is only a target": {"source": "fr"},
        "from and into it": {"source": "fr", "target": "fr"},
        "through another language": {"q": GERMAN, "source": "de", "target": "fr"},
        "format unknown": {"format": "rtf"},
        "format in capitals": {"format": "HTML"},
        "format a number": {"format": 1},
        "a key that nobody asked for": {"api_key": "abc"},
        "a secret that nobody asked for": {"secret": "abc"},
        "fields that mean nothing": {"unknown": [1, {"a": None}]},
    }
    return [as_json(name, {**GOOD, **change}) for name, change in changes.items()] + [
        as_json("without q", without("q")),
        as_json("without source", without("source")),
        as_json("without target", without("target")),
        as_json("nothing", {}),
        as_json("a list as a body", [GOOD]),
        as_json("a string as a body", "q"),
        as_json("null as a body", None),
        Question("half a body", "POST", "/translate", b'{"q":', JSON),
        Question("no body", "POST", "/translate", b"", JSON),
        Question("neither body nor type", "POST", "/translate"),
        Question("bytes that are no text", "POST", "/translate", b"\xff\xfe", JSON),
        Question("JSON with another type", "POST", "/translate", json.dumps(GOOD).encode(), "text/plain"),
        Question("JSON with a charset", "POST", "/translate", json.dumps(GOOD).encode(), f"{JSON}; charset=utf-8"),
    ]


def _other_ways() -> list[Question]:
    return [
        as_form("form", GOOD),
        as_form("form, auto", {**GOOD, "q": GERMAN, "source": "auto", "target": "en"}),
        as_form("form, alternatives", {**GOOD, "alternatives": "2"}),
        as_form("form, alternatives in words", {**GOOD, "alternatives": "many"}),
        as_form("form, too many alternatives", {**GOOD, "alternatives": ALTERNATIVES + 1}),
        as_form("form, html", {**GOOD, "q": PAGE, "format": "html"}),
        as_form("form, two texts", {**GOOD, "q": TEXTS}),
        as_form("form without q", without("q")),
        as_form("form, line ends of Windows", {**GOOD, "q": "a\r\n" * (CHARACTERS // 2)}),
        as_form("form, too long", {**GOOD, "q": "a" * (CHARACTERS + 1)}),
        as_form("form, format unknown", {**GOOD, "format": "rtf"}),
        as_form("form, source unknown", {**GOOD, "source": "zz"}),
        as_query("query", GOOD),
        as_query("query without target", without("target")),
        as_parts("multipart", GOOD, None, "/translate"),
        Question("translate by GET", "GET", f"/translate?{urlencode(GOOD)}"),
        Question("translate by PUT", "PUT", "/translate", json.dumps(GOOD).encode(), JSON),
    ]


def _other_endpoints() -> list[Question]:
    suggestion = {"q": "a", "s": "b", "source": "en", "target": "de"}
    file, way, text = "/translate_file", {"source": "en", "target": "de"}, ("a.txt", b"Where is the station?\n")
    return [
        as_json("detect", {"q": GERMAN}, "/detect"),
        as_json("detect, a list", {"q": [GERMAN, GERMAN]}, "/detect"),
        as_json("detect, marks", {"q": "?!"}, "/detect"),
        as_json("detect, empty", {"q": ""}, "/detect"),
        as_json("detect, nothing", {}, "/detect"),
        as_json("detect, a number", {"q": 7}, "/detect"),
        as_json("detect, a list as a body", [], "/detect"),
        as_form("detect, form", {"q": GERMAN}, "/detect"),
        as_query("detect, query", {"q": GERMAN}, "/detect"),
        as_form("detect, form without q", {}, "/detect"),
        Question("detect by GET", "GET", "/detect?q=a"),
        Question("languages", "GET", "/languages"),
        Question("languages by POST", "POST", "/languages"),
        Question("settings", "GET", "/frontend/settings"),
        Question("health", "GET", "/health"),
        as_json("suggest", suggestion, "/suggest"),
        as_form("suggest, form", suggestion, "/suggest"),
        as_json("suggest nothing", {}, "/suggest"),
        as_parts("file", way, text, file),
        as_parts("file, auto", {**way, "source": "auto"}, ("a.txt", GERMAN.encode()), file),
        as_parts("file without source", {"target": "de"}, text, file),
        as_parts("file without target", {"source": "en"}, text, file),
        as_parts("file, source unknown", {**way, "source": "zz"}, text, file),
        as_parts("file, target unknown", {**way, "target": "zz"}, text, file),
        as_parts("file of another kind", way, ("a.exe", b"MZ"), file),
        as_parts("file without a name", way, ("", b"Thank you."), file),
        as_parts("no file", way, None, file),
        as_form("no file in a form", way, file),
        Question("download what is not there", "GET", "/download_file/nothing.txt"),
        Question("no such path", "GET", "/nothing"),
        Question("preflight", "OPTIONS", "/translate"),
    ]


QUESTIONS = [*_translate(), *_other_ways(), *_other_endpoints()]
