"""openevals' JSON match: does the answer have the values of the reference, key by key? Higher is better, 0 to 1.

Answer and reference are JSON objects, or lists of objects, which `records` pairs. A key that both have is 1 where the
values are equal, or where the judge says yes to the `rubric` of that key, else 0; a key that one of them lacks is 0.

    json_match           the mean over the keys, each of which stands in `parts` by its name: openevals gives a number
                         for each and none for all
    json_match_average   the mean over the keys of an object
    json_match_all       1 where all keys of an object are 1, else 0

For a list, `list_aggregator` says how the numbers of its objects become one: "all" (default) 1 where each is 1, else 0;
"average" their mean. Without `aggregator` it does so for each key over the objects that have it. Nothing to compare is
skipped; openevals gives 0 for "average" and 1 for "all". Source: openevals 0.2.2, create_json_match_evaluator.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, Literal

from assay._util.byte_limits import TooLargeError, check_json
from assay.errors import Cause, InputError, JudgeFailure
from assay.judges.protocol import Judge
from assay.metrics._aspect_critique import majority
from assay.metrics.openevals.records import ListMode, Pair, pairs
from assay.metrics.shared_prompts import ask
from assay.metrics.systems.base import Entry, Steps, SystemMetric
from assay.metrics.systems.input_rules import TAKES_BLANK_TEXTS
from assay.prompts import Criterion, JudgePrompt
from assay.records import Sample, Score, Verdict

Aggregator = Literal["average", "all"]
#: The key under which an object without keys counts, where the other side has none for it.
EMPTY = "(no key)"
#: Objects of a list: pairing them takes the square of their number.
MOST_OBJECTS = 1000


def aggregated(numbers: Sequence[float], how: Aggregator) -> float:
    """The mean of these numbers, of which there is at least one; or 1 where all are 1, else 0."""
    return float(all(number == 1 for number in numbers)) if how == "all" else sum(numbers) / len(numbers)


def by_key(objects: Sequence[Mapping[str, float]]) -> dict[str, list[float]]:
    """The numbers of each key over the objects that have it."""
    found: dict[str, list[float]] = {}
    for one in objects:
        for key, number in one.items():
            found.setdefault(key, []).append(number)
    return found


@dataclass(frozen=True)
class JsonMatch(SystemMetric):
    """The share of keys with the right value.

    Attributes:
        aggregator: How the keys of an object become one number; None: see above.
        list_aggregator: How the objects of a list do.
        rubric: By key what the judge is asked about its value, instead of whether it is equal.
        exclude_keys: Keys that do not count.
        list_match_mode: Superset, subset, same_elements or ordered.
    """

    needs: ClassVar = ("answer", "reference")
    input_rules: ClassVar = TAKES_BLANK_TEXTS
    aggregator: Aggregator | None = None
    list_aggregator: Aggregator = "all"
    rubric: Mapping[str, str] = field(default_factory=dict)
    exclude_keys: tuple[str, ...] = ()
    list_match_mode: ListMode = "same_elements"

    def __post_init__(self) -> None:
        if isinstance(self.exclude_keys, str):
            raise InputError(f"JsonMatch: exclude_keys: expected several keys, found {self.exclude_keys!r}")

    @property
    def name(self) -> str:  # type: ignore[override]  # it carries the aggregator
        return "openevals:json_match" + ("" if self.aggregator is None else f"_{self.aggregator}")

    @property
    def asks(self) -> tuple[type[JudgePrompt[Any]], ...]:  # type: ignore[override]  # a judge for rubrics alone
        return (Criterion,) if self.rubric else ()

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        ours, theirs = _read(sample.answer, "answer"), _read(sample.reference, "reference")
        listed = isinstance(ours, list)
        if listed != isinstance(theirs, list):
            raise JudgeFailure(Cause.NOT_APPLICABLE, "one of answer and reference is a list, the other is not")
        skipped = {*self.exclude_keys, *self.rubric}
        paired: list[Pair] = pairs(ours, theirs, self.list_match_mode, skipped) if listed else [(ours, theirs)]
        verdicts = await self._judged(paired, sample, judge)
        objects = [self._numbers(pair, number, verdicts) for number, pair in enumerate(paired)]
        found = [one for one in objects if one]
        if not found:
            return self._nothing(listed)
        value, parts = self._value(found, listed)
        evidence = {f"{key} {number}": (verdict,) for (number, key), verdict in verdicts.items()}
        return self.make_score(value, parts=parts, verdicts=evidence)

    def _numbers(self, pair: Pair, number: int, verdicts: Mapping[tuple[int, str], Verdict]) -> dict[str, float]:
        """1 or 0 for each key of a pair that counts."""
        ours, theirs = pair
        if ours is None or theirs is None:
            alone = ours if ours is not None else theirs or {}
            return {key: 0.0 for key in alone if key not in self.exclude_keys} if alone else {EMPTY: 0.0}
        found = {}
        for key in (*ours, *(key for key in theirs if key not in ours)):
            if (number, key) in verdicts:
                found[key] = majority((verdicts[number, key],))
            elif key not in self.exclude_keys:
                found[key] = float(key in ours and key in theirs and ours[key] == theirs[key])
        return found

    async def _judged(self, paired: Sequence[Pair], sample: Sample, judge: Judge) -> dict[tuple[int, str], Verdict]:
        """The verdicts on the keys that have a rubric, by the number of the pair and the key."""
        wanted = [
            (number, key, ours[key], theirs[key])
            for number, (ours, theirs) in enumerate(paired)
            for key in self.rubric
            if key not in self.exclude_keys
            and ours is not None
            and theirs is not None
            and key in ours
            and key in theirs
        ]
        found = await ask(judge, *(self._prompt(key, our, their, sample.spoken) for _, key, our, their in wanted))
        return {(number, key): verdict for (number, key, _, _), verdict in zip(wanted, found, strict=True)}

    def _prompt(self, key: str, ours: Any, theirs: Any, language: str) -> Criterion:
        question = f"Held against the REFERENCE and by nothing but this, is the VALUE right: {self.rubric[key]}"
        material = tuple((title, _text(value)) for title, value in (("VALUE", ours), ("REFERENCE", theirs)))
        return Criterion(question, material, 0, language)

    def _value(self, objects: Sequence[Mapping[str, float]], listed: bool) -> tuple[float, dict[str, float]]:
        if self.aggregator is not None:
            numbers = [aggregated(tuple(one.values()), self.aggregator) for one in objects]
            parts = {key: sum(found) / len(found) for key, found in by_key(objects).items()}
            return (aggregated(numbers, self.list_aggregator) if listed else numbers[0]), parts
        parts = {key: aggregated(found, self.list_aggregator) for key, found in by_key(objects).items()}
        return aggregated(tuple(parts.values()), "average"), parts

    def _nothing(self, listed: bool) -> Score:
        """The score of two objects without a key that counts, or of two lists without objects."""
        message = "answer and reference have no key to compare"
        if not self.original or self.aggregator is None:
            return self.skip(Cause.NOT_APPLICABLE, message)
        value = float((self.list_aggregator if listed else self.aggregator) == "all")
        return replace(self.make_score(value), convention=message)


def _read(written: str | None, name: str) -> Any:
    """The object or list of objects in a text."""
    try:
        check_json(written or "")
        value = json.loads(written or "")
    except TooLargeError as error:
        raise JudgeFailure(Cause.TOO_LARGE, f"the {name}: {error}") from None
    except (ValueError, RecursionError) as error:
        raise JudgeFailure(Cause.NOT_APPLICABLE, f"the {name} is no JSON: {error}") from None
    objects = value if isinstance(value, list) else [value]
    if not all(isinstance(one, dict) for one in objects):
        raise JudgeFailure(Cause.NOT_APPLICABLE, f"the {name} is neither a JSON object nor a list of objects")
    if len(objects) > MOST_OBJECTS:
        raise JudgeFailure(Cause.TOO_LONG, f"the {name} has {len(objects)} objects; at most {MOST_OBJECTS} are paired")
    return value


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _entry(aggregator: Aggregator | None) -> Entry:
    arguments: dict[str, Any] = {} if aggregator is None else {"aggregator": aggregator}
    aggregate = {"average": "mean", "all": "1 where all are 1", None: "mean"}[aggregator]
    return Entry(
        make=partial(JsonMatch, **arguments),
        source="openevals.json.create_json_match_evaluator",
        compared="openevals 0.2.2" if aggregator else "published formula: openevals gives a number for each key alone",
        family="json match",
        steps=Steps("keys of the answer and of the reference", "the reference", "equal", aggregate),
        empty="0 for average, 1 for all",
    )


ENTRIES = tuple(_entry(aggregator) for aggregator in (None, "average", "all"))
