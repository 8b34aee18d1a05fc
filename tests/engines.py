"""The compiled engine in tests: the libraries that run here, and the compiler that makes them."""

from __future__ import annotations

import shutil
import sysconfig

import pytest

from dragoman.native.kernels import LIBRARIES, usable_kernels

_COMMAND = (sysconfig.get_config_var("CC") or "cc").split()[0]
#: The C compiler of an installation; None if it is missing.
COMPILER = shutil.which(_COMMAND)
#: All libraries that this processor runs, also those whose products take narrower numbers than float32.
ALL_KERNELS = [*{kernels.name: kernels for each in LIBRARIES for kernels in usable_kernels(each)}.values()]

needs_compiler = pytest.mark.skipif(COMPILER is None, reason=f"no C compiler: install {_COMMAND}")
needs_engine = pytest.mark.skipif(not ALL_KERNELS, reason="no engine: install a C compiler, then dragoman again")
every_library = pytest.mark.parametrize("kernels", ALL_KERNELS, ids=lambda kernels: kernels.name)
