"""Endpoints of OpenAI's, DeepL's and Apertium's APIs: the same translations, and errors in the form of each."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import canonicalize

import pytest
from hypothesis import given
from hypothesis import strategies as st
from serving import KEY, client_of, require_server, write_many
from tiny import PAIRS, write_tiny_bundle

from dragoman.errors import DeadlineError

require_server()

from dragoman.server.glossaries import MOST_ENTRIES  # noqa: E402
from dragoman.server.translation_service import TranslationService  # noqa: E402
from dragoman.server.xml_texts import TagKinds, xml_pages  # noqa: E402

SOURCES = [source for source, _ in PAIRS]
TEXT = f"  {SOURCES[0]} {SOURCES[1]}\n\n{SOURCES[1]} \n"


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with client_of(Path("everyday"), char_limit=500, batch_limit=4) as client:
        yield client


def german(client: Any, text: str, **more: Any) -> str:
    answer = client.post("/translate", json={"q": text, "source": "en", "target": "de", **more})
    return str(answer.json()["translatedText"])


def chat(client: Any, content: Any = TEXT, model: str = "everyday:en-de", **more: Any) -> Any:
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": content}]
    return client.post("/v1/chat/completions", json={"model": model, "messages": messages, "temperature": 1, **more})


def deepl(client: Any, *texts: str, **more: Any) -> Any:
    return client.post("/v2/translate", json={"text": texts, "source_lang": "EN", "target_lang": "DE", **more})


# ------------------------------------------------------------------------------------------------ OpenAI


@pytest.mark.parametrize(
    ("model", "languages"),
    [
        ("everyday:en-de", {}),
        ("everyday:EN-DE", {}),
        ("everyday:en-GB-de-AT", {}),
        ("everyday:de", {"source_lang": "en"}),
        ("everyday", {"source_lang": "en", "target_lang": "de-AT"}),
        ("dragoman", {"source_lang": "en", "target_lang": "de"}),
        ("everyday:en-zh", {"target_lang": "de"}),
    ],
)
def test_the_last_message_is_translated(client: Any, model: str, languages: dict[str, str]) -> None:
    answer = chat(client, model=model, **languages).json()
    assert answer["choices"][0]["message"]["content"] == german(client, TEXT)
    assert answer["usage"]["total_tokens"] == answer["usage"]["prompt_tokens"] + answer["usage"]["completion_tokens"]


def test_the_parts_of_a_message_are_one_text(client: Any) -> None:
    answer = chat(client, [{"type": "text", "text": text} for text in SOURCES[:2]]).json()
    assert answer["choices"][0]["message"]["content"] == german(client, "\n".join(SOURCES[:2]))


def test_a_stream_has_the_same_text(client: Any) -> None:
    answer = chat(client, stream=True, stream_options={"include_usage": True})
    *chunks, end = [block.removeprefix("data: ") for block in answer.text.removesuffix("\n\n").split("\n\n")]
    *parts, usage = map(json.loads, chunks)
    written = "".join(part["choices"][0]["delta"].get("content", "") for part in parts)
    streamed = client.post("/v1/translate/stream", json={"text": TEXT, "source": "en", "target": "de"}).text
    assert written == json.loads(streamed.strip().rpartition("\ndata: ")[2])["text"]
    assert (end, parts[-1]["choices"][0]["finish_reason"]) == ("[DONE]", "stop")
    assert usage["usage"]["prompt_tokens"] > 0


def test_an_error_in_the_middle_ends_the_stream(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(*_: object) -> Any:
        raise DeadlineError("no time")

    monkeypatch.setattr(TranslationService, "translate_accepted", fail)
    *_, last = chat(client, stream=True).text.removesuffix("\n\n").split("\n\n")
    assert json.loads(last.removeprefix("data: "))["error"]["type"] == "server_error"


@pytest.mark.parametrize(
    ("status", "message", "asked"),
    [
        (404, "there is no model other", {"model": "other"}),
        (404, "there is no model other:de", {"model": "other:de"}),
        (400, 'en, de, fr, zh; name one of them, such as "model": "everyday:de"', {"model": "everyday"}),
        (404, "does not know en-ja; its languages are en, de, fr, zh", {"model": "everyday:en-ja"}),
        (404, "does not know fr-xx", {"model": "everyday:fr-xx"}),
        (404, "does not know xx", {"model": "everyday:xx"}),
        (400, "xx is not supported; the languages are en, de, fr, zh", {"target_lang": "xx"}),
        (400, "n must be 1", {"n": 2}),
        (400, "response_format", {"response_format": {"type": "json_object"}}),
        (400, "besides text", {"content": [{"type": "image_url", "image_url": {"url": "x"}}]}),
        (400, "no text", {"content": None}),
        (400, "messages", {"messages": []}),
        (400, "exceeds text limit", {"content": "x" * 501}),
    ],
)
def test_openais_errors_say_what_is_wrong(client: Any, status: int, message: str, asked: dict[str, Any]) -> None:
    answer = chat(client, **asked)
    error = answer.json()["error"]
    assert (answer.status_code, error["type"]) == (status, "invalid_request_error")
    assert message in error["message"]
    assert error["code"] == ("model_not_found" if status == 404 else None)


def test_the_list_of_models_offers_names_that_translate(client: Any) -> None:
    listed = client.get("/v1/models").json()
    assert listed["object"] == "list"
    names = [each["id"] for each in listed["data"]]
    ours = ["everyday:de", "everyday:fr", "everyday:zh", "everyday:en", "everyday"]
    assert names == [*ours, *(name.replace("everyday", "dragoman") for name in ours)]
    for entry in listed["data"]:
        assert client.get(f"/v1/models/{entry['id']}").json() == entry
        targets = {target for _, target in entry["directions"]}
        assert targets == ({entry["id"].partition(":")[2]} if ":" in entry["id"] else {"en", "de", "fr", "zh"})
        assert chat(client, model=entry["id"]).status_code == (200 if ":" in entry["id"] else 400)
    assert chat(client, model=names[0]).json()["choices"][0]["message"]["content"] == german(client, TEXT)


def test_a_model_of_one_direction_needs_no_language(tmp_path: Path) -> None:
    with client_of(write_tiny_bundle(tmp_path / "one", seed=3, max_length=40)) as client:
        names = [each["id"] for each in client.get("/v1/models").json()["data"]]
        assert names == ["one:de", "one", "dragoman:de", "dragoman"]
        assert {chat(client, model=name).status_code for name in names} == {200}


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/v1/models/gpt", 404, "model_not_found"),
        ("GET", "/v1/models/everyday:xx", 404, "model_not_found"),
        ("GET", "/v1/chat/completions", 405, None),
        ("POST", "/v1/chat/nothing", 404, None),
        ("POST", "/v1/responses", 404, None),
    ],
)
def test_other_endpoints_of_openai_are_refused_in_its_form(
    client: Any, method: str, path: str, status: int, code: str | None
) -> None:
    answer = client.request(method, path)
    error = answer.json()["error"]
    assert (answer.status_code, error["type"], error["code"]) == (status, "invalid_request_error", code)
    assert path.rpartition("/")[2].removeprefix("everyday:") in error["message"]


# ------------------------------------------------------------------------------------------------ DeepL


def test_deepls_texts_come_as_json_or_form(client: Any) -> None:
    expected = [german(client, text) for text in SOURCES[:2]]
    for how in ("json", "data"):
        body = {"text": SOURCES[:2], "source_lang": "EN", "target_lang": "DE-AT", "show_billed_characters": "1"}
        answer = client.post("/v2/translate", **{how: body}).json()["translations"]
        assert [each["text"] for each in answer] == expected
        assert [each["billed_characters"] for each in answer] == [len(text) for text in SOURCES[:2]]
        assert {each["detected_source_language"] for each in answer} == {"EN"}


def test_html_and_line_ends_are_read(client: Any) -> None:
    page = f"<p>{SOURCES[0]}</p><pre>x</pre>"
    (html,) = deepl(client, page, tag_handling="html").json()["translations"]
    assert html["text"] == german(client, page, format="html")
    (joined,) = deepl(client, SOURCES[0].replace(" ", "\n"), split_sentences="nonewlines").json()["translations"]
    assert joined["text"] == german(client, SOURCES[0])


XML = st.recursive(
    st.sampled_from(["Two dogs", " and ", "&amp;", "<x/>", "<!-- </b> -->", "<![CDATA[<i>]]>", "<?go on?>"]),
    lambda inner: st.builds(
        lambda name, parts: f'<{name} id="1">{"".join(parts)}</{name}>',
        st.sampled_from(["Title", "script", "p", "b", "div", "span", "ns:x"]),
        st.lists(inner, max_size=3),
    ),
)


@given(st.lists(XML, max_size=4).map("".join), st.sampled_from(["b", "Title", ""]))
def test_xml_comes_back_as_it_was(text: str, name: str) -> None:
    """As a page, it has other tags, which `restored` takes back."""
    (found,) = xml_pages(None, [text], TagKinds([name], [], ["p"]))
    same = (
        canonicalize(f'<r xmlns:ns="n">{each}</r>', with_comments=True) for each in (text, found.restored(found.page))
    )
    assert next(same) == next(same)
    assert set(re.findall(r"<(\w+)", found.page)) <= {"div", "span", "img"}


def test_xml_keeps_its_tags_and_what_is_ignored(client: Any) -> None:
    page = '<?xml version="1.0"?>\n<Doc><Title id="1">{}</Title><x>Two <b>dogs</b></x><pre>{}</pre></Doc>'
    sent = page.format(*SOURCES[:2])
    (answer,) = deepl(client, sent, tag_handling="xml", ignore_tags=["x"]).json()["translations"]
    assert answer["text"] == page.format(*(german(client, source) for source in SOURCES[:2]))
    answer = deepl(client, "<b>Two <i>dogs</b></i>", tag_handling="xml")
    assert (answer.status_code, "mismatched tag" in answer.json()["message"]) == (400, True)


def test_a_glossary_is_kept_used_and_deleted(client: Any) -> None:
    sent = {"name": "mine", "source_lang": "en", "target_lang": "de", "entries": "a man\tein Mann\ndog\tKläffer"}
    made = client.post("/v2/glossaries", json=sent)
    number = made.json()["glossary_id"]
    path = f"/v2/glossaries/{number}"
    assert (made.status_code, made.json()["entry_count"]) == (201, 2)
    assert client.get("/v2/glossaries").json() == {"glossaries": [made.json()]}
    assert client.get(path).json() == made.json()
    assert client.get(f"{path}/entries").text == sent["entries"]
    for tags, text in ((None, "A dog."), ("html", "<p>A dog.</p>"), ("xml", "<p>A dog.</p>")):
        (answer,) = deepl(client, text, glossary_id=number, tag_handling=tags).json()["translations"]
        assert "Kläffer" in answer["text"]
    other = deepl(client, "A dog.", glossary_id=number, target_lang="ZH")
    assert (other.status_code, "target_lang de" in other.json()["message"]) == (400, True)
    assert client.delete(path).status_code == 204
    assert client.delete(path).status_code == client.get(path).status_code == 404
    assert deepl(client, "A dog.", glossary_id=number).status_code == 404


@pytest.mark.parametrize(
    ("status", "message", "changed"),
    [
        (400, "no entries", {"entries": "\n \n"}),
        (400, "line 2", {"entries": "a\tb\nc"}),
        (400, "another line: a", {"entries": "a\tb\na\tc"}),
        (400, "more than 200 characters", {"entries": "a\t" + "b" * 201}),
        (400, "tsv or csv", {"entries_format": "xml"}),
        (400, "missing name", {"name": ""}),
        (400, "xx is not supported", {"target_lang": "xx"}),
        (456, "more than", {"entries": "".join(f"a{number}\tb\n" for number in range(MOST_ENTRIES + 1))}),
    ],
)
def test_a_wrong_glossary_is_refused(client: Any, status: int, message: str, changed: dict[str, str]) -> None:
    sent = {"name": "n", "source_lang": "en", "target_lang": "de", "entries": "a,b", "entries_format": "tsv"} | changed
    answer = client.post("/v2/glossaries", json=sent)
    assert (answer.status_code, message in answer.json()["message"]) == (status, True), answer.json()
    assert client.get("/v2/glossaries").json() == {"glossaries": []}


@pytest.mark.parametrize(
    ("message", "changed"),
    [
        ("missing text", {"text": []}),
        ("text parameter", {"text": [1]}),
        ("missing target_lang", {"target_lang": ""}),
        ("IT is not supported", {"target_lang": "IT"}),
        ("prefer_more", {"formality": "more"}),
        ("html or xml", {"tag_handling": "rtf"}),
        ("nonewlines", {"split_sentences": "2"}),
        ("leave it out", {"style_id": "x"}),
        ("for tag_handling xml", {"ignore_tags": ["x"]}),
        ("ignore_tags is no list", {"ignore_tags": {"x": 1}, "tag_handling": "xml"}),
    ],
)
def test_deepls_errors_say_what_is_wrong(client: Any, message: str, changed: dict[str, Any]) -> None:
    answer = deepl(client, "A dog.", **changed)
    if "text" in changed:
        answer = client.post("/v2/translate", json={"target_lang": "DE", **changed})
    assert (answer.status_code, message in answer.json()["message"]) == (400, True), answer.json()


def test_languages_are_those_that_deepls_clients_send(client: Any) -> None:
    sources = [each["language"] for each in client.get("/v2/languages").json()]
    targets = [each["language"] for each in client.get("/v2/languages", params={"type": "target"}).json()]
    assert (sources, targets) == (["EN", "DE", "FR", "ZH"], ["EN-GB", "EN-US", "DE", "FR", "ZH"])
    pairs = client.get("/v2/glossary-language-pairs").json()["supported_languages"]
    assert {"source_lang": "en", "target_lang": "de"} in pairs


# ------------------------------------------------------------------------------------------------ Apertium


def apertium(client: Any, text: str, pair: str = "en|de", **more: str) -> Any:
    return client.get("/apertium/translate", params={"q": text, "langpair": pair, "markUnknown": "no", **more})


def test_apertiums_translations_are_the_same(client: Any) -> None:
    text = TEXT.rstrip()
    answer = apertium(client, text, "eng|de_AT")
    data = {"translatedText": german(client, text)}
    assert answer.json() == {"responseData": data, "responseDetails": None, "responseStatus": 200}
    assert answer.content.startswith(b'{"responseData": {"translatedText": "')  # OmegaT 3 looks for these characters
    assert apertium(client, "Good morning.", "en|zh").content.isascii()
    page = f"<p>{SOURCES[0]}</p>"
    assert apertium(client, page, format="html").json()["responseData"]["translatedText"] == german(
        client, page, format="html"
    )
    form = {"q": text, "langpair": "en|de"}
    assert client.post("/apertium/translate", data=form).json() == answer.json()
    listed = '["A dog.", "A cat."]'  # a text of a program, not two
    data = {"translatedText": german(client, listed)}
    for answer in (apertium(client, listed), client.post("/apertium/translate", data=form | {"q": listed})):
        assert answer.json()["responseData"] == data
    for pair in client.get("/apertium/listPairs").json()["responseData"]:
        codes = "|".join(pair[name] for name in ("sourceLanguage", "targetLanguage"))
        assert apertium(client, "1", codes).status_code == 200


def test_no_tag_of_omegat_is_lost(client: Any) -> None:
    tags = re.compile(r"</?[a-z]+\d+/?>")
    for text in ("Save <f0>the file</f0>, <g12>the page</g12><i3/>.", "<b0><f1>AT&T</f1> has 1 < 2 dogs.</b0>"):
        answer = apertium(client, text).json()["responseData"]["translatedText"]
        assert sorted(tags.findall(answer)) == sorted(tags.findall(text))
    assert "AT&T" in answer
    lines = apertium(client, "Two <f0>dogs</f0>.\n\nA <f0>cat</f0>.").json()["responseData"]["translatedText"]
    assert [line.count("<f0>") for line in lines.split("\n")] == [1, 0, 1]
    halves = "Two <f0>dogs"
    assert apertium(client, halves).json()["responseData"]["translatedText"] == german(client, halves)


@pytest.mark.parametrize(
    ("message", "changed"),
    [
        ("langpair en is no pair", {"langpair": "en"}),
        ("no pair of languages", {"langpair": "en|de|fr"}),
        ("missing langpair", {"langpair": ""}),
        ("missing q", {"q": ""}),
        ("it is not supported", {"langpair": "en|it"}),
        ("format rtf is not supported", {"format": "rtf"}),
        ("exceeds text limit", {"q": "x" * 501}),
    ],
)
def test_apertiums_errors_say_what_is_wrong(client: Any, message: str, changed: dict[str, str]) -> None:
    answer = client.get("/apertium/translate", params={"q": "A dog.", "langpair": "en|de", **changed})
    found = answer.json()
    assert (answer.status_code, found["code"], found["status"]) == (400, 400, "error")
    assert message in found["message"] == found["explanation"]


# ------------------------------------------------------------------------------------------------ all


def test_each_protocol_has_its_keys_and_statuses(client: Any, tmp_path: Path) -> None:
    for path in ("/v1/chat/nothing", "/v2/nothing", "/v3/glossaries"):
        answer = client.get(path)
        assert (answer.status_code, *answer.json()) == (404, "error" if "chat" in path else "message")
    second = "another-key-of-a-client"
    with client_of(
        write_many(tmp_path / "many"), api_keys=[KEY, second], url_prefix="/my", body_limit=100_000
    ) as guarded:
        guarded.base_url = f"{guarded.base_url}/my/"
        for sent in ({}, {"authorization": "Bearer wrong"}, {"authorization": f"Basic {KEY}"}):
            guarded.headers.clear()
            guarded.headers.update(sent)
            refused = chat(guarded)
            assert (refused.status_code, refused.json()["error"]["code"]) == (401, "invalid_api_key")
            assert guarded.get("/v1/models").json() == guarded.get("/v1/models/many").json() == refused.json()
            refused = deepl(guarded, "A dog.")
            assert (refused.status_code, [*refused.json()]) == (403, ["message"])
            assert guarded.get("/v2/glossaries").status_code == 403
            assert apertium(guarded, "A dog.", key="wrong").json()["code"] == 403
        long = [guarded.post(path, content=b"x" * 100_001) for path in ("v1/chat/completions", "v2/translate")]
        assert [(answer.status_code, *answer.json()) for answer in long] == [(413, "error"), (413, "message")]
        guarded.headers["authorization"] = f"Bearer {KEY}"
        assert chat(guarded, model="many:en-de").status_code == 200
        guarded.headers["authorization"] = f"DeepL-Auth-Key {KEY}"
        assert deepl(guarded, "A dog.").status_code == 200
        del guarded.headers["authorization"]
        assert apertium(guarded, "A dog.", key=KEY).status_code == 200
        guarded.headers["authorization"] = f"DeepL-Auth-Key {KEY}"
        sent = {"name": "n", "source_lang": "en", "target_lang": "de", "entries": "a\tb"}
        number = guarded.post("/v2/glossaries", json=sent).json()["glossary_id"]
        guarded.headers["authorization"] = f"DeepL-Auth-Key {second}"
        assert guarded.get("/v2/glossaries").json() == {"glossaries": []}
        assert guarded.get(f"/v2/glossaries/{number}").status_code == 404
        assert deepl(guarded, "A dog.", glossary_id=number).status_code == 404
