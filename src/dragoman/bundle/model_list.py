"""The installed models, described without loading their weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path

from dragoman.bundle.finding import read_card
from dragoman.bundle.format import TOKENIZER, configured_shapes, parse_part, read_config
from dragoman.bundle.model_terms import ModelTerms, read_terms
from dragoman.bundle.named_models import named_models
from dragoman.errors import BundleError
from dragoman.settings.model_config import ModelConfig
from dragoman.text.tags import Direction
from dragoman.text.tokenizer_files import load_tokenizers


@dataclass(frozen=True)
class ListedModel:
    """An installed model."""

    name: str
    folder: Path
    directions: Sequence[Direction]
    #: Size of all files on disk.
    n_bytes: int
    n_parameters: int
    terms: ModelTerms
    #: The reason why the model cannot be used, if it is damaged; then it has no directions and no parameters.
    problem: str | None = None


def list_models() -> list[ListedModel]:
    """Return all models that are found by their names, in alphabetical order."""
    return [described_model(name, folder) for name, folder in named_models().items()]


def described_model(name: str, folder: Path) -> ListedModel:
    """Describe a bundle in a folder."""
    directions: Sequence[Direction] = ()
    n_parameters, problem = 0, None
    n_bytes = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    try:
        config = parse_part(ModelConfig, read_config(folder)["model"], folder)
        shapes = configured_shapes(config, folder)
        directions = load_tokenizers(
            folder / TOKENIZER, (config.source_vocab_size, config.target_vocab_size)
        ).directions
        n_parameters = sum(map(prod, shapes.values()))
    except BundleError as error:
        problem = error.message
    return ListedModel(name, folder, directions, n_bytes, n_parameters, read_terms(read_card(folder)), problem)
