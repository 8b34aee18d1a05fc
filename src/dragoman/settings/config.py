"""Configuration: every setting, with its default and its checks.

A recipe is a YAML file with the sections `data`, `tokenizer`, `model`, `training` and `search`; `--set a.b=c` wins over
it. What a recipe leaves out has the default written here; `None` means "chosen to fit the corpus, and said so".
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from dragoman.settings.sections import Section

Size = Annotated[int, Field(ge=1, le=1_000_000)]
Depth = Annotated[int, Field(ge=1, le=1_000)]
Count = Annotated[int, Field(ge=0, le=10**12)]
Positive = Annotated[int, Field(ge=1, le=10**12)]
Probability = Annotated[float, Field(ge=0, lt=1)]
Rate = Annotated[float, Field(gt=0, le=1000)]

#: Two or three letters of ISO 639, and perhaps a script or a country.
LANGUAGE_CODE = re.compile(r"[a-z]{2,3}([-_][A-Za-z]{2,4})?")


def _option(name: str) -> str:
    """Return how a setting of `data` is given on the command line: by an option, or by `--set`."""
    return f"--set data.{name}=..." if name.startswith("test_") else f"--{name.replace('_', '-')}"


def _comma_separated(value: Any) -> Any:
    """Return the parts of a string as a tuple, for `--set data.clean=entities,tags`."""
    return tuple(part.strip() for part in value.split(",")) if isinstance(value, str) else value


class DataConfig(Section):
    """Where the parallel text comes from, and which pairs are kept.

    Either `corpus` (a corpus known by name) or `source` and `target` (two files with one sentence a line), or `pairs`
    (one file: a table or JSONL). Each file may also be compressed. Files for validation or test are used instead of
    those that a named corpus has.
    """

    corpus: str | None = None
    source: str | None = None
    target: str | None = None
    pairs: str | None = None
    source_lang: str | None = None
    target_lang: str | None = None
    validation_source: str | None = None
    validation_target: str | None = None
    validation_pairs: str | None = None
    test_source: str | None = None
    """What `evaluate` with the recipe scores by default. Its overlap with the training text is counted."""
    test_target: str | None = None
    test_pairs: str | None = None
    columns: str | None = None
    """Source and target in files of pairs, by number (from 1) or name: "2,4" or "en,de". None finds them."""
    validation_size: Positive = 1000
    """How many pairs are held out for validation when no validation files are given."""
    max_length: Size = 256
    """Longest side kept, in tokens; when not given, no more than the model can read."""
    max_ratio: Annotated[float, Field(ge=1, le=1000)] = 4.0
    """Longest side over shortest side, in tokens; short sentences are allowed a little more."""
    dedup: bool = False
    invalid_utf8: Literal["error", "drop"] = "error"
    clean: Annotated[tuple[Literal["entities", "tags"], ...], BeforeValidator(_comma_separated)] = ()
    """Markup taken out of the text before anything else: `entities` such as &amp; are decoded, `tags` removed."""
    misaligned: Literal["error", "keep"] = "error"
    """Stop if the two sides do not belong together, as after a line that one of them lost, or use the text as it is."""

    def for_older_releases(self) -> dict[str, Any]:
        """Return the settings that decide what is prepared, as JSON; newer ones only where they are on."""
        unused = {name for name in ("clean", "columns") if not getattr(self, name)}
        return self.model_dump(mode="json", exclude={"misaligned"} | unused)

    def contradictions(self) -> Iterator[tuple[str, str]]:
        """Where the text comes from, and its languages."""
        for prefix in ("", "validation_", "test_"):
            names = f"{prefix}source", f"{prefix}target", f"{prefix}pairs"
            source, target, pairs = (getattr(self, name) is not None for name in names)
            origins, choices = ("", "") if prefix else ("corpus ", "corpus, ")  # of which other splits may differ
            is_named = bool(origins) and self.corpus is not None
            options = [_option(name) for name in names]
            if is_named + (source or target) + pairs > 1:
                also = f" ({'--corpus, ' if choices else ''}{options[0]} and {options[1]}, {options[2]})"
                what = f"give only one of: {choices}{names[0]} and {names[1]}, {names[2]}{also}"
                yield origins + " ".join(names), what
            if source != target:
                what = f"{names[0]} and {names[1]} belong together; give both ({options[0]}, {options[1]})"
                yield f"{names[0]} {names[1]}", what
        yield from self._columns_problems()
        for name, code in (("source_lang", self.source_lang), ("target_lang", self.target_lang)):
            if code is not None and not LANGUAGE_CODE.fullmatch(code):
                what = f"{code!r} is no language code; use ISO 639's ({_option(name)}), such as en, de or zh"
                yield name, what

    def _columns_problems(self) -> Iterator[tuple[str, str]]:
        """Columns that are not two, and columns of nothing."""
        if self.columns is None:
            return
        parts = [part.strip() for part in self.columns.split(",")]
        if len(parts) != 2 or not all(parts) or parts[0] == parts[1]:
            yield "columns", f"columns must be two, such as 2,4 or en,de, got {self.columns!r}"
        is_from_hub = self.corpus is not None and self.corpus.startswith("hub:")
        if not is_from_hub and all(each is None for each in (self.pairs, self.validation_pairs, self.test_pairs)):
            names = "columns corpus pairs validation_pairs test_pairs"
            yield names, "columns (--columns) says nothing without a file of pairs (--pairs)"

    def files(self, split: Literal["train", "validation", "test"]) -> tuple[str | None, str | None, str | None]:
        """(source, target, pairs) of a split, as far as they are named."""
        if split == "train":
            return self.source, self.target, self.pairs
        if split == "validation":
            return self.validation_source, self.validation_target, self.validation_pairs
        return self.test_source, self.test_target, self.test_pairs


class TokenizerConfig(Section):
    """How text becomes ids.

    `bpe` and `unigram` are SentencePiece models learned from the corpus; `words` are spaCy's rule tokenizers with a
    vocabulary of the words seen at least `min_count` times; `characters` are Unicode characters.
    """

    kind: Literal["bpe", "unigram", "words", "characters"] = "bpe"
    joint: bool | None = None
    """One vocabulary for both sides; None is one for pieces, and one for each side for words and characters."""
    vocab_size: Annotated[int, Field(ge=8, le=1_000_000)] | None = None
    """Size of each SentencePiece vocabulary, special tokens included."""
    min_count: Positive = 1
    """Words and characters seen less often are unknown."""
    lowercase: bool = False
    lowercase_source: bool = False
    """Lower-case what is read and not what is written: text in any case can be translated, and capitals come out."""
    byte_fallback: bool = True
    """Unknown characters become bytes instead of an unknown token (SentencePiece)."""
    sampling: Probability = 0.0
    """Probability of leaving out a merge (BPE-dropout, Provilkov et al. 2020), or the smoothing of unigram sampling
    (Kudo 2018), drawn anew each epoch; 0 is off."""

    @property
    def has_pieces(self) -> bool:
        """Whether text is cut into SentencePiece's pieces."""
        return self.kind in ("bpe", "unigram")

    @property
    def is_joint(self) -> bool:
        """Whether both sides have one vocabulary: what was set, else pieces yes, words and characters no."""
        return self.has_pieces if self.joint is None else self.joint

    @property
    def lowercased(self) -> tuple[bool, bool]:
        """Whether the text of the source is lower-cased, and that of the target."""
        return self.lowercase or self.lowercase_source, self.lowercase

    def for_older_releases(self) -> dict[str, Any]:
        """All settings as JSON; one that an older release does not know is left out where it is off."""
        return self.model_dump(mode="json", exclude=None if self.lowercase_source else {"lowercase_source"})


