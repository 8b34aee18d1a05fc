"""The kinds of foreign models that are read, each told by the files in its folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from dragoman.bundle.bundle import Bundle
from dragoman.errors import BundleError
from dragoman.imports.argos import SUFFIX, import_argos, is_argos
from dragoman.imports.ctranslate2 import import_ctranslate2, is_ctranslate2
from dragoman.imports.hugging_face import import_hugging_face, is_hugging_face
from dragoman.imports.marian import import_marian
from dragoman.imports.marian_folder import is_marian
from dragoman.text.languages import Languages


class Kind(NamedTuple):
    """A kind of foreign model.

    Args:
        name: for messages.
        files: what its folder has.
        is_one: True for a folder of this kind.
        read: makes a bundle of it.
    """

    name: str
    files: str
    is_one: Callable[[Path], bool]
    read: Callable[[Path, Languages], Bundle]


KINDS = (
    Kind("Argos", "a .argosmodel, or metadata.json and model/", is_argos, import_argos),
    Kind("CTranslate2", "model.bin, vocabularies, and sentencepiece.model or .spm", is_ctranslate2, import_ctranslate2),
    Kind(
        "transformers", "config.json, and model.safetensors or pytorch_model.bin", is_hugging_face, import_hugging_face
    ),
    Kind("Marian", "a .npz or .bin of Marian's, and .spm", is_marian, import_marian),
)


def kind_of(folder: Path) -> Kind:
    """Return the kind of the model in a folder, or of a package of Argos Translate.

    Raises:
        BundleError: it is none of `KINDS`.
    """
    if not folder.is_dir() and not (folder.suffix == SUFFIX and folder.is_file()):
        problem = "this is no folder" if folder.exists() else "no such folder"
        raise BundleError(problem, folder, advice=f"give the folder of a downloaded model, or a {SUFFIX}")
    for kind in KINDS:
        if kind.is_one(folder):
            return kind
    known = "; ".join(f"{kind.name} ({kind.files})" for kind in KINDS)
    raise BundleError("no model of a kind that is read", folder, advice=f"these are: {known}")
