"""The precision of products: chosen by what the device can do, so that one command always chooses the same."""

from __future__ import annotations

import logging

import torch

from dragoman.machine.processes import Processes
from dragoman.settings.config import Config

_log = logging.getLogger(__name__)

#: The names of precisions. A number of one can be sent to other processes.
_NAMES = "float32", "bfloat16", "float16"
#: Smaller models and batches were never measured to gain from bfloat16: too much of a step is no product.
MIN_D_MODEL, MIN_BATCH_TOKENS = 128, 1024
#: How PyTorch says that a processor multiplies bfloat16 (AMX, AVX-512 BF16); its older releases lack one of them.
_CPU_CHECKS = "_is_amx_tile_supported", "_is_avx512_bf16_supported"


def agree_on_precision(config: Config, device: torch.device, processes: Processes) -> str:
    """Return "float32", "bfloat16" or "float16" for a whole training, as the main of all processes chooses."""
    chosen, reason = choose_precision(config, device)
    agreed = _NAMES[processes.max(_NAMES.index(chosen) if processes.is_main else 0, device)]
    if config.training.precision == "auto":
        _log.info(f"precision: {agreed} ({reason})")
    return agreed


def choose_precision(config: Config, device: torch.device) -> tuple[str, str]:
    """Return "float32", "bfloat16" or, if it was asked for, "float16", and the reason.

    It is what `training.precision` asks for. For "auto" it is bfloat16 where the device has instructions for it and the
    products of a step are large enough. No clock is read: a measurement would choose now this, now that.
    """
    training = config.training
    if training.precision != "auto":
        return training.precision, "as asked for"
    name = "processor" if device.type == "cpu" else "GPU"
    if not multiplies_bfloat16(device):
        return "float32", f"this {name} has no instructions for bfloat16"
    n_tokens = min(training.batch_tokens, training.micro_batch_tokens or training.batch_tokens)
    if config.model.d_model < MIN_D_MODEL or n_tokens < MIN_BATCH_TOKENS:
        return "float32", f"bfloat16 is for models from d_model {MIN_D_MODEL} and {MIN_BATCH_TOKENS:,} tokens a batch"
    return "bfloat16", f"this {name} has instructions for it"


def multiplies_bfloat16(device: torch.device) -> bool:
    """Return True if the device has instructions for products in bfloat16."""
    if device.type == "cuda":
        with torch.cuda.device(device):
            return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    checks = (getattr(torch.cpu, name, None) for name in _CPU_CHECKS)
    return bool(device.type == "cpu" and any(check is not None and check() for check in checks))
