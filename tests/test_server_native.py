"""The endpoints below /v1: options of each text, parts as they are done, and models that come and go."""

from __future__ import annotations

import json
import shutil
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from serving import ADMIN, KEY, client_of, require_server, server_config, write_many
from tiny import PAIRS, many_tokenizers, tiny_bundle, with_calibration, write_tiny_bundle

from dragoman.bundle.bundle import write_bundle
from dragoman.translator import Pivot, Translator
from dragoman.translator.request import SWITCHES

require_server()

from dragoman.server.translation_service import TranslationService  # noqa: E402

SOURCES = [source for source, _ in PAIRS]
AS_ADMIN = {"authorization": f"Bearer {ADMIN}"}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_many(tmp_path_factory.mktemp("models") / "many")


@pytest.fixture(scope="module")
def client(model: Path) -> Iterator[Any]:
    with client_of(model, admin_key=ADMIN, char_limit=500, batch_limit=4) as client:
        yield client


@pytest.fixture(scope="module")
def oracle(model: Path) -> Translator:
    return Translator.load(model, device="cpu")


def test_a_plain_text_is_what_the_model_says(client: Any, oracle: Translator) -> None:
    text = "SEE https://a.org/b, teh HOUSE no. 12"
    body = {"source": "en", "target": "de", "plain": True, "texts": [text, {"text": text, "plain": False}]}
    plain, usual = client.post("/v1/translate", json=body).json()["translations"]
    expected = oracle.translate(text, source_lang="en", target_lang="de", plain=True)
    assert (plain["text"], plain["flags"]) == (expected.text, [])
    usually = oracle.translate(text, source_lang="en", target_lang="de")
    assert (usual["text"], usual["flags"]) == (usually.text, [*usually.flags])
    assert usual["flags"]
    answer = client.post("/v1/translate", json={**body, "terms": [{"source": "house", "targets": ["Haus"]}]})
    assert (answer.status_code, answer.json()["error"]) == (
        400,
        "plain and terms contradict each other; leave one of them out",
    )


def test_a_check_is_switched_off_for_a_text(client: Any, oracle: Translator) -> None:
    text = "SEE https://a.org/b, teh HOUSE no. 12"
    direction = {"source": "en", "target": "de"}
    body = {**direction, "off": ["numbers"], "texts": [text, {"text": text, "off": ["spans", "numbers"]}]}
    one, two = client.post("/v1/translate", json=body).json()["translations"]
    for answer, off in ((one, ["numbers"]), (two, ["spans", "numbers"])):
        expected = oracle.translate(text, source_lang="en", target_lang="de", off=off)
        assert (answer["text"], answer["flags"]) == (expected.text, [*expected.flags])
        assert answer["lines"][0]["repairs"] == [*expected.repairs]
    assert "number" not in one["flags"]
    assert "span" not in two["flags"]
    streamed = client.post("/v1/translate/stream", json={**direction, "off": ["numbers", "spans"], "text": text})
    events = [json.loads(line.removeprefix("data: ")) for line in streamed.text.splitlines() if line.startswith("data")]
    assert events[-1]["text"] == two["text"]


def test_each_text_has_options_of_its_own(client: Any, oracle: Translator) -> None:
    body = {
        "source": "en",
        "target": "de",
        "beam_size": 3,
        "texts": [
            SOURCES[0],
            {"text": SOURCES[1], "n_best": 2, "beam_size": 4, "align": True, "prefix": "Sie"},
            {"text": SOURCES[2], "target": "zh", "length_penalty": 0.0},
        ],
    }
    one, two, three = client.post("/v1/translate", json=body).json()["translations"]
    first = oracle.translate(SOURCES[0], source_lang="en", target_lang="de", beam_size=3)
    assert (one["text"], one["source"], one["target"], one["via"], one["models"]) == (
        first.text,
        "en",
        "de",
        None,
        ["many"],
    )
    options: dict[str, Any] = {"beam_size": 4, "n_best": 2, "align": True, "prefixes": "Sie"}
    second = oracle.translate(SOURCES[1], source_lang="en", target_lang="de", **options)
    (line,) = two["lines"]
    assert [each["text"] for each in line["alternatives"]] == [each.text for each in second.alternatives]
    assert [each["score"] for each in line["alternatives"]] == pytest.approx(
        [each.score for each in second.alternatives], abs=1e-4
    )
    assert [[tuple(link) for link in each["alignment"]] for each in line["alternatives"]] == [
        list(each.alignment or ()) for each in second.alternatives
    ]
    assert [each["parts"] for each in line["alternatives"]] == [
        [part._asdict() for part in each.parts] for each in second.alternatives
    ]
    assert two["flags"] == line["flags"] == list(second.flags)
    third = oracle.translate(SOURCES[2], source_lang="en", target_lang="zh", beam_size=3, length_penalty=0.0)
    assert three["text"] == third.text
    assert three["lines"][0]["alternatives"][0]["alignment"] is None


