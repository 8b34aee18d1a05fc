"""The settings that may change between two starts of one training; all others make it another one."""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dragoman.errors import ConfigError
from dragoman.machine.json_files import to_json
from dragoman.settings.config import Config
from dragoman.settings.data_config import TEXT_FILES
from dragoman.settings.sections import setting_name

_log = logging.getLogger(__name__)

#: Settings that may change, besides all of `search`.
CHANGEABLE = frozenset(
    {
        *(
            f"training.{name}"
            for name in ("max_steps", "max_epochs", "patience", "micro_batch_tokens", "batch_workers")
        ),
        *(
            f"training.{name}"
            for name in ("validate_every", "save_every", "save_minutes", "log_every", "keep_checkpoints")
        ),
        "training.max_skipped_steps",
        "training.cuda_graphs",
        "training.tensorboard",
        *(f"data.{name}" for name in TEXT_FILES),
    }
)

#: Begins the name of a setting of one of several corpora.
_IN_CORPORA = re.compile(r"^data\.corpora\.\d+\.")


def refuse_changes(old: Config, new: Config, folder: Path) -> None:
    """Log changed settings that do no harm, and refuse the others.

    Raises:
        ConfigError: lists each setting that may not change, as it was and as it is.
    """
    before, after = _flat(old.model_dump()), _flat(new.model_dump())
    changed = [key for key in dict.fromkeys([*after, *before]) if after.get(key) != before.get(key)]
    for key in changed:
        if _may_change(key):
            _log.info(f"{_name(key)}: {before.get(key)} -> {after.get(key)}")
    if harmful := [key for key in changed if not _may_change(key)]:
        raise ConfigError(
            "the run was started with other settings",
            folder,
            advice="go back to them (--output alone goes on with them), or choose another --output",
            details=[f"{_name(key)}: {before.get(key)} (then), {after.get(key)} (now)" for key in harmful],
        )


def _name(key: str) -> str:
    """Return a key of `_flat` as the name of a setting for people."""
    return setting_name([int(part) if part.isdecimal() else part for part in key.split(".")])


def settings_fingerprint(config: Config) -> str:
    """Return the SHA-256 of the settings that may not change.

    Those that have their default are left out, so that a setting that a later version adds changes nothing.
    """
    settings = _flat(config.model_dump(mode="json", exclude_defaults=True))
    return hashlib.sha256(to_json({key: settings[key] for key in settings if not _may_change(key)})).hexdigest()


def _may_change(key: str) -> bool:
    return _IN_CORPORA.sub("data.", key) in CHANGEABLE or key.startswith("search.")


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, list | tuple) and value and isinstance(value[0], Mapping):
            value = {str(index): part for index, part in enumerate(value)}
        flat |= _flat(value, f"{prefix}{key}.") if isinstance(value, Mapping) else {prefix + key: value}
    return flat
