"""Inspection shows what the model did."""

import json
import math
import random
import re
import sys
from pathlib import Path

import pytest
import torch
from extras import import_extra
from tiny import PAIRS, tiny_model, tiny_tokenizers, write_tiny_bundle

from dragoman.alignment.capture import KINDS
from dragoman.alignment.word_spans import words
from dragoman.bundle.bundle import load_bundle
from dragoman.cli.program import run
from dragoman.errors import ConfigError, DataError
from dragoman.inspection import Attention, inspect_attention, inspect_search
from dragoman.inspection.attention_maps import attention_page, attention_text
from dragoman.inspection.curves import read_curves
from dragoman.inspection.head_choice import agreement, best_heads, choose_heads, diagonal, most_probable, silver_links
from dragoman.inspection.neighbours import nearest_neighbours
from dragoman.inspection.pictures import draw_attention, draw_curves, to_image
from dragoman.inspection.search_tree import search_text
from dragoman.settings.search_config import SearchConfig
from dragoman.text.special_ids import SpecialIds
from dragoman.translator import Request, Translation, Translator

pytestmark = pytest.mark.torch

EOS_ID = SpecialIds().end

TEXT = "A man is riding a horse."
PNG = b"\x89PNG\r\n"


def make_translator(*seeds: int, kind: str = "bpe", search: SearchConfig | None = None) -> Translator:
    tokenizers = tiny_tokenizers(kind)
    layers = {"n_encoder_layers": 3, "n_decoder_layers": 2, "max_length": 30}
    models = [tiny_model(tokenizers, seed, **layers) for seed in seeds or (1,)]
    for model in models:
        model.output_projection.bias.data[EOS_ID] += 3  # or they would hardly ever end
    return Translator(models, tokenizers, search or SearchConfig(beam_size=4))


def best_found(translator: Translator) -> Translation:
    """Return the translation of the text that the search prefers, whatever numbers it has."""
    plan = translator.pipeline.plan([Request(TEXT)], translator.search_config(n_best=1))
    return translator.pipeline.finish(plan, translator.pipeline.search(plan.jobs))[0]


@pytest.fixture(scope="module")
def translator() -> Translator:
    return make_translator()


# ----------------------------------------------------------------------------------------------------- attention


def test_the_models_own_translation_is_inspected(translator: Translator) -> None:
    own = best_found(translator)
    attention = inspect_attention(translator, TEXT)
    assert attention.target_text == own.text
    ended = attention.written[-1] == "<eos>"
    assert attention.written[: len(own.tokens)] == own.tokens
    assert attention.read == ("<sos>", *attention.written[:-1])
    assert len(attention.written) == len(own.tokens) + ended
    n_source, n_target = len(attention.source), len(attention.read)
    assert attention.encoder.shape == (3, 2, n_source, n_source)
    assert attention.decoder.shape == (2, 2, n_target, n_target)
    assert attention.cross.shape == (2, 2, n_target, n_source)
    for kind in KINDS:
        rows, columns = attention.weights(kind).shape[2:]
        assert (rows, columns) == (len(attention.queries(kind)), len(attention.keys(kind)))
        torch.testing.assert_close(attention.weights(kind).sum(-1), torch.ones(attention.weights(kind).shape[:3]))


def test_a_given_translation_is_inspected(translator: Translator) -> None:
    attention = inspect_attention(translator, TEXT, "Ein Mann.")
    pieces = translator.tokenizers.target.split("Ein Mann.")
    assert attention.read == ("<sos>", *pieces)
    assert attention.written == (*pieces, "<eos>")
    values = json.loads(json.dumps(attention.to_dict()))
    assert values["written"] == [*pieces, "<eos>"]
    torch.testing.assert_close(torch.tensor(values["cross"]), attention.cross, atol=1e-6, rtol=0)


