"""Scores of translations against references, each with the signature that makes it comparable.

BLEU and chrF are sacreBLEU's (Post 2018); M30k-BLEU is that of the Multi30k literature. All are corpus scores between 0
and 100 on detokenised text, one reference a sentence. Texts are compared after `clean`: neither decomposed Unicode
nor invisible characters count as differences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from sacrebleu.metrics.base import Metric as SacreMetric
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.significance import PairedTest, Result

from dragoman.errors import DataError, counted
from dragoman.text.cleaning import clean
from dragoman.text.languages import WITHOUT_SPACES, base_language
from dragoman.translator.checking import string_list

#: BLEU counts words. Languages written without spaces, and Korean, need another unit: sacreBLEU's words for Chinese,
#: single characters for languages whose dictionaries sacreBLEU does not include.
_TOKENIZATION: Mapping[str, str] = {**dict.fromkeys((*WITHOUT_SPACES, "ko"), "char"), "zh": "zh"}


@dataclass(frozen=True)
class Metric:
    """A score, 0 to 100, and the signature of its computation."""

    name: str
    score: float
    signature: str


@dataclass(frozen=True)
class Comparison:
    """One metric of two systems, and the probability of such a difference if they were equally good."""

    name: str
    baseline: float
    system: float
    p_value: float
    signature: str


def corpus_bleu(
    hypotheses: Sequence[str], references: Sequence[str], language: str = "", *, lowercase: bool = False
) -> Metric:
    """Return BLEU (Papineni et al. 2002) with the tokenization of the target language; cased, unless `lowercase`.

    Raises:
        DataError: there are no sentences, or not as many references as hypotheses.
    """
    return _score("BLEU", bleu_metric(language, lowercase=lowercase), hypotheses, references)


def corpus_chrf(hypotheses: Sequence[str], references: Sequence[str], *, word_order: Literal[0, 2] = 0) -> Metric:
    """Return chrF2, the F-score of character n-grams (Popović 2015), or chrF++.

    Args:
        word_order: 2 adds single words and pairs of words: chrF++ (Popović 2017), which sacreBLEU calls chrF2++. Spaces
            separate its words. In a language without spaces they are whole phrases, which hardly ever match: there
            chrF++ is lower than chrF2 and says no more.

    Raises:
        DataError: there are no sentences, or not as many references as hypotheses.
    """
    name = "chrF++" if word_order else "chrF2"
    return _score(name, CHRF(word_order=word_order), hypotheses, references)


def m30k_bleu(hypotheses: Sequence[str], tokenised_references: Sequence[str], language: str) -> Metric:
    """Return the BLEU of the Multi30k literature: lower-cased, normalised and tokenised by Moses.

    Args:
        hypotheses: detokenised, as a Translator gives them.
        tokenised_references: the corpus's own `*.lc.norm.tok.<language>` lines, or `moses_lines` of raw references.
        language: the target language.

    Raises:
        DataError: there are no sentences, or not as many references as hypotheses.
    """
    metric = BLEU(lowercase=True, tokenize="none", force=True)
    return _score("M30k-BLEU", metric, moses_lines(hypotheses, language), tokenised_references)


def moses_lines(lines: Sequence[str], language: str) -> list[str]:
    """Lower-case, then normalise punctuation, then tokenise with HTML escapes, as the Moses scripts do.

    On Multi30k's validation and 2016 test sets this gives the corpus's own `*.lc.norm.tok` files, except for one line
    in three of the six files: sacremoses and the Perl script split words differently at validation line 656 in German
    and 861 in French, and at test line 694 in French.
    """
    from sacremoses import MosesPunctNormalizer, MosesTokenizer  # its import takes long, and few corpora need it

    language, lines = base_language(language), _cleaned(lines)
    normaliser, tokeniser = MosesPunctNormalizer(language), MosesTokenizer(language)
    return [tokeniser.tokenize(normaliser.normalize(line.lower()), return_str=True, escape=True) for line in lines]


def exact_match(hypotheses: Sequence[str], references: Sequence[str]) -> float:
    """Return the share of hypotheses, 0 to 1, that equal their reference except for white space at the ends.

    Raises:
        DataError: there are no sentences, or not as many references as hypotheses.
    """
    _check(hypotheses, references)
    pairs = zip(_cleaned(hypotheses), _cleaned(references), strict=True)
    return sum(hypothesis.strip() == reference.strip() for hypothesis, reference in pairs) / len(references)


def paired_test(
    baseline: Sequence[str],
    system: Sequence[str],
    references: Sequence[str],
    language: str = "",
    *,
    method: Literal["bootstrap", "randomisation"] = "bootstrap",
    n_samples: int = 1000,
) -> list[Comparison]:
    """Test whether BLEU, chrF2 and chrF++ of two outputs for the same sentences differ by more than chance.

    Paired bootstrap resampling (Koehn 2004) or approximate randomisation (Riezler and Maxwell 2005), fixed seed.

    Raises:
        DataError: there are no sentences, or the three lists differ in length.
    """
    _check(baseline, references)
    _check(system, references)
    metrics: dict[str, SacreMetric] = {"BLEU": bleu_metric(language), "chrF2": CHRF(), "chrF2++": CHRF(word_order=2)}
    test = PairedTest(
        [("baseline", _cleaned(baseline)), ("system", _cleaned(system))],
        metrics,
        references=[_cleaned(references)],
        test_type="bs" if method == "bootstrap" else "ar",
        n_samples=n_samples,
    )
    signatures, results = test()
    comparisons = []
    for name in metrics:
        of_baseline, of_system = results[name]
        assert isinstance(of_baseline, Result)
        assert isinstance(of_system, Result)
        # For equal outputs sacreBLEU reports p near 0, because no sample has a smaller difference.
        same = of_system.p_value is None or of_system.score == of_baseline.score
        p_value = 1.0 if same else float(of_system.p_value or 0.0)
        our_name = "chrF++" if name == "chrF2++" else name
        comparisons.append(Comparison(our_name, of_baseline.score, of_system.score, p_value, str(signatures[name])))
    return comparisons


def bleu_metric(language: str, *, lowercase: bool = False) -> BLEU:
    """Return sacreBLEU's BLEU with the tokenization of a target language."""
    tokenization = _TOKENIZATION.get(base_language(language), "13a")
    return BLEU(tokenize=tokenization, lowercase=lowercase, force=True)


def _score(name: str, metric: BLEU | CHRF, hypotheses: Sequence[str], references: Sequence[str]) -> Metric:
    _check(hypotheses, references)
    score = metric.corpus_score(_cleaned(hypotheses), [_cleaned(references)]).score
    return Metric(name, float(score), str(metric.get_signature()))


def _cleaned(lines: Sequence[str]) -> list[str]:
    return list(map(clean, lines))


def _check(hypotheses: Sequence[str], references: Sequence[str]) -> None:
    string_list(hypotheses, "translation")
    string_list(references, "reference")
    if len(hypotheses) != len(references):
        raise DataError(
            f"{counted(len(hypotheses), 'translation')} but {counted(len(references), 'reference')}",
            advice="give one reference for each",
        )
    if not references:
        raise DataError("no sentences to evaluate", advice="is the test set empty?")
