"""Run a target over questions and score what it answers: `assay.run`."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from assay._util.sync import facade
from assay._util.tabular import Tabular, record_of
from assay._util.terminal import pluralize
from assay.data import ColumnMap, Data, RowError, Rows, missing_columns, open_data
from assay.data.open_source import OpenSource
from assay.data.sources import Source
from assay.errors import InputError, printable
from assay.evaluation.evaluate import aevaluate
from assay.evaluation.result import Result
from assay.evaluation.run_names import new_name
from assay.evaluation.targets.asking import Asking, AskOptions, prepared
from assay.evaluation.targets.base import Answer, Target, Variables
from assay.evaluation.targets.functions import FunctionTarget
from assay.evaluation.targets.http_target import HttpTarget
from assay.evaluation.targets.repeats import RepeatVariance, repeat_variances
from assay.judges.base import JudgeSpec
from assay.judges.budget.budget import Budget
from assay.judges.no_judge import judge_if_asked
from assay.metrics.names import MetricSpec, resolve_metrics
from assay.records import Sample
from assay.store.store import Store
from assay.store.temporary import TemporaryStore

MOST_COMBINATIONS = 1000  # of the values of `vary`


@dataclass(frozen=True, slots=True)
class TargetRun(Tabular):
    """One run of a target: its scores, and what its answers took.

    Attributes:
        run: Name of the run.
        variables: Values of `vary`.
        rows: Rows, repeats included.
        answered: Rows with an answer; `cached` of them come from the store.
        seconds: Median duration of a call; `seconds_p95` is the 95th percentile. None: nothing was measured.
        input_tokens, output_tokens, cost: Sums; None: not known for every answer.
        repeats: Variance of each metric, where questions were repeated.
    """

    _noun = "run"

    run: str
    variables: Mapping[str, Any]
    rows: int
    answered: int
    cached: int
    seconds: float | None
    seconds_p95: float | None
    input_tokens: int | None
    output_tokens: int | None
    cost: float | None
    result: Result
    repeats: tuple[RepeatVariance, ...] = ()

    def __str__(self) -> str:
        parts = [f"{self.run}: {self.answered} of {pluralize(self.rows, 'row')} answered"]
        parts += [f"{self.cached} from the store"] if self.cached else []
        if self.seconds is not None:
            parts.append(f"median {self.seconds:.3g} s, 95th percentile {self.seconds_p95:.3g} s")
        if self.input_tokens is not None and self.output_tokens is not None:
            parts.append(f"{self.input_tokens:,} tokens in, {self.output_tokens:,} out")
        parts += [f"cost {self.cost:.4g}"] if self.cost is not None else []
        return printable("\n".join([", ".join(parts), *(f"  {one}" for one in self.repeats)]))


@dataclass(frozen=True, slots=True)
class TargetRuns(Tabular):
    """The runs of a target: one, or one for each combination of `vary`.

    Compare several with `assay.compare_runs(runs.results)`.
    """

    _item_type = TargetRun

    runs: tuple[TargetRun, ...]
    notes: tuple[str, ...] = field(default=())

    @property
    def results(self) -> list[Result]:
        """The scores of each run."""
        return [one.result for one in self.runs]

    @property
    def result(self) -> Result:
        """The scores of the first run."""
        return self.runs[0].result

    def _title(self) -> str:
        return pluralize(len(self.runs), "run")

    def _items(self) -> list[dict[str, Any]]:
        names = [name for name in TargetRun.__dataclass_fields__ if name not in ("variables", "result", "repeats")]
        return [{**{name: getattr(one, name) for name in names}, **one.variables,
                 **{name: summary.mean for name, summary in one.result.metrics.items()}}
                for one in self.runs]  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain JSON values."""
        return {
            "runs": [{**row, "repeats": [record_of(each) for each in one.repeats], "scores": one.result.to_dict()}
                     for row, one in zip(self._items(), self.runs, strict=True)],
            "notes": list(self.notes),
        }  # fmt: skip

    def __str__(self) -> str:
        return "\n".join([text for one in self.runs for text in (str(one.result), str(one))] + list(self.notes))


