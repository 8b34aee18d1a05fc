"""The tools of an assistant, called as `dragoman mcp` calls them: they do what a translator and the server do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from serving import client_of, require_server, write_many
from tiny import write_tiny_bundle

from dragoman import Translator
from dragoman.errors import BundleError
from dragoman.text.terms import Term, TermList
from dragoman.translator import Pivot, StopCondition

require_server()

from dragoman.server.agent_tools import AgentTools  # noqa: E402
from dragoman.server.api_errors import ApiError  # noqa: E402

TEXTS = ["A man is riding a horse.\n\n  Two dogs run.\r\n", "", "She is reading a book."]


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of English to German and Chinese, and German to English."""
    return write_many(tmp_path_factory.mktemp("models") / "many")


@pytest.fixture(scope="module")
def tools(many: Path) -> AgentTools:
    return AgentTools([str(many), str(write_tiny_bundle(many.with_name("tiny"), 2))])


def call(tools: AgentTools, name: str, **arguments: Any) -> dict[str, Any]:
    return json.loads(json.dumps(tools.call(name, arguments, StopCondition())))


def translated(tools: AgentTools, text: str | list[str], **arguments: Any) -> list[str]:
    rows = call(tools, "translate", text=text, **arguments)["translations"]
    return [row["translation"] for row in rows]


def test_translations_are_those_of_the_translator_line_by_line(tools: AgentTools, many: Path) -> None:
    first, second, last = (
        one.text
        for one in Translator.load(many).translate(
            ["A man is riding a horse.", "Two dogs run.", TEXTS[2]], source_lang="en", target_lang="de"
        )
    )
    assert translated(tools, TEXTS, source="EN", target="de-DE") == [f"{first}\n\n  {second}\r\n", "", last]
    assert translated(tools, TEXTS[2], target="de") == [last]


def test_a_model_may_be_named_and_the_first_one_is_preferred(tools: AgentTools, many: Path) -> None:
    tiny = str(many.with_name("tiny"))
    rows = [call(tools, "translate", text="dogs", source="en", target="de", model=name) for name in (None, tiny)]
    assert [row["translations"][0]["models"] for row in rows] == [[str(many)], [tiny]]
    assert rows[1]["translations"][0]["translation"] == Translator.load(tiny).translate("dogs").text


def test_two_steps_lead_where_no_model_goes_and_terms_reach_the_last(tools: AgentTools, many: Path) -> None:
    text, terms = "Sie liest ein Buch.", {"Buch": "书"}
    row = call(tools, "translate", text=text, source="de", target="zh", terms=terms)["translations"][0]
    oracle = Pivot.load(many, middle="en").translate(
        text, source_lang="de", target_lang="zh", terms=TermList([Term("Buch", ("书",))])
    )
    assert (row["translation"], row["models"]) == (oracle.text, [str(many)] * 2)
    flagged = [(one["flags"], one["missing_terms"]) for one in row["doubtful"]]
    assert flagged == ([(list(oracle.flags), list(oracle.missing_terms))] if oracle.flags else [])


def test_each_text_has_the_language_that_is_its_own(tools: AgentTools) -> None:
    texts = ["Die Katze sitzt auf der Matte und schläft.", "The cat is sitting on the mat and sleeps."]
    rows = call(tools, "translate", text=texts, target="en")["translations"]
    assert [row["source"] for row in rows] == ["de", "en"]
    assert rows[1] == {**rows[1], "translation": texts[1], "models": [], "doubtful": []}


def test_languages_and_detection_are_those_of_the_server(tools: AgentTools, many: Path) -> None:
    with client_of(many) as client:
        served = {each["code"]: each["name"] for each in client.get("/languages").json()}
        found = client.post("/detect", json={"q": "Zwei Hunde laufen über das grüne Gras."}).json()
    listed = call(tools, "languages")
    assert listed["languages"] == served
    assert listed["models"][0] == {"name": str(many), "sources": ["en", "de"], "targets": ["de", "en", "zh"]}
    assert call(tools, "detect", text="Zwei Hunde laufen über das grüne Gras.")["languages"] == found
    assert call(tools, "detect", text="123 …")["languages"] == []


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("find", {}, "there is no tool find; use translate, detect, languages"),
        ("translate", {"text": "a"}, "target is missing"),
        ("translate", {"text": ["a", 3], "target": "de"}, "text.1: Input should be a valid string"),
        ("translate", {"text": "a", "target": "de", "to": "fr"}, "to: there is no such option"),
        ("translate", {"text": "a", "target": "xx"}, "no model has the language 'xx'; use en, de, zh"),
        ("translate", {"text": "a", "target": "de", "model": "my"}, "there is no model 'my' here; use "),
        ("translate", {"text": "a", "source": "zh", "target": "de"}, "German (de) is not available as a target"),
        ("translate", {"text": "a", "target": "de", "terms": {"a": ""}}, "the term 'a' has an empty target"),
        ("translate", {"text": "a" * 100_001, "target": "de"}, "Invalid request: request (100001) exceeds text limit"),
        ("detect", {}, "text is missing"),
        ("languages", {"of": "de"}, "of: there is no such option"),
    ],
)
def test_a_wrong_call_is_refused_in_one_line(
    tools: AgentTools, name: str, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(ApiError) as refusal:
        tools.call(name, arguments, StopCondition())
    assert refusal.value.message.startswith(message)
    assert "\n" not in refusal.value.message


def test_a_cancelled_call_ends(tools: AgentTools) -> None:
    stop = StopCondition(is_cancelled=lambda: True)
    with pytest.raises(ApiError, match="the translation was cancelled"):
        tools.call("translate", {"text": "Two dogs run.", "source": "en", "target": "de"}, stop)


def test_without_a_name_all_installed_models_are_there_and_a_damaged_one_is_refused(tmp_path: Path) -> None:
    assert "everyday" in [each["name"] for each in call(AgentTools([]), "languages")["models"]]
    damaged = write_tiny_bundle(tmp_path / "damaged")
    (damaged / "config.json").write_text("{}")
    with pytest.raises(BundleError):
        AgentTools([str(damaged)])