class ModelShape(Section):
    """The Transformer of Vaswani et al. (2017), in the paper's symbols, without its vocabulary sizes."""

    also_known = ("preset",)

    d_model: Annotated[int, Field(ge=1, le=65_536)] = 512
    d_ff: Annotated[int, Field(ge=1, le=1_000_000)] = 2048
    n_heads: Annotated[int, Field(ge=1, le=1_024)] = 8
    n_encoder_layers: Depth = 6
    n_decoder_layers: Depth = 6
    d_k: Annotated[int, Field(ge=1, le=65_536)] | None = None
    """Width of a head's queries and keys, and of its values; None is d_model / n_heads."""
    d_v: Annotated[int, Field(ge=1, le=65_536)] | None = None
    dropout: Probability = 0.1
    """Of what each sub-layer adds to its input, and of embeddings where `embedding_dropout` is None."""
    embedding_dropout: Probability | None = None
    attention_dropout: Probability = 0.0
    activation_dropout: Probability = 0.0
    """Between the two matrices of the feed-forward layer."""
    norm: Literal["post", "pre"] = "post"
    """A norm after each residual, as in the paper, or before each sub-layer."""
    norm_kind: Literal["layer", "std", "rms"] = "layer"
    """`std` divides by the unbiased standard deviation plus epsilon; `rms` takes no mean off."""
    final_norm: bool | None = None
    """One more norm after the last layer; None is yes for `pre`, whose sum still wants one, and no for `post`."""
    activation: Literal["relu", "gelu", "swiglu"] = "relu"
    bias: bool = True
    """Whether linear maps and layer norms add a learned vector."""
    scale_embeddings: bool = True
    """Multiply embeddings by sqrt(d_model)."""
    positions: Literal["sinusoidal", "halves", "learned", "rotary"] = "sinusoidal"
    """`sinusoidal` has sines and cosines in turn, as in the paper; `halves` has all sines first."""
    init: Literal["xavier", "pytorch"] = "xavier"
    tie: Literal["none", "decoder", "all"] = "none"
    """Which matrices are one: none; the decoder's embedding and output; both embeddings and the output."""
    memory: Literal["last", "layerwise"] = "last"
    """What decoder layer i attends to: the encoder's last layer, or the encoder's layer i."""
    max_length: Annotated[int, Field(ge=2, le=1_000_000)] = 512
    """Longest sequence, in tokens."""
    pad_id: Count = 0

    def contradictions(self) -> Iterator[tuple[str, str]]:
        """Widths that do not divide, and depths that differ."""
        heads = self.n_heads if self.d_k is None or self.d_v is None else 1
        unit = math.lcm(heads, 2) if self.positions in ("sinusoidal", "halves") else heads
        below = self.d_model - self.d_model % unit
        near = f"{below} or {below + unit}" if below else f"{unit}"
        names, width = "d_model n_heads d_k d_v positions", self.head_widths[0]
        if self.d_model % heads:
            yield names, f"d_model {self.d_model} does not divide into {heads} heads; set it to {near}"
        elif self.d_model % unit:
            yield names, f"{self.positions} positions need an even d_model; set it to {near}"
        elif self.positions == "rotary" and width % 2:
            near = f"{width - 1} or {width + 1}" if width > 1 else "2"
            yield names, f"rotary positions need heads of even width, not {width}; set d_k to {near}"
        if self.memory == "layerwise" and self.n_encoder_layers != self.n_decoder_layers:
            both = f"{self.n_encoder_layers} or {self.n_decoder_layers}"
            what = f"layerwise memory needs as many encoder as decoder layers; set both to {both}"
            yield "memory n_encoder_layers n_decoder_layers", what

    @property
    def has_final_norm(self) -> bool:
        """Whether a norm follows the last layer of the encoder and of the decoder."""
        return self.norm == "pre" if self.final_norm is None else self.final_norm

    @property
    def head_widths(self) -> tuple[int, int]:
        """(d_k, d_v): the width of a head's queries and keys, and of its values."""
        return self.d_k or self.d_model // self.n_heads, self.d_v or self.d_model // self.n_heads


