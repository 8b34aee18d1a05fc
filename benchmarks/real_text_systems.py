"""Systems that benchmarks/real_text.py measures: models of dragoman, and folders of CTranslate2."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from real_text_sets import Direction

from dragoman.cli.missing_packages import require_package
from dragoman.errors import BundleError, ConfigError
from dragoman.machine.devices import Precision, all_cores
from dragoman.text.languages import base_language
from dragoman.text.tags import describe_directions
from dragoman.translator import Translator

#: The beam of CTranslate2; the default of dragoman.
BEAM = 5
MODES = ("default", "plain")


class System(Protocol):
    """What translates lists of texts."""

    @property
    def name(self) -> str:
        """The name in tables."""

    def require(self, direction: Direction) -> None:
        """Raise ConfigError if the system does not translate in the direction."""

    def translate(self, texts: Sequence[str], direction: Direction) -> list[str]:
        """Return a translation of each text."""


@dataclass(frozen=True)
class Own:
    """A model of dragoman, with all its checks or plain."""

    model: str
    mode: str
    translator: Translator

    @property
    def name(self) -> str:
        return short_name(self.model) + (", plain" if self.mode == "plain" else "")

    def require(self, direction: Direction) -> None:
        self._own(direction)

    def translate(self, texts: Sequence[str], direction: Direction) -> list[str]:
        source, target = self._own(direction)
        options: dict[str, Any] = {"plain": True} if self.mode == "plain" else {}
        found = self.translator.translate(list(texts), source_lang=source, target_lang=target, **options)
        return [each.text for each in found]

    def _own(self, direction: Direction) -> Direction:
        """Return the direction in the codes of the model."""
        for own in self.translator.directions:
            if tuple(map(base_language, own)) == direction:
                return own
        raise ConfigError(
            f"{self.model} does not translate {'-'.join(direction)}",
            advice=f"it translates {describe_directions(self.translator.directions)}",
        )


class CTranslate2Folder:
    """A folder of CTranslate2 with the SentencePiece models of both sides.

    The tag of the target language is put before a source if the vocabulary has it, as for the exports of dragoman and
    the models of OPUS-MT for several languages. The folder does not say in which directions it translates.
    """

    def __init__(self, model: str, precision: Precision) -> None:
        require_package(model, "ctranslate2")
        import ctranslate2
        import sentencepiece

        self.name = short_name(model)
        folder = Path(model)
        self._source, self._target = (
            sentencepiece.SentencePieceProcessor(model_file=str(pieces_file(folder, side)))
            for side in ("source", "target")
        )
        self._tags = tags(folder)
        threads = {"inter_threads": all_cores(), "intra_threads": 1}
        self._translator = ctranslate2.Translator(model, device="cpu", compute_type=precision, **threads)

    def require(self, direction: Direction) -> None:
        if self._tags and f">>{direction[1]}<<" not in self._tags:
            raise ConfigError(f"{self.name} does not translate into {direction[1]}", advice=" ".join(self._tags))

    def translate(self, texts: Sequence[str], direction: Direction) -> list[str]:
        """Return a translation of each text, by beam search."""
        first = [f">>{direction[1]}<<"] if self._tags else []
        pieces = [first + each for each in self._source.encode(list(texts), out_type=str)]
        results = self._translator.translate_batch(pieces, beam_size=BEAM, max_batch_size=512, batch_type="tokens")
        return [str(each) for each in self._target.decode([result.hypotheses[0] for result in results])]


def pieces_file(folder: Path, side: str) -> Path:
    """Return the SentencePiece model of a side: source.spm or target.spm, or the only one of the folder.

    Raises:
        BundleError: there is none, or there are several with other names.
    """
    if (own := folder / f"{side}.spm").is_file():
        return own
    others = sorted([*folder.glob("*.spm"), *folder.glob("*.model")])
    if len(others) != 1:
        problem = f"{len(others)} SentencePiece models" if others else "no SentencePiece model"
        raise BundleError(f"{problem} in the folder of CTranslate2", folder, advice="name them source.spm, target.spm")
    return others[0]


def tags(folder: Path) -> list[str]:
    """Return the tags of target languages in the vocabulary of sources, such as >>de<<."""
    for name in ("source_vocabulary", "shared_vocabulary"):
        if (path := folder / f"{name}.json").is_file():
            pieces = json.loads(path.read_text(encoding="utf-8"))
        elif (path := folder / f"{name}.txt").is_file():
            pieces = path.read_text(encoding="utf-8").splitlines()
        else:
            continue
        return [piece for piece in pieces if piece.startswith(">>") and piece.endswith("<<")]
    return []


def short_name(model: str) -> str:
    """Return the last part of a name, and its folder for those that all have: runs/a/best is a/best."""
    parts = Path(model).parts
    return "/".join(parts[-2:]) if parts[-1] in ("best", "last") else parts[-1]


def load(model: str, precision: Precision, modes: Sequence[str]) -> list[System]:
    """Return a system for each mode of a model; CTranslate2 has one only.

    Raises:
        DragomanError: there is no such model, or it cannot be loaded.
    """
    if (Path(model) / "model.bin").is_file():
        return [CTranslate2Folder(model, precision)]
    translator = Translator.load(model, device="cpu", workers=all_cores(), precision=precision)
    return [Own(model, mode, translator) for mode in modes]


def directions(systems: Sequence[System], named: str | None) -> list[Direction]:
    """Return the directions to measure: those that are named, or all that the models of dragoman have in common.

    Raises:
        ConfigError: a system lacks one, none is left, or the systems do not say which they have.
    """
    own = [system for system in systems if isinstance(system, Own)]
    if named is not None:
        found = [(source, target) for source, _, target in (each.partition("-") for each in named.split(","))]
        if wrong := [each for each, pair in zip(named.split(","), found, strict=True) if not all(pair)]:
            raise ConfigError(f"no direction: {wrong[0]!r}", advice="write such as en-de,de-en")
        found = [(base_language(source), base_language(target)) for source, target in found]
    elif own:
        known = [[tuple(map(base_language, each)) for each in system.translator.directions] for system in own]
        found = [(pair[0], pair[1]) for pair in known[0] if all(pair in others for others in known)]
    else:
        raise ConfigError("a folder of CTranslate2 does not say what it translates", advice="give --directions")
    if not found:
        raise ConfigError("the models have no direction in common", advice="give one at a time")
    for direction in found:
        for system in systems:
            system.require(direction)
    return found