async def arun(
    target: Any,
    data: Rows,
    metrics: MetricSpec | None = None,
    judge: JudgeSpec = None,
    *,
    store: Store | str | Path | None = ".assay",
    run: str | None = None,
    replace: bool = False,
    note: str | None = None,
    target_version: str | None = None,
    repeats: int = 1,
    vary: Mapping[str, Sequence[Any]] | None = None,
    concurrency: int = 8,
    call_timeout: float = 120.0,
    attempts: int | None = None,
    requests_per_minute: int | None = None,
    stop_after: int | None = 20,
    column_map: ColumnMap | None = None,
    language: str | None = None,
    limit: int | None = None,
    progress: bool | None = None,
    budget: Budget | None = None,
) -> TargetRuns:
    """Run an application over questions, and score its answers.

    Every answer is in the store as it comes. A run that was killed continues when it is started again: with the same
    version of the target, or else with the same `run`. A question without an answer (an error, no answer in time, a
    value that is no answer) is a row without scores (cause `target`), and no other row is lost.

    Args:
        target: A function of the question, sync, async or a generator, that returns a text, a dict with answer and
            contexts, or a Sample; an object with `invoke`, `query`, `chat` or `run`, such as a LangChain runnable or a
            LlamaIndex engine or agent; a URL or an `HttpTarget`. What LangChain and LlamaIndex retrieve is captured
            where the integration is installed.
        data: The questions, as `assay.evaluate` takes them; references and other columns stay with the rows. The target
            sees no reference.
        metrics, judge, store, note, column_map, language, limit, progress, budget: As in `assay.evaluate`.
        run: Name of the run. With `vary` the names of runs begin with it.
        replace: Replace runs of that name.
        target_version: Version of the application. None: for a function a hash of its module's source; for all else
            not known, and answers are not reused by later runs.
        repeats: Answers to each question, at least 1.
        vary: Name -> values. Each combination is a run; the target gets the values as keyword arguments, or as
            template variables.
        concurrency: Calls of the target at the same time, and rows that are scored at the same time.
        call_timeout: Seconds for one call.
        attempts: Calls for one question until there is an answer. None: 1, for HTTP 3.
        requests_per_minute: Calls begun in any 60 s. None: no limit.
        stop_after: Questions in a row without an answer after which no more are asked. None: never.

    Returns:
        The runs, with the target's latency, tokens and cost.

    Raises:
        InputError: Before the target is called: for a target that cannot be called, unknown variables, a run name that
            is taken, data without questions; and as `assay.evaluate`.
    """
    application = target_of(target, target_version)
    combinations = combinations_of(vary)
    for variables in combinations:
        application.check(variables)
    attempts = application.attempts if attempts is None else attempts
    limits = {"repeats": repeats, "concurrency": concurrency, "attempts": attempts}
    limits |= {
        "requests_per_minute": 1 if requests_per_minute is None else requests_per_minute,
        "stop_after": 1 if stop_after is None else stop_after,
    }
    for name, value in limits.items():
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise InputError(f"{name}: expected a whole number of at least 1, got {value!r}")
    if not (call_timeout > 0 and math.isfinite(call_timeout)):
        raise InputError(f"call_timeout: expected a positive number of seconds, got {call_timeout}")
    source = open_data(data, column_map=column_map, limit=limit, language=language)
    if "question" not in source.columns:
        raise InputError(f"data: {source.name} has no questions; use column_map= to name the column of the question")
    if metrics is not None:  # what is wrong is said before the target is called
        metrics = resolve_metrics(metrics)
        judge = judge_if_asked(any(one.may_ask for one in metrics), judge)
        lacking = missing_columns(source.columns | {"answer", "contexts", "messages"}, metrics)
        if lacking:
            lines = "; ".join(f"{label} needs {', '.join(fields)}" for label, fields in lacking.items())
            raise InputError(f"data: columns are missing: {lines}; use column_map= to name yours")
    rows = list(source)
    kept = store if isinstance(store, Store) else Store(store) if store is not None else TemporaryStore()
    base = run or new_name()
    names = [_run_name(base, variables) for variables in combinations]
    taken = [name for name in names if not replace and kept.has_run(name)]
    if taken:
        raise InputError(f"run: {taken[0]!r} is taken; name another, or replace it with replace=True")
    options = AskOptions(concurrency=concurrency, timeout=call_timeout, attempts=attempts,
                         requests_per_minute=requests_per_minute, stop_after=stop_after)  # fmt: skip
    scopes = [_scope(application, None if run is None else name) for name in names]
    notes = _notes(application, run)
    asked: list[tuple[list[Sample | RowError], Asking]] = []
    async with application.session():
        notes += [f"passages of {name} are not captured: no integration is installed"
                  for name in getattr(application, "unheard", ())]  # fmt: skip
        for variables, scope in zip(combinations, scopes, strict=True):
            asking = Asking(application, variables, kept, scope, options)
            asked.append((await asking.ask_all(prepared(rows, repeats, variables)), asking))
    found: list[TargetRun] = []
    for name, variables, scope, (answered, asking) in zip(names, combinations, scopes, asked, strict=True):
        result = await aevaluate(
            _data_of(answered, source, application.name), metrics, judge, store=kept, run=name, replace=replace,
            note=note, concurrency=concurrency, progress=progress, budget=budget,
        )  # fmt: skip
        found.append(_target_run(result, variables, asking.answers, repeats))
        notes += [f"{name}: not all questions were asked: {asking.stopped}"] if asking.stopped else []
        if scope is not None and application.version is None and result.complete and asking.stopped is None:
            kept.forget(judge=scope)  # the run is over: of an unknown version, the next one asks anew
    return TargetRuns(tuple(found), tuple(notes))


