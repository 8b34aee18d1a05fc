"""The models of a server: loaded and unloaded while it runs, within a budget of RAM."""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from dragoman.bundle.finding import find_bundle
from dragoman.bundle.format import WEIGHTS, read_config
from dragoman.errors import ConfigError, ResourceError
from dragoman.machine.devices import all_cores
from dragoman.server.helpers import Helpers
from dragoman.server.measures import MeasuredSearch, Measures
from dragoman.server.preparing import OpenStages
from dragoman.server.routing import Directory
from dragoman.settings.server_config import ServerConfig
from dragoman.text.tags import Direction
from dragoman.translator import Request, Translator
from dragoman.translator.batcher import Batcher
from dragoman.translator.searching import Searcher

#: Bytes of a number on disk, by the precision of a bundle, and those of a loaded one: read, and packed.
_STORED_BYTES, _LOADED_BYTES = {"float32": 4, "float16": 2, "int8": 1}, 8

#: Processes that plan and finish for a model, and the seconds of processor time in which one must prepare a portion:
#: prose of 100,000 characters in one line takes 11 in all.
_PROCESSES, _PORTION_SECONDS = max(2, all_cores() // 2), 20.0

_log = logging.getLogger(__name__)


@dataclass(eq=False)
class LoadedModel:
    """A model in RAM."""

    translator: Translator
    #: Searches for all requests together.
    batcher: Batcher
    #: They plan and finish.
    helpers: Helpers[OpenStages]
    #: Differs from that of every other model that this server has loaded.
    number: int
    #: Requests that use it now.
    n_users: int = 0
    last_used: float = field(default_factory=time.monotonic)


@dataclass
class KnownModel:
    """A model that requests may use; it is loaded when they do."""

    #: Of this server's models; it has no part of the path but the last.
    name: str
    path: str
    directions: tuple[Direction, ...]
    #: RAM that it takes when it is loaded, estimated.
    n_bytes: int
    loaded: LoadedModel | None = None


class ModelShelf:
    """The models that a server knows, by their names. Any thread may use it.

    Args:
        config: says how to load them, and how much RAM they may take.
    """

    def __init__(self, config: ServerConfig, measures: Measures) -> None:
        self._config = config
        self._measures = measures
        self._models: dict[str, KnownModel] = {}
        self._numbers = itertools.count()
        #: The languages of all models.
        self.directory = Directory({})
        #: For the table; never held while a model is loaded.
        self._lock = threading.RLock()
        #: Held by the only thread that loads.
        self._loading = threading.Lock()
        measures.observe_models(lambda: sum(each.loaded is not None for each in self.models()), self.n_bytes)

    def models(self) -> list[KnownModel]:
        """Return all models, in the order in which they were added."""
        with self._lock:
            return list(self._models.values())

    def directories(self) -> dict[str, Directory]:
        """Return the languages of each model alone, by its name."""
        return {model.name: Directory({model.name: model.directions}) for model in self.models()}

    def n_bytes(self) -> int:
        """Return the RAM of the loaded models, estimated."""
        return sum(model.n_bytes for model in self.models() if model.loaded)

    def add(self, path: str) -> KnownModel:
        """Load a model, and let requests use it. It takes seconds.

        Args:
            path: a bundle, a run folder (its best), or an installed model.

        Raises:
            BundleError: there is no such bundle, or it is damaged.
            ConfigError: the model is there already, or needs more than all of the RAM that models may take.
            ResourceError: there is no room while all others are in use.
        """
        with self._loading:
            if any(model.path == path for model in self.models()):
                raise ConfigError(f"the model {path} is there already", advice="remove it first to load it again")
            model = KnownModel(self._free_name(path), path, (), _estimated_bytes(path))
            self._load(model)
            with self._lock:
                self._models[model.name] = model
                self._list_languages()
            return model

    def remove(self, name: str) -> bool:
        """Forget a model; requests that use it go on. Return False if there is none of this name."""
        with self._lock:
            model = self._models.pop(name, None)
            if model is not None:
                self._unload(model)
                self._list_languages()
            return model is not None

    @contextmanager
    def borrow(self, name: str) -> Iterator[LoadedModel]:
        """Use a model, which `is_ready` or was loaded by `prepare`, and keep it in RAM meanwhile.

        Raises:
            ResourceError: it was removed or unloaded.
        """
        with self._lock:
            model = self._models.get(name)
            if model is None or model.loaded is None:
                raise ResourceError(f"the model {name} is not loaded")
            loaded = model.loaded
            loaded.n_users += 1
            loaded.last_used = time.monotonic()
        try:
            yield loaded
        finally:
            with self._lock:
                loaded.n_users -= 1
                if not loaded.n_users and all(each.loaded is not loaded for each in self._models.values()):
                    _close(loaded)

    def is_ready(self, name: str) -> bool:
        """Return True if a model is in RAM."""
        with self._lock:
            return name in self._models and self._models[name].loaded is not None

    def prepare(self, name: str) -> None:
        """Load a known model that was unloaded to make room. It takes seconds."""
        with self._loading:
            model = next((each for each in self.models() if each.name == name), None)
            if model is not None and model.loaded is None:
                self._load(model)

    def close(self) -> None:
        """Unload everything."""
        for model in self.models():
            self.remove(model.name)

    def _load(self, model: KnownModel) -> None:
        self._make_room(model)
        config = self._config
        workers = config.workers or all_cores()
        translator = Translator.load(model.path, device=config.device, workers=workers, precision=config.precision)
        searcher = translator.pipeline.searcher
        assert isinstance(searcher, Searcher)
        searchers = searcher.split()
        _start_workers(translator, searchers)
        measured = [MeasuredSearch(each, self._measures) for each in searchers]
        with self._lock:
            model.directions = translator.directions
            # Half of a batch is as fast a token, and the first to come while a long text is searched wait half as long.
            batcher = Batcher(measured, searcher.batch_size // 2, searcher.least_batch)
            helpers = Helpers(_PROCESSES, _PORTION_SECONDS, OpenStages(translator.pipeline))
            helpers.start()
            model.loaded = LoadedModel(translator, batcher, helpers, next(self._numbers))
        _log.info(f"loaded {model.name}, about {model.n_bytes / 2**20:,.0f} MiB")

    def _free_name(self, path: str) -> str:
        """Return the last part of a path, with a number if another model has that name."""
        name = Path(path).absolute().name or "model"
        with self._lock:
            numbers = itertools.chain([""], (f"-{number}" for number in itertools.count(2)))
            return next(free for number in numbers if (free := name + number) not in self._models)

    def _make_room(self, model: KnownModel) -> None:
        """Unload the models that were used least recently and are not in use, until there is room for one more."""
        limit = self._config.ram_limit * 2**20
        if not limit:
            return
        if model.n_bytes > limit:
            problem = f"{model.name} takes about {model.n_bytes / 2**20:,.0f} MiB"
            raise ConfigError(f"{problem}, more than ram_limit {self._config.ram_limit}", advice="raise ram_limit")
        with self._lock:
            while self.n_bytes() + model.n_bytes > limit:
                idle = [each for each in self.models() if each.loaded is not None and not each.loaded.n_users]
                if not idle:
                    raise ResourceError("there is no RAM for one more model while the others are in use")
                self._unload(min(idle, key=lambda each: each.loaded.last_used if each.loaded else 0.0))

    def _list_languages(self) -> None:
        self.directory = Directory({model.name: model.directions for model in self._models.values()})

    def _unload(self, model: KnownModel) -> None:
        loaded, model.loaded = model.loaded, None
        if loaded is not None:
            _log.info(f"unloaded {model.name}")
            if not loaded.n_users:
                _close(loaded)


def _close(loaded: LoadedModel) -> None:
    """Close a batcher without waiting: it may search for a request that was cancelled, for seconds."""
    loaded.helpers.close()
    threading.Thread(target=loaded.batcher.close, name="dragoman unloading").start()


def _start_workers(translator: Translator, searchers: Sequence[Searcher]) -> None:
    """Translate in every worker process, so that none is started while clients are connected."""
    source, target = translator.directions[0]
    plan = translator.pipeline.plan([Request("a b c d", source_lang=source, target_lang=target)])
    for searcher in searchers:
        searcher.search(plan.jobs)


def _estimated_bytes(path: str) -> int:
    folder = find_bundle(path)
    precision = read_config(folder)["precision"]
    weights = folder / WEIGHTS
    n_numbers = weights.stat().st_size // _STORED_BYTES.get(precision, 1) if weights.is_file() else 0
    return _LOADED_BYTES * n_numbers
