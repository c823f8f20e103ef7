"""A metric as a plain function: its parameters say what it needs, what it returns is the score.

@assay.metric
def short(answer):
    return len(answer) < 200

@assay.metric
async def polite(answer, judge):
    return await judge.find(Question("Is the tone of the ANSWER polite?", {"ANSWER": answer}))
"""

from __future__ import annotations

import asyncio
import difflib
import functools
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, ParamSpec, TypeVar, cast, get_args, overload

from assay.errors import Cause, InputError, JudgeFailure
from assay.judges.protocol import Around, Judge
from assay.metrics.base import Metric, as_score
from assay.prompts import JudgePrompt, Question, Support
from assay.records import Context, Direction, Sample, Score, Verdict

P = ParamSpec("P")
R = TypeVar("R")

#: What a parameter is given, by its name; besides these there is `judge`.
FIELDS: Mapping[str, Callable[[Sample], Any]] = {
    "sample": lambda sample: sample,
    "question": lambda sample: sample.question,
    "contexts": lambda sample: _texts(sample.contexts),
    "answer": lambda sample: sample.answer,
    "reference": lambda sample: sample.reference,
    "reference_contexts": lambda sample: _texts(sample.reference_contexts),
    "history": lambda sample: sample.history,
    "metadata": lambda sample: sample.metadata,
    "language": lambda sample: sample.spoken,
    "id": lambda sample: sample.id,
    "ids": lambda sample: sample.ids,
}
#: Those that a sample may lack: a function that takes them without a default cannot measure a sample that does.
_MAY_LACK = ("question", "contexts", "answer", "reference", "reference_contexts")


@dataclass(frozen=True, repr=False, kw_only=True)
class FunctionMetric(Metric, Generic[P, R]):
    """What `@assay.metric` makes of a function. It can still be called as the function that it was."""

    function: Callable[P, R]
    name: str  # type: ignore[misc]
    needs: tuple[str, ...]  # type: ignore[misc]
    asks: tuple[type[JudgePrompt[Any]], ...]  # type: ignore[misc]
    low: float  # type: ignore[misc]
    high: float  # type: ignore[misc]
    direction: Direction  # type: ignore[misc]
    version: str  # type: ignore[misc]
    takes: tuple[str, ...]
    optional: tuple[str, ...]

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """The function itself."""
        return self.function(*args, **kwargs)

    @property
    def consults(self) -> bool:
        return "judge" in self.takes

    @property
    def may_ask(self) -> bool:
        return self.consults or bool(self.asks)

    @property
    def at_once(self) -> bool:
        return not self.may_ask and not inspect.iscoroutinefunction(self.function)

    @property
    def reads_texts(self) -> bool:
        return self.consults or "language" in self.takes

    def cannot(self, judge: Judge, language: str = "en") -> JudgeFailure | None:
        reason = super().cannot(judge, language)
        if reason is not None or self.asks or not self.consults:
            return reason
        # it may ask anything: a judge that does not read the language for this does not read it for anything
        probe = judge.cannot(Support, language)
        return probe if probe is not None and probe.cause is Cause.LANGUAGE else None

    def __repr__(self) -> str:
        return f"metric({getattr(self.function, '__qualname__', self.name)})"

    def __reduce__(self) -> Any:
        # pickled as the function would be: by the name under which its module has it
        return self.__dict__.get("__qualname__") or super().__reduce__()

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        heard = _RecordingJudge(judge)
        returned: Any = cast("Callable[..., Any]", self.function)(**self._arguments(sample, heard))
        if inspect.isawaitable(returned):
            returned = await (asyncio.ensure_future(returned) if self.at_once else returned)  # in a task of its own
        return replace(as_score(self, returned, heard.labels_of(returned)), metric=self.label)

    def _arguments(self, sample: Sample, judge: Judge) -> dict[str, Any]:
        values = {name: judge if name == "judge" else FIELDS[name](sample) for name in self.takes}
        return {name: value for name, value in values.items() if value is not None or name not in self.optional}