#: `arun` for callers without an event loop; it also works inside of one.
run = facade("run", arun)


def target_of(target: Any, version: str | None) -> Target:
    """The target that is meant. Raises InputError for what is none."""
    import dataclasses

    if version is not None and (not isinstance(version, str) or not version.strip()):
        raise InputError(f"target_version: expected a text, got {version!r}")
    if isinstance(target, str):
        target = HttpTarget(target)
    if isinstance(target, HttpTarget):
        return target if version is None else dataclasses.replace(target, version=version)
    return target if isinstance(target, FunctionTarget) else FunctionTarget(target, version=version)


def combinations_of(vary: Mapping[str, Sequence[Any]] | None) -> list[Variables]:
    """Each combination of values; one without variables where nothing varies. Raises InputError."""
    if not vary:
        return [{}]
    for name, values in vary.items():
        if not str(name).isidentifier():
            raise InputError(f"vary: expected names such as model, got {name!r}")
        if isinstance(values, str) or not isinstance(values, Sequence) or not values:
            raise InputError(f"vary: {name}: expected a list of values, got {values!r}")
    number = math.prod(len(values) for values in vary.values())
    if number > MOST_COMBINATIONS:
        raise InputError(f"vary: {number:,} combinations; at most {MOST_COMBINATIONS:,}")
    found = [dict(zip(vary, values, strict=True)) for values in product(*vary.values())]
    names = [_run_name("", variables) for variables in found]
    if len(set(names)) < len(names):
        raise InputError("vary: two values of one name are the same")
    return list(found)


def _run_name(base: str, variables: Variables) -> str:
    return ".".join([base, *(f"{name}={str(value)[:60]}" for name, value in variables.items())])


def _scope(target: Target, run: str | None) -> str | None:
    """What answers are kept under: the target and its version; without one the run, until it has ended."""
    if target.version is not None:
        return f"target:{target.name}@{target.version}"
    return (
        None
        if run is None
        else f"target:{target.name}@run:{hashlib.sha256(run.encode('utf-8', 'replace')).hexdigest()[:16]}"
    )


def _notes(target: Target, run: str | None) -> list[str]:
    if target.version is not None:
        return []
    again = "" if run is not None else "; name the run to continue it after a kill"
    return [f"the version of {target.name} is not known: later runs ask it again. Name it with target_version={again}"]


def _data_of(answered: Sequence[Sample | RowError], source: Data, name: str) -> Data:
    """The answered rows, with the columns that they have."""
    fields = set(source.columns) | {"answer"}
    for row in answered:
        if isinstance(row, Sample):
            fields |= {"contexts"} if row.contexts is not None else set()
            fields |= {"messages"} if row.messages else set()
    made = Source(what=f"the answers of {name}", open=lambda: iter(answered), total=len(answered), head=0,
                  fields=frozenset(fields))  # fmt: skip
    return Data([OpenSource(made, None, f"{source.name} answered by {name}")])


def _target_run(result: Result, variables: Variables, answers: Sequence[Answer], repeats: int) -> TargetRun:
    durations = sorted(answer.seconds for answer in answers if answer.seconds is not None)
    return TargetRun(
        run=result.run,
        variables=variables,
        rows=result.rows,
        answered=len(answers),
        cached=sum(answer.cached for answer in answers),
        seconds=_quantile(durations, 0.5),
        seconds_p95=_quantile(durations, 0.95),
        input_tokens=_sum([answer.input_tokens for answer in answers]),
        output_tokens=_sum([answer.output_tokens for answer in answers]),
        cost=_sum([answer.cost for answer in answers]),
        result=result,
        repeats=tuple(repeat_variances(result)) if repeats > 1 else (),
    )


def _quantile(ordered: Sequence[float], share: float) -> float | None:
    """The smallest value that at least this share of the values does not exceed."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else None


def _sum(values: Sequence[Any]) -> Any:
    """The sum; None where one is not known: unknown is not 0."""
    return None if not values or any(value is None for value in values) else math.fsum(values) if any(
        isinstance(value, float) for value in values) else sum(values)  # fmt: skip
