"""What each metric asks a judge about a sample, what it tells beside its number, and what it cannot measure.

    is       its family and source, the steps of its formula, whether the order of passages counts, its other names
    may ask  the kinds of prompts that it says it asks
    asks     "Rating 1-5: QUESTION=question; PASSAGE P1=contexts.1": what is asked, on which scale, and under which
             title each text stands: a field of the sample, else how the text begins and how
             long it is
    tells    cause, or range and direction; verdicts, names of parts, texts
    OPTION=  both where that option is not the system's: what changes, and the label
    plain    both once more where a history stands in the place of messages, and the judge gives no reasons
    lacking  the cause without each of the things that metrics need; a number where the original gives one all the same

asked.json has this for all metrics, assay's own as well, and for the original's profile where that differs; all but
the first four for one metric of each class and of what it needs. `python -m tests.metrics.systems.asked` writes it
anew: look at what changed.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, get_args, get_type_hints

from assay.errors import InputError
from assay.judges.protocol import Answer
from assay.metrics import METRICS, Metric, systems
from assay.prompts import JudgePrompt, RatingResult
from assay.records import Context, Sample, Score, Turn, Verdict
from tests.metrics.systems.any_judge import AnyJudge
from tests.metrics.systems.rich import JSON, PICTURES, RICH, rich

#: What assay's own metrics are asked for under.
OWN = "own"
TABLE = Path(__file__).with_name("asked.json")
#: So much of a text is shown that is no field of the sample.
BEGINNING = 24
#: Options that are not varied: one has rows of its own, one makes Python warn, one would read pictures by a model.
LEFT_OUT = ("profile", "flags", "reading")


class Reasoning(AnyJudge):
    """Gives a reason with every verdict and rating."""

    async def _one(self, prompt: JudgePrompt[Any]) -> Answer:
        answer = await super()._one(prompt)
        return replace(answer, judgement=_reasoned(answer.judgement))


def _reasoned(judgement: Any) -> Any:
    if isinstance(judgement, (RatingResult, Verdict)):
        return replace(judgement, reason="because")
    return tuple(map(_reasoned, judgement)) if isinstance(judgement, tuple) else judgement


def table(system: str) -> dict[str, Any]:
    """What asked.json should have of a system, or of assay's own metrics."""
    return asyncio.run(_table(tuple(METRICS) if system == OWN else systems.names(system)))


async def _table(names: Sequence[str]) -> dict[str, Any]:
    rows: dict[str, Any] = {}
    seen: set[tuple[type, tuple[str, ...]]] = set()
    for name in names:
        for profile in ("", "@original") if ":" in name else ("",):
            metric = systems.named(name + profile) if ":" in name else METRICS[name]()
            row = {**describe(name), **await _row(metric, rich(name), full=_kind(metric) not in seen)}
            if row != rows.get(name):
                rows[name + profile] = row
        seen.add(_kind(metric))
    return rows


def _kind(metric: Metric) -> tuple[type, tuple[str, ...]]:
    """The class, with the fields and columns by which metrics of one class differ."""
    return type(metric), (*metric.needs, *metric.columns, *metric.may_read)


def describe(name: str) -> dict[str, str]:
    """What its entry says it is."""
    system, _, rest = name.partition(":")
    if not rest:
        return {}
    entry = systems.system_entries(system)[rest]
    steps = " / ".join(entry.steps.to_dict().values())
    besides = (["ordered"] if entry.ordered else []) + [f"also {one}" for one in entry.also]
    return {"is": "; ".join((f"{entry.family}, {entry.source}: {steps}", *besides))}


async def _row(metric: Metric, sample: Sample, *, full: bool) -> dict[str, Any]:
    row: dict[str, Any] = await _said(metric, sample, Reasoning())
    if full:
        changed = CHANGED.get(id(sample)) or _changed(sample)
        plain = await _said(metric, changed["plain"], AnyJudge())
        row["plain"] = {key: value for key, value in plain.items() if value != row[key]}
        row["lacking"] = await _lacking(metric, changed)
        for option, other in () if metric.label.endswith("@original") else _others(metric):
            said = {"label": other.label, **await _said(other, sample, Reasoning())}
            row[option] = {key: value for key, value in said.items() if value != row.get(key)}
    return row


def _others(metric: Metric) -> Iterator[tuple[str, Metric]]:
    """The metric with one option changed: what is true or false, one of several words, a whole number."""
    kinds: dict[str, Any] = {}
    with suppress(NameError):  # one that only type checkers know
        kinds = get_type_hints(type(metric))
    for option in fields(metric) if is_dataclass(metric) else ():
        value = getattr(metric, option.name)
        if isinstance(value, bool):
            values: tuple[Any, ...] = (not value,)
        elif isinstance(value, int):
            values = (value + 1,)
        else:
            values = tuple(one for one in get_args(kinds.get(option.name)) if isinstance(one, str) and one != value)
        for other in values if option.name not in LEFT_OUT else ():
            with suppress(InputError):
                yield f"{option.name}={other}", replace(metric, **{option.name: other})


