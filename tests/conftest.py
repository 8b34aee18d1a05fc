import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# Before anything imports torch, and for the programs that tests start: small tensors want one thread, and one thread
# gives the same sums on every machine.
os.environ.setdefault("OMP_NUM_THREADS", "1")

from functools import cache
from importlib.util import find_spec

import pytest
from browser import chromium
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from runs import captured_log, settings, write_rows
from tiny import tiny_bundle, tiny_tokenizers

from dragoman.bundle.named_models import CAPTION_MODELS, named_model
from dragoman.data.checks import language_evidence
from dragoman.settings.search_config import SearchConfig
from dragoman.text.tokenizer import Tokenizers
from dragoman.translator import Translator

# Programs inherit ignored signals: a shell ignores Ctrl-C for background jobs, and nohup ignores SIGHUP.
signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# No draw stops a landing: `make test` draws the same examples each time, `make thorough` others, and five times as many
# where a test does not say how many.
# A busy machine stops none either: making examples slowly is no fault.
hypothesis_settings.register_profile(
    "dragoman", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
hypothesis_settings.register_profile("thorough", deadline=None, derandomize=False, max_examples=500, print_blob=True)
hypothesis_settings.load_profile("dragoman")


#: Files of tests that start many trainings, besides those in tests/faults.
LONGEST = ("test_resume", "test_many_processes")
#: A file all of whose tests need PyTorch.
NEEDS_TORCH = re.compile(r"^pytestmark = \[?\s*pytest\.mark\.torch\b", re.M)


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out, where there is no PyTorch, the files that need it: they import it."""
    if collection_path.suffix != ".py" or _has_torch():
        return None
    return NEEDS_TORCH.search(collection_path.read_text(encoding="utf-8")) is not None or None


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of tests/thorough; begin with the longest files, so that no process ends with one of them.

    Tests that need a caption model are skipped without it.
    """
    if missing := [name for name in CAPTION_MODELS if named_model(name) is None]:
        skip = pytest.mark.skip(reason=f"no {missing[0]}: pip install ./packages/captions")
        for item in items:
            if item.get_closest_marker("captions") is not None:
                item.add_marker(skip)
    for item in items:
        if item.path.parent.name == "thorough":
            item.add_marker(pytest.mark.thorough)
    items.sort(key=lambda item: not item.path.stem.startswith(LONGEST) and item.path.parent.name != "faults")


def _has_torch() -> bool:
    try:
        return find_spec("torch") is not None
    except ModuleNotFoundError:  # a test hides it
        return False


@pytest.fixture(scope="session", autouse=True)
def _one_detector() -> Iterator[None]:
    """Load the detector of languages once for all trainings of a process: it takes a second."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(language_evidence, "identifier", cache(language_evidence.identifier))
        yield


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of the named corpora (multi30k, tatoeba-zh-en)."""
    name = os.environ.get("DRAGOMAN_DATA")
    if not name:
        pytest.skip("needs real corpora: set DRAGOMAN_DATA to the folder that holds multi30k and tatoeba-zh-en")
    return Path(name)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium."""
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The corpus of the very small trainings."""
    return write_rows(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="session")
def reference(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of 30 steps that nothing disturbed."""
    from dragoman.training import train

    run = tmp_path_factory.mktemp("reference") / "run"
    train(settings(corpus), run, device="cpu")
    return run


@pytest.fixture
def log_lines() -> Iterator[list[str]]:
    """What the package logs during a test."""
    with captured_log() as lines:
        yield lines


@pytest.fixture(scope="module")
def tokenizers() -> Tokenizers:
    """Small tokenizers that are learned in no time."""
    return tiny_tokenizers()


@pytest.fixture(scope="module")
def translator(tokenizers: Tokenizers) -> Translator:
    """A translator with a small model of random weights."""
    return Translator([tiny_bundle(tokenizers)], tokenizers, SearchConfig(beam_size=2))
