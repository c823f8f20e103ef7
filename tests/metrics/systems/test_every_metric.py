"""What must hold for every metric of every system: its range, empty input, judges that fail and judges that cannot.

Samples are rich: whatever a metric of some system needs is there, under the names of that system.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from assay.errors import Cause, JudgeFailure
from assay.judges.base import BaseJudge
from assay.metrics import systems
from assay.metrics.systems.base import Entry
from assay.prompts import JudgePrompt
from assay.records import Context, Sample, Score
from tests._support.laws import check_laws, laws_of
from tests.metrics.systems.any_judge import AnyJudge
from tests.metrics.systems.rich import RICH, rich

pytestmark = pytest.mark.long

NAMES = systems.names()
PROFILES = ("", "@original")

EMPTY = Sample()
BLANK = Sample(question=" ", contexts=(), answer="", reference="", reference_contexts=(), id="blank")


def entry(name: str) -> Entry:
    system, _, rest = name.partition(":")
    return systems.system_entries(system)[rest]


def score(name: str, sample: Sample, judge: BaseJudge | None = None) -> Score:
    return asyncio.run(systems.named(name).score(sample, judge or AnyJudge()))


class Unable(BaseJudge):
    """A judge that answers nothing, and says so."""

    fingerprint = "unable"

    def cannot(self, prompt: type[JudgePrompt[Any]], language: str = "en") -> JudgeFailure:
        return JudgeFailure(Cause.JUDGE_CANNOT, f"this judge cannot do {prompt.name}")

    async def answer(self, prompts: Any) -> Any:
        raise AssertionError("it was asked")


def law_a_rich_sample_has_a_value_in_range(name: str) -> None:
    for profile in PROFILES:
        found = score(name + profile, rich(name))
        assert found.error is None, found
        assert found.value is not None
        assert found.low <= found.value <= found.high
        assert found.metric == name + profile
        assert found.direction in ("higher", "lower")
        assert all(map(math.isfinite, found.parts.values()))
        assert Score.from_dict(json.loads(json.dumps(found.to_dict(), allow_nan=False))) == found


def law_the_same_sample_has_the_same_score(name: str) -> None:
    assert score(name, rich(name)) == score(name, rich(name))


def law_empty_input_is_no_measurement(name: str) -> None:
    for profile, sample in itertools.product(PROFILES, (EMPTY, BLANK)):
        found = score(name + profile, sample)
        if profile and not systems.named(name).asks and found.measured:
            continue  # two empty texts are equal, say systems that compare characters
        assert not found.measured, found
        if found.error is not None:
            assert found.error.cause in (
                Cause.MISSING_INPUT,
                Cause.NO_CONTEXT,
                Cause.NO_CLAIMS,
                Cause.NOT_APPLICABLE,
            ), found
        else:
            assert profile == "@original"


def law_a_judge_that_fails_is_never_a_number(name: str) -> None:
    for profile in PROFILES:
        metric = systems.named(name + profile)
        if not metric.asks:
            assert score(name + profile, rich(name), AnyJudge(JudgeFailure(Cause.TIMEOUT, "late"))).measured
            continue
        found = score(name + profile, rich(name), AnyJudge(JudgeFailure(Cause.TIMEOUT, "late", raw="???")))
        assert found.error is not None, found
        assert found.error.cause is Cause.TIMEOUT


def law_a_judge_that_cannot_is_never_asked(name: str) -> None:
    found = score(name, rich(name), Unable())
    if systems.named(name).asks:
        assert found.error is not None, found
        assert found.error.cause in (Cause.JUDGE_CANNOT, Cause.NEEDS_VISION)
    else:
        assert found.measured


def law_it_asks_only_what_it_says(name: str) -> None:
    judge = AnyJudge()
    score(name, rich(name), judge)
    assert {type(one) for one in judge.asked} <= set(systems.named(name).asks)


class Read(dict[str, Any]):
    """A row's metadata that notes which columns were read."""

    def __init__(self, metadata: Mapping[str, Any]) -> None:
        super().__init__(metadata)
        self.names: set[str] = set()

    def get(self, key: str, default: Any = None) -> Any:
        self.names.add(key)
        return super().get(key, default)

    def __getitem__(self, key: str) -> Any:
        self.names.add(key)
        return super().__getitem__(key)


def columns_read(name: str, sample: Sample) -> set[str]:
    """The columns that a metric looks at when it scores this row."""
    sample = replace(sample)
    read = Read(sample.metadata)
    object.__setattr__(sample, "metadata", read)
    score(name, sample)
    return read.names


def law_it_reads_the_columns_that_it_says(name: str) -> None:
    metric, row = systems.named(name), rich(name)
    said = {*metric.needed_columns, *metric.may_read}
    rows = [row, replace(row, metadata={}, messages=())]
    for column in said:  # where one is missing another is looked for; where one is there the next is read
        rows += [replace(row, metadata={**row.metadata, column: value}) for value in (None, [])]
    rows.append(replace(row, metadata={**row.metadata, **{column: [] for column in said}}))
    assert set().union(*(columns_read(name, one) for one in rows)) == said


def law_without_a_column_that_it_needs_there_is_no_number(name: str) -> None:
    row, metric = rich(name), systems.named(name)
    for column in (*metric.needed_columns, *metric.may_read):
        without = replace(row, metadata={key: value for key, value in row.metadata.items() if key != column})
        assert score(name, without).measured is (column in metric.may_read), column


def law_the_order_of_passages_matters_only_where_it_is_said(name: str) -> None:
    sample = rich(name)
    assert sample.contexts is not None
    first = score(name, sample).value
    values = [score(name, replace(sample, contexts=order)).value for order in itertools.permutations(sample.contexts)]
    same = all(value == pytest.approx(first, abs=1e-12) for value in values)
    assert same is not entry(name).ordered


def law_its_entry_tells_people_what_it_is(name: str) -> None:
    found = entry(name)
    steps = found.steps.to_dict()
    assert found.source
    assert found.compared
    assert found.family == found.family.lower()
    assert all(steps.values())
    assert found.make().name == name
    assert type(found.make()).__doc__


LAWS = laws_of(globals())


@pytest.mark.parametrize("name", NAMES)
def test_every_law_holds(name: str) -> None:
    check_laws(LAWS, name)


def test_blank_passages_alone_are_none() -> None:
    blank = replace(RICH, contexts=(Context(text=" "), Context(text="\n")))
    for name in NAMES:
        metric = systems.named(name)
        if "contexts" in metric.needs and metric.needs_passages:
            found = score(name, replace(rich(name), contexts=blank.contexts))
            assert not found.measured, found
