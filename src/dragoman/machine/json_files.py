"""JSON files of this project: equal values give equal bytes, and no key occurs twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dragoman.errors import BundleError

#: Bytes of a JSON file without vocabularies; reading one takes up to 25 times its size in RAM.
JSON_LIMIT = 200_000


def to_json(value: Any) -> bytes:
    """Return `value` as JSON with sorted keys and indentation."""
    return (json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True, allow_nan=False) + "\n").encode()


def read_json(path: Path, limit: int = JSON_LIMIT) -> dict[str, Any]:
    """Read a JSON object that this project wrote.

    Raises:
        BundleError: the file is missing, unreadable, a link, larger than `limit` bytes, or not a JSON object; or a key
            is there twice.
    """
    try:
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise BundleError("not a regular file", path, advice="use another copy")
        if path.exists() and path.stat().st_size > limit:
            raise BundleError(f"larger than {limit:,} bytes", path, advice="use another copy")
        text = read_at_most(path, limit).decode()
        value = json.loads(text, object_pairs_hook=without_duplicates, parse_constant=_refuse_constant)
    except FileNotFoundError:
        raise BundleError("file not found", path, advice="is this the right folder?") from None
    except (OSError, ValueError, RecursionError) as error:
        raise BundleError(f"not readable as JSON ({error})", path, advice="use another copy") from None
    if not isinstance(value, dict):
        raise BundleError("not a JSON object", path, advice="use another copy")
    return value


def read_at_most(path: Path, limit: int) -> bytes:
    """Return the content of a file of up to `limit` bytes.

    Raises:
        ValueError: it has more. (The size that the system tells is not enough: devices have none.)
    """
    with open(path, "rb") as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise ValueError(f"larger than {limit:,} bytes")
    return content


def without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the pairs of a JSON object as a dictionary.

    Raises:
        ValueError: a key is there twice. Python would take its last value, and other readers may take the first.
    """
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key is there twice")
    return value


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON")
