"""Measures of two texts that ask no judge: edit distances, BLEU, ROUGE, chrF.

Every other system computes these with the same few libraries, which the extra `lexical` brings; one place calls them,
with the options named. The libraries are imported where they are used, and a missing one is MissingExtra.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from functools import cache
from typing import Any, Literal, cast, get_args

from assay._util.install_hints import install_extra
from assay.errors import Cause, InputError, JudgeFailure, MissingExtra

Measure = Literal["levenshtein", "damerau_levenshtein", "hamming", "jaro", "jaro_winkler", "indel"]
RougeMode = Literal["fmeasure", "precision", "recall"]
RougeKind = Literal["rouge1", "rouge2", "rougeL"]

MEASURES: tuple[Measure, ...] = get_args(Measure)
ROUGE_MODES: tuple[RougeMode, ...] = get_args(RougeMode)
ROUGE_KINDS: tuple[RougeKind, ...] = get_args(RougeKind)

_CLASSES: Mapping[Measure, str] = {
    "levenshtein": "Levenshtein",
    "damerau_levenshtein": "DamerauLevenshtein",
    "hamming": "Hamming",
    "jaro": "Jaro",
    "jaro_winkler": "JaroWinkler",
    "indel": "Indel",
}


#: Pairs of characters (for ROUGE of words) that a distance may look at: some four seconds of one core, in which nothing
#: else is scored. rapidfuzz takes 64 pairs in one step, but for Damerau and Levenshtein's.
_PAIRS = 40_000_000_000
_PAIRS_ONE_BY_ONE = 400_000_000


@contextmanager
def _needed(package: str) -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise MissingExtra(f"this metric needs {package}: {install_extra('lexical')} ({error})") from error


def chosen(argument: str, value: object, known: Sequence[str]) -> None:
    """Raise InputError, naming the argument, where its value is none of the known ones."""
    if value not in known:
        raise InputError(f"{argument}: expected {', '.join(known)}; found {value!r}")


def levenshtein(a: str, b: str) -> float:
    """Insertions, deletions and substitutions / the length of the longer text; 0 where both are empty."""
    return normalized_distance(a, b, "levenshtein")


def normalized_distance(a: str, b: str, measure: Measure = "levenshtein") -> float:
    """A distance of two texts in 0 to 1, character by character; 0 for equal texts. As rapidfuzz normalises it.

    For texts of different lengths, `hamming` counts the characters that are over as different.
    """
    return float(_class_of(measure, a, b).normalized_distance(a, b))


def distance(a: str, b: str, measure: Measure = "levenshtein") -> float:
    """The same distance before it is normalised: edits, or for the two of Jaro the same number."""
    return float(_class_of(measure, a, b).distance(a, b))


def _class_of(measure: Measure, a: str, b: str) -> Any:
    """What rapidfuzz computes a distance with. Raises JudgeFailure(too_long) for texts that would keep it for long."""
    chosen("measure", measure, MEASURES)
    if measure != "hamming":
        _affordable(a, b, _PAIRS_ONE_BY_ONE if measure == "damerau_levenshtein" else _PAIRS)
    with _needed("rapidfuzz"):
        from rapidfuzz import distance as measures
    return getattr(measures, _CLASSES[measure])


def _affordable(a: Sized, b: Sized, most: int) -> None:
    if len(a) * len(b) > most and a != b:
        raise JudgeFailure(
            Cause.TOO_LONG,
            f"texts of {len(a):,} and {len(b):,} are too long to be compared place by place: at most {most:,} pairs of "
            "places are",
        )


def bleu(hypothesis: str, reference: str) -> float:
    """sacrebleu's corpus BLEU of one text against one reference, 0 to 1: tokens 13a, exponential smoothing."""
    return corpus_bleu((hypothesis,), ((reference,),))


def corpus_bleu(hypotheses: Sequence[str], streams: Sequence[Sequence[str]]) -> float:
    """sacrebleu's corpus BLEU, 0 to 1. Each of `streams` holds one reference per hypothesis, in order.

    Where a stream is shorter than the hypotheses, the surplus of the longer one is left out, as sacrebleu does.
    """
    with _needed("sacrebleu"):
        from sacrebleu import corpus_bleu as count
    return _share(count(list(hypotheses), [list(stream) for stream in streams]))


def tokens_13a(text: str) -> list[str]:
    """The tokens of mteval's script 13a, as sacrebleu finds them."""
    with _needed("sacrebleu"):
        from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
    tokenizer = cast("Any", Tokenizer13a)()
    return list(tokenizer(text).split())


def chrf(hypothesis: str, reference: str) -> float:
    """sacrebleu's chrF of one text against one reference, 0 to 1: character 1- to 6-grams, no words, beta 2."""
    with _needed("sacrebleu"):
        from sacrebleu import corpus_chrf
    return _share(corpus_chrf([hypothesis], [[reference]]))


def _share(found: Any) -> float:
    return min(float(found.score) / 100, 1.0)  # a perfect score may be a rounding error above 100


def rouge(
    hypothesis: str,
    reference: str,
    kind: RougeKind = "rougeL",
    mode: RougeMode = "fmeasure",
    *,
    stemmer: bool = True,
) -> float:
    """ROUGE, 0 to 1, on rouge-score's tokens (lower-case ASCII letters and digits; stemmed with `stemmer`).

    rouge1, rouge2  shared 1- or 2-grams, each as often as it stands in both
    rougeL          the longest common subsequence of tokens
    precision       shared / those of the hypothesis; recall: shared / those of the reference; fmeasure: 2pr / (p + r)

    Texts without tokens give 0, as there.
    """
    chosen("kind", kind, ROUGE_KINDS)
    chosen("mode", mode, ROUGE_MODES)
    if kind != "rougeL":
        return float(getattr(_scorer(kind, stemmer).score(reference, hypothesis)[kind], mode))
    with _needed("rapidfuzz"):
        from rapidfuzz.distance import LCSseq  # the same number as rouge-score's own, 100 times as fast
    tokens = _tokenizer(stemmer).tokenize
    target, said = tokens(reference), tokens(hypothesis)
    if not target or not said:
        return 0.0
    _affordable(target, said, _PAIRS)
    common = LCSseq.similarity(target, said)
    precision, recall = common / len(said), common / len(target)
    whole = 2 * precision * recall / (precision + recall) if common else 0.0
    return {"precision": precision, "recall": recall, "fmeasure": whole}[mode]


@cache
def _scorer(kind: str, stemmer: bool) -> Any:
    with _needed("rouge-score"):
        from rouge_score.rouge_scorer import RougeScorer
    return RougeScorer([kind], use_stemmer=stemmer)


@cache
def _tokenizer(stemmer: bool) -> Any:
    with _needed("rouge-score"):
        from rouge_score.tokenizers import DefaultTokenizer
    return DefaultTokenizer(stemmer)
