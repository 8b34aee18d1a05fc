"""LibreTranslate's endpoints: its requests, its answers, its errors, word for word."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from serving import ADMIN, KEY, METRICS, client_of, require_server, write_many
from tiny import PAIRS
from word_samples import package, run

from dragoman.documents import FORMATS, parse_document, translate_document
from dragoman.translator import Translator

require_server()

from dragoman.server.server_parts import MOST_WRONG_KEYS  # noqa: E402

SOURCES = [source for source, _ in PAIRS]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_many(tmp_path_factory.mktemp("models") / "many")


@pytest.fixture(scope="module")
def client(model: Path) -> Iterator[Any]:
    with client_of(model, char_limit=200, batch_limit=5, alternatives_limit=4) as client:
        yield client


@pytest.fixture(scope="module")
def oracle(model: Path) -> Translator:
    return Translator.load(model, device="cpu")


def german(oracle: Translator, text: str) -> str:
    return oracle.translate(text, source_lang="en", target_lang="de").text


GOOD: dict[str, Any] = {"q": SOURCES[0], "source": "en", "target": "de"}


@pytest.mark.parametrize(
    "how",
    [
        {"json": GOOD},
        {"data": GOOD},
        {"params": GOOD},
        {"data": {"q": GOOD["q"]}, "params": {"source": "en", "target": "de"}},
        {"files": {name: (None, value) for name, value in GOOD.items()}},
        {"json": {**GOOD, "source": "EN", "target": "de-DE", "format": "text", "unknown": [1]}},
    ],
)
def test_a_text_comes_as_json_form_multipart_or_query(client: Any, oracle: Translator, how: dict[str, Any]) -> None:
    answer = client.post("/translate", **how)
    assert (answer.status_code, answer.json()) == (200, {"translatedText": german(oracle, SOURCES[0])})


def test_html_keeps_its_tags(client: Any, oracle: Translator) -> None:
    texts = [f"<p>{SOURCES[0]}</p>", f'<a href="/x?a=1&amp;b=2">{SOURCES[1]}</a><br><script>x < 1</script>', "<hr>"]
    half = json.dumps({**GOOD, "q": "\ud800<b>", "format": "html"})  # of a surrogate pair
    assert client.post("/translate", content=half, headers={"content-type": "application/json"}).status_code == 200
    sent = {"q": texts, "source": "en", "target": "de", "format": "html", "alternatives": 2}
    first, second = (german(oracle, source) for source in SOURCES[:2])
    assert client.post("/translate", json=sent).json() == {
        "translatedText": [
            f"<p>{first}</p>",
            f'<a href="/x?a=1&amp;b=2">{second}</a><br><script>x < 1</script>',
            "<hr>",
        ],
        "alternatives": [[], [], []],
    }


def test_a_list_gives_a_list(client: Any, oracle: Translator) -> None:
    texts = [*SOURCES, "😀"]
    answer = client.post("/translate", json={**GOOD, "q": texts}).json()
    assert answer == {"translatedText": [*(german(oracle, text) for text in SOURCES), "😀"]}
    for how in ({"data": {**GOOD, "q": texts}}, {"params": {**GOOD, "q": texts}}):  # as libretranslate-aio sends one
        assert client.post("/translate", **how).json() == answer


def test_lines_space_and_emoji_stay(client: Any, oracle: Translator) -> None:
    text = f"\n  {SOURCES[0]}\r\n\r\n\t{SOURCES[1]} \n😀 !\n"
    one, two = german(oracle, SOURCES[0]), german(oracle, SOURCES[1])
    assert client.post("/translate", json={**GOOD, "q": text}).json() == {
        "translatedText": f"\n  {one}\r\n\r\n\t{two} \n😀 !\n"
    }
    in_a_form = client.post("/translate", data={**GOOD, "q": text}).json()["translatedText"]
    assert in_a_form == f"\n  {one}\n\n\t{two} \n😀 !"


def test_alternatives_are_others_and_at_most_so_many(client: Any) -> None:
    for n_wanted in (1, 3, "4"):
        answer = client.post("/translate", json={**GOOD, "alternatives": n_wanted}).json()
        others = answer["alternatives"]
        assert 1 <= len(others) <= int(n_wanted)
        assert len({answer["translatedText"], *others}) == 1 + len(others)
    answer = client.post("/translate", json={**GOOD, "q": SOURCES, "alternatives": 2}).json()
    assert [type(each) for each in answer["alternatives"]] == [list] * len(SOURCES)
    assert "alternatives" not in client.post("/translate", json={**GOOD, "alternatives": -3}).json()


def test_auto_tells_the_language(client: Any) -> None:
    text = "Ein Mann reitet auf einem Pferd, und die Katze sitzt auf der Matte."
    answer = client.post("/translate", json={"q": text, "source": "auto", "target": "en"}).json()
    assert answer["detectedLanguage"]["language"] == "de"
    assert 0 <= answer["detectedLanguage"]["confidence"] <= 100
    both = client.post("/translate", json={"q": [text, "x"], "source": "auto", "target": "de"}).json()
    assert [each["language"] for each in both["detectedLanguage"]] == ["de", "de"]  # the short one as all together
    assert both["translatedText"][0] == text  # it is in the target language
    assert isinstance(answer["detectedLanguage"]["confidence"], int)
    nothing = client.post("/translate", json={"q": "😀", "source": "auto", "target": "de"}).json()
    assert nothing == {"translatedText": "😀", "detectedLanguage": {"confidence": 0, "language": "en"}}


@pytest.mark.parametrize(
    ("text", "code"), [("Il gatto è sul tavolo.", "Italian (it)"), ("Я очень рад тебя видеть.", "Russian (ru)")]
)
def test_a_text_in_a_language_of_no_model_is_refused(client: Any, text: str, code: str) -> None:
    answer = client.post("/translate", json={"q": text, "source": "auto", "target": "de"})
    assert answer.status_code == 400
    assert answer.json() == {"error": f"German (de) is not available as a target language from {code}"}


def test_a_list_in_a_form_is_several_texts(client: Any) -> None:
    several = client.post("/translate", data={**GOOD, "q": json.dumps(SOURCES)}).json()["translatedText"]
    assert several == client.post("/translate", json={**GOOD, "q": SOURCES}).json()["translatedText"]
    for text in ('["a", 1]', '["a"', "[a]"):
        assert isinstance(client.post("/translate", data={**GOOD, "q": text}).json()["translatedText"], str)


def test_a_common_language_leads_to_one_that_no_model_translates_into(client: Any, oracle: Translator) -> None:
    text = "Sie liest ein Buch."
    middle = oracle.translate(text, source_lang="de", target_lang="en").text
    last = oracle.translate(middle, source_lang="en", target_lang="zh").text
    assert client.post("/translate", json={"q": text, "source": "de", "target": "zh"}).json() == {
        "translatedText": last
    }


LONG = {**GOOD, "q": "x" * 201}


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"json": {}}, "Invalid request: missing q parameter"),
        ({"json": {**GOOD, "q": ""}}, "Invalid request: missing q parameter"),
        ({"json": {**GOOD, "q": []}}, "Invalid request: missing q parameter"),
        ({"data": {"q": "x"}}, "Invalid request: missing source parameter"),
        ({"json": {"q": "x", "source": "en"}}, "Invalid request: missing target parameter"),
        ({"json": {**GOOD, "source": "zz"}}, "zz is not supported"),
        ({"json": {**GOOD, "target": "zz"}}, "zz is not supported"),
        (
            {"json": {**GOOD, "source": "zh", "target": "de"}},
            "German (de) is not available as a target language from Chinese (zh)",
        ),
        ({"json": {**GOOD, "format": "rtf"}}, "rtf format is not supported"),
        ({"json": {**GOOD, "format": "pdf"}}, "pdf format is not supported"),
        ({"json": {**GOOD, "alternatives": "x"}}, "Invalid request: alternatives parameter is not a number"),
        ({"json": {**GOOD, "alternatives": [1]}}, "Invalid request: alternatives parameter is not a number"),
        (
            {"content": b'{"q":"x","source":"en","target":"de","alternatives":1e999}', "headers": {}},
            "Invalid request: alternatives parameter is not a number",
        ),
        ({"json": {**GOOD, "alternatives": 5}}, "Invalid request: alternatives parameter must be <= 4"),
        ({"json": LONG}, "Invalid request: request (201) exceeds text limit (200)"),
        ({"json": {**GOOD, "q": ["x"] * 6}}, "Invalid request: request (6) exceeds text limit (5)"),
        ({"json": {**GOOD, "q": 7}}, "Invalid request: q parameter is neither a string nor a list of strings"),
        ({"json": {**GOOD, "q": [7]}}, "Invalid request: q parameter is neither a string nor a list of strings"),
        ({"json": {**GOOD, "source": ["en"]}}, "['en'] is not supported"),
        ({"json": [1]}, "Invalid JSON format"),
        ({"content": b"{", "headers": {}}, "Invalid JSON format"),
        ({"content": b"", "headers": {}}, "Invalid JSON format"),
        ({"content": b"[" * 100_000, "headers": {}}, "Invalid JSON format"),
        ({"content": b"\xff\xfe\x00", "headers": {}}, "Invalid JSON format"),
        ({"content": b'{"q":' + b"9" * 9999 + b"}", "headers": {}}, "Invalid JSON format"),
    ],
)
def test_errors_are_those_of_libretranslate(client: Any, how: dict[str, Any], message: str) -> None:
    if "headers" in how:
        how = {**how, "headers": {"content-type": "application/json"}}
    answer = client.post("/translate", **how)
    assert (answer.status_code, answer.json()) == (400, {"error": message})


def test_other_methods_and_paths_are_refused(client: Any) -> None:
    assert client.get("/translate").status_code == 405
    assert client.post("/languages").status_code == 405
    answer = client.get("/nothing")
    assert (answer.status_code, answer.json()) == (
        404,
        {"error": "there is no GET /nothing here; /spec lists the endpoints"},
    )


def test_detect(client: Any) -> None:
    found = client.post("/detect", data={"q": "Das ist ein schöner Tag, und die Katze schläft."}).json()
    assert found[0]["language"] == "de"
    assert found[0]["confidence"] > 60
    assert client.post("/detect", json={"q": "?!"}).json() == [{"confidence": 0, "language": "en"}]
    assert client.post("/detect", json={}).json() == {"error": "Invalid request: missing q parameter"}


def test_languages_health_and_settings(client: Any) -> None:
    languages = client.get("/languages").json()
    assert {each["code"]: (each["name"], each["targets"]) for each in languages} == {
        "en": ("English", ["de", "en", "zh"]),
        "de": ("German", ["de", "en", "zh"]),
        "zh": ("Chinese", ["zh"]),
    }
    assert client.request("GET", "/languages", data={"api_key": "x"}).json() == languages  # as libretranslatepy asks
    assert client.get("/health").json() == {"status": "ok"}
    settings = client.get("/frontend/settings").json()
    assert settings["language"]["source"] == {"code": "auto", "name": "Auto Detect"}
    assert (settings["charLimit"], settings["supportedFilesFormat"]) == (200, list(FORMATS))
    assert [settings[name] for name in ("apiKeys", "keyRequired", "suggestions", "filesTranslation")] == [
        False,
        False,
        False,
        True,
    ]
    assert client.get("/spec").json()["paths"].keys() >= {"/translate", "/detect", "/languages"}


def test_suggestions_are_disabled(client: Any) -> None:
    answer = client.post("/suggest", json={"q": "a", "s": "b", "source": "en", "target": "de"})
    assert (answer.status_code, answer.json()) == (403, {"error": "Suggestions are disabled on this server."})


def test_a_file_is_translated_and_fetched(client: Any, oracle: Translator) -> None:
    content = f"{SOURCES[0]}\r\n\r\n- {SOURCES[1]}\r\n".encode()
    answer = client.post(
        "/translate_file",
        data={"source": "auto", "target": "de"},
        files={"file": ("../my text.txt", content)},
    )
    url = answer.json()["translatedFileUrl"]
    assert re.fullmatch(r"http://testserver/download_file/[0-9a-f-]{36}\.my_text_de\.txt", url)
    file = client.get(url)
    assert file.text == f"{german(oracle, SOURCES[0])}\r\n\r\n- {german(oracle, SOURCES[1])}\r\n"
    disposition = file.headers["content-disposition"]
    assert disposition == "attachment; filename=\"my_text_de.txt\"; filename*=UTF-8''my%20text_de.txt"
    assert client.get("/download_file/..%2f..%2fetc%2fpasswd").status_code == 404


def test_a_file_is_translated_as_by_the_command(client: Any, oracle: Translator) -> None:
    page = b"<html lang=en><h1>Reading</h1><p>Reading a book...</p><ul><li>...and she is <b>reading</b></ul></html>"
    document = parse_document(page, "html")
    translations = list(translate_document(document, oracle, source_lang="en", target_lang="de"))
    sent = {"data": {"source": "en", "target": "de"}, "files": {"file": ("page.html", page)}}
    written = client.get(client.post("/translate_file", **sent).json()["translatedFileUrl"])
    assert written.content == document.rebuild(translations, "de")
    assert written.text.count("...") == 2


def test_a_report_on_a_file_is_given_on_request(client: Any) -> None:
    page = "<html lang=fr><p>A man sleeps.</p><p>Read 3,817 books.</p></html>"
    files = {"file": ("page.html", page.encode())}
    data = {"source": "en", "target": "de"}
    assert client.post("/translate_file", data=data, files=files).json().keys() == {"translatedFileUrl"}
    report = client.post("/translate_file", data={**data, "report": "true"}, files=files).json()["report"]
    assert report["segments"] == 2
    assert report["flags"].keys() >= {"number"}
    assert (report["flagged"][-1]["number"], report["flagged"][-1]["text"]) == (2, "Read 3,817 books.")
    assert report["to_check"] == len(report["flagged"])
    assert ["in fr" in note and "from en" in note for note in report["notes"]] == [True]


@pytest.mark.parametrize(
    ("value", "status", "has_report"),
    [("True", 200, True), ("1", 200, True), ("false", 200, False), ("0", 200, False), ("", 200, False)]
    + [(word, 400, False) for word in ("no", "2", "null")],
)
def test_a_report_is_asked_for_by_true_or_false(client: Any, value: str, status: int, has_report: bool) -> None:
    data, files = {"source": "en", "target": "de", "report": value}, {"file": ("a.txt", b"A man sleeps.")}
    answer = client.post("/translate_file", data=data, files=files)
    assert (answer.status_code, "report" in answer.json()) == (status, has_report)
    if status == 400:
        assert answer.json()["error"] == "Invalid request: report parameter is neither true nor false"


def test_a_file_in_another_language_is_refused_without_options_of_the_command(client: Any) -> None:
    catalogue = b'<TS language="fr"><context><message><source>A dog</source><translation/></message></context></TS>'
    data, files = {"source": "en", "target": "de"}, {"file": ("a.ts", catalogue)}
    answer = client.post("/translate_file", data=data, files=files)
    assert answer.status_code == 400
    assert answer.json()["error"].endswith("; change the target language, or language in the file")


def test_terms_are_obeyed_in_a_file(client: Any) -> None:
    sent = {"files": {"file": ("a.txt", b"A man sleeps.\nA dog sleeps.\n")}}
    data = {"source": "en", "target": "de", "report": "true"}
    answer = client.post("/translate_file", data={**data, "terms": "man = Mann\ncat = Katze"}, **sent).json()
    first, second = client.get(answer["translatedFileUrl"]).text.splitlines()
    assert "Mann" in first or [one["missing_terms"] for one in answer["report"]["flagged"]][:1] == [["man"]]
    plain = client.get(client.post("/translate_file", data=data, **sent).json()["translatedFileUrl"]).text.splitlines()
    assert (first != plain[0], second == plain[1]) == (True, True)
    refused = client.post("/translate_file", data={**data, "terms": "man ="}, **sent)
    assert refused.status_code == 400
    assert "line 1 of the terms has no target" in refused.json()["error"]


def test_subtitles_are_translated_as_by_the_command(client: Any, oracle: Translator) -> None:
    texts = f"{SOURCES[0]}\n{SOURCES[1]}\n\n- {SOURCES[1]}\n- (laughs) {SOURCES[0]}"
    film = f"\ufeff1\n00:00:01,000 --> 00:00:02,000\n{texts}\n".replace("\n", "\r\n").encode()
    document = parse_document(film, "srt")
    translations = list(translate_document(document, oracle, source_lang="en", target_lang="de"))
    sent = {"data": {"source": "en", "target": "de"}, "files": {"file": ("film.srt", film)}}
    written = client.get(client.post("/translate_file", **sent).json()["translatedFileUrl"])
    assert len(translations) == 4
    assert written.content == document.rebuild(translations, "de")


def test_a_file_of_word_is_translated(client: Any, oracle: Translator) -> None:
    content = package(f"<w:p>{run(SOURCES[0])}</w:p>")
    answer = client.post(
        "/translate_file", data={"source": "en", "target": "de"}, files={"file": ("letter.DOCX", content)}
    )
    file = client.get(answer.json()["translatedFileUrl"])
    assert file.headers["content-type"].endswith("wordprocessingml.document")
    (segment,) = parse_document(file.content, "docx").segments()
    assert segment.text == german(oracle, SOURCES[0])


def test_a_table_is_translated_in_its_columns(client: Any, oracle: Translator) -> None:
    table = {"files": {"file": ("my.csv", f"id;text\n7;{SOURCES[0]}\n".encode())}}
    answer = client.post("/translate_file", data={"source": "en", "target": "de", "columns": "text"}, **table)
    assert client.get(answer.json()["translatedFileUrl"]).text == f"id;text\n7;{german(oracle, SOURCES[0])}\n"
    for columns, message in (
        (
            {},
            "not named: my.csv; name those of text in the field columns, such as columns=text; the first",
        ),
        ({"columns": "x"}, "column x"),
        ({"columns": "text=a,text=b"}, "column text is named twice"),
    ):
        answer = client.post("/translate_file", data={"source": "en", "target": "de", **columns}, **table)
        assert answer.status_code == 400
        assert message in answer.json()["error"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.docx", b"PK", "this is no .docx"),
        ("a.doc", b"x", "Invalid request: file format not supported; this server reads .txt .html"),
        ("a.txt", b"\xff\xff", "invalid UTF-8"),
        ("a.txt", b"%PDF-1.4 ", "PDF"),
        ("a.txt", b"x" * 300, "exceeds text limit"),
    ],
)
def test_a_file_that_cannot_be_translated(client: Any, name: str, content: bytes, message: str) -> None:
    answer = client.post("/translate_file", data={"source": "en", "target": "de"}, files={"file": (name, content)})
    assert answer.status_code == 400
    assert message in answer.json()["error"]


def test_a_file_that_is_missing(client: Any) -> None:
    for how in ({"data": GOOD}, {"files": {"file": (None, "text")}}):
        assert client.post("/translate_file", **how).json() == {"error": "Invalid request: missing file parameter"}


def test_files_can_be_disabled(model: Path) -> None:
    with client_of(model, disable_files_translation=True) as client:
        answer = client.post("/translate_file", data=GOOD, files={"file": ("a.txt", b"x")})
        assert (answer.status_code, answer.json()) == (403, {"error": "Files translation are disabled on this server."})
        assert client.get("/frontend/settings").json()["supportedFilesFormat"] == []


def test_keys_are_asked_for_where_texts_are_sent(model: Path) -> None:
    with client_of(model, api_keys=[KEY, "another-key"]) as client:
        answer = client.post("/translate", json=GOOD)
        message = "Please contact the server operator to get an API key"
        assert (answer.status_code, answer.json()) == (400, {"error": message})
        answer = client.post("/translate", json={**GOOD, "api_key": "wrong"})
        assert (answer.status_code, answer.json()) == (403, {"error": "Invalid API key"})
        for how in (
            {"json": {**GOOD, "api_key": KEY}},
            {"data": {**GOOD, "api_key": "another-key"}},
            {"params": {**GOOD, "api_key": KEY}},
            {"json": GOOD, "headers": {"authorization": f"Bearer {KEY}"}},
        ):
            assert client.post("/translate", **how).status_code == 200
        half = {"content": b'{"q": "x", "api_key": "\\ud800"}', "headers": {"content-type": "application/json"}}
        assert client.post("/detect", **half).status_code == 403
        assert client.post("/translate_file", data=GOOD, files={"file": ("a.txt", b"x")}).status_code == 400
        assert client.get("/languages").status_code == 200
        assert client.get("/frontend/settings").json()["keyRequired"]


def test_who_guesses_keys_must_wait(model: Path) -> None:
    settings: dict[str, Any] = {"api_keys": [KEY], "admin_key": ADMIN, "metrics": True, "metrics_key": METRICS}
    asks: list[tuple[str, str, dict[str, Any]]] = [
        ("POST", "/translate", {"json": GOOD}),
        ("POST", "/v1/models", {"json": {"model": "x"}}),
        ("GET", "/metrics", {}),
    ]
    for method, path, body in asks:
        with client_of(model, **settings) as client:

            def ask(key: str, how: tuple[str, str, dict[str, Any]] = (method, path, body), client: Any = client) -> Any:
                method, path, body = how
                return client.request(method, path, headers={"authorization": f"Bearer {key}"}, **body)

            statuses = [ask(f"wrong-key-{number}").status_code for number in range(MOST_WRONG_KEYS + 2)]
            assert set(statuses[:MOST_WRONG_KEYS]) <= {401, 403}
            assert statuses[MOST_WRONG_KEYS:] == [429, 429]
            answer = ask(KEY)
            assert (answer.status_code, answer.headers["retry-after"] > "0") == (429, True)
            assert client.get("/languages").status_code == 200


def test_right_keys_are_not_counted(model: Path) -> None:
    with client_of(model, api_keys=[KEY]) as client:
        answers = [client.post("/translate", json={**GOOD, "api_key": KEY}) for _ in range(2 * MOST_WRONG_KEYS)]
        assert {answer.status_code for answer in answers} == {200}


def test_a_prefix_is_before_every_path(model: Path) -> None:
    with client_of(model, url_prefix="/my/translator") as client:
        assert client.post("/my/translator/translate", json=GOOD).status_code == 200
        assert client.post("/translate", json=GOOD).status_code == 404
        assert client.get("/my/translator/health").headers["access-control-allow-origin"] == "*"
        sent = {"data": {"source": "en", "target": "de"}, "files": {"file": ("a.txt", b"A man.")}}
        url = client.post("/my/translator/translate_file", **sent).json()["translatedFileUrl"]
        assert url.startswith("http://testserver/my/translator/download_file/")
        assert client.get(url).status_code == 200


def test_it_can_be_a_part_of_another_application(model: Path) -> None:
    from fastapi import FastAPI
    from serving import server_config
    from starlette.testclient import TestClient

    from dragoman.server import app

    (main := FastAPI()).mount("/tools/translator", app(server_config(model)))
    with TestClient(main) as client:
        answer = client.post("/tools/translator/translate", json=GOOD)
        assert answer.status_code == 200
        assert answer.headers["access-control-allow-origin"] == "*"


def test_a_web_page_is_translated_with_its_tags(client: Any) -> None:
    page = b"<html lang=en><p>She is <b>reading</b> a book. <code>x &lt; y</code></p><p>***</p></html>"
    sent = {"data": {"source": "en", "target": "de"}, "files": {"file": ("page.html", page)}}
    written = client.get(client.post("/translate_file", **sent).json()["translatedFileUrl"]).text
    assert written.startswith('<html lang="de"><p>')
    assert written.endswith("</p><p>***</p></html>")
    assert all(written.count(tag) == 1 for tag in ("<b>", "</b>", "<code>x &lt; y</code>"))
