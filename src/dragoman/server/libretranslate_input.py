"""Parameters of LibreTranslate's endpoints: JSON, a form, a form with files, or the query string."""

from __future__ import annotations

import reprlib
from collections.abc import Sequence
from typing import Any, NamedTuple

from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from dragoman.server.api_errors import ApiError, missing
from dragoman.server.bodies import SMALL, parse_json
from dragoman.server.preparing import form_fields
from dragoman.server.server_parts import ServerParts
from dragoman.server.text_lines import whole
from dragoman.settings.server_config import ServerConfig

#: The most fields of a form.
_MOST_FIELDS = 10_000


class SentFile(NamedTuple):
    """A file of a form."""

    name: str
    content: bytes


class Parameters:
    """The parameters of one request.

    Args:
        values: by their names.
        is_json: they may be of any type; else each is a string or a file.
    """

    def __init__(self, values: dict[str, Any], *, is_json: bool) -> None:
        self._values = values
        self.is_json = is_json

    @classmethod
    async def read(cls, request: Request, parts: ServerParts) -> Parameters:
        """Read the parameters of a request. Those of the query string win over those of a form.

        Raises:
            ApiError: the body is not what its type says.
            DataError, DeadlineError: a long form took too much to read.
        """
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json")):
            body = await request.body()
            async with parts.bodies.turn():
                return cls(_json_object(body), is_json=True)
        values: dict[str, Any] = {}
        if kind == "multipart/form-data":
            values |= await _form(request, parts.bodies.limit)
        elif kind == "application/x-www-form-urlencoded":
            values |= _by_name(await _pairs(await request.body(), parts))
        values |= _by_name(request.query_params.multi_items())
        return cls(values, is_json=False)

    def get(self, name: str) -> Any:
        """Return a parameter, or None. Halves of surrogate pairs in it are replaced."""
        return _whole(self._values.get(name))

    def _require(self, name: str) -> Any:
        """Return a parameter as it was sent, but not an empty one."""
        if not (value := self._values.get(name)):
            raise missing(name)
        return value

    def require_language(self, name: str) -> str:
        """Return the code of a language: a parameter that is a string and not empty.

        Raises:
            ApiError: it is not.
        """
        value = self._require(name)
        if not isinstance(value, str):
            raise ApiError(400, f"{shown(value)} is not supported")
        return whole(value)

    def require_text(self, name: str) -> str:
        """Return one text: a parameter that is a string and not empty.

        Raises:
            ApiError: it is not.
        """
        value = self._require(name)
        if not isinstance(value, str):
            raise ApiError(400, f"Invalid request: {name} parameter is not a string")
        return whole(value)

    def optional_text(self, name: str) -> str | None:
        """Return a parameter that is a string, or None if it is missing or empty.

        Raises:
            ApiError: it is something else.
        """
        return self.require_text(name) if self._values.get(name) else None

    def optional_flag(self, name: str) -> bool:
        """Return a parameter that is true or false, or 1 or 0; False if it is missing or empty.

        Raises:
            ApiError: it is something else.
        """
        if isinstance(flag := self._values.get(name), bool):
            return flag
        value = (self.optional_text(name) or "false").lower()
        if value not in ("true", "false", "1", "0"):
            raise ApiError(400, f"Invalid request: {name} parameter is neither true nor false")
        return value in ("true", "1")

    def require_file(self) -> SentFile:
        """Return the parameter `file`, which has a name.

        Raises:
            ApiError: there is none.
        """
        file = self._values.get("file")
        if not isinstance(file, SentFile) or not file.name:
            raise missing("file")
        return file

    def require_texts(self, limit: int, name: str = "q") -> tuple[list[str], bool]:
        """Return the texts of a parameter, and True if they are a list. Lines of a form end in a newline only.

        In a form, a `q` that is a list of strings in JSON is several texts, too, as LibreTranslate reads it.

        Args:
            limit: the most texts; -1 is none.

        Raises:
            ApiError: there are none or too many, or they are no strings.
        """
        value = self._require(name)
        if name == "q" and not self.is_json:
            value = _listed(value) or value
        is_list = isinstance(value, list)
        if is_list:
            _check_limit(len(value), limit)
        texts = [_whole(text) for text in value] if is_list else [_whole(value)]
        if not all(isinstance(text, str) for text in texts):
            raise ApiError(400, f"Invalid request: {name} parameter is neither a string nor a list of strings")
        return [self._lines(text) for text in texts], is_list

    def require_lines(self, name: str) -> str:
        """Return one text as it was sent, whatever it looks like. Lines of a form end in a newline only.

        Raises:
            ApiError: it is no string, or empty.
        """
        return self._lines(self.require_text(name))

    def _lines(self, text: str) -> str:
        return text if self.is_json else "\n".join(text.splitlines())

    def n_alternatives(self, limit: int) -> int:
        """Return the parameter `alternatives`; 0 if it is missing or negative.

        Raises:
            ApiError: it is no number, or too high.
        """
        value = self.get("alternatives")
        try:
            number = max(0, int(value)) if value is not None else 0
        except (TypeError, ValueError, OverflowError):
            raise ApiError(400, "Invalid request: alternatives parameter is not a number") from None
        if 0 <= limit < number:
            raise ApiError(400, f"Invalid request: alternatives parameter must be <= {limit}")
        return number