def test_a_recurrent_decoder_has_no_attention_to_itself() -> None:
    tokenizers = tiny_tokenizers()
    translator = Translator([tiny_model(tokenizers, decoder_layer="ssru")], tokenizers)
    attention = inspect_attention(translator, TEXT)
    assert attention.to_dict()["decoder"] == []
    assert len(attention.weights("cross")) == len(attention.weights("encoder")) == 1
    with pytest.raises(ConfigError, match="no self-attention"):
        attention_text(attention, "decoder", 0)
    page = attention_page(attention).decode().replace(" ", "")
    assert '"cross":[[' in page
    assert '"decoder":[' not in page


def test_unknown_words_are_shown_as_they_are() -> None:
    attention = inspect_attention(make_translator(kind="characters"), "A ☃.", "Ein.")
    assert attention.source == ("A", " ", "☃", ".", "<eos>")


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        ("", None, "source text is empty"),
        (" \x00 ", None, "source text is empty"),
        ("a", " ", "target text is empty"),
        ("word " * 40, None, "source text is longer than the 29 tokens"),
        ("a", "word " * 40, "target text is longer than the 29 tokens"),
    ],
)
def test_texts_that_cannot_be_read_are_named(
    translator: Translator, source: str, target: str | None, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        inspect_attention(translator, source, target)
    if target is None:
        with pytest.raises(DataError, match=message):
            inspect_search(translator, source)


def test_an_ensembles_attention_is_refused() -> None:
    with pytest.raises(ConfigError, match="ensemble of 2"):
        inspect_attention(make_translator(1, 2), TEXT)


def test_the_table_names_what_each_token_attends_to(translator: Translator) -> None:
    attention = inspect_attention(translator, TEXT, "Ein Mann.")
    lines = attention_text(attention, "cross", 1, 0).split("\n")[4:]
    for line, token, row in zip(lines, attention.written, attention.cross[1, 0], strict=True):
        assert line.split()[:3] == [token, f"{row.max():.3f}", attention.source[int(row.argmax())]]


# -------------------------------------------------------------------------------------------------------- search

SEARCHES = [
    {"beam_size": 1},
    {"beam_size": 5},
    {"beam_size": 6, "length_penalty": 0.0},
    {"beam_size": 3, "length_penalty": 2.0, "max_length": 9},
    {"beam_size": 4, "no_repeat_ngram": 1, "min_length": 4},
    {"beam_size": 3, "n_best": 3},
]


@pytest.mark.parametrize("options", SEARCHES)
@pytest.mark.parametrize("seeds", [(1,), (2,), (3, 4)])
def test_the_tree_is_that_of_the_search(options: dict[str, object], seeds: tuple[int, ...]) -> None:
    config = SearchConfig.model_validate(options)
    translator = make_translator(*seeds, search=config)
    own = best_found(translator)
    tree = inspect_search(translator, TEXT)
    assert tree.target_text == own.text
    assert tuple(map(tree.token, tree.best.ids)) in (own.tokens, (*own.tokens, "<eos>"))
    assert tree.best.score(config.length_penalty) == pytest.approx(own.score)
    assert tree.best.total == pytest.approx(own.alternatives[0].log_prob)
    source_ids = translator.tokenizers.source.encode(TEXT)
    for node in tree.nodes():
        ids = [id for id in node.ids if id != EOS_ID][: translator.max_length]
        (forced,) = translator.forced_decoder.log_probs([(source_ids, ids)])
        known = len(ids) + (node.fate == "finished")
        assert [each.log_prob for each in node.path[:known]] == pytest.approx(forced[:known], abs=1e-4)


@pytest.mark.parametrize("options", SEARCHES)
def test_every_hypothesis_has_the_right_sums_and_one_fate(options: dict[str, object]) -> None:
    config = SearchConfig.model_validate(options)
    tree = inspect_search(make_translator(2, search=config), TEXT)
    ended = 0
    by_length: dict[int, list[str]] = {}
    for node in tree.nodes():
        assert node.parent is not None
        assert node.total == pytest.approx(node.parent.total + node.log_prob, abs=1e-4)
        assert node.total == pytest.approx(math.fsum(each.log_prob for each in node.path), abs=1e-4)
        assert bool(node.children) == (node.fate == "lived")
        assert (node.id == EOS_ID) == (node.fate == "finished")
        assert len({child.id for child in node.children}) == len(node.children)
        by_length.setdefault(node.length, []).append(node.fate)
    for length in sorted(by_length):
        assert len(by_length[length]) <= config.beam_size - ended
        ended += sum(fate in ("finished", "cut") for fate in by_length[length])
    scores = [node.score(config.length_penalty) for node in tree.nodes() if node.fate == "finished"]
    assert not scores or max(scores) == tree.best.score(config.length_penalty)


def test_rivals_are_the_most_probable_other_tokens(translator: Translator) -> None:
    tree = inspect_search(translator, TEXT)
    for node in tree.nodes():
        assert node.parent is not None
        probabilities = dict(node.parent.nearest)
        assert list(probabilities.values()) == sorted(probabilities.values(), reverse=True)
        if node.id in probabilities:
            assert math.exp(node.log_prob) == pytest.approx(probabilities[node.id], rel=1e-4)
        assert node.id not in dict(node.rivals)


def test_the_tree_is_shown_as_text_and_data(translator: Translator) -> None:
    tree = inspect_search(translator, TEXT, beam_size=3)
    lines = search_text(tree).split("\n")
    n_leaves = sum(not node.children for node in tree.nodes())
    first = next(number for number, line in enumerate(lines) if line.endswith("it leaves the one above it"))
    assert lines[first + 1].split()[0] == f"{tree.best.total:.3f}"
    assert lines[first + n_leaves + 1] == "", "a line for each hypothesis that ended"
    nodes = json.loads(json.dumps(tree.to_dict()))["nodes"]
    assert len(nodes) == len(list(tree.nodes()))
    for node in nodes:
        above = nodes[node["parent"]]["total"] if node["parent"] >= 0 else 0.0
        assert node["total"] == pytest.approx(above + node["log_prob"], abs=1e-4)
    assert [node["token"] for node in nodes if node["best"]] == [tree.token(id) for id in tree.best.ids]


def test_a_beam_size_out_of_range_is_refused(translator: Translator) -> None:
    with pytest.raises(ConfigError, match="beam_size"):
        inspect_search(translator, TEXT, beam_size=0)


# ---------------------------------------------------------------------------------------------------- neighbours


def test_neighbours_have_the_smallest_angles(translator: Translator) -> None:
    table = translator.models[0].source_embedding.tokens.weight.detach().double()
    tokenizer = translator.tokenizers.source
    names = tokenizer.pieces(range(tokenizer.vocab_size))
    found = nearest_neighbours(translator, "▁a", n=5)
    own = names.index("▁a")
    cosines = {
        name: float(torch.cosine_similarity(table[own], table[id], dim=0))
        for id, name in enumerate(names)
        if id >= 4 and id != own
    }
    expected = sorted(cosines, key=lambda name: -cosines[name])[:5]
    assert [name for name, _ in found.nearest] == expected
    assert [cosine for _, cosine in found.nearest] == pytest.approx([cosines[name] for name in expected], abs=1e-5)


def test_a_word_that_is_not_one_token_is_refused() -> None:
    with pytest.raises(DataError, match=r"'horsehorse' is \d+ tokens"):
        nearest_neighbours(make_translator(), "horsehorse")
    with pytest.raises(DataError, match="does not have the word '☃'"):
        nearest_neighbours(make_translator(kind="characters"), "☃")


# ----------------------------------------------------------------------------------------------------- alignment


def made_up_pairs(n: int) -> tuple[list[tuple[list[str], list[str]]], list[dict[int, int]]]:
    """Sentences translated word by word into another order, with the source word of each target word."""
    draw = random.Random(1)
    pairs, orders = [], []
    for _ in range(n):
        numbers = draw.sample(range(20), draw.randint(2, 7))
        order = draw.sample(range(len(numbers)), len(numbers))
        pairs.append(([f"w{each}" for each in numbers], [f"t{numbers[place]}" for place in order]))
        orders.append(dict(enumerate(order)))
    return pairs, orders


def test_ibm_model_1_finds_a_dictionary_whatever_the_order() -> None:
    pairs, orders = made_up_pairs(300)
    found = most_probable(*zip(*pairs, strict=True))
    assert [dict(enumerate(each)) for each in found] == orders
    dressed = [(source, [f"„{word.upper()}“," for word in target]) for source, target in pairs]
    links = silver_links([*dressed[20:], ([], ["x"])], dressed[:20])
    assert links == [{(source, target) for target, source in order.items()} for order in orders[:20]]


def test_the_heads_that_agree_are_chosen() -> None:
    draw = torch.Generator().manual_seed(1)
    reference, maps = [], []
    for _ in range(40):
        order = torch.randperm(6, generator=draw)
        truth = torch.eye(6)[order]
        noise = torch.rand(2, 3, 6, 6, generator=draw)
        read = noise.clone()
        read[1, 2, :3], read[0, 1, 3:] = truth[:3] * 9, truth[3:] * 9  # each knows one half of the words
        maps.append((noise.numpy(), read.numpy()))
        reference.append({(int(source), target) for target, source in enumerate(order)})
    heads = best_heads(maps, reference)
    assert (set(heads.heads), heads.shifted) == ({(1, 2), (0, 1)}, True)


def test_agreement_is_counted() -> None:
    found = agreement("x", [{(0, 0), (1, 1)}, {(2, 2)}], [{(0, 0)}, {(1, 1), (2, 2)}])
    assert (found.recall, found.error_rate) == (pytest.approx(2 / 3), pytest.approx(1 / 3))
    assert diagonal(("a b c d", "x y")) == {(1, 0), (3, 1)}
    assert diagonal(("a", "x y")) == {(0, 0), (0, 1)}


def test_heads_are_measured_on_pairs_that_did_not_choose_them(translator: Translator) -> None:
    choice = choose_heads(translator, PAIRS * 3, [*PAIRS, ("", "x"), ("word " * 90, "x")])
    assert choice.n_pairs == len(PAIRS) // 2
    assert {each.name for each in choice.agreements} == {"diagonal", "heads by default", "heads chosen"}
    assert all(0 <= each.recall <= 1 and 0 <= each.error_rate <= 1 for each in choice.agreements)
    assert all(layer < 2 and head < 2 for layer, head in choice.heads.heads)
    with pytest.raises(DataError, match="1 sentence pairs"):
        choose_heads(translator, PAIRS, PAIRS[:1])


# ------------------------------------------------------------------------------------------------------ pictures


def test_curves_are_those_of_the_log(reference: Path) -> None:
    curves = read_curves(reference)
    records = [json.loads(line) for line in (reference / "metrics.jsonl").read_text().strip().split("\n")]
    assert curves.name == "run"
    assert curves.training_loss == [(each["step"], each["training_nll"]) for each in records if "training_nll" in each]
    assert curves.validation_bleu == [
        (each["step"], each["validation_bleu"]) for each in records if "validation_bleu" in each
    ]
    assert read_curves(reference / "metrics.jsonl") == curves
    import_extra("matplotlib", "plot")
    drawn = [list(line.get_xdata()) for line in draw_curves([curves]).axes[0].get_lines()]
    assert drawn == [[step for step, _ in curve] for curve in (curves.training_loss, curves.validation_loss)]


def test_broken_lines_of_a_log_are_skipped(tmp_path: Path) -> None:
    log = tmp_path / "metrics.jsonl"
    lines = [
        '{"step": 1, "training_nll": 2.5, "lr": null}',
        "[1]",
        '{"step": "x", "training_nll": 1}',
        '{"step": 2, "training_nll": true}',
        '{"step": 3, "training_nll": 1.5}',
        '{"st',
    ]
    log.write_text("\n".join(lines))
    assert read_curves(tmp_path).training_loss == [(1, 2.5), (3, 1.5)]
    log.write_text('{"st')
    with pytest.raises(DataError, match="nothing has been logged yet"):
        read_curves(tmp_path)
    with pytest.raises(DataError, match="no metrics of a run"):
        read_curves(tmp_path / "nothing")


def hostile_attention() -> Attention:
    return inspect_attention(make_translator(kind="characters"), "$x^ \\ 猫<b>", "$$_{")


def test_dollar_signs_in_tokens_start_no_formula() -> None:
    import_extra("matplotlib", "plot")
    assert to_image(draw_attention(hostile_attention(), "cross", 0, 0), ".png").startswith(PNG)


def test_the_picture_has_the_weights(translator: Translator) -> None:
    import_extra("matplotlib", "plot")
    attention = inspect_attention(translator, TEXT)
    for kind in KINDS:
        weights = attention.weights(kind)
        axes = [each for each in draw_attention(attention, kind).axes if each.get_title()]
        assert len(axes) == weights.size(0) * weights.size(1)
        for each, expected in zip(axes, weights.flatten(0, 1), strict=True):
            torch.testing.assert_close(torch.tensor(each.get_images()[0].get_array().tolist()), expected)


def test_pictures_need_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ConfigError, match=r'pictures need matplotlib; install it: .*"dragoman\[plot\]"'):
        draw_attention(hostile_attention(), "cross")


