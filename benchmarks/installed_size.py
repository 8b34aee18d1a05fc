"""Print the size on disk of the packages of this environment, in MiB, the largest first.

    python benchmarks/installed_size.py

The total leaves out pip, setuptools and the models that dragoman ships. Files count as whole blocks of the disk.
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
            sizes["shipped models" if parts[:2] == ("dragoman", "pretrained") else name] += path.stat().st_blocks * 512
    shipped = sizes.pop("shipped models", 0)
    for name, size in sizes.most_common():
        if size >= MIB:
            print(f"{size / MIB:7.1f}  {name}")
    print(f"{sizes.total() / MIB:7.1f}  in all, and {shipped / MIB:.1f} of shipped models")


if __name__ == "__main__":
    main()