@dataclass(slots=True)
class _RecordingJudge(Around):
    """The judge as a function sees it, and the labels of the questions that it put."""

    judge: Judge
    _answers: list[tuple[Verdict, tuple[str, ...]]] = field(default_factory=list)

    async def find(self, prompt: JudgePrompt[Any]) -> Any:
        judgement = await self.judge.find(prompt)
        if isinstance(prompt, Question):
            self._answers.append((judgement, prompt.labels()))
        return judgement

    def labels_of(self, returned: object) -> tuple[str, ...]:
        """The labels of the question that a verdict answers; () where it is not known, or no verdict."""
        if not isinstance(returned, Verdict):
            return ()
        same = [labels for verdict, labels in self._answers if verdict is returned]
        alike = [labels for _, labels in self._answers if returned.label in labels]
        return next(iter(same or alike), ())


@overload
def metric(function: Callable[P, R], /) -> FunctionMetric[P, R]: ...


@overload
def metric(
    *,
    name: str | None = None,
    needs: Sequence[str] | None = None,
    asks: Sequence[type[JudgePrompt[Any]]] = (),
    low: float = 0.0,
    high: float = 1.0,
    direction: Direction = "higher",
    version: str = "1",
) -> Callable[[Callable[P, R]], FunctionMetric[P, R]]: ...


def metric(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    needs: Sequence[str] | None = None,
    asks: Sequence[type[JudgePrompt[Any]]] = (),
    low: float = 0.0,
    high: float = 1.0,
    direction: Direction = "higher",
    version: str = "1",
) -> Any:
    """Make a metric of a function, plain or async.

    Its parameters are fields of the sample: `question`, `contexts` and `reference_contexts` (the passages' texts, as a
    tuple), `answer`, `reference`, `history` (a tuple of `Turn`), `metadata`, `language`, `id`, `ids`, the whole
    `sample`; and `judge`, to be asked with `await judge.find(...)`. A parameter with a default is optional.

    It returns a number from `low` to `high`; True or False (1.0 or 0.0); a `Verdict` of the judge (1.0 for its
    affirmative label, else 0.0), or a `RatingResult` level, whose reasons are then shown by `explain`; an `ScoreError`
    with the reason why there is no number; or a whole `Score`. Anything else, NaN, and an exception make the score
    failed (bug) with a message that names the metric. A plain function runs on the event loop: one that waits or
    computes for long delays the other rows, and should be async (`await asyncio.to_thread(...)`).

    Args:
        function: The function; None where options are given first: `@assay.metric(name="words")`.
        name: Label of the score; default: the function's name.
        needs: Fields without which nothing is measured; default: its parameters without a default. An empty retrieval
            and a blank answer are skipped where `contexts` and `answer` are needed.
        asks: Classes of the judge prompts that it uses, so that a judge which cannot answer them is never asked.
        low: Least value.
        high: Greatest value.
        direction: "higher" where more is better, else "lower".
        version: Raise it when the formula changes.

    Returns:
        The metric, or a decorator where no function is given.

    Raises:
        InputError: A parameter is no field, or options do not fit.
    """
    if function is None:
        return functools.partial(
            _new_metric, name=name, needs=needs, asks=asks, low=low, high=high, direction=direction, version=version
        )
    return _new_metric(function, name, needs, asks, low, high, direction, version)