# -------------------------------------------------------------------------------------------------- command line


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_bundle(tmp_path_factory.mktemp("models") / "tiny", max_length=40)


def dragoman(capture: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = run([str(argument) for argument in arguments])
    out, err = capture.readouterr()
    return code, out, err


def test_the_commands_write_their_output_files(
    bundle: Path, tmp_path: Path, reference: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    commands = [
        ["attention", "-m", bundle, TEXT, "-o", "a.html"],
        ["attention", "-m", bundle, TEXT, "--target", "Ein.", "--layer", "1", "--head", "2", "-o", "a.png"],
        ["attention", "-m", bundle, TEXT, "--kind", "encoder", "-o", "a.json"],
        ["search", "-m", bundle, "-m", bundle, TEXT, "-o", "s.html"],
        ["search", "-m", bundle, TEXT, "--beam-size", "3", "-o", "s.json"],
        ["curves", reference, "-o", "c.png"],
        ["curves", reference, reference, "-o", "c.svg"],
        ["curves", reference, "-o", "d.PNG"],
        ["search", "-m", bundle, TEXT, "-o", "t.JSON"],
    ]
    beginnings = {".html": b"<!doctype html>", ".png": PNG, ".json": b"{", ".svg": b"<?xml"}
    for command in commands:
        output = tmp_path / str(command[-1])
        code, out, err = dragoman(capsys, "inspect", *command[:-1], output)
        assert (code, out, err) == (0, "", f"wrote {output}\n")
        assert output.read_bytes().startswith(beginnings[output.suffix.lower()])
    code, _, err = dragoman(capsys, "inspect", "curves", reference, "-o", tmp_path / "c.png")
    assert (code, "the output exists" in err) == (1, True)
    assert dragoman(capsys, "inspect", "curves", reference, "-o", tmp_path / "c.png", "--overwrite")[0] == 0


def test_the_commands_print(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    translator = Translator.load(bundle, device="cpu")
    _, out, err = dragoman(capsys, "inspect", "attention", "-m", bundle, TEXT)
    assert out.split("\n")[:2] == [TEXT, translator.translate(TEXT).text]
    assert err == ""
    _, out, _ = dragoman(capsys, "inspect", "search", "-m", bundle, TEXT)
    assert out.rstrip("\n") == search_text(inspect_search(translator, TEXT))
    _, out, _ = dragoman(capsys, "inspect", "neighbours", "-m", bundle, "▁a", "<0x41>", "--n", "3", "--side", "target")
    assert [line.strip() == line for line in out.rstrip("\n").split("\n")] == [True, False, False, False] * 2


def test_a_model_with_chosen_heads_is_saved(bundle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, texts in zip(("t.en", "t.de"), zip(*PAIRS * 3, strict=True), strict=True):
        (tmp_path / name).write_text("\n".join(texts) + "\n", encoding="utf-8")
    files = ["--source", tmp_path / "t.en", "--target", tmp_path / "t.de"]
    code, out, err = dragoman(capsys, "inspect", "alignment", "-m", bundle, *files, "-o", tmp_path / "aligned")
    assert (code, "diagonal" in out, "translate --align" in err) == (0, True, True)
    aligned = Translator.load(tmp_path / "aligned")
    chosen = [(int(layer) - 1, int(head) - 1) for layer, head in re.findall(r"layer (\d+) head (\d+)", out)]
    assert [*aligned.alignment.heads] == chosen
    assert load_bundle(tmp_path / "aligned").facts["step"] == 1
    links = aligned.translate(TEXT, align=True)
    assert all(source < len(words(TEXT)) for source, _ in links.alignment or ())
    assert dragoman(capsys, "inspect", "alignment", "-m", bundle, *files, "-o", tmp_path / "aligned")[0] == 1


def test_a_folder_that_cannot_be_made_is_refused_before_heads_are_measured(
    bundle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dragoman.inspection.head_choice.choose_heads", lambda *_: pytest.fail("heads are measured"))
    (tmp_path / "file").touch()
    for name in ("t.en", "t.de"):
        (tmp_path / name).write_text("A man\n", encoding="utf-8")
    files = ["--source", tmp_path / "t.en", "--target", tmp_path / "t.de"]
    code, out, err = dragoman(capsys, "inspect", "alignment", "-m", bundle, *files, "-o", tmp_path / "file" / "aligned")
    assert (code, out) == (1, "")
    assert err == f"error: this is no folder: {tmp_path / 'file'}; choose another --output\n"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["attention", "-m", "BUNDLE", "x", "-o", "a.gif"], 2, "unknown kind of file '.gif'"),
        (["attention", "-m", "BUNDLE", ""], 1, "the source text is empty"),
        (["attention", "-m", "BUNDLE", "x", "--layer", "2"], 2, "there is no layer 2; choose one of 1 to 1"),
        (["attention", "-m", "BUNDLE", "x", "--head", "0"], 2, "there is no head 0"),
        (["attention", "-m", "BUNDLE", "-m", "BUNDLE", "x"], 2, "--model is given more than once"),
        (["attention", "-m", "nothing", "x"], 3, "no such model"),
        (["search", "-m", "BUNDLE", "x", "-o", "a.png"], 2, "unknown kind of file '.png'"),
        (["search", "-m", "BUNDLE", "x" * 999], 1, "longer than the 39 tokens"),
        (["neighbours", "-m", "BUNDLE", "zebrazebra"], 1, "'zebrazebra' is"),
        (["alignment", "-m", "BUNDLE"], 2, "give --corpus"),
        (["alignment", "-m", "BUNDLE", "-m", "BUNDLE", "--corpus", "captions"], 2, "--model is given more than once"),
        (["curves", "nothing", "-o", "a.png"], 1, "no metrics of a run"),
    ],
)
def test_an_error_is_one_line(
    bundle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, message: str
) -> None:
    found, out, err = dragoman(capsys, "inspect", *(str(bundle) if each == "BUNDLE" else each for each in arguments))
    assert (found, out) == (code, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert message in err
