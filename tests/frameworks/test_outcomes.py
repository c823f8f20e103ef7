"""What counts as a difference that assay makes: judged on made-up outcomes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.frameworks.measured import Measured, split
from tests.frameworks.outcomes import Difference, Run, compare


def ran(attached: str = "nothing", **outcomes: str) -> Run:
    return Run(attached=attached, outcomes=outcomes)


def test_the_same_outcomes_are_no_difference():
    run = ran(a="passed", b="failed", c="skipped")
    found = compare([run], [run], [run])
    assert (found.because, found.shared, found.flaky) == ((), (), {})


def test_what_fails_with_assay_alone_is_because_of_assay_and_says_why():
    attached = Run(attached="assay", outcomes={"a": "failed"}, reasons={"a": "KeyError: 'x'"})
    found = compare([ran(a="passed")], [ran(a="passed")], [attached])
    assert found.because == (
        Difference(test="a", plain=("passed",), empty=("passed",), attached=("failed",), reason="KeyError: 'x'"),
    )


def test_what_an_empty_handler_breaks_as_well_is_not_because_of_assay():
    found = compare([ran(a="passed")], [ran(a="failed")], [ran(a="failed")])
    assert (found.because, [one.test for one in found.shared]) == ((), ["a"])


def test_what_an_empty_handler_breaks_in_another_way_still_is():
    found = compare([ran(a="passed")], [ran(a="failed")], [ran(a="error")])
    assert [one.test for one in found.because] == ["a"]


def test_what_only_the_empty_handler_breaks_is_no_matter_of_assay():
    found = compare([ran(a="passed")], [ran(a="failed")], [ran(a="passed")])
    assert (found.because, found.shared) == ((), ())


def test_a_test_that_differs_between_plain_runs_is_flaky_and_nothing_else():
    found = compare([ran(a="passed"), ran(a="failed")], [ran(a="passed")], [ran(a="error")])
    assert found.flaky == {"a": ("failed", "passed")}
    assert (found.because, found.shared) == ((), ())


def test_one_of_several_runs_with_assay_is_enough():
    found = compare([ran(a="passed")] * 5, [ran(a="passed")], [ran(a="passed"), ran(a="failed")])
    assert [one.attached for one in found.because] == [("failed", "passed")]


@pytest.mark.parametrize(("plain", "attached"), [({"a": "passed"}, {}), ({}, {"a": "passed"})], ids=["lost", "new"])
def test_a_test_that_is_lost_or_new_with_assay_is_a_difference(plain, attached):
    found = compare([ran(**plain)], [ran(**plain)], [ran(**attached)])
    assert [one.test for one in found.because] == ["a"]


def test_a_repaired_test_is_a_difference_too():
    assert compare([ran(a="failed")], [ran(a="failed")], [ran(a="passed")]).because


def test_without_a_run_of_each_kind_nothing_is_compared():
    with pytest.raises(ValueError, match="each kind"):
        compare([ran(a="passed")], [], [ran(a="passed")])


RUNS = st.lists(
    st.builds(Run, outcomes=st.dictionaries(st.sampled_from("abc"), st.sampled_from(["passed", "failed"]))),
    min_size=1,
    max_size=4,
)


@given(plain=RUNS, empty=RUNS, attached=RUNS)
def test_every_new_outcome_is_in_exactly_one_place(plain, empty, attached):
    found = compare(plain, empty, attached)
    places = [one.test for one in (*found.because, *found.shared)] + list(found.flaky)
    assert len(places) == len(set(places))
    for test in {test for run in attached for test in run.outcomes}:
        before, after = ({run.outcomes.get(test) for run in runs} for runs in (plain, attached))
        assert (test in places) == (len(before) > 1 or not after <= before)


def measured(alone: tuple[Run, ...]) -> Measured:
    whole = (ran(a="passed"), ran("empty", a="passed"), ran("assay", a="failed"))
    return Measured(commit="c", **split(whole), alone=alone)


def test_a_difference_that_comes_again_alone_stays():
    alone = (ran(a="passed"), ran("empty", a="passed"), ran("assay", a="failed"))
    assert [one.test for one in measured(alone).comparison.because] == ["a"]


def test_a_difference_that_does_not_come_again_alone_is_named_apart():
    alone = (ran(a="passed"), ran("empty", a="passed"), ran("assay", a="passed"))
    found = measured(alone)
    assert (found.comparison.because, [one.test for one in found.seen_once]) == ((), ["a"])


def test_a_test_that_fails_alone_without_assay_is_flaky():
    alone = (ran(a="passed"), ran(a="failed"), ran("empty", a="passed"), ran("assay", a="failed"))
    found = measured(alone)
    assert (found.comparison.because, found.seen_once) == ((), ())
    assert found.comparison.flaky == {"a": ("failed", "passed")}


@pytest.mark.parametrize(
    "alone",
    [(), (ran(b="passed"), ran("empty", b="passed"), ran("assay", b="passed"))],
    ids=["not run alone", "another test was"],
)
def test_what_was_not_run_alone_is_not_excused(alone):
    assert [one.test for one in measured(alone).comparison.because] == ["a"]


def test_what_is_kept_is_read_back_and_replaces_what_was_kept(tmp_path):
    assert Measured.read(tmp_path) is None
    measured((ran(a="passed"), ran("empty", a="passed"), ran("assay", a="passed"))).write(tmp_path)
    later = measured(())
    later.write(tmp_path)
    assert Measured.read(tmp_path) == later