def test_a_language_in_the_middle_is_told(client: Any, oracle: Translator) -> None:
    body = {"texts": [{"text": "Sie liest ein Buch.\n\nZwei Hunde.", "source": "de", "target": "zh", "align": True}]}
    (answer,) = client.post("/v1/translate", json=body).json()["translations"]
    assert (answer["via"], answer["models"], answer["detected_confidence"]) == ("en", ["many", "many"], None)
    assert [line["source"] for line in answer["lines"]] == ["Sie liest ein Buch.", "Zwei Hunde."]
    assert all(each["alignment"] is not None for line in answer["lines"] for each in line["alternatives"])
    texts = [line["source"] for line in answer["lines"]]
    expected = Pivot(oracle, oracle, "en").translate(texts, source_lang="de", target_lang="zh", align=True)
    assert [line["text"] for line in answer["lines"]] == [one.text for one in expected]
    assert [line["middle"] for line in answer["lines"]] == [one.pivot.text for one in expected if one.pivot]
    links = [[tuple(link) for link in line["alternatives"][0]["alignment"]] for line in answer["lines"]]
    assert links == [[*(one.alignment or ())] for one in expected]


def test_the_source_is_detected_and_its_confidence_told(client: Any) -> None:
    texts = ["Die Katze sitzt auf der Matte und schläft.", "The cat is sitting on the mat, and it is asleep."]
    answers = client.post("/v1/translate", json={"texts": texts, "target": "de"}).json()["translations"]
    assert [answer["source"] for answer in answers] == ["de", "en"]
    assert all(answer["detected_confidence"] > 50 for answer in answers)
    assert (answers[0]["text"], answers[0]["models"]) == (texts[0], [])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "texts is missing"),
        ({"texts": []}, "texts: List should have at least 1 item"),
        ({"texts": ["x"]}, "target is missing"),
        ({"texts": ["x"], "target": "zz"}, "zz is not supported; the languages are en, de, zh; `dragoman get`"),
        ({"texts": ["x"], "target": "de", "beam_size": 33}, "beam_size: Input should be less than or equal to 32"),
        ({"texts": ["x"], "target": "de", "n_best": 3, "beam_size": 2}, "n_best 3 is more than beam_size 2"),
        ({"texts": ["x"], "target": "de", "top_p": 7.0}, "top_p: input should be less than or equal to 1"),
        ({"texts": [{"text": "x", "nbest": 3}], "target": "de"}, "texts.0.nbest: there is no such option"),
        ({"texts": [{"n_best": 3}], "target": "de"}, "texts.0.text is missing"),
        ({"texts": ["x", 7], "target": "de"}, "texts.1: Input should be a valid string"),
        ({"texts": ["x"], "target": "de", "terms": ["a = b"]}, "terms.0: it must be an object"),
        (
            {"texts": ["x"], "target": "de", "terms": [{"source": "a", "goal": "b"}]},
            "terms.0.goal: there is no such option",
        ),
        ([], "the body is no JSON object; send one, with the header Content-Type: application/json"),
        ({"texts": ["x"], "target": "de", "zebra": 1}, "zebra: there is no such option"),
        ({"texts": ["x"], "target": "de", "beam_size": "3"}, "beam_size: Input should be a valid integer"),
        ({"texts": ["x" * 501], "target": "de"}, "request (501) exceeds text limit (500)"),
        ({"texts": ["x"] * 5, "target": "de"}, "request (5) exceeds text limit (4)"),
        ({"texts": [{"text": "x", "prefix": "a " * 99}], "source": "en", "target": "de"}, "the prefix of text 1 has"),
        ({"texts": ["x"], "target": "de", "off": ["rhymes"]}, "unknown check 'rhymes'; use spans, numbers"),
        ({"texts": ["x"], "target": "de", "off": "numbers"}, "off: Input should be a valid list"),
        ({"texts": ["x"], "target": "de", "off": ["numbers"] * 1_001}, "off has more than 1,000 names"),
        ({"texts": ["x"], "target": "de", "off": ["numbers"], "plain": True}, "plain and off contradict each other"),
        ({"texts": [{"text": "x"}], "source": "zh", "target": "de"}, "German (de) is not available as a target"),
    ],
)
def test_errors_are_one_line(client: Any, body: Any, message: str) -> None:
    answer = client.post("/v1/translate", json=body)
    assert answer.status_code == 400
    assert message in answer.json()["error"]


