import os
import signal
from pathlib import Path

# Before anything imports torch, and for the programs that tests start: small tensors want one thread, and one thread
# gives the same sums on every machine.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
from hypothesis import settings

# A shell starts background jobs with Ctrl-C ignored, and programs that tests start would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("dragoman", deadline=None, derandomize=True)
settings.load_profile("dragoman")


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of the named corpora (multi30k, tatoeba-zh-en)."""
    name = os.environ.get("DRAGOMAN_DATA")
    if not name:
        pytest.skip("needs real corpora: set DRAGOMAN_DATA to the folder that holds multi30k and tatoeba-zh-en")
    return Path(name)
