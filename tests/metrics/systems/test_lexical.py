"""The measures that ask no judge, on texts whose numbers can be counted by hand."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import Cause, InputError, JudgeFailure, MissingExtra
from assay.metrics.systems import lexical


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("levenshtein", 3 / 7),  # kitten -> sitting: two substitutions and an insertion, of 7
        ("damerau_levenshtein", 3 / 7),  # no neighbours swapped
        ("hamming", 3 / 7),  # places 1, 5 and 7 differ
        ("indel", 5 / 13),  # "ittn" is common: 2 deleted and 3 inserted, of 6 + 7
        ("jaro", 1 - (4 / 6 + 4 / 7 + 4 / 4) / 3),  # i, t, t, n match, none transposed
        ("jaro_winkler", 1 - (4 / 6 + 4 / 7 + 4 / 4) / 3),  # no common beginning
    ],
)
def test_distances_by_hand(measure: lexical.Measure, expected: float) -> None:
    assert lexical.normalized_distance("kitten", "sitting", measure) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("measure", ["levenshtein", "damerau_levenshtein", "jaro", "indel"])
def test_texts_that_would_keep_everybody_waiting_are_not_compared(measure: lexical.Measure) -> None:
    """A megabyte against a megabyte is 10^12 pairs of characters: minutes, and hours where swaps count."""
    a, b = "a" * 1_000_000, "b" * 1_000_000
    most = "400,000,000" if measure == "damerau_levenshtein" else "40,000,000,000"
    for compare in (lexical.normalized_distance, lexical.distance):
        with pytest.raises(JudgeFailure, match="1,000,000 and 1,000,000 are too long") as raised:
            compare(a, b, measure)
        assert raised.value.cause is Cause.TOO_LONG
        assert raised.value.message.endswith(f"at most {most} pairs of places are")
    assert lexical.normalized_distance(a, a[:-1] + "a", measure) == 0.0  # equal texts take one look
    assert lexical.distance(a, b, "hamming") == 1_000_000


def test_as_many_pairs_as_are_allowed_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lexical, "_PAIRS", 20)
    assert lexical.distance("aaaa", "bbbbb") == 5.0  # 4 * 5
    assert lexical.rouge("a b c d", "e f g h a") == pytest.approx(2 * (1 / 4) * (1 / 5) / (1 / 4 + 1 / 5))
    for compare in (lexical.distance, lexical.rouge):
        with pytest.raises(JudgeFailure, match="at most 20 pairs"):
            compare("a b c", "d e f g" * 2) if compare is lexical.distance else compare("a b c", "d e f g h i j")


def test_a_swap_is_one_step_for_damerau_and_a_common_beginning_counts_for_winkler() -> None:
    assert lexical.normalized_distance("abcd", "abdc", "damerau_levenshtein") == 1 / 4
    assert lexical.levenshtein("abcd", "abdc") == 2 / 4
    jaro = (1 + 1 + 3 / 4) / 3  # 4 matches, 2 of them out of order: 1 transposition
    assert lexical.normalized_distance("abcd", "abdc", "jaro") == pytest.approx(1 - jaro)
    # 2 characters in common at the beginning, a tenth each of what is missing
    assert lexical.normalized_distance("abcd", "abdc", "jaro_winkler") == pytest.approx((1 - jaro) * (1 - 0.2))


@given(st.text(max_size=30), st.text(max_size=30), st.sampled_from(lexical.MEASURES))
def test_distances_are_symmetric_and_nothing_is_far_from_itself(a: str, b: str, measure: lexical.Measure) -> None:
    found = lexical.normalized_distance(a, b, measure)
    assert 0 <= found <= 1
    assert found == pytest.approx(lexical.normalized_distance(b, a, measure), abs=1e-12)
    assert lexical.normalized_distance(a, a, measure) == 0


@pytest.mark.parametrize(
    ("kind", "mode", "expected"),
    [
        # "the cats sat" -> the, cat, sat; "the cat sat down": 3 tokens of 3, and of 4
        ("rouge1", "precision", 3 / 3),
        ("rouge1", "recall", 3 / 4),
        ("rouge1", "fmeasure", 2 * 1 * 0.75 / 1.75),
        ("rouge2", "recall", 2 / 3),
        ("rougeL", "precision", 3 / 3),
        ("rougeL", "recall", 3 / 4),
        ("rougeL", "fmeasure", 2 * 1 * 0.75 / 1.75),
    ],
)
def test_rouge_by_hand(kind: lexical.RougeKind, mode: lexical.RougeMode, expected: float) -> None:
    assert lexical.rouge("the cats sat", "The cat sat down.", kind, mode) == pytest.approx(expected, abs=1e-12)


def test_rouge_without_the_stemmer_and_without_tokens() -> None:
    assert lexical.rouge("the cats sat", "the cat sat down", "rouge1", "recall", stemmer=False) == 2 / 4
    assert lexical.rouge("the cats sat", "the cat sat down", "rougeL", "recall", stemmer=False) == 2 / 4
    assert lexical.rouge("", "the cat") == lexical.rouge("?!", "?!") == 0
    assert lexical.rouge("sat cat", "cat sat", "rougeL", "recall") == 1 / 2  # the order counts
    assert lexical.rouge("sat cat", "cat sat", "rouge1", "recall") == 1


words = st.lists(st.sampled_from(["running", "runs", "the", "a", "cat"]), max_size=12).map(" ".join)


@given(words, words, st.sampled_from(lexical.ROUGE_MODES))
def test_rouge_l_is_that_of_rouge_score(said: str, reference: str, mode: lexical.RougeMode) -> None:
    from rouge_score.rouge_scorer import RougeScorer

    expected = getattr(RougeScorer(["rougeL"], use_stemmer=True).score(reference, said)["rougeL"], mode)
    assert lexical.rouge(said, reference, "rougeL", mode) == pytest.approx(expected, abs=1e-12)


def test_rouge_l_of_long_texts_takes_no_time() -> None:
    said = " ".join(f"w{n % 977}" for n in range(20_000))
    reference = " ".join(f"w{n % 991}" for n in range(20_000))
    assert 0 < lexical.rouge(said, reference) < 1  # 4e8 steps of a table in Python would take minutes


def test_bleu_by_hand() -> None:
    # "a b c d e" in "a b c d x": 4/5 words, 3/4 pairs, 2/3 triples, 1/2 quadruples, equally long
    assert lexical.bleu("a b c d e", "a b c d x") == pytest.approx((4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** 0.25)
    assert lexical.bleu("a b c d", "a b c d") == 1
    # half as long as the reference: all precisions 1, brevity penalty exp(1 - 8 / 4)
    assert lexical.bleu("a b c d", "a b c d e f g h") == pytest.approx(0.36787944117)


def test_bleu_of_several_references_leaves_out_hypotheses_without_one() -> None:
    assert lexical.corpus_bleu(("a b c d", "nothing like it"), (("a b c d",), ("x",))) == 1


def test_chrf_by_hand() -> None:
    assert lexical.chrf("abc", "abc") == 1
    assert lexical.chrf("abc", "xyz") == 0
    # "ab" and "ac": one of two letters, no pair: precision and recall are the mean of 1/2 and 0
    assert lexical.chrf("ab", "ac") == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda: lexical.normalized_distance("a", "b", "cosine"), "measure"),  # type: ignore[arg-type]
        (lambda: lexical.rouge("a", "b", "rouge9"), "kind"),  # type: ignore[arg-type]
        (lambda: lexical.rouge("a", "b", "rouge1", "f2"), "mode"),  # type: ignore[arg-type]
    ],
)
def test_unknown_options_are_named(call, argument: str) -> None:
    with pytest.raises(InputError, match=f"^{argument}: expected"):
        call()


@pytest.mark.parametrize(
    ("package", "call"),
    [
        ("rapidfuzz", lambda: lexical.levenshtein("a", "b")),
        ("sacrebleu", lambda: lexical.bleu("a", "b")),
        ("sacrebleu", lambda: lexical.chrf("a", "b")),
        ("rouge_score.rouge_scorer", lambda: lexical.rouge("a", "b", "rouge1")),
    ],
)
def test_a_missing_library_says_what_to_install(package: str, call, monkeypatch: pytest.MonkeyPatch) -> None:
    lexical._scorer.cache_clear()
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=r"\[lexical\]"):
        call()
