"""Settings of the section `tokenizer`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from dragoman.settings.ranges import Positive, Probability
from dragoman.settings.sections import Section


class TokenizerConfig(Section):
    """The tokenizers, which turn text into ids.

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
    """Lower-case the source only: text in any case can be translated, and translations have capitals."""
    byte_fallback: bool = True
    """Unknown characters become bytes instead of an unknown token (SentencePiece)."""
    split_digits: bool = False
    """Each digit is a piece of its own, so that numbers are spelled and not remembered (bpe, unigram)."""
    reserved: Annotated[int, Field(ge=0, le=1_000)] = 0
    """Pieces ⟨1⟩, ⟨2⟩ and so on that are never cut; they stand for what must be copied (bpe, unigram)."""
    tags: Literal["target", "both"] = "target"
    """The tags of a model of several languages. With `target`, a source begins with the tag of the target language;
    with `both`, source and target each begin with that of their own language, as in M2M-100 and NLLB-200."""
    sampling: Probability = 0.0
    """Probability of leaving out a merge (BPE-dropout, Provilkov et al. 2020), or the smoothing of unigram sampling
    (Kudo 2018), drawn anew each epoch; 0 is off."""

    @property
    def has_pieces(self) -> bool:
        """True if text is cut into SentencePiece's pieces."""
        return self.kind in ("bpe", "unigram")

    @property
    def subword_kind(self) -> Literal["bpe", "unigram"]:
        """The algorithm of SentencePiece."""
        return "unigram" if self.kind == "unigram" else "bpe"

    @property
    def is_joint(self) -> bool:
        """True if both sides have one vocabulary: as set, else True for pieces, and False for words and characters."""
        return self.has_pieces if self.joint is None else self.joint

    @property
    def lowercases_source(self) -> bool:
        """True if source text is lower-cased; target text is only with `lowercase`."""
        return self.lowercase or self.lowercase_source
