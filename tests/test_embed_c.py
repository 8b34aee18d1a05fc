"""The program of docs/guide/embed-c.md: it compiles, and translates as a `Translator` does."""

import re
import subprocess
from pathlib import Path

import pytest
import sentencepiece
from engines import COMPILER, needs_compiler, needs_engine

from dragoman import Translator, native
from dragoman.bundle.finding import find_bundle
from dragoman.native.libraries import SUFFIX

ROOT = Path(__file__).parent.parent
NATIVE = Path(native.__path__[0])
TEXTS = ["A man is riding a horse.", "Two young girls are playing with a big dog in the snow.", "Hello!"]
SOURCES = [path for path in NATIVE.glob("*.c") if not path.name.startswith("fused")]


@pytest.mark.captions
@needs_compiler
@needs_engine
@pytest.mark.parametrize(
    "engine", [[NATIVE / f"_kernels{SUFFIX}"], ["-DINTERFACE=0", *SOURCES, "-lm"]], ids=["library", "sources"]
)
def test_the_program_translates(engine: list[object], tmp_path: Path) -> None:
    page = (ROOT / "docs/guide/embed-c.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```c\n(.*?)^```$", page, re.M | re.S)
    assert len(code.splitlines()) <= 40
    (tmp_path / "translate.c").write_text(code, encoding="utf-8")
    options = ["-O1", "-Wall", "-Wextra", "-Werror", "-Wno-psabi", "-I", NATIVE, "-o", tmp_path / "translate"]
    subprocess.run([COMPILER, *options, tmp_path / "translate.c", *engine], check=True)
    model = find_bundle("multi30k-en-de")
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(model / "tokenizer/joint.model"))
    translator = Translator.load("multi30k-en-de", device="cpu")
    for text in TEXTS:
        command = [tmp_path / "translate", model / "model.safetensors", *map(str, pieces.encode(text))]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        expected = translator.translate(text, beam_size=5, length_penalty=1.5).text
        assert pieces.decode([int(word) for word in done.stdout.split()]) == expected
    broken = tmp_path / "broken"
    broken.write_bytes((model / "model.safetensors").read_bytes()[:-1])
    done = subprocess.run([tmp_path / "translate", broken, "4"], check=False, capture_output=True, text=True)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
