"""Term lists of requests, and of the server by name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from serving import client_of, require_server

from dragoman.errors import ConfigError, DataError
from dragoman.settings.sections import parse_section
from dragoman.settings.server_config import ServerConfig

require_server()

from dragoman.server.term_lists import terms_in  # noqa: E402
from dragoman.text.terms import Term, TermList  # noqa: E402

TEXT = "The horse needs a ticket."


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    path = tmp_path_factory.mktemp("terms") / "animals.csv"
    path.write_text("source,target,do-not-translate\nhorse,Gaul*,\nFoo,,yes\n", encoding="utf-8")
    with client_of(Path("everyday"), terms=(f"animals={path}",)) as client:
        yield client


def translate(client: Any, *texts: object, **options: object) -> list[Any]:
    response = client.post("/v1/translate", json={"source": "en", "target": "de", "texts": [*texts], **options})
    assert response.status_code == 200, response.text
    return list(response.json()["translations"])


def test_terms_come_with_the_request_or_by_name(client: Any) -> None:
    given = [{"source": "ticket", "targets": ["Fahrausweis"]}, {"source": "Foo", "targets": ["Bar"]}]
    plain, both, own, lines = translate(
        client,
        {"text": TEXT, "terms": [], "term_lists": []},
        TEXT,
        {"text": TEXT, "terms": [{"source": "horse", "targets": ["Klepper"]}]},
        {"text": TEXT, "terms": "horse = Ross | Rösser\n\nticket"},
        terms=given,
        term_lists=["animals"],
    )
    assert not any(word in plain["text"] for word in ("Gaul", "Fahrausweis", "Klepper", "Ross"))
    assert all(word in both["text"] for word in ("Gaul", "Fahrausweis"))
    assert "Klepper" in own["text"]
    assert "Gaul" not in own["text"]
    assert all(word in lines["text"] for word in ("Ross", "ticket"))
    assert all(line["missing_terms"] == [] for one in (plain, both, own, lines) for line in one["lines"])
    assert client.get("/v1/terms").json() == {"animals": 2}


def test_a_translation_through_another_language_names_what_it_lacks(client: Any) -> None:
    body = {
        "source": "zh",
        "target": "de",
        "texts": ["马在 Foo 睡觉。"],
        "term_lists": ["animals"],
        "terms": "马 = Gaul",
    }
    (found,) = client.post("/v1/translate", json=body).json()["translations"]
    assert found["via"] == "en"
    assert "Foo" in found["text"]
    is_missing = "Gaul" not in found["text"]
    assert found["lines"][0]["missing_terms"] == (["马"] if is_missing else [])
    assert ("term_missing" in found["flags"]) is is_missing


def test_a_stream_has_its_terms(client: Any) -> None:
    body = {"source": "en", "target": "de", "text": TEXT, "term_lists": ["animals"]}
    answer = client.post("/v1/translate/stream", json=body)
    assert "Gaul" in answer.text.split("event: done")[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"term_lists": ["plants"]}, "no term list plants (the server's: animals)"),
        ({"terms": "a = b\nc ="}, "line 2 of the terms has no target; write: source = target"),
        ({"terms": [{"source": " "}]}, "a term has no source; write the words that it stands for"),
        ({"terms": [{"source": "a", "targets": ["*"]}]}, "the term 'a' has an empty target; write one, or none at all"),
        ({"terms": [{"source": "a"}] * 1_001}, "more than 1,000 terms, or 4,000 translations of them; the operator"),
        ({"terms": "\r".join(["a = b"] * 1_001)}, "more than 1,000 terms"),
        ({"terms": [{"source": "a", "targets": ["b"] * 4_001}]}, "more than 1,000 terms, or 4,000 translations"),
        ({"terms": f"a = {'b|' * 4_001}"}, "more than 1,000 terms, or 4,000 translations"),
        ({"terms": f"a = {'b' * 201}"}, "a term or a translation of more than 200 characters: bbbb"),
        ({"terms": [{"source": "a" * 201}]}, "a term or a translation of more than 200 characters: aaaa"),
        ({"terms": [{"source": "a", "target": "b"}]}, "target"),
        ({"terms": 5}, "terms"),
    ],
)
def test_wrong_terms_are_told(client: Any, options: dict[str, object], message: str) -> None:
    response = client.post("/v1/translate", json={"source": "en", "target": "de", "texts": ["a"], **options})
    assert response.status_code == 400
    assert message in response.json()["error"]


@pytest.mark.parametrize("entries", [("a.csv",), ("=a.csv",), ("a b=c.csv",), ("a=",), ("a=b.csv", "a=c.csv")])
def test_a_list_has_a_name_of_its_own(entries: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError, match=r"terms: .*(no NAME=FILE|the same name)"):
        parse_section(ServerConfig, {"terms": entries})


def test_a_server_does_not_start_without_its_lists(tmp_path: Path) -> None:
    with (
        pytest.raises(DataError, match=r"no\.csv"),
        client_of(Path("everyday"), terms=(f"a={tmp_path / 'no.csv'}",)),
    ):
        pass


def test_of_terms_with_the_same_source_the_first_list_counts() -> None:
    lists = [TermList([Term("a", ("x",))]), TermList([Term("A", ("y",)), Term("b", ("z",))])]
    assert terms_in("a B c", lists) == (Term("a", ("x",)), Term("b", ("z",)))
    assert terms_in("b", lists[:1]) == ()


def test_the_inside_of_a_line_with_terms_is_not_shown(client: Any) -> None:
    """The search that could be shown is not the one that obeyed the terms. Terms that a line lacks change nothing."""
    for options, is_shown in (
        ({}, True),
        ({"terms": "table = Tisch"}, True),
        ({"terms": "ticket = Fahrausweis"}, False),
        ({"term_lists": ["animals"]}, False),
    ):
        (one,) = translate(client, TEXT, inside=True, **options)
        assert (one["inside"] is not None) == is_shown
        assert not is_shown or one["inside"]["target_text"] == one["text"]