def _new_metric(
    function: Callable[..., Any],
    name: str | None,
    needs: Sequence[str] | None,
    asks: Sequence[type[JudgePrompt[Any]]],
    low: float,
    high: float,
    direction: Direction,
    version: str,
) -> FunctionMetric[Any, Any]:
    if not callable(function) or isinstance(function, (type, Metric)):
        raise InputError(f"metric: expected a function, got {function!r}")
    called = name if name is not None else getattr(function, "__name__", "")
    if not called.strip() or called == "<lambda>":
        raise InputError("metric: a function without a name needs metric(name=...)")
    if direction not in get_args(Direction):
        raise InputError(f"metric {called!r}: direction: expected 'higher' or 'lower', got {direction!r}")
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise InputError(f"metric {called!r}: expected low below high, both finite, got {low!r} and {high!r}")
    takes, optional = _parameters(function, called)
    unknown = [field for field in needs or () if field not in _MAY_LACK]
    if unknown:
        raise InputError(f"metric {called!r}: needs: expected fields of {', '.join(_MAY_LACK)}; got {unknown[0]!r}")
    wanted = tuple(needs) if needs is not None else tuple(n for n in takes if n in _MAY_LACK and n not in optional)
    made: FunctionMetric[Any, Any] = FunctionMetric(
        function=function, name=called, needs=wanted, asks=tuple(asks), low=float(low), high=float(high),
        direction=direction, version=version, takes=takes, optional=optional,
    )  # fmt: skip
    for attribute in ("__doc__", "__module__", "__qualname__", "__name__"):
        if hasattr(function, attribute):
            object.__setattr__(made, attribute, getattr(function, attribute))
    return made


def metric_of_function(function: Callable[..., Any]) -> FunctionMetric[Any, Any]:
    """The metric that a function without `@assay.metric` is, with the options' defaults.

    Args:
        function: A named function, plain or async. All its parameters are fields of a sample or `judge`, and can be
            passed by name. A parameter with a default is optional.

    Returns:
        The metric, under the function's name. Its value is read as by `@assay.metric`.

    Raises:
        InputError: Naming the function and the parameter that is no field, or why the function has no parameters.
    """
    name = getattr(function, "__name__", "") or repr(function)
    known = f"the parameters of a metric are fields of a sample ({', '.join(FIELDS)}) or judge"
    if name == "<lambda>":
        raise InputError(
            'metrics: a lambda has no name; write a function, or assay.metric(name="NAME")(lambda ...: ...)'
        )
    if not hasattr(function, "__name__"):
        raise InputError(f"metrics: {name:.80} has no name; write a function, or assay.metric(name='NAME')(...)")
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # some builtins
        raise InputError(f"metrics: the parameters of {name}() cannot be read; {known}") from None
    if not parameters:
        raise InputError(f"metrics: {name}() has no parameter; {known}")
    for one in parameters:
        by_name = one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)
        if by_name and (one.name in FIELDS or one.name == "judge"):
            continue
        if by_name:
            near = difflib.get_close_matches(one.name, [*FIELDS, "judge"], n=1)
            reason = "is no field of a sample" + (f"; did you mean {near[0]!r}?" if near else "")
        else:
            reason = "cannot be passed by name"
        raise InputError(f"metrics: {name}(): parameter {str(one).split(':')[0].split('=')[0]!r} {reason}; {known}")
    return _new_metric(function, None, None, (), 0.0, 1.0, "higher", "1")


def _parameters(function: Callable[..., Any], name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The fields that a function takes, and those of them that have a default."""
    takes, optional = [], []
    for parameter in inspect.signature(function).parameters.values():
        has_default = parameter.default is not parameter.empty
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        known = parameter.name in FIELDS or parameter.name == "judge"
        if known and parameter.kind is not parameter.POSITIONAL_ONLY:
            takes.append(parameter.name)
            optional += [parameter.name] if has_default else []
        elif not has_default:
            near = difflib.get_close_matches(parameter.name, [*FIELDS, "judge"], n=1)
            hint = f"; did you mean {near[0]!r}?" if near and not known else ""
            raise InputError(
                f"metric {name!r}: parameter {parameter.name!r} is none of {', '.join(FIELDS)} and judge{hint}"
            )
    return tuple(takes), tuple(optional)


def _texts(contexts: tuple[Context, ...] | None) -> tuple[str, ...] | None:
    return None if contexts is None else tuple(context.text for context in contexts)
