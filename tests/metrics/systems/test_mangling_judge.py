"""A judge whose judgements are right but for what is mangled in them: no metric makes a number of it that is none.

Where a mangled judgement is not refused it has to be usable: the value within its range, every part finite, the row
readable from the store and explained.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from random import Random
from typing import Any

import pytest

from assay import evaluate
from assay.errors import Cause
from assay.judges.protocol import Answer
from assay.metrics import METRICS, systems
from assay.prompts import JudgePrompt
from tests.metrics.systems.any_judge import AnyJudge
from tests.metrics.systems.rich import rich

#: What may stand in the place of a value of a type.
IN_PLACE: Mapping[type, Callable[[Any], tuple[Any, ...]]] = {
    bool: lambda value: (None, "yes", 2),
    int: lambda value: (-1, 0, 99, 10**30, None, "3", math.nan),
    float: lambda value: (math.nan, math.inf, -5.0, 2.5, "0.5", None, True, 10**400),
    str: lambda value: ("", "  ", "\ud800", "x" * 5000, None, 5, value.upper(), value + "\x00"),
    tuple: lambda value: ((), value + value, list(value), None),
}
RATE = 0.2


def mangled(value: Any, random: Random) -> Any:
    """The value with some of what is in it in another form, or gone."""
    if is_dataclass(value) and not isinstance(value, type):
        made = object.__new__(type(value))  # as it is: nothing checks what a judge puts into it
        for field in fields(value):
            object.__setattr__(made, field.name, mangled(getattr(value, field.name), random))
        return made
    inside = tuple(mangled(one, random) for one in value) if isinstance(value, tuple) else value
    others = IN_PLACE.get(type(value))
    return random.choice(others(inside)) if others is not None and random.random() < RATE else inside


class Mangling(AnyJudge):
    def __init__(self, seed: str) -> None:
        super().__init__()
        self.random = Random(seed)
        self.changed = 0

    async def _one(self, prompt: JudgePrompt[Any]) -> Answer:
        answer = await super()._one(prompt)
        judgement = mangled(answer.judgement, self.random)
        self.changed += repr(judgement) != repr(answer.judgement)
        return replace(answer, judgement=judgement)


def fate(name: str, seed: str) -> str:
    """What became of one row: "scored", or why it was not."""
    result = evaluate([rich(name)], [name], Mangling(seed), store=None)
    (row,) = result  # it can be read again
    (score,) = row.scores.values()
    assert str(result.explain(1))
    if score.value is None:
        assert score.error is not None
        assert score.error.cause in (Cause.BUG, Cause.PARSE, Cause.NO_CLAIMS, Cause.NOT_APPLICABLE), score.error
        return score.error.message
    assert math.isfinite(score.value)
    assert score.low <= score.value <= score.high
    assert all(map(math.isfinite, score.parts.values())), score.parts
    return "scored"


@pytest.mark.parametrize(
    "system",
    [pytest.param(one, marks=[] if one == "own" else [pytest.mark.long]) for one in ("own", *systems.SYSTEMS)],
)
def test_no_mangled_judgement_becomes_a_number_that_is_none(system: str) -> None:
    fates = [
        fate(name, f"{name} {seed}")
        for name in (METRICS if system == "own" else systems.names(system))
        for seed in range(5 if system == "own" else 2)
    ]
    refused = [one for one in fates if "does not answer its prompt" in one]
    assert len(refused) > len(fates) / 10 or system in ("openevals", "langchain"), fates  # the check has met something
