"""Models by their names: fetched from a server with the same HTTP as the real ones, continued, compared, kept."""

import gzip
import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from m2m_folders import write_m2m_folder
from published import Published, digest, publishing
from shapes import shaped_bundle

from dragoman.bundle.named_models import REMOTE_NAMES, downloads, fetched_models, local_name, named_models
from dragoman.cli import program
from dragoman.errors import ConfigError
from dragoman.exchange.export_folder import write_files
from dragoman.exchange.hugging_face_folder import folder_files
from dragoman.imports import download
from dragoman.imports.download import RemoteFile, fetch_file
from dragoman.imports.getting import SOURCES, find_remote
from dragoman.imports.hub_models import chosen_weights
from dragoman.imports.remote import NetworkError
from dragoman.machine.locks import lock_folder

NAME = "opus-mt-en-de"


@pytest.fixture
def published() -> Iterator[Published]:
    with publishing() as published:
        yield published


@pytest.fixture
def place(published: Published, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the fetched models, with all publishers on this machine."""
    monkeypatch.setenv("HF_ENDPOINT", published.address)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))
    monkeypatch.setenv("DRAGOMAN_FIREFOX_MODELS", f"{published.address}/models.json")
    monkeypatch.setenv("DRAGOMAN_MODELS", str(tmp_path / "models"))
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setattr(download.time, "sleep", lambda seconds: None)
    return tmp_path / "models"


@pytest.fixture(scope="module")
def opus() -> dict[str, bytes]:
    return dict(folder_files(shaped_bundle("post, sines first")))


def fetched(file: RemoteFile, folder: Path) -> tuple[bytes, int]:
    """The content of a file that was fetched, and the number of bytes that a display was told."""
    told: list[int] = []
    fetch_file(file, folder, told.append)
    return (folder / file.name).read_bytes(), sum(told)


# -- names -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [NAME, f"hf:Helsinki-NLP/{NAME}"])
def test_a_model_of_the_hub_is_fetched_once_and_goes_by_its_name(
    name: str, published: Published, place: Path, opus: dict[str, bytes], capsys: Any, tmp_path: Path
) -> None:
    published.publish_hub_model(f"Helsinki-NLP/{NAME}", {**opus, "tf_model.h5": b"x" * 99}, license="apache-2.0")
    assert program.run(["get", name]) == 0
    told = capsys.readouterr().err
    assert "licence apache-2.0" in told
    assert f"{published.address}/Helsinki-NLP/{NAME}" in told
    assert "compared with their published hashes" in told
    assert [path.name for path in place.iterdir()] == [NAME]  # nothing of the download is left
    assert not any(path.endswith("tf_model.h5") for _, path, _ in published.asked)
    assert named_models()[NAME] == place / NAME
    text = tmp_path / "text"
    text.write_text("A man is riding a horse.\n")
    for spelled in (name, NAME):
        assert program.run(["translate", "-m", spelled, "-i", str(text), "-o", "-"]) == 0
    assert program.run(["models"]) == 0
    assert "apache-2.0" in capsys.readouterr().out
    n_asked = len(published.asked)
    assert program.run(["get", name]) == 0
    assert "is here already" in capsys.readouterr().err
    assert len(published.asked) == n_asked


def test_a_licence_is_one_line(published: Published, place: Path, opus: dict[str, bytes], capsys: Any) -> None:
    published.publish_hub_model(f"Helsinki-NLP/{NAME}", opus, license="mit\n---\nerror: none")
    assert program.run(["get", NAME]) == 0
    assert "licence mit --- error: none, " in capsys.readouterr().err
    assert (place / NAME / "README.md").read_text().count("\n---\n") == 1


def test_what_is_fetched_is_what_import_reads(
    published: Published, place: Path, opus: dict[str, bytes], tmp_path: Path
) -> None:
    published.publish_hub_model(f"Helsinki-NLP/{NAME}", opus)
    (tmp_path / "files").mkdir()
    write_files(tmp_path / "files", opus)
    assert program.run(["get", NAME, "--precision", "float32"]) == 0
    assert program.run(["import", str(tmp_path / "files"), "-o", str(tmp_path / "new")]) == 0
    ours, theirs = (
        {
            path.name: path.read_bytes()
            for path in folder.rglob("*.*")
            if path.suffix != ".md" and path.stem != "MANIFEST"
        }
        for folder in (place / NAME, tmp_path / "new")
    )
    assert ours == theirs


def test_names_are_file_names() -> None:
    for name in (NAME, "firefox:en-de", "hf:someone/else", "hf:Helsinki-NLP/opus-mt-tc-big-en-zle"):
        assert Path(local_name(name)).name == local_name(name)
        assert not set(local_name(name)) & set('<>:"/\\|?*')


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        (
            "everydya",
            "no source of models has a name like 'everydya'; names are opus-mt-en-de, nllb-200-distilled-600M, m2m",
        ),
        ("hf:opus-mt-en-de", "'opus-mt-en-de' is no model of the hub"),
        ("hf:../../etc", "is no model of the hub"),
        ("firefox:german", "'german' is not a pair of languages"),
        ("firefox:../..", "is not a pair of languages"),
        ("opus-mt-xx-yy", "there is no such model"),
        ("pip:en-de", "no source of models has a name like"),
    ],
)
def test_a_wrong_name_is_refused_in_one_line(
    name: str, problem: str, place: Path, published: Published, capsys: Any
) -> None:
    assert program.run(["get", name]) in (1, 2)
    told = capsys.readouterr().err
    assert problem in told
    assert told.count("\n") == 1
    assert not place.exists()


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("everydya", "no source of models has a name"),
        ("hf:everydya", "is no model of the hub"),
        (NAME, "huggingface_hub is not installed; install it"),
    ],
)
def test_the_name_is_checked_before_its_package(
    name: str, problem: str, place: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    assert program.run(["get", name]) in (1, 2)
    told = capsys.readouterr().err
    assert problem in told
    assert told.count("\n") == 1


def test_all_sources_have_names() -> None:
    assert SOURCES.keys() == REMOTE_NAMES.keys()


def test_a_name_that_was_not_fetched_is_told(place: Path, capsys: Any) -> None:
    assert program.run(["translate", "-m", "firefox:en-de"]) == 3
    assert "dragoman get firefox:en-de" in capsys.readouterr().err


@pytest.mark.parametrize("how", ["--offline", "HF_HUB_OFFLINE"])
def test_no_network_is_used_offline(
    how: str, place: Path, published: Published, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    if how == "HF_HUB_OFFLINE":
        monkeypatch.setenv(how, "1")
    assert program.run(["get", NAME, *([how] if how.startswith("--") else [])]) == 1
    assert f"{NAME} is not here, and {how} forbids the network; run it without {how}" in capsys.readouterr().err
    assert published.asked == []


def test_a_damaged_model_of_the_hub_is_not_kept(
    published: Published, place: Path, opus: dict[str, bytes], capsys: Any
) -> None:
    published.publish_hub_model(f"Helsinki-NLP/{NAME}", opus)
    path = next(path for path in published.files if path.endswith("/model.safetensors"))
    published.files[path] = published.files[path][:-1] + b"?"
    assert program.run(["get", NAME]) == 1
    assert "hash of model.safetensors is not the published one" in capsys.readouterr().err
    assert NAME not in named_models()


def test_a_model_of_another_kind_is_refused_before_its_weights_come(
    published: Published, place: Path, capsys: Any
) -> None:
    published.publish_hub_model("google/t5", {"config.json": b'{"model_type": "t5"}', "model.safetensors": b"x"})
    assert program.run(["get", "hf:google/t5"]) == 3
    assert "t5" in capsys.readouterr().err
    assert not any("safetensors" in path for _, path, _ in published.asked)
    assert not [*place.iterdir()]


def test_a_damaged_model_is_fetched_anew(
    published: Published, place: Path, opus: dict[str, bytes], capsys: Any
) -> None:
    published.publish_hub_model(f"Helsinki-NLP/{NAME}", {**opus, "source.spm": b"damaged"})
    assert program.run(["get", NAME]) == 3
    published.publish_hub_model(f"Helsinki-NLP/{NAME}", opus)
    assert program.run(["get", NAME]) == 0
    assert [path.name for path in place.iterdir()] == [NAME]


def test_what_was_fetched_is_kept_if_only_the_language_was_wrong(
    published: Published, place: Path, tmp_path: Path, capsys: Any
) -> None:
    folder = write_m2m_folder(tmp_path / "folder", "m2m")
    published.publish_hub_model("facebook/m2m100_1M", {path.name: path.read_bytes() for path in folder.iterdir()})
    assert program.run(["get", "m2m100_1M", "--source-lang", "xx"]) == 2
    assert "no language 'xx', or several; name one of de, en, zh" in capsys.readouterr().err
    n_fetched = sum(path.endswith("model.safetensors") for _, path, _ in published.asked)
    assert program.run(["get", "m2m100_1M", "--source-lang", "de"]) == 0
    assert sum(path.endswith("model.safetensors") for how, path, _ in published.asked if how == "GET") <= n_fetched


def test_a_folder_without_a_model_is_told_before_anything_is_fetched(
    published: Published, place: Path, opus: dict[str, bytes], capsys: Any
) -> None:
    published.publish_hub_model(f"Helsinki-NLP/{NAME}", opus)
    (place / NAME).mkdir(parents=True)
    assert program.run(["get", NAME]) == 1
    assert f"no whole model: {place / NAME}; remove this folder" in capsys.readouterr().err
    assert not any("safetensors" in path for _, path, _ in published.asked)


def test_a_model_that_another_process_fetches_is_left_to_it(
    published: Published, place: Path, opus: dict[str, bytes], capsys: Any
) -> None:
    published.publish_hub_model(f"Helsinki-NLP/{NAME}", opus)
    with lock_folder(place / f".{NAME}.files"):
        assert program.run(["get", NAME]) == 1
    assert "in use by process" in capsys.readouterr().err
    assert program.run(["get", NAME]) == 0


def test_a_model_that_does_not_fit_is_not_begun(
    published: Published, place: Path, opus: dict[str, bytes], monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    published.publish_hub_model(f"Helsinki-NLP/{NAME}", opus)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: shutil._ntuple_diskusage(9, 9, 1_000))
    assert program.run(["get", NAME]) == 5
    assert "bytes needed, 1,000 free" in capsys.readouterr().err
    assert not any("safetensors" in path for _, path, _ in published.asked)


def test_the_hub_may_list_no_files(published: Published, place: Path, capsys: Any) -> None:
    for path in (f"/api/models/Helsinki-NLP/{NAME}", f"/api/models/Helsinki-NLP/{NAME}/revision/main"):
        published.files[path] = json.dumps({"id": NAME}).encode()
    assert program.run(["get", NAME]) == 1
    assert "the hub does not list its files" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("names", "weights"),
    [
        (("model.safetensors", "model.fp16.safetensors", "pytorch_model.bin"), ["model.safetensors"]),
        (("model.fp16.safetensors", "pytorch_model.bin"), ["pytorch_model.bin"]),
        (
            (
                "model.safetensors.index.json",
                "model-1-of-2.safetensors",
                "model-2-of-2.safetensors",
                "model-a.safetensors",
            ),
            ["model-1-of-2.safetensors", "model-2-of-2.safetensors"],
        ),
        (("*.safetensors", "model[a].safetensors", "model-1-of-2.safetensors"), []),
    ],
)
def test_one_form_of_the_weights_is_fetched(names: tuple[str, ...], weights: list[str]) -> None:
    assert chosen_weights(names) == weights


@pytest.mark.parametrize("folder", ["unreadable", "nowhere", "without home"])
def test_models_that_nobody_may_read_are_passed_over(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    def refuse(path: Path) -> bool:
        raise PermissionError

    monkeypatch.setenv("DRAGOMAN_MODELS", str(tmp_path / "models"))
    if folder == "unreadable":
        (tmp_path / "models" / "closed").mkdir(parents=True)
        monkeypatch.setattr(Path, "is_file", refuse)
    if folder == "without home":
        for name in ("DRAGOMAN_MODELS", "XDG_DATA_HOME"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setattr(Path, "home", lambda: (_ for _ in ()).throw(RuntimeError("no home")))
        with pytest.raises(ConfigError, match="DRAGOMAN_MODELS"):
            downloads()
        monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
        assert downloads() == tmp_path / "dragoman" / "models"
    assert fetched_models() == {}


# -- files -------------------------------------------------------------------------------------------------------------

CONTENT = bytes(np.random.default_rng(1).integers(0, 256, 300_000, dtype=np.uint8))


@pytest.mark.parametrize("ranges", [True, False, "wrong"])
@pytest.mark.parametrize("lost", [0, 1, 100_000, 299_999])
def test_a_lost_connection_is_continued(
    lost: int, ranges: bool | str, published: Published, place: Path, tmp_path: Path
) -> None:
    published.files["/file"] = CONTENT
    published.breaks_after, published.ranges = lost, ranges
    file = RemoteFile("file", f"{published.address}/file", len(CONTENT), digest(CONTENT))
    assert fetched(file, tmp_path) == (CONTENT, len(CONTENT))
    assert [path.name for path in tmp_path.glob("file*")] == ["file"]
    if lost and ranges is True:
        assert published.asked[-1][2] == f"bytes={lost}-"


@pytest.mark.parametrize("is_hashed", [True, False])
def test_an_earlier_part_is_continued_if_a_hash_tells_that_both_fit(
    is_hashed: bool, published: Published, place: Path, tmp_path: Path
) -> None:
    published.files["/file"] = CONTENT
    (tmp_path / ".dragoman-file").write_bytes(CONTENT[:1_000])
    file = RemoteFile("file", f"{published.address}/file", None, digest(CONTENT) if is_hashed else None)
    assert fetched(file, tmp_path) == (CONTENT, len(CONTENT))
    assert published.asked == [("GET", "/file", "bytes=1000-" if is_hashed else None)]


@pytest.mark.parametrize("there", [CONTENT, CONTENT[:-1], CONTENT[:-1] + b"?"])
def test_a_file_that_is_there_is_compared(there: bytes, published: Published, place: Path, tmp_path: Path) -> None:
    published.files["/file"] = CONTENT
    (tmp_path / "file").write_bytes(there)
    file = RemoteFile("file", f"{published.address}/file", len(CONTENT), digest(CONTENT))
    assert fetched(file, tmp_path) == (CONTENT, len(CONTENT))
    assert bool(published.asked) == (there != CONTENT)


def test_a_bomb_is_not_unpacked_for_its_hash(published: Published, place: Path, tmp_path: Path) -> None:
    zeros = bytes(30_000_000)
    published.files["/file.gz"] = gzip.compress(zeros, 1)
    with pytest.raises(NetworkError, match="its hash is not the published one"):
        fetched(RemoteFile("file.gz", f"{published.address}/file.gz", None, digest(zeros)), tmp_path)


@pytest.mark.parametrize("place", ["ftp://localhost/file", "file:///etc/hostname"])
def test_no_redirection_leads_out_of_the_web(place: str, published: Published, tmp_path: Path) -> None:
    published.files["/file"], published.status, published.redirection = CONTENT, 302, place
    with pytest.raises(NetworkError, match=r"unknown url type: ftp|Redirection"):
        fetched(RemoteFile("file", f"{published.address}/file"), tmp_path)
    assert len(published.asked) == 1


@pytest.mark.parametrize(
    ("file", "problem"),
    [
        (RemoteFile("file", "/file", 7), "more than 7 bytes came"),
        (RemoteFile("file", "/file", 300_001), "300,000 bytes came instead of 300,001"),
        (RemoteFile("file", "/file", None, "0" * 64), "its hash is not the published one"),
        (RemoteFile("file.gz", "/file", None, digest(CONTENT)), "its hash is not the published one"),
        (RemoteFile("file", "/missing"), "the server answers 404"),
    ],
)
def test_another_file_is_not_kept(
    file: RemoteFile, problem: str, published: Published, place: Path, tmp_path: Path
) -> None:
    published.files["/file"] = CONTENT
    with pytest.raises(NetworkError, match=problem):
        fetched(RemoteFile(file.name, published.address + file.url, file.n_bytes, file.sha256), tmp_path)
    assert not [*tmp_path.glob("file*")]


def test_a_packed_file_is_compared_by_its_content(published: Published, place: Path, tmp_path: Path) -> None:
    published.files["/file.gz"] = gzip.compress(CONTENT)
    file = RemoteFile("file.gz", f"{published.address}/file.gz", None, digest(CONTENT))
    assert gzip.decompress(fetched(file, tmp_path)[0]) == CONTENT


def test_a_server_that_is_busy_is_asked_again(published: Published, place: Path, tmp_path: Path) -> None:
    published.files["/file"], published.status = CONTENT, 503
    with pytest.raises(NetworkError, match="503"):
        fetched(RemoteFile("file", f"{published.address}/file"), tmp_path)
    assert len(published.asked) == download._TRIES


@pytest.mark.parametrize("url", ["file:///etc/hostname", "ftp://localhost/file", "/file", "http://[", "http://x/ä"])
def test_only_the_web_is_asked(url: str, tmp_path: Path) -> None:
    with pytest.raises(NetworkError, match="not an address of the web"):
        fetched(RemoteFile("file", url), tmp_path)


# -- lists -------------------------------------------------------------------------------------------------------------


def firefox_list(address: str, **models: Any) -> bytes:
    return json.dumps(
        {"baseUrl": address, "models": {pair.replace("_", "-"): each for pair, each in models.items()}}
    ).encode()


def entry(status: str, **files: Any) -> dict[str, Any]:
    return {"releaseStatus": status, "architecture": "tiny", "files": files}


def test_the_released_model_of_firefox_is_chosen(published: Published, place: Path) -> None:
    parts = {
        name: {"path": f"new/{name}.gz", "size": 10, "uncompressedHash": "0" * 64}
        for name in ("model", "vocab", "lexicalShortlist")
    }
    old = {name: {**part, "path": part["path"].replace("new", "old")} for name, part in parts.items()}
    models = [entry("Nightly", **old), entry("Release", **parts)]
    published.files["/models.json"] = firefox_list(published.address, en_de=models)
    remote = find_remote("firefox:en-de")
    assert (remote.license, remote.n_bytes, remote.languages) == ("MPL-2.0", 30, ("en", "de"))
    assert remote.is_hashed
    files = remote.fetch.args[0]
    assert [file.url for file in files] == [
        f"{published.address}/new/{name}.gz" for name in ("model", "lexicalShortlist", "vocab")
    ]
    with pytest.raises(NetworkError, match=r"no model from fr to de; with one of the two it has en-de"):
        find_remote("firefox:fr-de")


@pytest.mark.parametrize("name", ["firefox:en-de", NAME])
def test_a_server_that_is_not_there_is_told_in_one_line(
    name: str, place: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    for variable in ("DRAGOMAN_FIREFOX_MODELS", "HF_ENDPOINT"):
        monkeypatch.setenv(variable, "http://127.0.0.1:9")
    assert program.run(["get", name]) == 1
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "Connection refused" in told


@pytest.mark.parametrize(
    "model",
    [
        *({"path": path} for path in ("", "..", "a/..", "a/.hidden", "a/b c", "a/b\0")),
        *({"path": "a", "size": size} for size in (True, -1, "9")),
        *({"path": "a", "uncompressedHash": hash} for hash in ("0" * 63, 7, ["0" * 64])),
    ],
)
def test_a_file_that_is_none_is_refused(model: Any, published: Published, place: Path) -> None:
    published.files["/models.json"] = firefox_list(
        published.address, en_de=[entry("Release", model=model, vocab={"path": "vocab"})]
    )
    with pytest.raises(NetworkError, match="another form"):
        find_remote("firefox:en-de")


def test_spaces_in_folders_and_large_letters_in_hashes_are_read(published: Published, place: Path) -> None:
    model = {"path": "a b/model", "uncompressedHash": digest(CONTENT).upper()}
    published.files["/models.json"] = firefox_list(published.address, en_de=[entry("Release", model=model)])
    (file,) = find_remote("firefox:en-de").fetch.args[0]
    assert (file.url, file.sha256) == (f"{published.address}/a%20b/model", digest(CONTENT))


def test_two_files_of_one_name_are_refused(published: Published, place: Path) -> None:
    models = [entry("Release", srcVocab={"path": "a/vocab.spm"}, trgVocab={"path": "b/vocab.spm"})]
    published.files["/models.json"] = firefox_list(published.address, en_de=models)
    with pytest.raises(NetworkError, match="another form"):
        find_remote("firefox:en-de")


@pytest.mark.parametrize(
    "content", [b"[]", b"{}", b"no JSON", b'{"baseUrl": 1, "models": {"en-de": [1]}}', b"[" * 100_000]
)
def test_a_list_of_another_form_is_refused(content: bytes, published: Published, place: Path) -> None:
    published.files["/models.json"] = content
    with pytest.raises(NetworkError):
        find_remote("firefox:en-de")