def test_an_empty_body_is_told(client: Any) -> None:
    assert "the body is empty; send a JSON object" in client.post("/v1/translate").json()["error"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["x", "en", "de", "auto", "\ud800", ""]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["text", "texts", "target", "source", "n_best", "\ud800"]), inner, max_size=4)
    ),
    max_leaves=8,
)


@given(st.sampled_from(["/v1/translate", "/v1/translate/stream", "/v1/models"]), JSON, st.booleans())
def test_a_broken_request_is_the_clients_error(client: Any, path: str, body: Any, is_cut: bool) -> None:
    content = json.dumps(body)[: -1 if is_cut else None]
    answer = client.post(path, content=content, headers={"content-type": "application/json"})
    assert answer.status_code < 500


# ------------------------------------------------------------------------------------------------ parts


def events(text: str) -> list[tuple[str, Any]]:
    found = []
    for block in text.removesuffix("\n\n").split("\n\n"):
        name, data = block.split("\n")
        found.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return found


@given(
    st.lists(st.sampled_from([*SOURCES, "", "  Two dogs.  😀", "😀"]), min_size=1, max_size=5), st.sampled_from("\n ")
)
def test_the_parts_of_a_text_are_its_translation(client: Any, texts: list[str], between: str) -> None:
    body = {"text": between.join(texts), "source": "en", "target": "de"}
    answer = client.post("/v1/translate/stream", json=body)
    assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
    *parts, (last, done) = events(answer.text)
    assert {name for name, _ in parts} <= {"part"}
    assert last == "done"
    whole = client.post("/v1/translate", json={"texts": [body["text"]], "source": "en", "target": "de"})
    (expected,) = whole.json()["translations"]
    assert done["text"] == expected["text"]
    assert len(parts) == sum(line["segments"] for line in expected["lines"])
    assert [data["line"] for _, data in parts] == sorted(data["line"] for _, data in parts)


def test_a_stream_goes_through_a_language_in_the_middle_and_to_its_own(client: Any) -> None:
    body = {"text": "Sie liest ein Buch.", "source": "de", "target": "zh"}
    assert events(client.post("/v1/translate/stream", json=body).text)[-1][0] == "done"
    same = events(client.post("/v1/translate/stream", json={**body, "target": "de"}).text)
    assert same[-1][1]["text"] == body["text"]


