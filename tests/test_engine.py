"""The engine: its search against the search in Python, candidate by candidate, its loader, and its interface."""

import ctypes
import itertools
import json
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from engines import ALL_KERNELS, COMPILER, every_library, needs_compiler, needs_engine
from hypothesis import given, settings
from hypothesis import strategies as st
from models import compiled, random_model, shapes
from safetensors.numpy import load, save

from dragoman.alignment.capture import capture_attention
from dragoman.bundle.layout import Layout
from dragoman.bundle.weights import StoredPrecision, read_weights, stored_weights, weights_of
from dragoman.decoding.constraints.forbidden import ForbiddenTokens
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.search import search
from dragoman.decoding.state import TransformerScorer
from dragoman.errors import BundleError, ConfigError, DragomanError, StoppedError
from dragoman.machine.arrays import Floats
from dragoman.model.transformer import Transformer
from dragoman.native import kernels as kernels_module
from dragoman.native.header import Header
from dragoman.native.kernels import Kernels, address, header, usable_kernels
from dragoman.runtime.compiled_model import CompiledModel, ShortListedModel
from dragoman.runtime.engine_config import engine_config
from dragoman.runtime.sentence_search import SentenceJob, search_sentence
from dragoman.settings.search_config import SearchConfig
from dragoman.text.special_ids import SpecialIdPair, SpecialIds

SOS_ID, EOS_ID = SpecialIds().start, SpecialIds().end
NATIVE = Path(kernels_module.__file__).parent
pytestmark = [pytest.mark.torch, needs_engine]

ids = st.integers(4, 24)
searches = st.fixed_dictionaries(
    {
        "beam_size": st.sampled_from([1, 2, 5, 9]),
        "n_best": st.sampled_from([1, 2, 9]),
        "length_penalty": st.sampled_from([0.0, 0.6, 3.0]),
    },
    optional={
        "min_length": st.sampled_from([3, 8]),
        "max_length": st.sampled_from([9, 12, 20, 60]),
        "no_repeat_ngram": st.sampled_from([1, 2, 3]),
        "repetition_penalty": st.sampled_from([1.2, 3.0]),
    },
)


def search_config(**options: float) -> SearchConfig:
    """Return a configuration whose n_best is at most its beam size."""
    return SearchConfig.model_validate({**options, "n_best": min(options["n_best"], options["beam_size"])})


def in_python(model: CompiledModel, job: SentenceJob) -> list[Hypothesis]:
    rules = [ForbiddenTokens([job.forbidden])] if job.forbidden else []
    listed = ShortListedModel(model, [np.array(job.allowed)]) if len(job.allowed) else model
    scorer = TransformerScorer([listed])
    return search(scorer, np.array([[*job.ids, EOS_ID]]), job.config, prefixes=[job.prefix], constraints=rules)[0]


def score(model: CompiledModel, source: list[int], target: list[int]) -> tuple[Floats, Floats]:
    """Return what `dragoman_score` writes: log-probabilities (T + 1), and attention (T + 1, layers, H, S + 1)."""
    config, sides = model.config, [np.array(side, dtype=np.int64) for side in (source, target)]
    log_probs = np.empty(len(target) + 1, dtype=np.float32)
    sizes = len(target) + 1, config.n_decoder_layers, config.n_heads, len(source) + 1
    attention = np.empty(sizes, dtype=np.float32)
    arguments = (number for side in sides for number in (address(side), len(side)))
    model.kernels.score(model.loaded.pointer, *arguments, address(log_probs), address(attention))
    return log_probs, attention


# --- search ----------------------------------------------------------------------------------------------------------


@every_library
@settings(max_examples=120)
@given(
    seed=st.integers(0, 3),
    shape=shapes,
    options=searches,
    source=st.lists(ids, max_size=20),
    prefix=st.lists(ids, max_size=4),
    forbidden=st.lists(ids, max_size=3, unique=True),
    allowed=st.lists(ids, max_size=12),
    certainty=st.sampled_from([0.3, 3]),
)
def test_candidates_are_those_of_the_search_in_python(
    seed: int,
    shape: dict[str, object],
    options: dict[str, float],
    source: list[int],
    prefix: list[int],
    forbidden: list[int],
    allowed: list[int],
    certainty: float,
    kernels: Kernels,
) -> None:
    """Equal ids, order, faults and every bit of the scores: both searches take the same steps in the same kernels."""
    model = compiled(random_model(seed, certainty, **shape), kernels)
    allowed = [*allowed, *prefix, EOS_ID] if allowed else []
    job = SentenceJob(source, search_config(**options), prefix, forbidden, allowed)
    assert search_sentence(model, job) == in_python(model, job)