def shown(value: object) -> str:
    """Return the beginning of a value for a message; JSON may be deeper than Python writes."""
    return (value if isinstance(value, str) else reprlib.repr(value))[:100]


def check_limits(texts: list[str], config: ServerConfig) -> None:
    """Check the number of texts, and the characters of each.

    Raises:
        ApiError: there are too many.
    """
    _check_limit(len(texts), config.batch_limit)
    for text in texts:
        _check_limit(len(text), config.char_limit)


def _check_limit(size: int, limit: int) -> None:
    if 0 <= limit < size:
        raise ApiError(400, f"Invalid request: request ({size}) exceeds text limit ({limit})")


async def _pairs(body: bytes, parts: ServerParts) -> list[tuple[str, str]]:
    """Return the fields of a form; a helper process reads a long one."""
    service = parts.service
    try:
        if len(body) <= SMALL:
            return form_fields(None, body, _MOST_FIELDS)
        return await service.helpers.call(form_fields, body, _MOST_FIELDS, stop=service.stop())
    except ValueError:
        raise ApiError(400, f"Invalid request: the form has more than {_MOST_FIELDS} fields") from None


class _InRam(MultiPartParser):
    """A parser that writes no file to the disk."""

    spool_max_size = 0


async def _form(request: Request, max_bytes: int) -> dict[str, Any]:
    parser = _InRam(request.headers, request.stream(), max_files=1, max_fields=100, max_part_size=max_bytes)
    try:
        form = await parser.parse()
    except (MultiPartException, ValueError, LookupError, AssertionError):
        raise ApiError(400, "Invalid request: the form cannot be read") from None
    items = [
        (name, SentFile(value.filename or "", await value.read()) if isinstance(value, UploadFile) else value)
        for name, value in form.multi_items()
    ]
    await form.close()
    return _by_name(items)


def _by_name(items: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return the first value of each name; of DeepL's `text`, and of a `q` that is there more than once, a list."""
    several = {each: [value for name, value in items if name == each] for each in ("q", "text")}
    if len(several["q"]) == 1:
        del several["q"]
    return dict(reversed(items)) | {name: values for name, values in several.items() if values}


def _listed(text: Any) -> list[str] | None:
    """Return the strings of a list in JSON; None for any other text."""
    if not isinstance(text, str) or not text.lstrip().startswith('["'):
        return None
    try:
        value = parse_json(text.encode(errors="replace"), _wrong_json)
    except ApiError:
        return None
    return value if isinstance(value, list) and all(isinstance(item, str) for item in value) else None


def _json_object(body: bytes) -> dict[str, Any]:
    if not isinstance(value := parse_json(body, _wrong_json), dict):
        raise _wrong_json()
    return value


def _wrong_json() -> ApiError:
    return ApiError(400, "Invalid JSON format")


def _whole(value: Any) -> Any:
    return whole(value) if isinstance(value, str) else value
