"""The heads of the cross-attention that align words, and their record in a bundle."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field

from dragoman.errors import BundleError, ConfigError
from dragoman.settings.model_config import ModelConfig
from dragoman.settings.ranges import Count
from dragoman.settings.sections import Section, parse_section

#: The key of the chosen heads in a bundle's facts.
FACT = "alignment"


class AlignmentHeads(Section):
    """The heads whose cross-attention is averaged."""

    heads: Annotated[tuple[tuple[Count, Count], ...], Field(min_length=1, max_length=10_000)]
    """(layer, head), both from 0."""
    shifted: bool
    """Take the weights of a token from the step that reads it, not from the step that writes it. Many models attend to
    a token's source only when they read it (Chen et al. 2020, section 3.1)."""

    @classmethod
    def default(cls, config: ModelConfig) -> Self:
        """Return all heads of all layers, at the step that writes a token.

        No single layer was better than their mean for every model that we measured (docs/inspection.md).
        """
        all_heads = ((layer, head) for layer in range(config.n_decoder_layers) for head in range(config.n_heads))
        return cls(heads=tuple(all_heads), shifted=False)

    @classmethod
    def of_bundle(cls, facts: Mapping[str, Any], config: ModelConfig, name: str | Path) -> Self:
        """Return the heads that were chosen for a bundle, else the default.

        Raises:
            BundleError: the facts name heads that the model lacks, or are malformed.
        """
        if FACT not in facts:
            return cls.default(config)
        try:
            alignment_heads = parse_section(cls, facts[FACT] if isinstance(facts[FACT], Mapping) else {})
        except ConfigError as error:
            raise BundleError(f"its alignment heads are wrong ({error.message})", name) from None
        for layer, head in alignment_heads.heads:
            if layer >= config.n_decoder_layers or head >= config.n_heads:
                raise BundleError(f"its alignment heads name head {head} of layer {layer}, which it lacks", name)
        return alignment_heads