async def _said(metric: Metric, sample: Sample, judge: AnyJudge) -> dict[str, Any]:
    score = await metric.score(sample, judge)
    names = _names(sample)
    return {
        "may ask": ", ".join(kind.__name__ for kind in metric.asks),
        "asks": list(dict.fromkeys(prompt_in_words(one, names) for one in judge.asked)),
        "tells": told(score, names),
    }


def prompt_in_words(prompt: JudgePrompt[Any], names: Mapping[str, str]) -> str:
    """One prompt in a line."""
    content, kind = prompt.content(), type(prompt).__name__
    if content is None:  # it is not asked in words
        texts = (prompt.text, *prompt.others)  # type: ignore[attr-defined]
        return f"{kind}: {'; '.join(_named(text, names) for text in texts)}"
    scale = _scale([int(level) for level, _ in prompt.levels]) if hasattr(prompt, "levels") else ""
    numbers = {one.name: getattr(prompt, one.name) for one in fields(prompt)}
    told = "".join(f" {name} {value}" for name, value in numbers.items() if isinstance(value, int) and value)
    return f"{kind}{scale}{told}: {'; '.join(f'{one.title}={_named(one.text, names)}' for one in content.material)}"


def _scale(levels: Sequence[int]) -> str:
    whole = list(range(levels[0], levels[-1] + 1)) == list(levels)
    return f" {levels[0]}-{levels[-1]}" if whole else " " + ",".join(map(str, levels))


def told(score: Score, names: Mapping[str, str]) -> str:
    """What a score tells in a line."""
    reasons = {verdict.reason for verdicts in score.verdicts.values() for verdict in verdicts if verdict.reason}
    tells = [
        score.error.cause.value if score.error else f"{score.low:g} to {score.high:g}, {score.direction}",
        f"by convention: {score.convention[:BEGINNING]}" if score.convention else "",
        ", ".join(f"{name} of {len(verdicts)}" for name, verdicts in score.verdicts.items()),
        f"reasons: {', '.join(sorted(_named(one, names) for one in reasons))}" if reasons else "",
        f"parts: {', '.join(score.parts)}" if score.parts else "",
        *(f"{name}=({', '.join(_named(text, names) for text in texts)})" for name, texts in score.texts.items()),
    ]
    return "; ".join(one for one in tells if one)


def _named(text: str, names: Mapping[str, str]) -> str:
    beginning = text if len(text) <= BEGINNING else f"{text[:BEGINNING]}... ({len(text)})"
    return names.get(text) or json.dumps(beginning, ensure_ascii=False)


def _names(sample: Sample) -> dict[str, str]:
    """The fields of a sample by their texts."""
    fields = {getattr(sample, name) or "": name for name in ("question", "answer", "reference")}
    for name in ("contexts", "reference_contexts"):
        for number, context in enumerate(getattr(sample, name) or (), 1):
            fields.setdefault(context.text, f"{name}.{number}")
    fields.pop("", None)
    return fields


async def _lacking(metric: Metric, changed: Mapping[str, Sample]) -> str:
    fates = []
    for what, sample in changed.items():
        score = await metric.score(sample, AnyJudge())
        if score.error is not None:
            fates.append(f"{what}: {score.error.cause.value}")
        elif score.convention is not None:
            fates.append(f"{what}: {score.value:g}")
    return "; ".join(fates)


def _changed(sample: Sample) -> dict[str, Sample]:
    """A sample without each of the things that metrics need; and plain."""
    return {
        "question": replace(sample, question=None, messages=()),
        "answer": replace(sample, answer=" "),
        "reference": replace(sample, reference=None),
        "contexts": replace(sample, contexts=()),
        "text in contexts": replace(sample, contexts=(Context(text=" "),)),
        "reference_contexts": replace(sample, reference_contexts=()),
        "messages": replace(sample, messages=()),
        "metadata": replace(sample, metadata={}),
        "plain": replace(sample, messages=(), history=(Turn(question="Is there a museum?", answer="There is one."),)),
    }


#: The same for the samples that many metrics share; made once, as it takes long.
CHANGED = {id(sample): _changed(sample) for sample in (RICH, JSON, PICTURES)}


if __name__ == "__main__":
    every = {name: row for system in (OWN, *systems.SYSTEMS) for name, row in table(system).items()}
    TABLE.write_text(json.dumps(every, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
