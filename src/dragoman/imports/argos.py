"""A package of Argos Translate, LibreTranslate's too: a zip file (`.argosmodel`) around a folder of CTranslate2.

It may be unpacked. Its models that find the ends of sentences are not read.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from dragoman.bundle.bundle import Bundle
from dragoman.errors import BundleError, DragomanError
from dragoman.imports.ctranslate2 import MODEL, read_folder
from dragoman.imports.zip_packages import unpack
from dragoman.machine.json_files import JSON_LIMIT, read_json
from dragoman.settings.search_config import SearchConfig
from dragoman.settings.text_origin import LANGUAGE_CODE
from dragoman.text.languages import Languages

SUFFIX = ".argosmodel"
_METADATA = "metadata.json"
#: What is read of a package.
_FILES = frozenset(
    (
        *(_METADATA, "sentencepiece.model", "bpe.model", f"model/{MODEL}", "model/config.json"),
        *(f"model/{side}_vocabulary.{end}" for side in ("shared", "source", "target") for end in ("json", "txt")),
    )
)
#: Codes of Argos that are not language codes, and the usual codes for them.
_CODES = {"zt": "zh-Hant", "pb": "pt-BR"}
#: The search of Argos Translate, with nearly the same penalty.
_SEARCH = SearchConfig(beam_size=4, length_penalty=0.2)


def is_argos(path: Path) -> bool:
    """Return True for a package, the folder of one, or a folder that has one."""
    return path.is_file() or (path / "model" / MODEL).is_file() or len(_packages(path)) == 1


def import_argos(path: Path, languages: Languages = (None, None)) -> Bundle:
    """Read a package.

    Args:
        languages: codes of the source and the target, in place of those that the package names.

    Raises:
        BundleError: it is damaged or incomplete, or has a model that ours cannot be.
        ConfigError: a language code is missing or invalid.
        ResourceError: the disk is full.
    """
    if path.is_dir() and not _packages(path):
        return _read(path, languages)
    package = path if path.is_file() else _packages(path)[0]
    with TemporaryDirectory() as temporary:
        folder = Path(temporary).resolve()
        unpack(package, _METADATA, _FILES, folder)
        try:
            return _read(folder, languages)
        except DragomanError as error:
            raise error.found_in(package, instead_of=folder) from None


def _packages(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.suffix == SUFFIX and path.is_file()] if folder.is_dir() else []


def _read(folder: Path, languages: Languages) -> Bundle:
    metadata, path = read_json((folder / _METADATA).resolve(), JSON_LIMIT), folder / _METADATA
    if (kind := metadata.get("type", "translate")) != "translate":
        raise BundleError(f"a package of the type {kind!r}", path, advice="take one that translates")
    if prefix := metadata.get("target_prefix"):
        raise BundleError(f"each translation begins with {prefix!r}", path, advice="take another package")
    codes = [metadata.get("from_code"), metadata.get("to_code")]
    if not all(isinstance(code, str) and LANGUAGE_CODE.fullmatch(code) for code in codes):
        raise BundleError(f"its languages are {codes[0]!r} and {codes[1]!r}", path, advice="use another copy")
    source, target = (named or _CODES.get(str(code), str(code)) for named, code in zip(languages, codes, strict=True))
    return read_folder(folder / "model", folder, (source, target), _SEARCH)
