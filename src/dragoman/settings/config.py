"""Configuration: every setting, with its default and its checks.

A recipe is a YAML file with the sections `data`, `augmentation`, `tokenizer`, `model`, `training` and `search`;
`--set a.b=c` wins over it. Other settings have the default in the module of their section. `None` means that `train`
chooses a value to fit the corpus, and prints it.
"""

from __future__ import annotations

from collections.abc import Iterator

from dragoman.settings.augmentation_config import UNCHANGED, AugmentationConfig
from dragoman.settings.data_config import DataConfig
from dragoman.settings.model_config import ModelShape
from dragoman.settings.search_config import SearchConfig
from dragoman.settings.sections import Section
from dragoman.settings.tokenizer_config import TokenizerConfig
from dragoman.settings.training_config import TrainingConfig


class Config(Section):
    """A whole recipe."""

    data: DataConfig = DataConfig()
    augmentation: AugmentationConfig = UNCHANGED
    tokenizer: TokenizerConfig = TokenizerConfig()
    model: ModelShape = ModelShape()
    training: TrainingConfig = TrainingConfig()
    search: SearchConfig = SearchConfig()

    def contradictions(self) -> Iterator[str]:
        """Yield sentences longer than the model reads, and reserved pieces that the tokenizer lacks."""
        if self.augmentation.reserved and not self.tokenizer.reserved:
            yield "augmentation.reserved needs reserved pieces; set tokenizer.reserved, for example to 64"
        if self.data.max_length >= self.model.max_length:
            yield (
                f"data.max_length {self.data.max_length} must be less than model.max_length {self.model.max_length}, "
                "which counts the end of the sentence too; lower the one or raise the other"
            )
