"""The parts of a server, which its endpoints share."""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from dataclasses import dataclass

from starlette.requests import Request

from dragoman.errors import DragomanError
from dragoman.server.api_errors import ApiError, KeyRefusedError, api_error
from dragoman.server.bodies import Bodies
from dragoman.server.detection import Detector
from dragoman.server.downloads import Downloads
from dragoman.server.measures import Measures
from dragoman.server.model_shelf import ModelShelf
from dragoman.server.pulse import Pulse
from dragoman.server.rate_limit import RateLimit
from dragoman.server.server_memory import ServerMemory
from dragoman.server.term_lists import named_lists
from dragoman.server.translation_service import TranslationService
from dragoman.settings.server_config import ServerConfig

#: Wrong keys that a client may send in a minute.
MOST_WRONG_KEYS = 10


@dataclass
class RequestFacts:
    """Facts about a request, for the log: no text, no key."""

    n_texts: int = 0
    n_characters: int = 0


class ServerParts:
    """The parts of one server, at first without models.

    Raises:
        DataError: a term list cannot be read.
    """

    def __init__(self, config: ServerConfig) -> None:
        self.config = config
        self.measures = Measures()
        self.shelf = ModelShelf(config, self.measures)
        self.memory = ServerMemory(config)
        self.service = TranslationService(config, self.shelf, self.measures, self.memory)
        self.detector = Detector()
        self.rate_limit = RateLimit(config.req_limit)
        self.wrong_keys = RateLimit(MOST_WRONG_KEYS)
        self.bodies = Bodies(config)
        self.pulse = Pulse(config.timeout)
        self.downloads = Downloads()
        self.term_lists = named_lists(config.terms)

    def require_client(self, request: Request) -> None:
        """Refuse a client that must wait, before its request is read.

        Raises:
            ApiError: it has sent too many wrong keys, or too many texts.
        """
        client = client_name(request)
        self.wrong_keys.require(client)
        self.rate_limit.require(client)

    def require_key(self, request: Request, key: object) -> None:
        """Refuse a request without a valid key, if the server has keys.

        Args:
            key: a parameter of the request; if there is none, that of the header counts; see `sent_key`.

        Raises:
            ApiError: the key is missing or wrong.
        """
        if not self.config.api_keys:
            return
        given = key if isinstance(key, str) and key else sent_key(request)
        if not given:
            raise KeyRefusedError(400, "Please contact the server operator to get an API key")
        self.compare_keys(request, given, self.config.api_keys, KeyRefusedError(403, "Invalid API key"))

    def compare_keys(self, request: Request, given: str, known: Sequence[str], refusal: ApiError) -> None:
        """Refuse a key that is none of those known. A client that sent many wrong ones must wait, with a right one too.

        Raises:
            ApiError: `refusal`, or there were too many.
        """
        client = client_name(request)
        self.wrong_keys.require(client)
        if not sum(is_equal(given, each) for each in known):
            if given:
                self.wrong_keys.take(client, 1)
            raise refusal

    def take(self, request: Request, texts: list[str]) -> None:
        """Count the texts of a request against the limit of its client.

        Raises:
            ApiError: the client has sent too much, or more lines than the queue holds.
        """
        n_lines = len(texts) + sum(text.count("\n") + text.count("\r") for text in texts)
        if n_lines > self.config.queue_limit:
            raise ApiError(400, f"Invalid request: request ({n_lines}) exceeds line limit ({self.config.queue_limit})")
        facts = request.scope.setdefault("dragoman", RequestFacts())
        facts.n_texts, facts.n_characters = len(texts), sum(map(len, texts))
        self.rate_limit.take(client_name(request), max(1, len(texts)))

    def refusal_of(self, error: ApiError | DragomanError) -> ApiError:
        """Return the answer to a request that the server or its translator refused."""
        return error if isinstance(error, ApiError) else api_error(error, self.service.queue.busy_seconds)


def client_name(request: Request) -> str:
    """Return the address of a client, by which limits are counted."""
    return request.client.host if request.client else ""


def bearer_token(request: Request) -> str:
    """Return the token of the header Authorization, or nothing."""
    return _token(request, ("bearer",))


def sent_key(request: Request) -> str:
    """Return the key in the header Authorization: a bearer token, or as DeepL's clients send it."""
    return _token(request, ("bearer", "deepl-auth-key"))


def _token(request: Request, kinds: Sequence[str]) -> str:
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() in kinds else ""


def is_equal(given: str, known: str) -> bool:
    """Compare keys in a time that does not depend on them."""
    return hmac.compare_digest(given.encode(errors="replace"), known.encode())
