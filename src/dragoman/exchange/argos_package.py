"""A package of Argos Translate, which LibreTranslate installs too: a zip file around a CTranslate2 folder.

A package has one direction. Argos Translate gives CTranslate2 no tag, so CTranslate2 puts it before each source itself,
as a start mark.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from dragoman.bundle.bundle import Bundle
from dragoman.bundle.finding import card_of, find_bundle
from dragoman.errors import ConfigError
from dragoman.exchange.agreement import Agreement, compare
from dragoman.exchange.ctranslate2_folder import translate_ids, write_model
from dragoman.exchange.export_folder import Precision
from dragoman.exchange.sentence_graph import sentence_graph
from dragoman.text.languages import Languages, english_name
from dragoman.text.tags import UNKNOWN, Direction, describe_directions
from dragoman.text.tokenizer import Tokenizers
from dragoman.translator.directions import Directions

#: Of all files, so that the same model makes the same package.
_DATE = (1980, 1, 1, 0, 0, 0)


class ArgosPackage(NamedTuple):
    """The content of a package, and how its translations compare with ours."""

    content: bytes
    agreement: Agreement


def argos_package(
    name: str | Path, languages: Languages, precision: Precision, sentences: Sequence[str], bundle: Bundle
) -> ArgosPackage:
    """Return a package of a bundle, found as by `find_bundle`.

    Args:
        languages: source and target; None where the model has one.
        sentences: to compare; without any, made-up ones.
        bundle: as `load_without` has loaded it.

    Raises:
        ConfigError: a language is missing.
    """
    source, target = direction = _direction(bundle.tokenizers, languages, name)
    tag = bundle.tokenizers.tag(target)
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        write_model(bundle, precision, folder, first_piece=tag)
        agreement = compare(bundle, partial(_translate, bundle, folder, tag), sentences, target)
        files = {f"model/{path.name}": path.read_bytes() for path in sorted(folder.iterdir()) if path.suffix != ".spm"}
        files["sentencepiece.model"] = (folder / "source.spm").read_bytes()
    files["minisbd/sentences.onnx"] = sentence_graph(source)
    files["metadata.json"] = json.dumps(_metadata(direction), indent=2, ensure_ascii=False).encode()
    files["README.md"] = (card_of(find_bundle(name)) or "A model trained with dragoman.\n").encode()
    top = f"translate-{source}_{target}"
    return ArgosPackage(_zipped({f"{top}/{path}": content for path, content in files.items()}), agreement)


def _direction(tokenizers: Tokenizers, languages: Languages, name: str | Path) -> Direction:
    """Return the model's codes of the languages, if it translates one into the other."""
    source, target = Directions(tokenizers).find(*languages)
    known = [each for each in tokenizers.directions if source in (None, each[0]) and target in (None, each[1])]
    if tokenizers.directions == ((UNKNOWN, UNKNOWN),) and source is not None and target is not None:
        known = [(source, target)]
    if len(known) == 1 and UNKNOWN not in known[0]:
        return known[0]
    problem = f"a package has one direction, but the model translates {describe_directions(tokenizers.directions)}"
    raise ConfigError(problem, name, advice="give --source-lang and --target-lang")


def _translate(
    bundle: Bundle, folder: Path, tag: str, sources: Sequence[Sequence[int]], max_length: int
) -> list[list[int]]:
    """Translate by CTranslate2, which adds the tag itself."""
    tags = bundle.tokenizers.source.vocabulary.ids([tag]) if tag else []
    bare = [source[1:] if tags == source[:1] else source for source in sources]
    return translate_ids(folder, bundle.tokenizers, bare, max_length)


def _metadata(direction: Direction) -> dict[str, str]:
    source, target = direction
    return {
        "package_version": "1.0",
        "argos_version": "1.10",
        "from_code": source,
        "from_name": english_name(source),
        "to_code": target,
        "to_name": english_name(target),
    }


def _zipped(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in sorted(files.items()):
            entry = zipfile.ZipInfo(path, _DATE)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, content)
    return buffer.getvalue()