@every_library
def test_a_source_without_an_end_mark_is_read_without_one(kernels: Kernels) -> None:
    model, special_ids = random_model(1, 0.5, tie="all"), SpecialIdPair(SpecialIds(end=0), SpecialIds())
    loaded = CompiledModel(model.config, weights_of(model), kernels, special_ids)
    for source in ([], [7], [9, 4, 9, 20], [*range(4, 21)]):
        job = SentenceJob(source, SearchConfig(beam_size=3, n_best=3, max_length=12))
        ids = np.array([special_ids.source.ended(source)])
        assert search_sentence(loaded, job) == search(TransformerScorer([loaded]), ids, job.config)[0]


@every_library
def test_a_long_sentence_outgrows_the_tables_and_caches(kernels: Kernels) -> None:
    for positions in ("sinusoidal", "rotary"):
        model = compiled(random_model(1, max_length=9000, positions=positions, d_model=64, n_heads=1, d_k=64), kernels)
        source = np.random.default_rng(1).integers(4, 25, 1100).tolist()
        job = SentenceJob(source, SearchConfig(beam_size=2, min_length=40, max_length=50))
        assert search_sentence(model, job) == in_python(model, job)


def test_a_large_beam_and_a_vocabulary_of_few_tokens() -> None:
    for n_tokens, beam_size in ((300, 100), (6, 20)):
        model = compiled(random_model(1, 0.5, target_vocab_size=n_tokens), ALL_KERNELS[0])
        job = SentenceJob([4, 5, 6], SearchConfig(beam_size=beam_size, n_best=beam_size, max_length=8))
        assert search_sentence(model, job) == in_python(model, job)


def test_every_token_may_be_forbidden() -> None:
    model = compiled(random_model(1), ALL_KERNELS[0])
    for beam_size, forbidden in itertools.product((1, 3), (range(25), range(4, 25), [1, *range(3, 24)])):
        job = SentenceJob([4, 5], SearchConfig(beam_size=beam_size, n_best=beam_size), (), [*forbidden])
        assert search_sentence(model, job) == in_python(model, job)


@pytest.mark.parametrize(
    ("options", "prefix"), [({"min_length": 39}, []), ({"max_length": 3}, [4, 5, 6]), ({}, [EOS_ID]), ({}, [25])]
)
def test_what_python_refuses_is_refused_with_the_same_words(options: dict[str, int], prefix: list[int]) -> None:
    model = compiled(random_model(1, max_length=30), ALL_KERNELS[0])
    job = SentenceJob([4], SearchConfig.model_validate(options), prefix)
    with pytest.raises(ConfigError) as expected:
        in_python(model, job)
    with pytest.raises(ConfigError) as found:
        search_sentence(model, job)
    assert str(found.value) == str(expected.value)


def test_ids_and_lengths_that_the_model_lacks_are_refused() -> None:
    model, config = compiled(random_model(1), ALL_KERNELS[0]), SearchConfig()
    for source in ([30], [4, -1]):
        with pytest.raises(IndexError):
            search_sentence(model, SentenceJob(source, config))
        with pytest.raises(IndexError):
            score(model, source, [4])
    with pytest.raises(ValueError, match="a source of 41 tokens for a model that reads 40"):
        search_sentence(model, SentenceJob([4] * 40, config))
    with pytest.raises(IndexError):
        score(model, [4], [25])
    with pytest.raises(ValueError, match="refuses"):
        score(model, [4], [4] * 40)
    with pytest.raises(ValueError, match="refuses"):
        search_sentence(model, SentenceJob([4], config, (), [25]))
    for allowed in ([3, 25], [-1, 3]):
        with pytest.raises(IndexError):
            search_sentence(model, SentenceJob([4], config, allowed=allowed))
        with pytest.raises(IndexError):
            model.start(np.array([[4, EOS_ID]]), [np.array(allowed)])


@every_library
def test_a_model_that_gives_nan_is_refused(kernels: Kernels) -> None:
    model = random_model(1)
    with torch.no_grad():
        model.get_parameter("decoder_layers.0.feed_forward.outer.weight")[0, 0] = torch.nan
    loaded = compiled(model, kernels)
    for options in ({"beam_size": 1}, {"beam_size": 3}, {"beam_size": 3, "repetition_penalty": 1.5}):
        with pytest.raises(DragomanError, match="NaN"):
            search_sentence(loaded, SentenceJob([4], SearchConfig.model_validate(options)))


