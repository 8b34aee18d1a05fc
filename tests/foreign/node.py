"""The JavaScript of the package in Node: calls of its functions, compared with Python's."""

import json
import subprocess
from pathlib import Path
from typing import Any

from extras import require_program

from dragoman.exchange.web_site import site_files

DRIVER = Path(__file__).with_name("web_driver.mjs")


class Node:
    """A process of Node with the modules of a site; calling it calls a function of web_driver.mjs."""

    def __init__(self, folder: Path) -> None:
        command, pipe = [require_program("node", "nodejs"), str(DRIVER), str(folder)], subprocess.PIPE
        self._process: Any = subprocess.Popen(command, stdin=pipe, stdout=pipe, encoding="utf-8")

    def __call__(self, name: str, *arguments: object) -> Any:
        self._process.stdin.write(json.dumps([name, *arguments]) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer["result"]

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait(timeout=30)
        self._process.stdout.close()


def unpacked(models: list[Path], folder: Path) -> Path:
    """Write the modules, and the file of each model, into one folder."""
    for path, content in site_files(models).items():
        if path.startswith(("dragoman/", "models/")):
            (folder / Path(path).name).write_bytes(content)
    (folder / "package.json").write_text('{"type": "module"}')
    return folder
