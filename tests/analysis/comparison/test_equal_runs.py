"""Runs of one system are hardly ever called better or worse, and a verdict never contradicts its interval."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.analysis.comparison.compare import compare
from tests.analysis.comparison.equal_runs import TOPICS, WORLDS, count_wrong, made

VALUES = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])
#: A row before and after: any, hardly ever moved, nearly always worse.
KINDS = (
    st.tuples(VALUES, VALUES),
    st.sampled_from([(0.5, 0.5)] * 9 + [(0.5, 1.0)]),
    st.sampled_from([(1.0, 0.75)] * 9 + [(0.5, 0.5)]),
)


@st.composite
def runs(draw: st.DrawFn) -> list[list[tuple[float, float]]]:
    """For each metric the rows of both runs."""
    rows = draw(st.integers(len(TOPICS), 12))
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=4))
    return [draw(st.lists(kind, min_size=rows, max_size=rows)) for kind in kinds]


@pytest.mark.long
@pytest.mark.parametrize("world", WORLDS)
def test_of_1000_pairs_of_equal_runs_5_percent_are_better_or_worse_at_most(world: str) -> None:
    """The whole and the slices are two families, each wrong in 5% of pairs at most; and so are both together here."""
    found = count_wrong(world, 1000, seed=20_261_128)
    assert found.whole <= 50
    assert found.slices <= 50
    assert found.either <= 50
    assert found.changed == 0


def test_slices_change_nothing_of_the_whole_in_15_pairs_of_equal_runs() -> None:
    found = count_wrong("mixed", 15, seed=7)
    assert (found.changed, found.whole <= 3) == (0, True)


@settings(max_examples=20)
@given(runs())
def test_no_verdict_contradicts_its_interval(metrics: list[list[tuple[float, float]]]) -> None:
    """Better and worse: the interval excludes 0. Unchanged: no row moved."""
    first, second = made(*([[pair[side] for pair in rows] for rows in metrics] for side in (0, 1)))
    found = compare(first, second, moved=0, by="topic")
    sliced = [one for values in found.slices.values() for of in values.values() for one in of.values()]
    for one in (*found.metrics.values(), *sliced):
        assert one.difference is not None
        by = one.difference.estimate
        assert (one.verdict in ("better", "worse")) == (not by.low <= 0.0 <= by.high)
        assert (one.verdict == "better") == (by.low > 0.0)
        assert (one.verdict == "unchanged") == (one.changed == 0)
    for number, rows in enumerate(metrics):
        assert found.metrics[f"m{number}"].changed == sum(a != b for a, b in rows)