class ModelConfig(ModelShape):
    """A `ModelShape` with its vocabulary sizes: all that is needed to build the model."""

    source_vocab_size: Annotated[int, Field(ge=4, le=10_000_000)]
    target_vocab_size: Annotated[int, Field(ge=4, le=10_000_000)]

    def computes_as(self, other: ModelConfig) -> bool:
        """Whether equal weights are equal models: all settings but the dropout are, which only training has."""
        rates = {name for name in type(self).model_fields if name.endswith("dropout")}
        return self.model_dump(exclude=rates) == other.model_dump(exclude=rates)

    def contradictions(self) -> Iterator[tuple[str, str]]:
        """Those of the shape, and what does not fit the vocabularies."""
        yield from super().contradictions()
        sizes = "source_vocab_size target_vocab_size"
        if self.tie == "all" and self.source_vocab_size != self.target_vocab_size:
            yield (
                f"tie {sizes}",
                f"tie 'all' needs one joint vocabulary, but the sizes are {self.source_vocab_size} and "
                f"{self.target_vocab_size}; use tokenizer.joint=true or model.tie=decoder",
            )
        if self.pad_id >= min(self.source_vocab_size, self.target_vocab_size):
            yield f"pad_id {sizes}", f"pad_id {self.pad_id} lies outside the vocabulary"


