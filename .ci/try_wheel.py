"""Try an installed dragoman: translate in every precision, and look for the libraries, of training too with PyTorch."""

import importlib.util
import platform
import sys

import dragoman
from dragoman import Translator
from dragoman.native.kernels import LIBRARIES, usable_kernels


def main() -> None:
    """Translate, and look for libraries."""
    print(f"dragoman {dragoman.__version__}, Python {platform.python_version()}, {platform.platform()}")
    for precision in LIBRARIES:
        libraries = [kernels.name for kernels in usable_kernels(precision)]
        assert libraries, f"no library for {precision}"
        translator = Translator.load("everyday", device="cpu", precision=precision)
        text = translator.translate("Where is the station?", source_lang="en", target_lang="de").text
        print(f"{precision}: {text} ({libraries[0]})")
        assert "Bahnhof" in text
    if importlib.util.find_spec("torch") is not None and sys.platform == "linux":
        from dragoman.native.fused_library import library

        found = library()
        assert found is not None, "no library for training"
        print(f"training: {found.name}")


if __name__ == "__main__":
    main()
