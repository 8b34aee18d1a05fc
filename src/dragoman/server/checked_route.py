"""Routes whose requests are checked before FastAPI validates them: first the key, then the size of what is asked for.

FastAPI reads and validates a body before it calls an endpoint, whoever sends it. Validation takes as long as the lists
in a body are, so their lengths are looked at before.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute

from dragoman.server.api_errors import ApiError
from dragoman.server.bodies import Bodies, parse_json
from dragoman.settings.server_config import ServerConfig

#: Fields of an object, names of a list, and terms and translations of all texts; nobody needs as many.
_MOST_FIELDS, _MOST_NAMES, _MOST_TERMS = 100, 1_000, 50_000


def checked_routes(guard: Callable[[Request], None], config: ServerConfig, bodies: Bodies) -> type[APIRoute]:
    """Return a kind of route.

    Args:
        guard: is called with the request before its body is read, and raises an ApiError if it has no right key.
    """

    class CheckedRoute(APIRoute):
        def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
            answer = super().get_route_handler()

            async def checked(request: Request) -> Response:
                guard(request)
                read = _ReadRequest(request.scope, request.receive)
                if self.body_field is not None and "json" in request.headers.get("content-type", "").lower():
                    body = await read.body()
                    async with bodies.turn():
                        read.value = parse_json(body, lambda: ApiError(400, "the body is no JSON"))
                        check_sizes(read.value, config.batch_limit)
                elif self.body_field is not None:
                    await read.body()
                return await answer(read)

            return checked

    return CheckedRoute


class _ReadRequest(Request):
    """A request whose body was read."""

    value: Any = None

    async def json(self) -> Any:
        return self.value


def check_sizes(value: Any, most_texts: int) -> None:
    """Refuse what has more parts than a request may have. What has a wrong type has no parts here.

    Args:
        value: of the JSON.
        most_texts: the most items of `texts`; -1 is no limit.

    Raises:
        ApiError: there are too many.
    """
    texts = _items(value, "texts")
    if 0 <= most_texts < len(texts):
        raise ApiError(400, f"Invalid request: request ({len(texts)}) exceeds text limit ({most_texts})")
    objects = [each for each in (value, *texts) if isinstance(each, dict)]
    lists = [terms for each in objects if (terms := _items(each, "terms"))]
    n_terms = sum(map(len, lists))
    if n_terms <= _MOST_TERMS:
        terms = [term for each in lists for term in each if isinstance(term, dict)]
        n_terms += sum(len(_items(term, "targets")) for term in terms)
        objects += terms
    if n_terms > _MOST_TERMS:
        raise ApiError(400, f"the request has more than {_MOST_TERMS:,} terms and translations of them")
    for name in ("term_lists", "off"):
        if any(len(_items(each, name)) > _MOST_NAMES for each in objects):
            raise ApiError(400, f"{name} has more than {_MOST_NAMES:,} names")
    if any(len(each) > _MOST_FIELDS for each in objects):
        raise ApiError(400, f"an object of the request has more than {_MOST_FIELDS} fields")


def _items(value: Any, name: str) -> list[Any]:
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, list) else []