def test_a_search_stops_before_the_step_at_which_it_is_told_to() -> None:
    model, calls = compiled(random_model(1), ALL_KERNELS[0]), [0]
    job = SentenceJob([4, 5], SearchConfig(min_length=20))

    def at_third() -> bool:
        calls[0] += 1
        return calls[0] == 3

    with pytest.raises(StoppedError):
        search_sentence(model, job, at_third)
    assert calls == [3]
    assert search_sentence(model, job, lambda: False) == search_sentence(model, job)

    def interrupted() -> bool:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        search_sentence(model, job, interrupted)


def test_a_search_has_a_deadline_of_its_own() -> None:
    model = compiled(random_model(1, max_length=9000), ALL_KERNELS[0])
    job = SentenceJob([4] * 3000, SearchConfig(beam_size=1, min_length=4000))
    with pytest.raises(StoppedError):
        search_sentence(model, job, seconds=1e-9)
    start = time.monotonic()
    with pytest.raises(StoppedError):
        search_sentence(model, job, seconds=0.02)  # a fast processor needs no 0.2 s for all of it
    assert time.monotonic() - start >= 0.02


def test_threads_share_models() -> None:
    models = [compiled(random_model(seed), ALL_KERNELS[-1]) for seed in range(2)]
    jobs = [SentenceJob([*range(4, 4 + n)], SearchConfig(beam_size=4)) for n in range(16)]
    pairs = list(itertools.product(models, jobs))
    expected = [search_sentence(*pair) for pair in pairs]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda pair: search_sentence(*pair), pairs)) == expected


@settings(max_examples=30)
@given(shape=shapes, source=st.lists(ids, max_size=9), target=st.lists(ids, max_size=9))
def test_scores_and_attention_are_those_of_the_model(
    shape: dict[str, object], source: list[int], target: list[int]
) -> None:
    model = random_model(2, **shape)
    log_probs, attention = score(compiled(model, usable_kernels()[0]), source, target)
    with torch.no_grad(), capture_attention(model, ["cross"]) as maps:
        logits = model(torch.tensor([[*source, EOS_ID]]), torch.tensor([[SOS_ID, *target]]))[0]
    expected = logits.log_softmax(-1)[torch.arange(len(target) + 1), torch.tensor([*target, EOS_ID])]
    np.testing.assert_allclose(log_probs, expected, rtol=1e-4, atol=2e-5)
    np.testing.assert_allclose(attention, maps["cross"][:, 0].permute(2, 0, 1, 3), rtol=1e-4, atol=2e-5)


# --- the loader ------------------------------------------------------------------------------------------------------


@cache
def small_file(precision: StoredPrecision = "float32") -> bytes:
    return save(stored_weights(weights_of(small_model()), precision))


@cache
def small_model() -> Transformer:
    return random_model(1, n_encoder_layers=1, n_decoder_layers=1, d_ff=4)


def opened(file: bytes) -> None:
    ALL_KERNELS[0].load(engine_config(small_model().config, SpecialIdPair()), file)


#: The entries of a file's head, by the names of tensors.
Head = dict[str, dict[str, object]]


def changed(change: Callable[[Head], object], precision: StoredPrecision = "float32") -> bytes:
    """The file with a change of its head, and the numbers as they were."""
    file = small_file(precision)
    length = int.from_bytes(file[:8], "little")
    head = json.loads(file[8 : 8 + length])
    change(head)
    text = json.dumps(head).encode()
    return len(text).to_bytes(8, "little") + text + file[8 + length :]


