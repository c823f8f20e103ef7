"""Gates on runs whose scores are known: what passes, what fails, and what cannot be told."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.analysis.gates import Gate, GateRule, Ruling, check
from assay.analysis.gates.evidence import of_change, of_mean
from assay.errors import InputError
from tests.analysis.gates.conftest import Runs


def one(rule: GateRule, result: Any, baseline: Any = None, **more: Any) -> Ruling:
    """The ruling of a gate with this rule alone."""
    (found,) = check(Gate((rule,), **more), result, baseline).rulings
    return found


def test_a_mean_at_its_limit_passes_and_one_below_fails(runs: Runs) -> None:
    """(1 + 1 + 0.7) / 3 = 0.9."""
    result = runs("now", [1.0, 1.0, 0.7])
    assert one(GateRule("quality", "at_least", 0.9), result).verdict == "PASS"
    found = one(GateRule("quality", "at_least", 0.91), result)
    assert (found.verdict, found.p) == ("FAIL", None)
    assert [(seen.name, seen.row, seen.value) for seen in found.decisive] == [("r2", 3, 0.7)]
    assert str(found).startswith("FAIL quality at least 0.91: mean 0.900 on 3 rows")


def test_less_is_better_where_the_metric_says_so(runs: Runs, both: Any) -> None:
    result = runs("now", [1.0] * 4, both, harm=[0.0, 0.0, 0.0, 0.4])
    assert one(GateRule("harm", "at_most", 0.1), result).verdict == "PASS"
    assert one(GateRule("harm", "at_most", 0.05), result).verdict == "FAIL"
    with pytest.raises(InputError, match="gate harm: at_least: lower is better for this metric; say at_most"):
        one(GateRule("harm", "at_least", 0.1), result)


def test_what_passes_only_because_rows_have_no_score_is_inconclusive(runs: Runs) -> None:
    """Mean 1.0 on 9 of 10 rows; were the tenth 0, it would be 0.9."""
    result = runs("now", [1.0] * 9 + ["timeout"])
    assert one(GateRule("quality", "at_least", 0.9), result).verdict == "PASS"
    found = one(GateRule("quality", "at_least", 0.95), result)
    assert (found.verdict, found.value, found.bounds) == ("INCONCLUSIVE", 1.0, pytest.approx((0.9, 1.0)))
    assert [(seen.name, seen.because) for seen in found.decisive] == [("r9", ("timeout: so the row says",))]
    assert "were the one without a value known: 0.900 to 1.000" in found.because


def test_what_fails_only_because_rows_have_no_score_is_inconclusive_too(runs: Runs) -> None:
    """Mean 0.8 on 9 of 10 rows; were the tenth 1, it would be 0.82."""
    result = runs("now", [0.8] * 9 + ["parse"])
    assert one(GateRule("quality", "at_least", 0.81), result).verdict == "INCONCLUSIVE"
    assert one(GateRule("quality", "at_least", 0.83), result).verdict == "FAIL"


def test_rows_of_causes_that_are_left_out_are_none(runs: Runs) -> None:
    result = runs("now", [1.0] * 5 + ["no_claims"] * 5)
    assert one(GateRule("quality", "at_least", 0.9), result).verdict == "INCONCLUSIVE"
    found = one(GateRule("quality", "at_least", 0.9, leave_out=("no_claims",)), result)
    assert (found.verdict, found.rows, found.left_out) == ("PASS", 5, 5)


def test_too_few_rows_with_a_score_cannot_pass(runs: Runs) -> None:
    result = runs("now", [1.0] * 7 + ["timeout"] * 3)
    found = one(GateRule("quality", "at_least", 0.5), result)  # 0.7 were they all 0, but 7 of 10 are less than 80 %
    assert found.verdict == "INCONCLUSIVE"
    assert "too few rows have a value: the rule asks for 80%" in found.because
    assert one(GateRule("quality", "at_least", 0.5, coverage=0.7), result).verdict == "PASS"


@pytest.mark.parametrize("kind", ["at_least", "max_drop", "margin"])
def test_without_any_score_nothing_is_told(runs: Runs, kind: Any) -> None:
    now, before = runs("now", ["timeout"] * 3), runs("before", [1.0] * 3)
    found = one(GateRule("quality", kind, 0.5, coverage=0.0), now, before)
    assert (found.verdict, found.value, found.p) == ("INCONCLUSIVE", None, None)


def test_an_empty_run_is_inconclusive(runs: Runs) -> None:
    assert one(GateRule("quality", "at_least", 0.0), runs("now", ["timeout"])).verdict == "INCONCLUSIVE"


def test_by_the_interval_few_rows_cannot_tell_and_many_can(runs: Runs) -> None:
    rule = GateRule("quality", "at_least", 0.8, by="interval")
    assert one(rule, runs("few", [1.0] * 5)).verdict == "INCONCLUSIVE"
    assert one(rule, runs("many", [1.0] * 60)).verdict == "PASS"
    assert one(rule, runs("one", [1.0])).verdict == "INCONCLUSIVE"
    found = one(rule, runs("low", [1.0, 0.0] * 30))
    assert found.verdict == "FAIL"
    assert found.p is not None
    assert found.p < 0.001
    assert found.interval is not None
    assert found.interval[1] < 0.8


def test_a_run_that_got_worse_on_ten_rows_fails_and_names_them(runs: Runs) -> None:
    """Ten of twenty rows fell: p = 0.5¹⁰, one-sided."""
    before, now = runs("before", [1.0] * 20), runs("now", [0.0] * 10 + [1.0] * 10)
    found = one(GateRule("quality", "max_drop", 0.0), now, before)
    assert (found.verdict, found.value, found.p) == ("FAIL", -0.5, pytest.approx(0.5**10))
    assert [(seen.name, seen.before, seen.value) for seen in found.decisive] == [(f"r{n}", 1.0, 0.0) for n in range(5)]
    assert one(GateRule("quality", "max_drop", 0.5), now, before).verdict == "PASS"


def test_a_drop_that_chance_explains_is_inconclusive(runs: Runs) -> None:
    """Two of twenty rows fell: p = 0.25."""
    before, now = runs("before", [1.0] * 20), runs("now", [0.0] * 2 + [1.0] * 18)
    assert one(GateRule("quality", "max_drop", 0.0), now, before).verdict == "INCONCLUSIVE"
    assert one(GateRule("quality", "max_drop", 0.1), now, before).verdict == "PASS"


def test_a_margin_passes_only_where_enough_rows_show_it(runs: Runs) -> None:
    rule = GateRule("quality", "margin", 0.1)
    assert one(rule, runs("now", [1.0] * 8), runs("before", [1.0] * 8)).verdict == "INCONCLUSIVE"
    assert one(rule, runs("more", [1.0] * 80), runs("most", [1.0] * 80)).verdict == "PASS"
    assert one(rule, runs("low", [0.0] * 20 + [1.0] * 60), runs("high", [1.0] * 80)).verdict == "FAIL"


def test_less_harm_is_no_drop(runs: Runs, both: Any) -> None:
    ones, zeros = [1.0] * 20, [0.0] * 20
    before, now = runs("before", ones, both, harm=ones), runs("now", ones, both, harm=zeros)
    assert one(GateRule("harm", "margin", 0.1), now, before).verdict == "PASS"
    found = one(GateRule("harm", "max_drop", 0.1), before, now)
    assert (found.verdict, found.value) == ("FAIL", 1.0)
    assert found.decisive[0].before == 0.0


def test_a_row_whose_score_got_lost_counts_as_bad_and_as_good_as_can_be(runs: Runs) -> None:
    """-1/20 = -0.05 were it 0 now; so a drop of at most 0.04 cannot be told."""
    before, now = runs("before", [1.0] * 20), runs("now", [1.0] * 19 + ["timeout"])
    found = one(GateRule("quality", "max_drop", 0.04), now, before)
    assert (found.verdict, found.bounds) == ("INCONCLUSIVE", pytest.approx((-0.05, 0.0)))
    assert [(seen.name, seen.before, seen.value) for seen in found.decisive] == [("r19", 1.0, None)]
    assert one(GateRule("quality", "max_drop", 0.05), now, before).verdict == "PASS"


def test_what_could_be_measured_in_neither_run_did_not_change(runs: Runs) -> None:
    before, now = runs("before", [1.0] * 9 + ["no_claims"]), runs("now", [1.0] * 9 + ["no_claims"])
    found = one(GateRule("quality", "max_drop", 0.0), now, before)
    assert (found.verdict, found.rows, found.left_out) == ("PASS", 9, 1)
    refused = runs("refused", [1.0] * 9 + ["no_context"])  # another reason: something did change
    assert one(GateRule("quality", "max_drop", 0.0), refused, before).verdict == "INCONCLUSIVE"


def test_rows_that_the_run_dropped_count_against_its_coverage(runs: Runs) -> None:
    before, now = runs("before", [1.0] * 10), runs("now", [1.0] * 5)
    found = one(GateRule("quality", "max_drop", 0.0), now, before)
    assert (found.verdict, found.only_before) == ("INCONCLUSIVE", 5)
    assert "5 rows of the baseline are not in this run" in found.because


def test_rows_of_one_document_are_one_witness(runs: Runs) -> None:
    """Ten rows of two documents fell: p = 0.5², where ten rows alone are 0.5¹⁰."""
    docs = [f"d{n // 5}" for n in range(10)]
    before, now = runs("before", [1.0] * 10, doc=docs), runs("now", [0.0] * 10, doc=docs)
    rule = GateRule("quality", "max_drop", 0.0)
    assert one(rule, now, before).verdict == "FAIL"
    assert one(rule, now, before, cluster="doc").verdict == "INCONCLUSIVE"
    level = GateRule("quality", "at_least", 0.5, by="interval")
    assert one(level, now).verdict == "FAIL"
    assert one(level, now, cluster="doc").verdict == "INCONCLUSIVE"


def test_more_rules_make_it_harder_to_fail_by_chance(runs: Runs, both: Any) -> None:
    """Five of twenty rows fell: p = 0.5⁵ = 0.031 alone, twice that beside another rule that tests."""
    ones = [1.0] * 20
    before, now = runs("before", ones, both, harm=ones), runs("now", [0.0] * 5 + [1.0] * 15, both, harm=ones)
    rule = GateRule("quality", "max_drop", 0.0)
    assert one(rule, now, before).verdict == "FAIL"
    together = check(Gate((rule, GateRule("harm", "max_drop", 0.0))), now, before)
    assert (together.rulings[0].verdict, together.rulings[0].p) == ("INCONCLUSIVE", pytest.approx(2 * 0.5**5))
    beside_a_limit = check(Gate((rule, GateRule("harm", "at_most", 1.0))), now, before)  # which tests nothing
    assert beside_a_limit.rulings[0].verdict == "FAIL"


def test_the_worst_ruling_is_the_verdict(runs: Runs, both: Any) -> None:
    result = runs("now", [0.9] * 4, both, harm=["timeout"] * 4)
    good, bad = GateRule("quality", "at_least", 0.5), GateRule("quality", "at_most", 0.5)
    unknown = GateRule("harm", "at_most", 0.5)
    assert check(Gate((good,)), result).exit_code == 0
    assert (check(Gate((good, unknown)), result).verdict, check(Gate((good, unknown)), result).exit_code) == (
        "INCONCLUSIVE",
        6,
    )
    failed = check(Gate((unknown, GateRule("quality", "at_least", 0.95))), result)
    assert (failed.verdict, failed.exit_code) == ("FAIL", 5)
    assert failed.headline == "FAIL: now breaks quality at least 0.95"
    with pytest.raises(InputError, match="higher is better for this metric; say at_least"):
        check(Gate((bad,)), result)


def test_what_cannot_be_meant_is_refused(runs: Runs) -> None:
    now, before = runs("now", [1.0]), runs("before", [1.0])
    with pytest.raises(InputError, match="'qualty' is not in run 'now', which has quality; did you mean 'quality'"):
        one(GateRule("qualty", "at_least", 0.5), now)
    with pytest.raises(InputError, match="max_drop holds a run against another; name it with baseline"):
        one(GateRule("quality", "max_drop", 0.5), now)
    with pytest.raises(InputError, match="is its own baseline"):
        one(GateRule("quality", "max_drop", 0.5), now, now)
    with pytest.raises(InputError, match=r"at_least: expected a number from 0 to 1, got 1\.5"):
        one(GateRule("quality", "at_least", 1.5), now)
    with pytest.raises(InputError, match="margin: expected less than 1, the whole range, got 1"):
        one(GateRule("quality", "margin", 1.0), now, before)
    with pytest.raises(InputError, match="no row has the column 'doc'"):
        one(GateRule("quality", "at_least", 0.5), now, cluster="doc")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("quality", "at_lest", 0.5), "kind: expected at_least"),
        (("quality", "at_least", float("nan")), "at_least: expected a number, got nan"),
        (("quality", "at_least", True), "at_least: expected a number, got True"),
        (("quality", "max_drop", -0.1), "max_drop: expected 0 or more"),
        (("quality", "margin", 0.0), "margin: expected a number above 0"),
        (("quality", "max_drop", 0.1, "interval"), "by: goes with at_least and at_most"),
        (("quality", "at_least", 0.1, "median"), "by: expected 'mean' or 'interval'"),
        (("quality", "at_least", 0.1, "mean", 1.1), "coverage: expected a number from 0 to 1"),
        (("quality", "at_least", 0.1, "mean", 1.0, ("no_clams",)), "there is no cause 'no_clams'"),
    ],
)
def test_a_rule_says_what_is_wrong_with_it(arguments: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        GateRule(*arguments)


def test_a_gate_needs_rules_that_differ() -> None:
    rule = GateRule("quality", "at_least", 0.5)
    with pytest.raises(InputError, match="it has no rules"):
        Gate(())
    with pytest.raises(InputError, match="at_least is given twice"):
        Gate((rule, GateRule("quality", "at_least", 0.6)))
    with pytest.raises(InputError, match="confidence: expected a number between"):
        Gate((rule,), confidence=95)


SCORES = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=12)


@settings(max_examples=40)
@given(SCORES, st.integers(0, 3))
def test_what_is_broken_lies_wholly_below_and_what_is_kept_does_not(pairs: list[tuple[int, int]], drop: int) -> None:
    """Scores in quarters: broken means that no end of the interval allows the drop, and the mean is never both."""
    first, second = [a / 4 for a, _ in pairs], [b / 4 for _, b in pairs]
    found = of_change(first, second, 0.0, 1.0, drop / 4, None, clusters=None, alpha=0.05)
    assert found.value == pytest.approx(sum(second) / len(second) - sum(first) / len(first))
    assert not (found.holds and found.broken)
    if found.broken:
        assert found.interval is not None
        assert found.interval[1] < -drop / 4
    better = of_change(first, [1.0] * len(first), 0.0, 1.0, drop / 4, None, clusters=None, alpha=0.05)
    assert (better.holds, better.broken) == (True, False)


@settings(max_examples=40)
@given(SCORES, st.lists(st.sampled_from("ab"), min_size=12, max_size=12))
def test_a_missing_value_never_makes_a_verdict(pairs: list[tuple[int, int]], lost: list[str]) -> None:
    """What holds, or is broken, with values missing does so with the values there, whatever they are."""
    first, second = [a / 4 for a, _ in pairs], [b / 4 for _, b in pairs]
    gappy = [None if one == "b" and n else value for n, (value, one) in enumerate(zip(second, lost, strict=False))]
    seen = of_change(first, gappy, 0.0, 1.0, 0.25, None, clusters=None, alpha=0.05)
    whole = of_change(first, second, 0.0, 1.0, 0.25, None, clusters=None, alpha=0.05)
    assert seen.bounds[0] - 1e-9 <= whole.value <= seen.bounds[1] + 1e-9
    assert whole.holds or not seen.holds
    known = [value for value in gappy if value is not None]
    level = of_mean(known, len(gappy) - len(known), 0.0, 1.0, 0.5)
    all_known = of_mean(second, 0, 0.0, 1.0, 0.5)
    assert all_known.holds or not level.holds
    assert all_known.broken or not level.broken
