"""Checks of chapters 2 and 3: words, ids, embeddings and positions.

B sentences, T positions, D model width, V words of a vocabulary.
"""

from __future__ import annotations

import copy
import functools
import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from dragoman.doctor.lessons.known_faults import difference, gradients, is_equal, randomized

#: Seven words, the full stop among them, of which four are more frequent than the others.
SENTENCES = ("A dog sleeps.", "A dog eats.", "A cat sleeps.", "A dog barks.")
WORDS = {"A", "dog", "sleeps", "eats", "cat", "barks", "."}


def special_ids(file: Any) -> str:
    """Return what is wrong with the four special ids."""
    ids = (file.PAD, file.UNKNOWN, file.START, file.END)
    if ids != (0, 1, 2, 3):
        return f"PAD, UNKNOWN, START and END are {ids}, and should be (0, 1, 2, 3), as in the toolkit"
    words = list(file.Vocabulary(SENTENCES).words)
    if "sleeps." in words:
        return "the full stop sticks to its word: `sleeps.` and `sleeps` become two words"
    if WORDS & set(words[:4]):
        return "real words have the ids 0 to 3: the special words must stand before them"
    if len(words) != 4 + len(WORDS):
        return f"the vocabulary has {len(words)} entries for {len(WORDS)} words and 4 special words"
    if set(words[4:]) != WORDS:
        return f"the words are {sorted(words[4:])}, and should be {sorted(WORDS)}"
    if [*map(set, (words[4:6], words[6:7], words[7:8]))] != [{"A", "."}, {"dog"}, {"sleeps"}]:
        return "the words do not stand in the order of their frequency, the most frequent first"
    return ""


def sentence_to_ids(file: Any) -> str:
    """Return what is wrong with the ids of a sentence."""
    vocabulary = file.Vocabulary(SENTENCES)
    ids = list(vocabulary.ids("A dog sleeps."))
    if ids[:1] == [file.START]:
        return "the ids begin with START, which is put before the target later, and never before the source"
    if file.END not in ids:
        return "END is missing at the end of the ids, so a model of them never learns to stop"
    if [vocabulary.words[id] for id in ids[:-1]] != ["A", "dog", "sleeps", "."]:
        return f"the ids of `A dog sleeps.` are those of {[vocabulary.words[id] for id in ids]}"
    try:
        unknown = list(vocabulary.ids("A cow sleeps."))
    except KeyError:
        return "a word that the vocabulary lacks ends with a KeyError: it should have the id UNKNOWN"
    if unknown[1] != file.UNKNOWN:
        return f"a word that the vocabulary lacks has the id {unknown[1]}, and should have UNKNOWN"
    return ""


def ids_to_sentence(file: Any) -> str:
    """Return what is wrong with the text of ids."""
    vocabulary = file.Vocabulary(SENTENCES)
    sentence = SENTENCES[0]
    ids = [id for id in vocabulary.ids(sentence) if id != file.END]
    texts = [vocabulary.text(each) for each in ([file.START, *ids, file.END, file.PAD, file.PAD], [file.START, *ids])]
    if texts[1] != sentence and texts[1] == vocabulary.text([file.START, *ids[:-1], file.END]):
        return 'without END the last word is lost (chapter 17: "The last word is missing: output cut by `[1:-1]`")'
    if any(vocabulary.words[id] in texts[0] for id in (file.PAD, file.START, file.END)):
        return "START, END or PAD is written like a word"
    if texts[0] == sentence.replace(".", " ."):
        return "the space before the full stop stays"
    wrong = [text for text in texts if text != sentence]
    return f"`{sentence}` comes back as `{wrong[0]}`" if wrong else ""


def rectangle(file: Any) -> str:
    """Return what is wrong with a batch."""
    rows = [[5, 6, 3], [7, 3], [8]]
    given = copy.deepcopy(rows)
    ids = file.rectangle(given)
    if given != rows:
        return "the caller's lists have changed: the sentences grow longer with each batch"
    right = torch.tensor([[5, 6, 3], [7, 3, 0], [8, 0, 0]])
    filled = {id: torch.tensor([[5, 6, 3], [7, 3, id], [8, id, id]]) for id in (file.UNKNOWN, file.START, file.END)}
    fault = difference(
        ids,
        right,
        {
            "the padding stands on the left, and should stand on the right": torch.tensor(
                [[5, 6, 3], [0, 7, 3], [0, 0, 8]]
            ),
            "short rows are filled with END instead of PAD "
            '(chapter 17: "Translations never stop: padding and the end mark are one token")': filled[file.END],
            "short rows are filled with UNKNOWN instead of PAD": filled[file.UNKNOWN],
            "short rows are filled with START instead of PAD": filled[file.START],
            "long rows are cut to the shortest one": right[:, :1],
        },
    )
    if not fault and ids.is_floating_point():
        return f"the ids are {ids.dtype}: an embedding looks up whole numbers"
    return fault


def embedding(file: Any) -> str:
    """Return what is wrong with the vectors of ids."""
    module, ids = randomized(file.Embedding(10, 6)), torch.tensor([[5, 7, 3], [4, 3, 1]])
    tables = [weight for weight in module.parameters() if weight.shape == (10, 6)]
    if not tables:
        return "it has no learned table of the shape (n_words, d_model): assign an nn.Embedding to self"
    rows = tables[0].detach()[ids]
    unscaled = "the vectors are not multiplied by the root of D, so the positions will drown them"
    return difference(
        module(ids),
        math.sqrt(6) * rows,
        {
            unscaled: rows,
            "the vectors are divided by the root of D, and should be multiplied by it": rows / math.sqrt(6),
            "the vectors are multiplied by D, and should be multiplied by its root": 6 * rows,
        },
    )