@every_library
@settings(max_examples=40)
@given(shape=shapes, precision=st.sampled_from(["float32", "float16", "int8"]))
def test_a_file_of_any_precision_is_the_model_of_its_numbers(
    shape: dict[str, object], precision: StoredPrecision, kernels: Kernels
) -> None:
    model = random_model(1, **shape)
    file = save(stored_weights(weights_of(model), precision))
    stored = load(file)
    restored = {
        name: stored[name].astype(np.float32) * stored[f"{name}.scales"][:, None]
        if f"{name}.scales" in stored
        else stored[name].astype(np.float32)
        for name in weights_of(model)
    }
    expected = CompiledModel(model.config, restored, kernels)
    found = CompiledModel(model.config, restored, kernels)
    found.loaded = kernels.load(engine_config(model.config, SpecialIdPair()), file)
    job = SentenceJob([4, 9, 6], SearchConfig(n_best=5))
    assert search_sentence(found, job) == search_sentence(expected, job)


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="needs Linux")
@pytest.mark.parametrize("tie", ["none", "decoder", "all"])
def test_a_mapped_file_leaves_ram_once_it_was_read(tie: str, tmp_path: Path) -> None:
    sizes = {"d_model": 256, "source_vocab_size": 4_000, "target_vocab_size": 4_000}
    model, path = random_model(1, tie=tie, **sizes), tmp_path / "weights"
    path.write_bytes(save(stored_weights(weights_of(model), "int8")))
    stored = read_weights(path, Layout(model.config).shapes(), "int8")
    job = SentenceJob([4, 9, 6], SearchConfig(n_best=5))
    for kernels in ALL_KERNELS:
        found, expected = (CompiledModel(model.config, weights, kernels) for weights in (stored, dict(stored)))
        CompiledModel(model.config, stored, kernels)  # the other one was read in Python
        assert resident_bytes(path) < 0.2 * path.stat().st_size
        assert search_sentence(found, job) == search_sentence(expected, job)


def resident_bytes(path: Path) -> int:
    """Return the bytes of a mapped file that are in RAM."""
    _, own = Path("/proc/self/smaps").read_text().split(f"{path}\n")
    return 1024 * int(own.split("Rss:")[1].split()[0])


@pytest.mark.parametrize("precision", ["float32", "float16", "int8"])
def test_a_file_that_is_cut_off_is_refused(precision: StoredPrecision) -> None:
    file = small_file(precision)
    opened(file)
    for length in [*range(0, 400), *range(400, len(file), 97), len(file) - 1]:
        with pytest.raises(BundleError):
            opened(file[:length])


NAME = "encoder_layers.0.feed_forward.inner.weight"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda head: head.pop(NAME), f"{NAME}: missing"),
        (lambda head: head.update(another=head[NAME]), "another: not of this model"),
        (lambda head: head[NAME].update(shape=[16, 4]), f"{NAME}: not of the configured shape"),
        (lambda head: head[NAME].update(shape=[64]), f"{NAME}: not of the configured shape"),
        (lambda head: head[NAME].update(shape=[4, 4, 4]), f"{NAME}: its entry in the head is wrong"),
        (lambda head: head[NAME].update(shape=[4, 15]), f"{NAME}: its entry in the head is wrong"),
        (lambda head: head[NAME].update(shape=[2**40, 2**40]), f"{NAME}: its entry in the head is wrong"),
        (lambda head: head[NAME].update(shape=[2**62, 4]), f"{NAME}: its entry in the head is wrong"),
        (lambda head: head[NAME].update(shape=[-4, -16]), f"{NAME}: its entry in the head is wrong"),
        (lambda head: head[NAME].update(dtype="F64"), f"{NAME}: its entry in the head is wrong"),
        (lambda head: head[NAME].update(dtype="I8"), f"{NAME}: its entry in the head is wrong"),
        (lambda head: head[NAME].update(data_offsets=[0, 2**61]), f"{NAME}: its entry in the head is wrong"),
        (lambda head: head[NAME].update(data_offsets=[256, 0]), f"{NAME}: its entry in the head is wrong"),
        (lambda head: head[NAME].update(data_offsets=[0]), f"{NAME}: its entry in the head is wrong"),
        (lambda head: head[NAME].pop("shape"), f"{NAME}: its entry in the head is wrong"),
        (lambda head: head[NAME].update(more=1), f"{NAME}: its entry in the head is wrong"),
    ],
)
def test_a_head_with_a_wrong_entry_is_refused(change: Callable[[Head], object], words: str) -> None:
    with pytest.raises(BundleError, match=words):
        opened(changed(change))


def test_a_head_that_is_no_head_is_refused() -> None:
    for head in (b"", b"{", b"[]", b"{}", b"{}x", b'{"a"', b'{"a":', b'{"a":{}', b'{"\\', b'{"a\x01":{}}', b"\xff" * 9):
        with pytest.raises(BundleError):
            opened(len(head).to_bytes(8, "little") + head)
    for length in (2**63, 2**64 - 1, 2**40, len(small_file())):
        with pytest.raises(BundleError, match="cut off"):
            opened(length.to_bytes(8, "little") + small_file()[8:])


