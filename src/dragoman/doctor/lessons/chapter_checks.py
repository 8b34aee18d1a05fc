"""The chapters that add to the reader's file: what each writes, what it stands on, and what is demanded of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dragoman.doctor.lessons import attention_checks, layer_checks, training_checks, transformer_checks, word_checks

#: Takes the reader's module; returns what is wrong, or "".
Check = Callable[[Any], str]


@dataclass(frozen=True)
class Chapter:
    """A chapter's part of the file.

    Args:
        names: that the part defines.
        needs: the chapters whose parts it calls; with a fault in one, its own checks would say nothing.
        checks: a demand, and the check of it.
    """

    number: int
    title: str
    names: tuple[str, ...]
    needs: tuple[int, ...]
    checks: Mapping[str, Check]


CHAPTERS = (
    Chapter(
        2,
        "Tokens and embeddings",
        ("PAD", "UNKNOWN", "START", "END", "SPECIAL_WORDS", "Vocabulary", "rectangle", "Embedding"),
        (),
        {
            "the vocabulary: four special words, then the frequent ones first": word_checks.special_ids,
            "a sentence becomes ids, with UNKNOWN and END": word_checks.sentence_to_ids,
            "ids become the sentence again": word_checks.ids_to_sentence,
            "rectangle fills up with PAD": word_checks.rectangle,
            "Embedding looks up, times the root of D": word_checks.embedding,
            "only the rows that were looked up learn": word_checks.embedding_gradient,
        },
    ),
    Chapter(
        3,
        "Positional encoding",
        ("sinusoidal_table", "Positions"),
        (),
        {
            "the table is the formula's": word_checks.table,
            "Positions adds a row to each position": word_checks.positions,
            "a result depends only on the word and its position": word_checks.positions_depend_on_place,
            "the table is not trained": word_checks.positions_are_fixed,
        },
    ),
    Chapter(
        4,
        "Attention",
        ("attend",),
        (),
        {
            "attend equals PyTorch's attention": attention_checks.attend,
            "attend equals PyTorch's with very large scores, too": attention_checks.attend_large_scores,
            "a query that may see nothing stays finite": attention_checks.attend_all_masked,
            "queries, keys and values get the right gradients": attention_checks.attend_gradients,
        },
    ),
    Chapter(
        5,
        "Heads",
        ("MultiHeadAttention",),
        (4,),
        {
            "the heads compute what the formula says": attention_checks.heads,
            "the result is (B, T, D), for any number of keys": attention_checks.heads_shape,
            "positions and sentences are not mixed, masks hide": attention_checks.heads_order,
            "every weight learns": attention_checks.heads_weights,
        },
    ),
    Chapter(
        6,
        "Masks",
        ("padding_mask", "causal_mask"),
        (),
        {
            "padding_mask hides padding as a key": attention_checks.padding_mask,
            "causal_mask hides the future": attention_checks.causal_mask,
            "both together": attention_checks.both_masks,
        },
    ),
    Chapter(
        7,
        "The feed-forward layer",
        ("FeedForward",),
        (),
        {
            "two linear maps with a relu between them": layer_checks.feed_forward,
            "each position by itself": layer_checks.feed_forward_positions,
            "every weight learns": layer_checks.feed_forward_weights,
        },
    ),
    Chapter(
        8,
        "Residuals",
        ("Residual",),
        (9,),
        {
            "the sum is x + sublayer(norm(x))": layer_checks.residual,
            "dropout acts on what is added, in training only": layer_checks.residual_dropout,
            "the gradient has its straight way": layer_checks.residual_gradient,
        },
    ),
    Chapter(
        9,
        "Layer norm",
        ("LayerNorm",),
        (),
        {
            "with gain and bias it equals PyTorch's": layer_checks.layer_norm,
            "a new norm gives mean 0 and variance 1": layer_checks.layer_norm_first,
            "vectors that are nearly constant": layer_checks.layer_norm_small,
            "the gradients equal PyTorch's": layer_checks.layer_norm_gradients,
        },
    ),
    Chapter(
        10,
        "Encoder and decoder",
        ("EncoderLayer", "DecoderLayer"),
        (5, 7, 8, 9),
        {
            "the way through the encoder layer": transformer_checks.encoder_layer,
            "the way through the decoder layer": transformer_checks.decoder_layer,
            "each part has a norm of its own": transformer_checks.layer_norms,
            "every weight learns": transformer_checks.layer_weights,
        },
    ),
    Chapter(
        11,
        "The assembled model",
        ("Transformer",),
        (2, 3, 6, 10),
        {
            "the shapes of memory and logits": transformer_checks.shapes,
            "the stacks read words and positions": transformer_checks.inputs_of_stacks,
            "from layer to layer: masks and memory": transformer_checks.stacks,
            "the way to the logits": transformer_checks.end,
            "the output matrix is the target's embedding": transformer_checks.tied,
            "first weights of the right size": transformer_checks.first_weights,
            "every weight learns": transformer_checks.model_weights,
            "dropout, in training only": transformer_checks.dropout,
            "the doctor of chapter 17 finds nothing": transformer_checks.examination,
        },
    ),
    Chapter(
        12,
        "Training",
        ("mean_loss", "learning_rate", "train", "translate"),
        (2, 6),
        {
            "mean_loss: shifted, without padding, a mean": training_checks.mean_loss,
            "learning_rate: up in a line, down along a cosine": training_checks.learning_rate,
            "train: clear, backward, clip, step": training_checks.train,
            "train: the planned learning rates": training_checks.train_rates,
            "train: its batches and losses": training_checks.train_batches,
            "translate: word by word until END": training_checks.translate,
            "translate: at most `longest` words": training_checks.translate_longest,
            "translate: in eval mode, with memory and mask": training_checks.translate_mode,
        },
    ),
    Chapter(
        12,
        "All of it together",
        (),
        (12, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11),
        {"it learns nine sentences by heart and translates them": training_checks.learns},
    ),
)
#: The chapter that writes a name.
WRITTEN_IN = {name: chapter.number for chapter in CHAPTERS for name in chapter.names}