#: Whoever sets all of these in the model section, or a preset, chooses the model.
SIZES = frozenset({"d_model", "d_ff", "n_heads", "n_encoder_layers", "n_decoder_layers"})

#: `model.preset` in a recipe: sizes known to work. `base` and `big` are the paper's (Table 3); `tiny` is the
#: shape of Wu et al. (2021) for small data.
PRESETS: Mapping[str, Mapping[str, Any]] = {
    "tiny": {
        "d_model": 128,
        "d_ff": 256,
        "n_heads": 4,
        "n_encoder_layers": 4,
        "n_decoder_layers": 4,
        "tie": "all",
    },
    "small": {
        "d_model": 256,
        "d_ff": 1024,
        "n_heads": 4,
        "n_encoder_layers": 3,
        "n_decoder_layers": 3,
        "tie": "all",
    },
    "base": {"tie": "all"},
    "big": {"d_model": 1024, "d_ff": 4096, "n_heads": 16, "dropout": 0.3, "tie": "all"},
}


class TrainingConfig(Section):
    """How the model is trained. The defaults of the optimizer and the schedule are the paper's (section 5.3)."""

    seed: Count = 1
    batch_tokens: Positive = 4096
    """Tokens of the longer side, padding included, in one optimizer step over all processes."""
    micro_batch_tokens: Positive | None = None
    """The same for one pass through the model; None is the whole batch. Smaller values save memory; gradients are
    accumulated, so nothing else changes but the dropout masks."""
    max_steps: Positive | None = None
    max_epochs: Positive | None = None
    optimizer: Literal["adam", "muon"] = "adam"
    """Muon (Jordan et al. 2024) moves the matrices of layers, and Adam all else; both by the same rate."""
    lr: Rate | None = None
    """Peak learning rate; None is the paper's, (d_model * warmup_steps) ** -0.5."""
    warmup_steps: Count = 4000
    schedule: Literal["inverse_sqrt", "cosine", "linear", "constant"] = "inverse_sqrt"
    """What follows the linear warm-up. `inverse_sqrt` without `lr` is the paper's formula."""
    adam_betas: tuple[Probability, Probability] = (0.9, 0.98)
    adam_eps: Annotated[float, Field(gt=0, le=1)] = 1e-9
    clip_norm: Annotated[float, Field(gt=0)] | None = 1.0
    """Largest norm of the whole gradient; None leaves it as it is."""
    label_smoothing: Probability = 0.1
    r_drop: Annotated[float, Field(ge=0, le=100)] = 0.0
    """Weight of R-Drop (Liang et al. 2021): each pair is read twice a step, with other dropout, and the two predictions
    are pulled together. Doubles the time of a step; 0 is off."""
    ema: Annotated[float, Field(ge=0, lt=1)] | None = None
    """Decay of an exponential moving average of the weights, which is then what is validated and kept; 0 is off."""
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    """Of products in training. auto is bfloat16 on processors with AMX or AVX-512 BF16 and on GPUs that have it, for
    models from d_model 128 and batches from 1,024 tokens on, and float32 for all others."""
    validate_every: Positive | None = None
    """Steps between validations; None is once an epoch."""
    best_by: Literal["bleu", "loss"] = "bleu"
    """What makes a bundle the best: BLEU of greedy translations (below 5 it is chance, and loss decides), or loss."""
    patience: Positive | None = None
    """Stop after this many validations without a better one; None never does."""
    save_every: Positive = 500
    keep_checkpoints: Annotated[int, Field(ge=2, le=10_000)] = 2
    log_every: Positive = 50
    tensorboard: bool = False
    """Write the figures of `metrics.jsonl` for TensorBoard too."""
    max_skipped_steps: Positive = 20
    """Steps in a row that may be skipped for a loss or gradient that is not finite."""


