"""Settings of the section `training`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from dragoman.settings.ranges import Count, Positive, Probability, Rate
from dragoman.settings.sections import Section


class TrainingConfig(Section):
    """The training of the model. The defaults of the optimizer and the schedule are the paper's (section 5.3)."""

    seed: Count = 1
    batch_tokens: Positive = 4096
    """Tokens of the longer side, padding included, in one optimizer step over all processes."""
    micro_batch_tokens: Positive | None = None
    """The same for one pass through the model; None is the whole batch. Smaller values save memory; gradients are
    accumulated, so nothing changes except the dropout masks."""
    batch_workers: Annotated[int, Field(ge=0, le=256)] | None = None
    """Processes that make batches while another trains; they make the same ones, whatever their number. None is one for
    each core that a GPU leaves free, and 0 on a CPU, where the training makes them itself."""
    max_steps: Positive | None = None
    max_epochs: Positive | None = None
    optimizer: Literal["adam", "muon"] = "adam"
    """Muon (Jordan et al. 2024) updates the matrices of layers, and Adam everything else, both at the same rate."""
    lr: Rate | None = None
    """Peak learning rate; None is the paper's, (d_model * warmup_steps) ** -0.5."""
    warmup_steps: Count = 4000
    schedule: Literal["inverse_sqrt", "cosine", "linear", "constant"] = "inverse_sqrt"
    """Course of the learning rate after the linear warm-up. `inverse_sqrt` without `lr` is the paper's formula."""
    adam_betas: tuple[Probability, Probability] = (0.9, 0.98)
    adam_eps: Annotated[float, Field(gt=0, le=1)] = 1e-9
    clip_norm: Annotated[float, Field(gt=0)] | None = 1.0
    """Largest norm of the whole gradient; None is no limit."""
    label_smoothing: Probability = 0.1
    r_drop: Annotated[float, Field(ge=0, le=100)] = 0.0
    """Weight of R-Drop (Liang et al. 2021): each pair passes through the model twice a step, with different dropout,
    and the loss pulls the two predictions together. Doubles the time of a step; 0 is off."""
    ema: Annotated[float, Field(ge=0, lt=1)] | None = None
    """Decay of an exponential moving average of the weights, which is then validated and saved; 0 is off."""
    precision: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    """Precision of products. auto is bfloat16 on processors with AMX or AVX-512 BF16 and on GPUs that have it, for
    models from d_model 128 and batches from 1,024 tokens on, and float32 for all others. float16, with a scaled loss,
    is for GPUs without bfloat16."""
    cuda_graphs: bool = True
    """On an NVIDIA GPU, capture the work of a step as CUDA graphs, one for each of a few shapes of batches."""
    validate_every: Positive | None = None
    """Steps between validations; None is once an epoch."""
    best_by: Literal["bleu", "loss"] = "bleu"
    """Measure of the best bundle: BLEU of greedy translations (the loss decides below 5, which is chance), or loss."""
    patience: Positive | None = None
    """Stop after this many validations without a better one; None is never."""
    save_every: Positive = 500
    """Steps between checkpoints. Each validation makes one, too."""
    save_minutes: Annotated[float, Field(gt=0, le=10_000)] = 5.0
    """Minutes after the last checkpoint until the next one, at most: so much training a kill may cost."""
    keep_checkpoints: Annotated[int, Field(ge=2, le=10_000)] = 2
    log_every: Positive = 50
    tensorboard: bool = False
    """Write the figures of `metrics.jsonl` for TensorBoard too."""
    max_skipped_steps: Positive = 20
    """Steps in a row that may be skipped for a loss or gradient that is not finite."""
