"""`dragoman align`."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.cli.program import run
from dragoman.data.formats import open_pairs

SOURCE = ["The house is old.", "We met 17 people in Berlin.", "Nobody knew why.", "In 1984 it was sold to Anna Weber."]
TARGET = ["Das Haus ist alt.", "Wir trafen in Berlin 17 Leute.", "Niemand wusste warum.",
          "1984 wurde es an Anna Weber verkauft."]  # fmt: skip


@pytest.fixture
def documents(tmp_path: Path) -> tuple[Path, Path]:
    source, target = tmp_path / "a.txt", tmp_path / "b.html"
    source.write_text("\n\n".join([" ".join(SOURCE[:2]), " ".join(SOURCE[2:])]), encoding="utf-8")
    paragraphs = (" ".join(TARGET[:2]), " ".join(TARGET[2:]))
    target.write_text("<html><body>" + "".join(f"<p>{each}</p>" for each in paragraphs) + "</body></html>")
    return source, target


@pytest.mark.parametrize("suffix", ["tsv", "tmx"])
def test_pairs_of_two_formats_are_read_again(documents: tuple[Path, Path], tmp_path: Path, suffix: str) -> None:
    output = tmp_path / f"pairs.{suffix}"
    assert run(["align", *map(str, documents), "-o", str(output), "--source-lang", "en", "--target-lang", "de"]) == 0
    pairs = open_pairs(output, ("en", "de"), None, "error")
    assert [(source, target) for _, source, target in pairs.read()] == list(zip(SOURCE, TARGET, strict=True))


def test_the_confidence_is_the_third_column(documents: tuple[Path, Path], tmp_path: Path) -> None:
    output = tmp_path / "pairs.tsv"
    assert run(["align", *map(str, documents), "-o", str(output)]) == 0
    header, *rows = [line.split("\t") for line in output.read_text(encoding="utf-8").splitlines()]
    assert header == ["source", "target", "confidence"]
    assert all(0 <= float(row[2]) <= 1 for row in rows)


def test_an_output_that_exists_is_kept(documents: tuple[Path, Path], tmp_path: Path) -> None:
    output = tmp_path / "pairs.tsv"
    output.write_text("mine")
    assert run(["align", *map(str, documents), "-o", str(output)]) != 0
    assert output.read_text() == "mine"


@pytest.mark.parametrize(
    ("name", "content", "output", "problem"),
    [
        ("empty.txt", b"", "p.tsv", "no sentences"),
        ("zeros.txt", b"\0\1\2", "p.tsv", "zeros.txt"),
        ("missing.txt", None, "p.tsv", "missing.txt"),
        ("a.xyz", b"Text.", "p.tsv", "unknown kind"),
        ("good.txt", b"Text.", "p.csv", ".tsv or .tmx"),
        ("good.txt", b"Text.", "p.tmx", "--source-lang"),
    ],
)
def test_bad_inputs_are_errors_of_one_line(
    documents: tuple[Path, Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
    content: bytes | None,
    output: str,
    problem: str,
) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    assert run(["align", str(documents[0]), str(path), "-o", str(tmp_path / output)]) != 0
    message = capsys.readouterr().err
    assert problem in message
    assert message.startswith("error: ")
    assert message.count("\n") == 1
    assert not (tmp_path / output).exists()


def test_texts_that_do_not_belong_together_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import random

    paths = []
    for seed in (1, 2):
        chance = random.Random(seed)
        known = ["".join(chance.choices("abdefgiklmnoprstu", k=5)) for _ in range(80)]
        lines = [" ".join(chance.choices(known, k=chance.randint(3, 12))).capitalize() + "." for _ in range(80)]
        paths.append(tmp_path / f"{seed}.txt")
        paths[-1].write_text("\n\n".join(lines))
    run(["align", *map(str, paths), "-o", str(tmp_path / "p.tsv")])
    assert "nothing shows that" in capsys.readouterr().err
