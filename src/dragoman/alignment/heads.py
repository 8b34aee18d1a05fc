"""Which heads of the cross-attention say what a word was translated from, and how a bundle notes them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field

from dragoman.errors import BundleError, ConfigError
from dragoman.settings.model_config import ModelConfig
from dragoman.settings.ranges import Count
from dragoman.settings.sections import Section, parse_section

#: Under this key a bundle's facts have the heads that were chosen on data.
FACT = "alignment"


class AlignmentHeads(Section):
    """The heads whose cross-attention is averaged."""

    heads: Annotated[tuple[tuple[Count, Count], ...], Field(min_length=1, max_length=10_000)]
    """(layer, head), both from 0."""
    shifted: bool
    """Take a token's weights where the decoder has just read it, not where it is about to write it: many models look up
    there what the token was made of (Chen et al. 2020, section 3.1)."""

    @classmethod
    def default(cls, config: ModelConfig) -> Self:
        """All heads of all layers, where a token is written: no single layer was better than their mean for every model
        that we measured (docs/inspection.md)."""
        every = ((layer, head) for layer in range(config.n_decoder_layers) for head in range(config.n_heads))
        return cls(heads=tuple(every), shifted=False)

    @classmethod
    def of_bundle(cls, facts: Mapping[str, Any], config: ModelConfig, name: str | Path) -> Self:
        """Those that were chosen for a bundle, from its facts, else the default.

        Raises:
            BundleError: what the facts say is not about this model.
        """
        if FACT not in facts:
            return cls.default(config)
        try:
            found = parse_section(cls, facts[FACT] if isinstance(facts[FACT], Mapping) else {})
        except ConfigError as error:
            raise BundleError(f"its alignment heads are wrong ({error.message})", name) from None
        for layer, head in found.heads:
            if layer >= config.n_decoder_layers or head >= config.n_heads:
                raise BundleError(f"its alignment heads name head {head} of layer {layer}, which it lacks", name)
        return found
