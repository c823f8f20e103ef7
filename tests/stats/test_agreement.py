"""Agreement of a judge with people: figures by hand, against definitions, and intervals that hold."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import InputError
from assay.stats.agreement import agreement

#: 10 labels: 4 of 6 true ones found, 3 of 4 false ones left.
TRUTH = [True] * 6 + [False] * 4
SAID = [True] * 4 + [False] * 2 + [True] + [False] * 3


def test_figures_by_hand():
    found = agreement(TRUTH, SAID)
    assert found is not None
    assert found.accuracy is not None
    assert found.balanced_accuracy is not None
    assert found.kappa is not None
    assert found.gain is not None
    assert found.accuracy.value == pytest.approx(0.7)  # (4 + 3) / 10
    assert found.balanced_accuracy.value == pytest.approx((4 / 6 + 3 / 4) / 2)
    # people say yes 6 of 10 times, the judge 5 of 10: by chance they agree on 0.6 * 0.5 + 0.4 * 0.5 = 0.5
    assert found.kappa.value == pytest.approx((0.7 - 0.5) / 0.5)
    assert found.majority == pytest.approx(0.6)
    assert found.gain.value == pytest.approx(0.1)
    assert found.auroc is None
    assert found.ece is None


def test_auroc_counts_pairs_in_the_right_order_and_ties_half():
    found = agreement([True, True, False, False], [True] * 4, [0.9, 0.5, 0.5, 0.1])
    assert found is not None
    assert found.auroc is not None
    assert found.auroc.value == pytest.approx((1 + 1 + 0.5 + 1) / 4)


def test_calibration_error_of_one_bin_is_the_distance_of_the_means():
    found = agreement([True] * 10 + [False] * 10, [True] * 20, [0.8] * 20)
    assert found is not None
    assert found.ece is not None
    assert found.ece.value == pytest.approx(0.3)  # 0.8 against 10 of 20
    # a half-normal with the error of 20 answers of 0.8: sqrt(2/pi * 0.8 * 0.2 / 20)
    assert found.ece_by_chance == pytest.approx(math.sqrt(2 / math.pi * 0.008))


def test_a_label_of_weight_two_is_two_labels():
    probability = [0.9, 0.8, 0.4, 0.3, 0.2, 0.6, 0.7, 0.1, 0.2, 0.3]
    twice = [n for n in range(10) for _ in range(2 if n % 3 == 0 else 1)]
    weighted = agreement(TRUTH, SAID, probability, weights=[2.0 if n % 3 == 0 else 1.0 for n in range(10)])
    repeated = agreement([TRUTH[n] for n in twice], [SAID[n] for n in twice], [probability[n] for n in twice])
    for name in ("accuracy", "balanced_accuracy", "kappa", "auroc", "gain"):
        assert getattr(weighted, name).value == pytest.approx(getattr(repeated, name).value)
    assert weighted is not None
    assert repeated is not None
    assert weighted.majority == pytest.approx(repeated.majority)


def test_the_scale_of_weights_says_nothing_however_huge():
    probability = [0.9, 0.8, 0.4, 0.3, 0.2, 0.6, 0.7, 0.1, 0.2, 0.3]
    one, other = (agreement(TRUTH, SAID, probability, weights=[scale] * 10) for scale in (1.0, 1e308))
    assert one == other


def test_without_a_missing_probability_the_others_count():
    found = agreement([True, False, True], [True, False, True], [0.9, 0.1, None])
    assert found is not None
    assert found.auroc is not None
    assert found.auroc.value == 1.0


def test_labels_that_all_say_the_same_say_little():
    found = agreement([True] * 30, [True] * 29 + [False])
    assert found is not None
    assert (found.kappa, found.balanced_accuracy, found.auroc) == (None, None, None)
    assert found.thin is not None
    assert "all 30 labels say the same" in found.thin


@pytest.mark.parametrize(("n", "said"), [(20, "only 20 labels"), (60, None)])
def test_few_labels_are_said_to_be_few(n, said):
    found = agreement([True, False] * (n // 2), [True, False] * (n // 2))
    assert found is not None
    assert found.thin is None if said is None else said in (found.thin or "")


def test_a_perfect_judge_on_few_labels_is_no_certainty():
    found = agreement([True, False] * 10, [True, False] * 10, [0.9, 0.1] * 10)
    assert found is not None
    for figure in (found.accuracy, found.balanced_accuracy, found.kappa, found.auroc):
        assert figure is not None
        assert figure.value == figure.high == 1.0
        assert figure.low < 0.9


def test_rows_that_hang_together_are_fewer_witnesses():
    rng = np.random.default_rng(2)
    truth = np.repeat(rng.random(40) < 0.5, 5)
    said = np.repeat(rng.random(40) < 0.7, 5)
    alone = agreement(truth, said)
    together = agreement(truth, said, clusters=np.repeat(np.arange(40), 5).tolist())
    assert alone is not None
    assert together is not None
    for name in ("accuracy", "kappa", "balanced_accuracy"):
        one, other = getattr(alone, name), getattr(together, name)
        # five equal rows are one: the interval is sqrt(5) = 2.2 times as wide, a little less by Wilson's shape
        assert 1.8 < (other.high - other.low) / (one.high - one.low) < 2.4


def test_no_labels_are_nothing():
    assert agreement([], []) is None


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"said": [True]}, "said"),
        ({"probability": [0.5]}, "probability"),
        ({"probability": [0.5, 1.5]}, "probability"),
        ({"weights": [1.0, -1.0]}, "weights"),
        ({"weights": [1.0, math.inf]}, "weights"),
        ({"clusters": []}, "clusters"),
        ({"confidence": 0.0}, "confidence"),
    ],
)
def test_what_does_not_fit_is_named(wrong, named):
    with pytest.raises(InputError, match=f"^{named}"):
        agreement(**{"truth": [True, False], "said": [True, True], **wrong})


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.tuples(st.booleans(), st.booleans(), st.floats(0, 1), st.floats(0.01, 50), st.integers(0, 8)),
        min_size=1,
        max_size=60,
    )
)
def test_every_interval_holds_its_figure_and_stays_in_its_range(rows):
    truth, said, probability, weights, clusters = zip(*rows, strict=True)
    found = agreement(truth, said, probability, weights=weights, clusters=clusters)
    assert found is not None
    for name in ("accuracy", "gain", "balanced_accuracy", "kappa", "auroc", "ece"):
        figure = getattr(found, name)
        if figure is not None:
            assert (-1.0 if name in ("gain", "kappa") else 0.0) <= figure.low <= figure.value + 1e-9
            assert figure.value - 1e-9 <= figure.high <= 1.0 + 1e-9


def drawn(rng: np.random.Generator, many: int, size: int):
    """Labels, verdicts and probabilities of rows in clusters of `size`, which change nothing for a single row."""
    cluster = np.arange(many) // size
    x = 0.8 * rng.normal(size=many) + 0.6 * rng.normal(size=many)[cluster]
    truth = rng.random(many) < 1 / (1 + np.exp(-2 * x - 0.5))
    probability = 1 / (1 + np.exp(-4 * x - 0.5 + 0.5 * rng.normal(size=many)))
    return truth, probability > 0.5, probability, cluster


@pytest.fixture(scope="module")
def true():
    """The figures of so many rows that they hardly err."""
    return agreement(*drawn(np.random.default_rng(11), 200_000, 1)[:3])


@pytest.mark.long
@pytest.mark.parametrize(
    ("n", "size", "draws"), [(60, 1, 40), (60, 1, 100), (60, 4, 100), (200, 1, 100), (200, 4, 100)]
)
def test_intervals_hold_the_true_figure(n, size, draws, true):
    rng = np.random.default_rng(11)
    names = ("accuracy", "gain", "balanced_accuracy", "kappa", "auroc", "ece")
    held = dict.fromkeys(names, 0)
    for _ in range(draws):
        truth, said, probability, cluster = drawn(rng, n, size)
        found = agreement(truth, said, probability, clusters=cluster.tolist())
        for name in names:
            figure = getattr(found, name)
            held[name] += figure.low <= getattr(true, name).value <= figure.high
    # 95 % each, of the calibration error, whose bins are not those of many labels, 93 %; less what the draws err by
    slack = 0.05 * math.sqrt(100 / draws)
    assert {
        name: count / draws for name, count in held.items() if count / draws < (0.93 if name == "ece" else 0.95) - slack
    } == {}