def test_a_stream_counts_only_the_parts_on_their_way(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waiting: list[int] = []
    translate = TranslationService.translate_accepted

    async def counted(service: TranslationService, *arguments: Any) -> Any:
        waiting.append(service.queue.n_waiting)
        return await translate(service, *arguments)

    monkeypatch.setattr(TranslationService, "translate_accepted", counted)
    with client_of(model, queue_limit=30) as client:
        body = {"text": "A man.\n" * 25, "source": "en", "target": "de"}
        assert events(client.post("/v1/translate/stream", json=body).text)[-1][0] == "done"
    assert len(waiting) == 25
    assert 1 <= min(waiting) <= max(waiting) <= 8


def test_halves_of_surrogate_pairs_are_replaced(client: Any) -> None:
    body = '{"texts": ["A \\ud800 man.", {"text": "A \\udfff man.", "prefix": ""}], "source": "en", "target": "de"}'
    answer = client.post("/v1/translate", content=body, headers={"content-type": "application/json"})
    assert [one["lines"][0]["source"] for one in answer.json()["translations"]] == ["A \ufffd man."] * 2


def test_a_prefix_counts_as_a_text(client: Any) -> None:
    body = {"texts": [{"text": "A man.", "prefix": " " * 501}], "source": "en", "target": "de"}
    answer = client.post("/v1/translate", json=body)
    assert (answer.status_code, answer.json()["error"].endswith("exceeds text limit (500)")) == (400, True)


def test_many_wrong_texts_take_little_time_and_room(client: Any) -> None:
    tracemalloc.start()
    try:
        assert client.post("/v1/translate", json={"texts": [1] * 50_000, "target": "de"}).status_code == 400
        assert tracemalloc.get_traced_memory()[1] < 20e6
    finally:
        tracemalloc.stop()


def test_an_error_in_the_middle_is_an_event(client: Any) -> None:
    body = {"text": "A man.", "source": "en", "target": "de", "prefix": "a " * 99}
    ((name, data),) = events(client.post("/v1/translate/stream", json=body).text)
    assert name == "error"
    assert "the prefix of text 1" in data["error"]


# ------------------------------------------------------------------------------------------------ models


def model_names(client: Any, *, is_loaded: bool = False) -> list[str]:
    listed = client.get("/v1/models").json()["data"]
    return [each["id"] for each in listed if each["id"] == each["name"] != "dragoman" and each["loaded"] >= is_loaded]


def test_models_come_and_go(client: Any, tmp_path: Path) -> None:
    other = write_tiny_bundle(tmp_path / "other", seed=3, max_length=40)
    answer = client.post("/v1/models", json={"model": str(other)}, headers=AS_ADMIN)
    assert answer.json() == {
        "name": "other",
        "directions": [["en", "de"]],
        "loaded": True,
        "megabytes": answer.json()["megabytes"],
    }
    assert model_names(client) == ["many", "other"]
    again = client.post("/v1/models", json={"model": str(other)}, headers=AS_ADMIN)
    assert (again.status_code, "is there already" in again.json()["error"]) == (400, True)
    assert client.delete("/v1/models/other", headers=AS_ADMIN).json() == {"removed": "other"}
    assert client.delete("/v1/models/other", headers=AS_ADMIN).status_code == 404
    assert model_names(client) == ["many"]


def test_models_of_one_name_get_numbers(client: Any, tmp_path: Path) -> None:
    other = write_tiny_bundle(tmp_path / "many", seed=3)
    assert client.post("/v1/models", json={"model": str(other)}, headers=AS_ADMIN).json()["name"] == "many-2"
    assert str(tmp_path) not in client.get("/v1/models").text
    client.delete("/v1/models/many-2", headers=AS_ADMIN)


def test_a_hostile_folder_is_refused_and_the_server_goes_on(client: Any, tmp_path: Path) -> None:
    bundle = write_tiny_bundle(tmp_path / "good", seed=3)
    damaged = Path(shutil.copytree(bundle, tmp_path / "damaged"))
    (damaged / "model.safetensors").write_bytes(b"\x80\x04." * 100)
    strange = Path(shutil.copytree(bundle, tmp_path / "strange"))
    (strange / "config.json").write_text('{"format_version": 99, "model": {"__reduce__": 1}}')
    linked = Path(shutil.copytree(bundle, tmp_path / "linked"))
    shutil.rmtree(linked / "tokenizer")
    (linked / "tokenizer").symlink_to("/etc")
    for folder in (damaged, strange, linked, tmp_path / "nothing", tmp_path, "/dev/zero", "x" * 9999, "\0"):
        answer = client.post("/v1/models", json={"model": str(folder)}, headers=AS_ADMIN)
        assert answer.status_code == 400, folder
        assert answer.json()["error"]
    assert model_names(client) == ["many"]
    body = {"texts": ["A man."], "source": "en", "target": "de"}
    assert client.post("/v1/translate", json=body).status_code == 200


@pytest.mark.parametrize("headers", [{}, {"authorization": "Bearer wrong"}, {"authorization": f"Basic {ADMIN}"}])
def test_models_need_the_admin_key(client: Any, headers: dict[str, str]) -> None:
    for how in ({}, {"params": {"api_key": ADMIN}}):
        assert client.post("/v1/models", json={"model": "everyday"}, headers=headers, **how).status_code == 401
        assert client.delete("/v1/models/many", headers=headers, **how).status_code == 401


def test_without_an_admin_key_nobody_changes_the_models(model: Path) -> None:
    with client_of(model, api_keys=[KEY]) as client:
        as_client = {"authorization": f"Bearer {KEY}"}
        assert client.post("/v1/models", json={"model": "everyday"}, headers=as_client).status_code == 403
        assert client.delete("/v1/models/many", headers=as_client).status_code == 403
        assert client.get("/v1/models").status_code == 401  # the list needs a client's key
        assert client.get("/v1/models", headers=as_client).status_code == 200
        body = {"texts": ["A man."], "source": "en", "target": "de"}
        assert client.post("/v1/translate", json=body).status_code == 400
        assert client.post("/v1/translate", json=body, headers=as_client).status_code == 200


def test_the_model_used_least_recently_makes_room(tmp_path: Path) -> None:
    """And it is loaded again when somebody needs it."""
    wide = {"d_model": 256, "d_ff": 512, "max_length": 40}
    one, two = (write_tiny_bundle(tmp_path / name, seed, **wide) for seed, name in enumerate(("one", "two"), 3))
    from dragoman.server.measures import Measures
    from dragoman.server.model_shelf import ModelShelf

    n_bytes = ModelShelf(server_config(), Measures()).add(str(one)).n_bytes
    limit = -(-n_bytes // 2**20)
    assert n_bytes * 2 > limit * 2**20
    with client_of(one, two, ram_limit=limit, admin_key=ADMIN, cache=0) as client:

        def loaded() -> list[str]:
            return model_names(client, is_loaded=True)

        assert loaded() == ["two"]
        body = {"q": "A man.", "source": "en", "target": "de"}
        assert client.post("/translate", json=body).status_code == 200  # the first model translates
        assert loaded() == ["one"]
        assert client.get("/v1/health/ready").status_code == 200
        big = write_tiny_bundle(tmp_path / "big", 5, **{**wide, "d_model": 512})
        answer = client.post("/v1/models", json={"model": str(big)}, headers=AS_ADMIN)
        assert (answer.status_code, "more than ram_limit" in answer.json()["error"]) == (400, True)


def test_the_schema_has_every_option(client: Any) -> None:
    schemas = client.get("/spec").json()["components"]["schemas"]
    for name in ("TranslateRequest", "Text", "StreamRequest"):
        assert {"n_best", "terms", "plain", "off"} <= schemas[name]["properties"].keys()
    assert "repairs" in schemas["LineAnswer"]["properties"]
    assert ", ".join(SWITCHES) in schemas["Text"]["properties"]["off"]["description"]


def test_the_inside_is_that_of_the_translation(client: Any) -> None:
    body = {"texts": [f"{SOURCES[0]}\n{SOURCES[1]}"], "source": "en", "target": "de", "n_best": 3, "inside": True}
    (answer,) = client.post("/v1/translate", json=body).json()["translations"]
    inside = answer["inside"]
    first = answer["lines"][0]
    assert (inside["source_text"], inside["target_text"], inside["beam_size"]) == (first["source"], first["text"], 3)
    assert [each["score"] for each in inside["hypotheses"]] == pytest.approx(
        [each["score"] for each in first["alternatives"]], abs=1e-4
    )
    assert inside["nodes"][0]["parent"] == -1
    assert all(len(row) == len(inside["source"]) for row in inside["attention"][0][0])
    assert all(abs(sum(row) - 10_000) <= len(row) for head in inside["attention"][0] for row in head)
    assert len(inside["attention"][0][0]) == len(inside["read"]) == len(inside["written"])


@pytest.mark.parametrize(
    "text", [{"text": "Zwei Hunde.", "source": "de", "target": "zh"}, {"text": "", "target": "de"}, "☃"]
)
def test_the_inside_is_null_where_there_is_none(client: Any, text: Any) -> None:
    body = {"texts": [text], "source": "en", "target": "de", "inside": True}
    (answer,) = client.post("/v1/translate", json=body).json()["translations"]
    assert answer["inside"] is None


def test_the_inside_is_for_one_text(client: Any) -> None:
    answer = client.post("/v1/translate", json={"texts": ["a", "b"], "target": "de", "inside": True})
    assert (answer.status_code, answer.json()["error"]) == (400, "inside is for a request with one text")


def test_confidence_and_doubtful_words_of_a_calibrated_model(tmp_path: Path) -> None:
    write_bundle(tmp_path / "sure", with_calibration(tiny_bundle(many_tokenizers(), max_length=40), "en-de"))
    oracle = Translator.load(tmp_path / "sure", device="cpu")
    body = {"texts": ["\n".join(SOURCES[:2])], "source": "en", "target": "de", "doubts": True, "beam_size": 1}
    with client_of(tmp_path / "sure") as client:
        (answer,) = client.post("/v1/translate", json=body).json()["translations"]
        (other,) = client.post("/v1/translate", json=body | {"target": "zh"}).json()["translations"]
    options: dict[str, Any] = {"source_lang": "en", "target_lang": "de", "doubts": True, "beam_size": 1}
    expected = oracle.translate(SOURCES[:2], **options)
    assert [line["confidence"] for line in answer["lines"]] == pytest.approx([one.confidence for one in expected])
    assert [tuple(line["doubtful"]) for line in answer["lines"]] == [one.doubtful for one in expected]
    assert answer["confidence"] == min(line["confidence"] for line in answer["lines"])
    assert other["confidence"] is None
    assert [line["doubtful"] for line in other["lines"]] == [None, None]
