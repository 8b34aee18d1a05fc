"""Print the size on disk of the packages of this environment, in MiB, the largest first.

    python benchmarks/installed_size.py

The total leaves out pip, setuptools and the installed models. Files count as whole blocks of the disk.
"""

import sysconfig
from collections import Counter
from pathlib import Path

MIB = 2**20
#: Parts that are there anyway, or are data.
LEFT_OUT = ("pip", "setuptools", "_distutils_hack", "pkg_resources")


def main() -> None:
    folder = Path(sysconfig.get_path("purelib"))
    sizes: Counter[str] = Counter()
    for path in folder.rglob("*"):
        parts = path.relative_to(folder).parts
        name = parts[0].split("-")[0].removesuffix(".libs").removesuffix(".py")
        if path.is_file() and name not in LEFT_OUT:
            is_model = parts[:2] == ("dragoman", "pretrained") or parts[0] == "dragoman_captions"
            sizes["models" if is_model else name] += path.stat().st_blocks * 512
    models = sizes.pop("models", 0)
    for name, size in sizes.most_common():
        if size >= MIB:
            print(f"{size / MIB:7.1f}  {name}")
    print(f"{sizes.total() / MIB:7.1f}  in all, and {models / MIB:.1f} of models")


if __name__ == "__main__":
    main()