def embedding_gradient(file: Any) -> str:
    """Return what is wrong with what an embedding learns."""
    module = file.Embedding(10, 6)
    weights = [weight for weight in module.parameters() if weight.requires_grad]
    result = module(torch.tensor([[5, 7], [5, 4]]))
    if not weights or not result.requires_grad:
        return "the table has no gradient, so it learns nothing"
    (gradient,) = torch.autograd.grad(result.sum(), weights[:1])
    rows = gradient.abs().sum(dim=1).nonzero().flatten().tolist()
    return "" if rows == [4, 5, 7] else f"ids 4, 5 and 7 were looked up, but the rows {rows} have a gradient"


def _table(n_positions: int, d_model: int, number: Callable[[int, int], float]) -> torch.Tensor:
    """Return a table (T, D) of what a function gives for a position and a dimension."""
    return torch.tensor([[number(p, d) for d in range(d_model)] for p in range(n_positions)])


def table(file: Any) -> str:
    """Return what is wrong with the sines and cosines."""
    T, D = 12, 6

    def angle(position: float, pair: float, base: float = 10000.0) -> float:
        return float(position / base ** (2 * pair / D))

    def wave(d: int, value: float) -> float:
        return math.cos(value) if d % 2 else math.sin(value)

    def based(base: float, p: int, d: int) -> float:
        return wave(d, angle(p, d // 2, base))

    right = _table(T, D, lambda p, d: wave(d, angle(p, d // 2)))
    return difference(
        file.sinusoidal_table(T, D),
        right,
        {
            "all sines come first, then all cosines: a model learns as well with it, but the book's rows are "
            "pairs, sine and cosine side by side": torch.cat((right[:, 0::2], right[:, 1::2]), dim=1),
            "sine and cosine have changed places": _table(T, D, lambda p, d: wave(d + 1, angle(p, d // 2))),
            "sine and cosine of a pair have different frequencies "
            '(chapter 17: "Sines and cosines of different frequencies")': _table(
                T, D, lambda p, d: wave(d, angle(p, d))
            ),
            "sine and cosine of a pair have different frequencies: both should have that of the even dimension": (
                _table(T, D, lambda p, d: wave(d, angle(p, d / 2)))
            ),
            "the frequencies fall too fast: the exponent is twice the right one": _table(
                T, D, lambda p, d: wave(d, angle(p, 2 * (d // 2)))
            ),
            "the frequencies fall too slowly: the exponent is half the right one": _table(
                T, D, lambda p, d: wave(d, angle(p, (d // 2) / 2))
            ),
            "the frequencies grow from pair to pair: a minus sign is missing": _table(
                T, D, lambda p, d: wave(d, angle(p, -(d // 2)))
            ),
            "the positions begin at 1, and should begin at 0": _table(T, D, lambda p, d: wave(d, angle(p + 1, d // 2))),
            **{
                f"the base is {base:,}, and should be 10,000": _table(T, D, functools.partial(based, base))
                for base in (100, 1000, 100_000)
            },
            "there are sines only": _table(T, D, lambda p, d: math.sin(angle(p, d // 2))),
            "there are cosines only": _table(T, D, lambda p, d: math.cos(angle(p, d // 2))),
        },
    )


def positions(file: Any) -> str:
    """Return what is wrong with what positions add."""
    B, T, D = 3, 5, 6
    x, rows = torch.randn(B, T, D), file.sinusoidal_table(20, D)
    before = x.clone()
    yours = file.Positions(D).eval()(x)
    if not torch.equal(x, before):
        return "x itself is changed: write `x + ...` in place of `x += ...`"
    if isinstance(yours, Tensor) and yours.dtype != x.dtype:
        return f"the result is {yours.dtype}: the table should be float32, which `.float()` makes of it"
    along_batch = 'the table runs along the sentences (chapter 17: "Positional encoding along the batch axis")'
    return difference(
        yours,
        x + rows[:T],
        {
            along_batch: x + rows[:B, None],
            "nothing is added": x,
            "the table is subtracted, and should be added": x - rows[:T],
            "the table alone comes back, without x": rows[:T].expand(B, T, D),
            "x is multiplied by the table, and should be added to it": x * rows[:T],
            "every position gets the row of position T": x + rows[T],
            "every position gets the row of position 0": x + rows[0],
            "the first position gets the row of position 1": x + rows[1 : T + 1],
            "x is multiplied by the root of D here: the embedding does so already": math.sqrt(D) * x + rows[:T],
        },
    )


def positions_are_fixed(file: Any) -> str:
    """Return what is wrong with how the table is kept."""
    trained = [name for name, _ in file.Positions(6).named_parameters()]
    if trained:
        return f"`{trained[0]}` is a parameter, which training would change: register_buffer keeps it fixed"
    return ""


def positions_depend_on_place(file: Any) -> str:
    """Return what is wrong with where a word stands, and beside what."""
    module, x = file.Positions(6).eval(), torch.randn(2, 5, 6)
    if not is_equal(module(x)[1:], module(x[1:])):
        return "a sentence gets another result alone than as the second of a batch"
    if not is_equal(module(x)[:, :3], module(x[:, :3])):
        return "the first words get another result in a longer sentence"
    (gradient,) = gradients(module, [x])
    return "" if gradient.any() else "no gradient passes through: is there a detach or a no_grad?"
