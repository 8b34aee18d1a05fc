"""OpenAI's and DeepL's own clients, against a running server."""

from collections.abc import Iterator
from typing import Any

import pytest
from extras import import_foreign
from serving import KEY, require_server, served

from dragoman.translator import Translator

require_server()

TEXT = "Where is the station? Thank you.\n\nI am here."


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with served("everyday", "--workers", "1", "--api-keys", KEY) as (_, address):
        yield address


@pytest.fixture(scope="module")
def translator() -> Translator:
    return Translator.load("everyday", device="cpu")


def test_openais_client_translates(address: str, translator: Translator) -> None:
    openai = import_foreign("openai", "openai")
    client = openai.OpenAI(base_url=f"{address}/v1", api_key=KEY, max_retries=0)
    messages: Any = [{"role": "system", "content": "Translate."}, {"role": "user", "content": TEXT}]

    def ask(model: str, **options: Any) -> Any:
        return client.chat.completions.create(model=model, messages=messages, temperature=0.2, **options)

    listed = [model.id for model in client.models.list()]
    assert {"everyday", "everyday:en", "dragoman:de"} <= set(listed)
    assert client.models.retrieve(listed[0]).id == listed[0]
    with pytest.raises(openai.NotFoundError, match="there is no model gpt"):
        client.models.retrieve("gpt")
    lines = [str(translator.translate(line, source_lang="en", target_lang="de").text) for line in TEXT.split("\n\n")]
    german = "\n\n".join(lines)
    answer = ask("everyday:en-de")
    assert (answer.choices[0].message.content, answer.choices[0].finish_reason) == (german, "stop")
    assert ask(listed[0]).choices[0].message.content == german  # who knows nothing takes the first
    assert ask("everyday", extra_body={"target_lang": "de"}).choices[0].message.content == german
    chunks = list(ask("everyday:de", stream=True, stream_options={"include_usage": True}))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks[:-1]) == german
    assert chunks[-1].usage == answer.usage
    with pytest.raises(openai.NotFoundError, match="there is no model gpt"):
        ask("gpt")
    with pytest.raises(openai.NotFoundError, match="the model does not know xx"):
        ask("everyday:xx")
    with pytest.raises(openai.AuthenticationError, match="Invalid API key"):
        openai.OpenAI(base_url=f"{address}/v1", api_key="wrong").models.list()


def test_deepls_client_translates(address: str, translator: Translator) -> None:
    deepl = import_foreign("deepl", "deepl")
    client = deepl.DeepLClient(KEY, server_url=address)
    german = translator.translate("Where is the station?", source_lang="en", target_lang="de").text
    for target in [language.code for language in client.get_target_languages()]:
        assert client.translate_text("Where is the station?", target_lang=target).text
    assert {language.code for language in client.get_source_languages()} == {"EN", "DE", "FR", "ZH"}
    assert not client.get_usage().any_limit_reached
    results = client.translate_text(["Where is the station?", "Two dogs."], target_lang="DE", formality="prefer_less")
    assert [(one.detected_source_lang, one.billed_characters) for one in results] == [("EN", 21), ("EN", 9)]
    assert results[0].text == german
    page = "<p>Where is <b>the station</b>?</p>"
    for tags in ("html", "xml"):
        text = client.translate_text(page, source_lang="EN", target_lang="DE", tag_handling=tags).text
        assert text == "<p>Wo ist <b>der Bahnhof</b>?</p>"
    with pytest.raises(deepl.DeepLException, match="IT is not supported"):
        client.translate_text("A dog.", target_lang="IT")
    with pytest.raises(deepl.AuthorizationException, match="Invalid API key"):
        deepl.DeepLClient("wrong", server_url=address).get_usage()


def test_deepls_client_keeps_glossaries(address: str) -> None:
    deepl = import_foreign("deepl", "deepl")
    client = deepl.DeepLClient(KEY, server_url=address)
    entries = {"station": "Haltestelle", "dog": "Kläffer"}
    glossary = client.create_glossary("mine", "EN", "DE", entries)
    table = client.create_glossary_from_csv("other", "EN", "DE", 'dog,"Kläffer"\n')
    assert client.get_glossary_entries(glossary) == entries
    assert [each.entry_count for each in client.list_glossaries()] == [2, 1]
    for each in (glossary, table):
        assert "Kläffer" in client.translate_text("A dog.", source_lang="EN", target_lang="DE", glossary=each).text
        client.delete_glossary(each)
        with pytest.raises(deepl.GlossaryNotFoundException):
            client.get_glossary(each.glossary_id)
    with pytest.raises(deepl.DeepLException, match="lacks a source or a target"):
        client.create_glossary_from_csv("other", "EN", "DE", "dog\n")
