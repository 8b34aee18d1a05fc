"""TypeScript's check of JavaScript with types in its comments: `npm install --prefix tests/foreign typescript`."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent


def type_errors(folder: Path) -> str:
    """Return what is wrong with the types of the modules in a folder; skip the test if there is no TypeScript."""
    checker = shutil.which("tsc", path=f"{HERE / 'node_modules/.bin'}:{sys.exec_prefix}/bin:/usr/bin")
    checker = checker or shutil.which("tsc")
    if checker is None:
        pytest.skip("no TypeScript: npm install --prefix tests/foreign typescript")
    options = {"checkJs": True, "allowJs": True, "noEmit": True, "strict": True, "types": [], "target": "es2022"}
    options |= {"module": "es2022", "moduleResolution": "bundler", "lib": ["es2023", "dom", "dom.iterable"]}
    (folder / "tsconfig.json").write_text(json.dumps({"compilerOptions": options, "include": ["**/*.js"]}))
    done = subprocess.run([checker, "-p", str(folder)], capture_output=True, text=True)
    return done.stdout + done.stderr if done.returncode else ""