def test_a_tensor_named_twice_is_refused_and_metadata_is_not() -> None:
    file = small_file()
    length = int.from_bytes(file[:8], "little")
    head = file[8 : 8 + length].rstrip()
    entry = json.dumps({NAME: json.loads(head)[NAME]})[1:-1].encode()
    twice = head[:-1] + b"," + entry + b"}"
    with pytest.raises(BundleError, match="not of this model"):
        opened(len(twice).to_bytes(8, "little") + twice + file[8 + length :])
    opened(changed(lambda head: head.update(__metadata__={"format": "pt", 'a"\\': "é\n"})))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", [NAME, "encoder_layers.0.feed_forward.inner.bias", "source_embedding.tokens.weight"])
def test_a_number_that_is_not_finite_is_refused(name: str, bad: float) -> None:
    tensors: dict[StoredPrecision, str] = {"float32": name, "float16": name, "int8": f"{name}.scales"}
    for precision, of in tensors.items():
        stored = stored_weights(weights_of(small_model()), precision)
        if of in stored:
            stored[of] = stored[of].copy()
            stored[of].reshape(-1)[-1] = bad
            with pytest.raises(BundleError, match=f"{name}: not finite"):
                opened(save(stored))


def test_a_configuration_that_no_model_has_is_refused() -> None:
    good = engine_config(small_model().config, SpecialIdPair())
    for name, value in (
        *((field[0], value) for field in good._fields_ for value in (-1, 2**62)),
        *(("d_model", 15), ("memory", 2), ("n_heads", 0), ("target_end", 25)),
        *(("norm_epsilon", value) for value in (0, np.nan)),
    ):
        if name in ("has_final_norm", "bias", "scale_embeddings") or (name, value) in (
            ("norm_epsilon", 2**62),
            ("source_pad", -1),
        ):
            continue  # any other number is yes, a large epsilon is harmless, and earlier pages had no padding
        bad = type(good).from_buffer_copy(good)
        setattr(bad, name, value)
        with pytest.raises(BundleError):
            ALL_KERNELS[0].load(bad, small_file())


# --- the interface ---------------------------------------------------------------------------------------------------


def test_a_structure_wants_every_field_and_no_other() -> None:
    fields = {"source_length": 1, "memory_caches": 0, "target_caches": 0, "memory_mask_bias": 0, "cache_rows": 0}
    assert header().structure("SearchState", **fields).source_length == 1
    with pytest.raises(TypeError, match="cache_rows"):
        header().structure("SearchState", **{name: fields[name] for name in fields if name != "cache_rows"})
    with pytest.raises(TypeError, match="length"):
        header().structure("SearchState", **fields, length=1)


@needs_compiler
@pytest.mark.parametrize("name", ["dragoman.h", "fused.h"])
def test_structures_lie_as_the_compiler_lays_them(name: str, tmp_path: Path) -> None:
    read = Header(NATIVE / name)
    structures = {key: kind for key, kind in vars(read)["_types"].items() if hasattr(kind, "_fields_")}
    assert structures
    places = [
        f'printf("%zu ", offsetof({struct}, {field}));'
        for struct, kind in structures.items()
        for field, _ in kind._fields_
    ]
    sizes = [f'printf("%zu ", sizeof({struct}));' for struct in structures]
    text = f'#include "{NATIVE / name}"\n#include <stddef.h>\n#include <stdio.h>\nint main(void) {{ '
    constants = [f'printf("%d ", (int){constant});' for constant in read.constants]
    (tmp_path / "lay.c").write_text(text + "\n".join([*places, *sizes, *constants]) + "}", encoding="utf-8")
    subprocess.run([str(COMPILER), "-o", str(tmp_path / "lay"), str(tmp_path / "lay.c")], check=True)
    printed = subprocess.run([str(tmp_path / "lay")], capture_output=True, text=True, check=True).stdout.split()
    own = [getattr(kind, field).offset for kind in structures.values() for field, _ in kind._fields_]
    expected = [*own, *map(ctypes.sizeof, structures.values()), *read.constants.values()]
    assert list(map(int, printed)) == expected


@pytest.mark.parametrize(
    "text", ["int count;", "typedef unsigned Number;", "typedef struct { long n; } S;", "int64_t f(S s);"]
)
def test_a_declaration_of_another_kind_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "other.h").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match="not understood"):
        Header(tmp_path / "other.h")
