"""Counts of samples without a row wait in memory until the store has them, and are written as totals."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assay.live.skip_counts import CountKey, SkipCounts

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.sampled_from(["dropped", "closed"]), st.integers(-2, 9)),
        st.tuples(st.just("write"), st.just(""), st.booleans()),
    ),
    max_size=40,
)


@given(STEPS)
def test_what_is_written_last_is_the_total(steps: list[tuple[str, str, int]]) -> None:
    """Whatever writes fail: one that fails is made good by a later one."""
    counts, stored, added = SkipCounts(), dict[CountKey, int](), {"dropped": 0, "closed": 0}
    for kind, cause, number in [*steps, ("write", "", 1)]:
        if kind == "add":
            counts.add(cause, "shop", number)
            added[cause] += number
            continue
        totals = counts.changed()
        if number:
            stored.update(totals)
            counts.written(totals)
    assert not counts.waiting
    by_cause = {"dropped": 0, "closed": 0}
    for (application, _, cause), samples in stored.items():
        assert application == "shop"
        by_cause[cause] += samples
    assert by_cause == added


def test_what_comes_while_it_is_written_waits_for_the_next_time() -> None:
    counts = SkipCounts()
    counts.add("dropped", None)
    totals = counts.changed()
    counts.add("dropped", None)
    counts.written(totals)
    assert counts.waiting
    ((_, samples),) = counts.changed().items()
    assert samples == 2


def test_each_has_a_name_of_its_own() -> None:
    assert SkipCounts().source != SkipCounts().source