class SearchConfig(Section):
    """How a translation is searched for. Beam size 1 is greedy search; `sample` draws from the model instead."""

    beam_size: Annotated[int, Field(ge=1, le=1_000)] = 5
    n_best: Annotated[int, Field(ge=1, le=1_000)] = 1
    length_penalty: Annotated[float, Field(ge=0, le=10)] = 0.6
    """Exponent of the length penalty ((5 + length) / 6) ** alpha by which log-probability is divided (Wu et al. 2016,
    section 7); 0 is off."""
    min_length: Count = 0
    max_length: Positive | None = None
    """Longest translation, in tokens, the end mark included: what is longer is cut, so that less room gives the
    beginning of what more room gives. A search ends at 1.5 times the source plus 50 and what is given of the
    translation, or here if this is more (never over the model's)."""
    no_repeat_ngram: Count = 0
    """No sequence of this many tokens is written twice; 0 is off."""
    sample: bool = False
    temperature: Annotated[float, Field(gt=0, le=100)] = 1.0
    top_k: Count = 0
    """Draw from the k most probable tokens only; 0 is off."""
    top_p: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Draw from the most probable tokens that together have this probability."""
    seed: Count = 1

    def describe(self) -> str:
        """The search in a few words."""
        return "sampled" if self.sample else f"beam size {self.beam_size}, length penalty {self.length_penalty:g}"

    def contradictions(self) -> Iterator[tuple[str, str]]:
        """Lengths in the wrong order, and more hypotheses than are kept."""
        if self.max_length is not None and self.min_length > self.max_length:
            yield "min_length max_length", f"min_length {self.min_length} is more than max_length {self.max_length}"
        if not self.sample and self.n_best > self.beam_size:
            what = f"n_best {self.n_best} is more than beam_size {self.beam_size}; raise beam_size"
            yield "sample n_best beam_size", what


class Config(Section):
    """A whole recipe."""

    data: DataConfig = DataConfig()
    tokenizer: TokenizerConfig = TokenizerConfig()
    model: ModelShape = ModelShape()
    training: TrainingConfig = TrainingConfig()
    search: SearchConfig = SearchConfig()

    def contradictions(self) -> Iterator[tuple[str, str]]:
        """Sentences that the model cannot read."""
        if self.data.max_length >= self.model.max_length:
            yield (
                "data.max_length model.max_length",
                f"data.max_length {self.data.max_length} must be less than model.max_length {self.model.max_length}, "
                "which counts the end of the sentence too; lower the one or raise the other",
            )
