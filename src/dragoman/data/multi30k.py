"""Multi30k (Elliott et al. 2016): captions of pictures in four languages, from the public repository."""

from __future__ import annotations

import os
import sys
import urllib.error
import urllib.request
from pathlib import Path

from dragoman.errors import ConfigError, DataError
from dragoman.machine.files import sha256, write_file

NAME = "multi30k"
#: Default languages of source and target.
LANGUAGES = ("en", "de")

MULTI30K_URL = "https://raw.githubusercontent.com/multi30k/dataset/master/data/task1/raw/"
MULTI30K_SHA256 = {
    "train.cs.gz": "a65adb8b32e3bc664f21ecba7a6e7f6950fd1f405e135f7c312faabdb6255077",
    "train.de.gz": "726e39b2fa9eb9ffb6dc763fb35a179f80fae06ffc5d28b6ace5faa883de28a6",
    "train.en.gz": "d79cfa999dd4c51d2cb42499b6796d5a882c3a8a961923c25a898c90f8bbd56f",
    "train.fr.gz": "622e75069e9f4c577425c4f277116ce66e63a2401c0a2312d90073cb12379a3c",
    "val.cs.gz": "b63226e05c4bd5dd6a42897d74b86a1b9d2c31498252c572b1ea7f7996927fcc",
    "val.de.gz": "f0cba2f995189cf5770f29a8a9a537a3ad3f51657ad873405082ff6863a5e75a",
    "val.en.gz": "14f7d25ddd868909a9213e361768460edcacdd6ab9d1e77b92560dc10c10dc28",
    "val.fr.gz": "ca3106f1a72390591d25f6c45cb4cd39dec4cd3f123e099748a3ce5256c160e9",
    "test_2016_flickr.cs.gz": "200a4a74cc9560f051924abb9803be008d1908d77f747e9141aeb86dfd2797f1",
    "test_2016_flickr.de.gz": "9204244e408ccb38d2a55cfcd344df15005fc42a07a6e55ca6c52b6ababb8cc8",
    "test_2016_flickr.en.gz": "611d361c6334bc7246101d48097c13cf5c4413c5befc793cc629934359d532d9",
    "test_2016_flickr.fr.gz": "6d326e188d259fb1d04ac19eae3af956559b3a0b93d7635e56c90987c40c8b90",
}
_MULTI30K_SPLITS = {"train": "train", "validation": "val", "test": "test_2016_flickr"}
_TIMEOUT_S = 30


def multi30k_file(split: str, lang: str) -> Path:
    """Return the file of one side from the folder DRAGOMAN_DATA, else from the cache, else from the network.

    Raises:
        ConfigError: Multi30k does not have the language.
        DataError: it cannot be downloaded, or its content is not the published one.
    """
    name = f"{_MULTI30K_SPLITS[split]}.{lang}.gz"
    if name not in MULTI30K_SHA256:
        raise ConfigError(f"multi30k does not have the language {lang!r}", advice="choose two of cs, de, en, fr")
    data_folder = os.environ.get("DRAGOMAN_DATA")
    cached = cache_folder() / NAME / name
    path = Path(data_folder) / NAME / name if data_folder else cached
    if not path.is_file():
        path = cached
    if not path.is_file():
        _download(name, cached)
    if sha256(path) != MULTI30K_SHA256[name]:
        raise DataError("not the published file (its SHA-256 differs)", path, advice="delete it and run this again")
    return path


def tokenised_references(split: str, lang: str) -> list[str] | None:
    """Return one side of Multi30k, lower-cased and tokenised by the scripts of the corpus.

    None if the folder DRAGOMAN_DATA does not have it.
    """
    data_folder = os.environ.get("DRAGOMAN_DATA")
    path = Path(data_folder or "") / NAME / f"{_MULTI30K_SPLITS[split]}.lc.norm.tok.{lang}"
    if not data_folder or not path.is_file():
        return None
    return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")


def cache_folder() -> Path:
    """Return the folder for downloaded corpora, in the system's folder for caches."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "dragoman"


def _download(name: str, path: Path) -> None:
    """Fetch a file of Multi30k, at most 1 MB, and keep it if it is the published one."""
    url = MULTI30K_URL + name
    try:
        with urllib.request.urlopen(url, timeout=_TIMEOUT_S) as answer:
            content: bytes = answer.read(1 << 20)
    except (OSError, urllib.error.URLError, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise DataError(
            f"multi30k could not be downloaded ({reason})",
            url,
            advice=f"put that file into {path.parent}, or into the folder multi30k of $DRAGOMAN_DATA",
        ) from None
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, content)
    if sha256(path) != MULTI30K_SHA256[name]:
        path.unlink()
        raise DataError("the download is not the published file (its SHA-256 differs)", url, advice="try again later")
