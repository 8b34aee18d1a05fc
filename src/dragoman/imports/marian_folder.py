"""The files of a Marian folder: as Marian's training or OPUS-MT leaves them, or Firefox and Bergamot (`.gz` or not)."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from dragoman.errors import BundleError, ConfigError
from dragoman.imports.compressed_files import GZIP, file_content, plain_name
from dragoman.imports.marian_binary import is_binary
from dragoman.imports.marian_settings import yaml_mapping
from dragoman.imports.marian_short_list import USUAL
from dragoman.imports.model_checks import parsed
from dragoman.machine.json_files import JSON_LIMIT, read_json
from dragoman.settings.search_config import SearchConfig
from dragoman.settings.text_origin import LANGUAGE_CODE
from dragoman.settings.yaml_loader import MAX_BYTES
from dragoman.text.languages import Languages

_METADATA = "metadata.json"
#: Keys of `metadata.json` that name the languages.
_LANGUAGES = (("sourceLanguage", "targetLanguage"), ("fromLang", "toLang"), ("from", "to"))
#: Two codes without a sign between them, as in `model.ende.intgemm.alphas.bin`.
_PAIR = re.compile(r"^(?:model|lex(?:\.\d+)*|vocab|srcvocab|trgvocab)\.([a-z]{2})([a-z]{2})\.")
_SIDES = (("source.", "srcvocab.", "src."), ("target.", "trgvocab.", "tgtvocab.", "trg.", "tgt."))


def is_marian(folder: Path) -> bool:
    """Return True for a folder that has a model file of Marian."""
    return any(map(_is_model, folder.iterdir()))


@dataclass(frozen=True)
class MarianFolder:
    """A folder, whose files are found by the names in its `decoder.yml`, or by their own."""

    folder: Path

    @cached_property
    def model(self) -> Path:
        """The file of the weights.

        Raises:
            BundleError: there are several, or none.
        """
        if len(named := self._named("models")) > 1:
            raise BundleError(f"an ensemble of {len(named)} models", self._settings_file, advice="import each alone")
        return named[0] if named else self._only(_is_model, "models")

    @cached_property
    def vocabularies(self) -> tuple[Path, Path]:
        """The SentencePiece models of the source and the target.

        Raises:
            BundleError: they are missing, or nothing says which is which.
        """
        files = [path for path in self._named("vocabs") if plain_name(path).endswith(".spm")]
        if len(files) != 2:
            files = self._spm
        if len(files) == 1:
            files = files * 2
        if len(files) == 2 and not self._named("vocabs"):
            files = [path for starts in _SIDES for path in files if path.name.startswith(starts)] or files[:1] * 2
            if files[0] == files[1] and len(self._spm) > 1:
                files = []
        if len(files) != 2:
            found = ", ".join(path.name for path in self._spm) or "none"
            advice = "one .spm for both languages, or srcvocab.*.spm and trgvocab.*.spm, or decoder.yml names them"
            raise BundleError(f"no two SentencePiece vocabularies ({found})", self.folder, advice=advice)
        return files[0], files[1]

    @cached_property
    def tables(self) -> tuple[Path, Path] | None:
        """Tables of the ids of pieces, as OPUS-MT's models have; None without."""
        files = [path for path in self._named("vocabs") if plain_name(path).endswith((".yml", ".yaml", ".json"))]
        if not self._settings:
            files = [path for path in self._files if plain_name(path).endswith("vocab.yml")]
        if not files:
            return None
        if len(files) > 2:
            raise BundleError(f"{len(files)} tables of pieces", self.folder, advice="name two in decoder.yml")
        return files[0], files[-1]

    @cached_property
    def short_list(self) -> Path | None:
        """The lexical short-list, if there is one."""
        if named := self._named("shortlist"):
            return named[0]
        is_there = any(map(_is_short_list, self._files))
        return self._only(_is_short_list, "short-lists") if is_there else None

    @cached_property
    def short_list_sizes(self) -> tuple[int, int]:
        """The sizes that the settings give of a short-list in text: frequent ids, and translations of an id."""
        given = self._settings.get("shortlist")
        numbers = [each for each in given if type(each) is int and each > 0] if isinstance(given, list) else []
        first, best = (*numbers, *USUAL[len(numbers) :])[:2]
        return first, best

    def search(self) -> SearchConfig:
        """Return the search of the settings; models in `.bin` are made for greedy search."""
        settings: dict[str, Any] = {"beam_size": 1} if plain_name(self.model).endswith(".bin") else {}
        for name, key in (("beam_size", "beam-size"), ("length_penalty", "normalize")):
            if type(value := self._settings.get(key)) in (int, float):
                settings[name] = value
        return parsed(SearchConfig, settings, self._settings_file or self.folder, "-")

    def languages(self, given: Languages) -> tuple[str, str]:
        """Return the codes of the source and the target.

        Args:
            given: in place of those that the folder names.

        Raises:
            ConfigError: the folder does not name them, or names several.
        """
        pairs = {*self._language_pairs()}
        source, target = pairs.pop() if len(pairs) == 1 else (None, None)
        source, target = given[0] or source, given[1] or target
        if source is None or target is None:
            problem = "its files do not say which languages it translates"
            raise ConfigError(problem, self.folder, advice="give --source-lang and --target-lang")
        return source, target

    def _language_pairs(self) -> Iterator[tuple[str, str]]:
        """Yield the codes in `metadata.json`, else those in the names of files."""
        if (self.folder / _METADATA).is_file():
            content = read_json((self.folder / _METADATA).resolve(), JSON_LIMIT)
            for names in _LANGUAGES:
                codes = [content.get(name) for name in names]
                if all(isinstance(code, str) and LANGUAGE_CODE.fullmatch(code) for code in codes):
                    yield str(codes[0]), str(codes[1])
                    return
        for path in self._files:
            if match := _PAIR.match(path.name):
                yield match[1], match[2]

    @cached_property
    def _files(self) -> list[Path]:
        return sorted(path for path in self.folder.iterdir() if path.is_file())

    @cached_property
    def _spm(self) -> list[Path]:
        return [path for path in self._files if plain_name(path).endswith(".spm")]

    @cached_property
    def _settings_file(self) -> Path | None:
        """The settings of a decoder."""
        ends = ("decoder.yml", "decoder.yaml")
        files = [path for path in self._files if path.name.endswith(ends) or re.match(r"config.*\.ya?ml$", path.name)]
        if len(files) > 1:
            names = ", ".join(path.name for path in files)
            raise BundleError(f"several settings of a decoder: {names}", self.folder, advice="move the others away")
        return files[0] if files else None

    @cached_property
    def _settings(self) -> Mapping[str, Any]:
        path = self._settings_file
        return {} if path is None else yaml_mapping(file_content(path, MAX_BYTES), path)

    def _named(self, key: str) -> list[Path]:
        """Return the files of the folder that a setting names, by the ends of their paths; none leads out of it."""
        value = self._settings.get(key)
        values = value if isinstance(value, list) else [value]
        names = [re.split(r"[/\\]", each)[-1] for each in values if isinstance(each, str)]
        found = {path.name: path for path in self._files}
        return [found[each] for name in names for each in (name, name + GZIP) if each in found]

    def _only(self, is_one: Callable[[Path], bool], title: str) -> Path:
        files = [*filter(is_one, self._files)]
        if len(files) != 1:
            names = ", ".join(path.name for path in files) or "none"
            problem = f"not one but {len(files)} {title}: {names}"
            raise BundleError(problem, self.folder, advice="move the others away")
        return files[0]


def _is_model(path: Path) -> bool:
    name = plain_name(path)
    if not path.is_file() or _is_short_list(path):
        return False
    if name.endswith(".npz"):
        return not name.endswith(".optimizer.npz")
    return name.endswith(".bin") and is_binary(_head(path))


def _is_short_list(path: Path) -> bool:
    name = plain_name(path)
    return name.startswith("lex") and name.endswith(("s2t.bin", ".s2t", ".bin", ".txt"))


def _head(path: Path) -> bytes:
    """Return the first bytes of a file; none if it cannot be read."""
    try:
        with gzip.open(path) if path.suffix == GZIP else open(path, "rb") as file:
            return file.read(16)
    except (OSError, EOFError, zlib.error):
        return b""
