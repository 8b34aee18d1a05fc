"""G3: no flipped bit and no lost byte in a bundle or a checkpoint goes unnoticed, and none crashes the reader."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from amount import FULL
from test_saves import save

from dragoman.bundle.bundle import load_bundle
from dragoman.errors import BundleError
from dragoman.training.checkpoint import load_checkpoint

pytestmark = pytest.mark.torch

N_FLIPS = 5_000 if FULL else 250  # for each of the two folders
EVERY = 7 if FULL else 997


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("flips") / "run"
    folder.mkdir()
    save(folder, 1)
    return folder


def read_bundle(run: Path) -> None:
    load_bundle(run / "bundles" / "step-1")


def read_checkpoint(run: Path) -> None:
    load_checkpoint(run / "checkpoints")


def notices(read: Callable[[Path], None], run: Path) -> bool:
    try:
        read(run)
    except BundleError:
        return True
    return False


def damages(content: bytes, n_flips: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """Contents with one bit flipped, and contents cut short."""
    generator = random.Random(seed)
    for _ in range(n_flips):
        at = generator.randrange(8 * len(content))
        damaged = bytearray(content)
        damaged[at // 8] ^= 1 << at % 8
        yield f"bit {at}", bytes(damaged)
    for length in range(generator.randrange(EVERY), len(content), EVERY):
        yield f"cut to {length}", content[:length]


@pytest.mark.parametrize(("part", "read"), [("bundles", read_bundle), ("checkpoints", read_checkpoint)])
def test_all_damage_is_noticed(
    run: Path, tmp_path: Path, part: str, read: Callable[[Path], None], figure: Callable[..., None]
) -> None:
    copy = tmp_path / "run"
    shutil.copytree(run, copy, symlinks=True)
    read(copy)
    files = sorted(path for path in (copy / part).rglob("*") if path.is_file())
    total = sum(path.stat().st_size for path in files)
    n_damages = 0
    for number, path in enumerate(files):
        content = path.read_bytes()
        for what, damaged in damages(content, 1 + N_FLIPS * len(content) // total, number):
            path.write_bytes(damaged)
            n_damages += 1
            assert notices(read, copy), f"{what} of {path.relative_to(copy)} was not noticed"
        path.write_bytes(content)
    assert n_damages >= N_FLIPS
    figure("G3", part, files=len(files), bytes=total, damages=n_damages, noticed=n_damages)
    read(copy)  # whole again
