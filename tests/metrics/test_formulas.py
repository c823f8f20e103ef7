"""Truth tables and properties of the pure score functions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.metrics._answer_correctness import blend, counts, f_beta
from assay.metrics._answer_relevancy import mean_cosine
from assay.metrics._aspect_critique import majority
from assay.metrics._composite import harmonic_mean
from assay.metrics._context_entity_recall import distinct, entity_recall
from assay.metrics._context_precision import average_precision, share_useful
from assay.metrics._faithfulness import share_supported
from assay.metrics._hallucination import share_hallucinated
from assay.metrics._noise_sensitivity import relevant_passages, share_noise
from assay.metrics._summarization_score import conciseness, qa_score
from assay.records import Cell, Verdict

LETTERS = {"s": "supported", "c": "contradicted", "n": "not_mentioned", "u": "useful", "-": "not_useful"}
YES_NO = {"y": "yes", "n": "no"}


def verdicts(letters: str) -> list[Verdict]:
    return [Verdict(label=LETTERS[letter]) for letter in letters]


def votes(letters: str) -> list[Verdict]:
    return [Verdict(label=YES_NO[letter]) for letter in letters]


def row(letters: str) -> Verdict:
    """One claim; a letter per passage."""
    cells = tuple(Cell(label=LETTERS[letter]) for letter in letters)  # type: ignore[arg-type]
    return Verdict(label="supported" if "s" in letters else "not_mentioned", cells=cells)


def ranking(letters: str) -> list[bool]:
    return [letter == "u" for letter in letters]


@pytest.mark.parametrize(
    ("labels", "supported", "unsupported", "contradicted"),
    [
        ("s", 1, 0, 0),
        ("n", 0, 1, 0),
        ("c", 0, 1, 1),
        ("sn", 1 / 2, 1 / 2, 0),
        ("sc", 1 / 2, 1 / 2, 1 / 2),
        ("nc", 0, 1, 1 / 2),
        ("sss", 1, 0, 0),
        ("snc", 1 / 3, 2 / 3, 1 / 3),
        ("ccs", 1 / 3, 2 / 3, 2 / 3),
        ("sssn", 3 / 4, 1 / 4, 0),
        ("nnnn", 0, 1, 0),
        ("cccc", 0, 1, 1),
    ],
)
def test_shares_of_claims(labels: str, supported: float, unsupported: float, contradicted: float) -> None:
    assert share_supported(verdicts(labels)) == supported
    assert share_hallucinated(verdicts(labels)) == unsupported
    assert share_hallucinated(verdicts(labels), "contradicted") == contradicted


@pytest.mark.parametrize(
    ("labels", "expected", "plain"),
    [
        ("u", 1, 1),
        ("-", 0, 0),
        ("uu", 1, 1),
        ("u-", 1, 1 / 2),
        ("-u", 1 / 2, 1 / 2),  # (0 + 1/2) / 1
        ("--", 0, 0),
        ("uuu", 1, 1),
        ("u-u", 5 / 6, 2 / 3),  # (1 + 2/3) / 2
        ("-uu", 7 / 12, 2 / 3),  # (1/2 + 2/3) / 2
        ("--u", 1 / 3, 1 / 3),
        ("uu-", 1, 2 / 3),
        ("-u-u", 1 / 2, 1 / 2),  # (1/2 + 2/4) / 2
        ("uuuuuuuuu-", 1, 9 / 10),
    ],
)
def test_average_precision_and_plain_precision(labels: str, expected: float, plain: float) -> None:
    assert average_precision(ranking(labels)) == pytest.approx(expected, abs=1e-15)
    assert share_useful(verdicts(labels)) == plain


def test_nothing_retrieved_has_average_precision_0() -> None:
    assert average_precision([]) == 0.0


rankings = st.lists(st.booleans(), min_size=1, max_size=60)


@given(rankings)
def test_average_precision_is_1_exactly_when_all_useful_ones_come_first(useful: list[bool]) -> None:
    value = average_precision(useful)
    assert 0 <= value <= 1
    assert (value == 1.0) == (any(useful) and useful == sorted(useful, reverse=True))
    assert (value == 0.0) == (not any(useful))


@given(rankings, st.data())
def test_moving_a_useful_passage_up_never_lowers_average_precision(useful: list[bool], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(useful) - 1))
    if at and useful[at] and not useful[at - 1]:
        better = [*useful[: at - 1], True, False, *useful[at + 1 :]]
        assert average_precision(better) > average_precision(useful)


@given(rankings)
def test_useless_passages_at_the_end_do_not_change_average_precision(useful: list[bool]) -> None:
    assert average_precision([*useful, False, False]) == average_precision(useful)


@pytest.mark.parametrize(
    ("tp", "fp", "fn", "beta", "expected"),
    [
        (1, 1, 1, 1, 0.5),  # 1 / (1 + 0.5 * 2)
        (3, 0, 0, 1, 1),
        (0, 1, 0, 1, 0),
        (0, 0, 1, 1, 0),
        (0, 2, 3, 1, 0),
        (2, 0, 2, 1, 2 / 3),  # precision 1, recall 1/2
        (2, 2, 0, 1, 2 / 3),
        (1, 0, 3, 1, 0.4),
        (2, 1, 3, 1, 0.5),  # 2 / (2 + 0.5 * 4)
        (1, 0, 1, 2, 5 / 9),  # 5 / (5 + 4): what is missing weighs more
        (1, 1, 0, 2, 5 / 6),  # 5 / (5 + 1)
        (1, 1, 0, 0.5, 5 / 9),  # 1.25 / (1.25 + 1)
        (7, 0, 0, 3, 1),
    ],
)
def test_f_beta(tp: int, fp: int, fn: int, beta: float, expected: float) -> None:
    assert f_beta(tp, fp, fn, beta) == pytest.approx(expected)


count = st.integers(0, 50)
betas = st.floats(0.01, 100)


@given(count, count, count, betas)
def test_f_beta_is_in_range_and_1_only_without_an_error(tp: int, fp: int, fn: int, beta: float) -> None:
    if tp + fp + fn:
        value = f_beta(tp, fp, fn, beta)
        assert 0 <= value <= 1
        assert (value == 1.0) == (fp == fn == 0)
        assert (value == 0.0) == (tp == 0)


@given(st.integers(1, 50), count, count)
def test_f1_is_the_harmonic_mean_of_precision_and_recall(tp: int, fp: int, fn: int) -> None:
    assert f_beta(tp, fp, fn) == pytest.approx(harmonic_mean([tp / (tp + fp), tp / (tp + fn)]))


@given(st.integers(1, 50), count, count, betas)
def test_one_more_error_lowers_f_beta(tp: int, fp: int, fn: int, beta: float) -> None:
    value = f_beta(tp, fp, fn, beta)
    assert f_beta(tp, fp + 1, fn, beta) < value
    assert f_beta(tp, fp, fn + 1, beta) < value


@pytest.mark.parametrize(
    ("answer", "reference", "expected"),
    [
        ("sc", "sn", (1, 1, 1)),
        ("", "nn", (0, 0, 2)),
        ("nn", "", (0, 2, 0)),
        ("ss", "s", (2, 0, 0)),
        ("", "", (0, 0, 0)),
    ],
)
def test_counts(answer: str, reference: str, expected: tuple[int, int, int]) -> None:
    assert counts(verdicts(answer), verdicts(reference)) == expected


unit = st.floats(0, 1)
weight = st.floats(0, 1e6)


@given(unit, unit, weight, weight)
def test_blend_lies_between_its_parts(factual: float, similarity: float, first: float, second: float) -> None:
    if first + second > 1e-300:
        value = blend(factual, similarity, (first, second))
        assert min(factual, similarity) - 1e-9 <= value <= max(factual, similarity) + 1e-9
        assert blend(1.0, 1.0, (first, second)) == 1.0


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.0], 1),
        ([1.0, 0.0], 0),
        ([0.0, 0.0], 0),
        ([1.0, -0.2], 0),  # a negative cosine counts as 0
        ([0.5, 0.5], 0.5),
        ([1.0, 0.5], 2 / 3),
        ([0.9, 0.1], 0.18),
        ([1.0, 1.0, 1.0], 1),
        ([0.817, 0.892, 0.874], 0.85979),
        ([5e-324, 1.0], 1e-323),  # no overflow
        ([0.4, 2 / 3, 1.0, 0.5], 4 / 7),
    ],
)
def test_harmonic_mean(values: list[float], expected: float) -> None:
    assert harmonic_mean(values) == pytest.approx(expected, abs=1e-5)


@given(st.lists(unit, min_size=1, max_size=8))
def test_harmonic_mean_lies_between_smallest_and_arithmetic_mean(values: list[float]) -> None:
    value = harmonic_mean(values)
    assert min(values) <= value <= max(values)
    assert value <= sum(values) / len(values) + 1e-12
    assert harmonic_mean([values[0]] * 3) == values[0]


@given(st.lists(unit, min_size=2, max_size=8))
def test_harmonic_mean_does_not_depend_on_order(values: list[float]) -> None:
    assert harmonic_mean(values) == harmonic_mean(values[::-1])


@pytest.mark.parametrize(
    ("summary", "text", "expected"),
    [
        ("", "abcd", 1),
        ("a", "abcd", 3 / 4),
        ("ab", "abcd", 1 / 2),
        ("abcd", "abcd", 0),  # a copy, exactly
        ("abcdefgh", "abcd", 0),
        ("ä", "äöüß", 3 / 4),  # characters, not bytes
    ],
)
def test_conciseness(summary: str, text: str, expected: float) -> None:
    assert conciseness(summary, text) == expected


@given(st.text(), st.text(min_size=1), st.text())
def test_longer_summaries_are_never_more_concise(summary: str, text: str, more: str) -> None:
    assert 0 <= conciseness(summary + more, text) <= conciseness(summary, text) <= 1
    assert conciseness(summary, text) == pytest.approx(1 - min(len(summary), len(text)) / (len(text) + 1e-10), abs=1e-9)


@pytest.mark.parametrize(("labels", "expected"), [("y", 1), ("n", 0), ("yn", 1 / 2), ("yyn", 2 / 3), ("nnnn", 0)])
def test_qa_score(labels: str, expected: float) -> None:
    assert qa_score(votes(labels)) == expected


@pytest.mark.parametrize(
    ("labels", "expected"), [("y", 1), ("n", 0), ("yyn", 1), ("nny", 0), ("ynyny", 1), ("nnnyy", 0), ("yyyyy", 1)]
)
def test_majority(labels: str, expected: float) -> None:
    assert majority(votes(labels)) == expected


@pytest.mark.parametrize(
    ("reference", "contexts", "expected"),
    [
        (["Ulm"], ["Ulm"], 1),
        (["Ulm"], [], 0),
        (["Ulm"], ["Bern"], 0),
        (["Ulm", "Bern"], ["Bern", "Rome"], 1 / 2),
        (["The Danube"], ["danube"], 1),
        (["Shah  Jahan"], ["Shah\nJahan"], 1),
        (["Ulm", "ULM"], ["ulm"], 1),
        (["Ulm", "ULM", "Bern"], ["ulm"], 1 / 2),
        (["Ulm"], ["Neu-Ulm"], 0),  # the same name, not a part of one
        (["1879"], ["1879", "1880"], 1),
    ],
)
def test_entity_recall(reference: list[str], contexts: list[str], expected: float) -> None:
    assert entity_recall(reference, contexts) == expected


def test_distinct_keeps_the_first_mention() -> None:
    assert distinct(["The Danube", "Ulm", "danube", "ULM"]) == ("The Danube", "Ulm")


@pytest.mark.parametrize(
    ("correct", "answer", "reference", "relevant", "irrelevant"),
    [
        # answer and reference: one row per claim, one letter per passage
        ("s", ["s"], ["s"], 0, 0),  # right
        ("n", ["s"], ["s"], 1, 0),  # wrong, from a relevant passage
        ("n", ["s"], ["n"], 0, 1),  # wrong, from an irrelevant one
        ("n", ["n"], ["s"], 0, 0),  # made up
        ("n", ["c"], ["s"], 0, 0),  # contradicted is not supported
        ("c", ["s"], ["s"], 1, 0),
        ("n", ["ss"], ["sn"], 1, 0),  # from both: counts as relevant only
        ("n", ["ns"], ["sn"], 0, 1),
        ("nn", ["sn", "ns"], ["sn"], 1 / 2, 1 / 2),
        ("snn", ["sn", "sn", "nn"], ["sn"], 1 / 3, 0),
        ("n", ["ns"], ["sn", "ns"], 1, 0),  # each passage supports another claim of the reference
        ("s", ["s"], ["n"], 0, 0),  # right by the reference, whatever the passage is
    ],
)
def test_noise(correct: str, answer: list[str], reference: list[str], relevant: float, irrelevant: float) -> None:
    passages = relevant_passages([row(letters) for letters in reference])
    found = [row(letters) for letters in answer]
    assert share_noise(verdicts(correct), found, passages) == relevant
    assert share_noise(verdicts(correct), found, passages, "irrelevant") == irrelevant


@pytest.mark.parametrize(
    ("values", "expected"),
    [([0.5], 0.5), ([1.0, 1.0, 1.0], 1), ([-1.0, 1.0], 0), ([0.1] * 10, 0.1), ([-0.5, -0.1], -0.3)],
)
def test_mean_cosine(values: list[float], expected: float) -> None:
    assert mean_cosine(values) == expected
