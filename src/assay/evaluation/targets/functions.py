"""Targets in this process: functions, LangChain runnables, LlamaIndex engines and agents."""

from __future__ import annotations

import asyncio
import functools
import hashlib
import inspect
import json
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager
from contextvars import Context, copy_context
from dataclasses import replace
from typing import Any

from assay._util.loop_threads import END_GRACE, LoopThread, Service, run_apart
from assay._util.threads import BackgroundWorker
from assay.errors import InputError
from assay.evaluation.targets.base import LONGEST, Answer, TargetFailure, Variables
from assay.evaluation.targets.capturing import CURRENT, Captured, capturing
from assay.evaluation.targets.outputs import answer_of, joined, with_captured
from assay.records import Sample
from assay.records.field_names import QUESTION_NAMES

#: Methods of frameworks' objects that take a question, in the order in which they are looked for.
METHODS = ("invoke", "query", "chat", "run")
_THREADS = 4096  # at most; those of calls that never return stay until the process ends


class FunctionTarget:
    """A function, or an object of a framework with `invoke`, `query`, `chat` or `run`.

    A call runs on a thread of its own; coroutines share one event loop, so that clients may be shared. A call that does
    not return in time is left behind.

    Args:
        call: The function or object.
        name: Its name. None: the one it has.
        version: Identifies what answers. None: a hash of the function's module, where that can be read.
    """

    attempts = 1

    def __init__(self, call: Any, *, name: str | None = None, version: str | None = None) -> None:
        method = None if inspect.isroutine(call) or inspect.isclass(call) else _method_of(call)
        self._call = call if method is None else getattr(call, method)
        self._needs_loop = method == "run"  # agents of LlamaIndex start tasks when they are called
        if inspect.isclass(call) or not callable(self._call):
            raise InputError(f"target: expected a function, a chain, an engine or a URL, got {type(call).__name__}")
        self._input = _FrameworkInput(call, method) if method is not None else _FunctionInput(call)
        self.name = name or getattr(call, "__qualname__", None) or type(call).__name__
        self.version = version if version is not None or method is not None else source_version(call)
        self.unheard: list[str] = []

    def check(self, variables: Variables) -> None:
        """See `Target`."""
        self._input.check(variables)

    @asynccontextmanager
    async def session(self) -> AsyncIterator[None]:
        """See `Target`."""
        self._threads = BackgroundWorker(_THREADS, "assay-target")
        self._service = Service(lambda: LoopThread("assay-target-loop", lambda error: None))
        try:
            with capturing() as self.unheard:
                yield
        finally:
            self._service.retire(END_GRACE)
            self._threads.close(timeout=0)

    async def ask(self, sample: Sample, variables: Variables, seconds: float) -> Answer:
        """See `Target`."""
        captured, given_up = Captured(), threading.Event()
        token = CURRENT.set(captured)
        try:
            context = copy_context()
        finally:
            CURRENT.reset(token)
        args, named = self._input.arguments(sample, variables)
        tokens: dict[str, int] = {}

        def called() -> Any:
            with _counting_tokens(tokens):
                begun = _begun_on_loop(self._call, named) if self._needs_loop else self._call(*args, **named)
                found = _read(begun, given_up)
                return found if isinstance(found, _Pending) else answer_of(found)

        try:
            answer = await _wait(self._threads.submit(context.run, _guarded, called), seconds)
            if isinstance(answer, _Pending):
                answer = await self._awaited(answer, called, context, tokens, seconds)
        finally:
            given_up.set()
        answer = with_captured(answer, captured.samples())
        if answer.input_tokens is None and tokens:
            answer = replace(answer, input_tokens=tokens.get("input_tokens"), output_tokens=tokens.get("output_tokens"))
        return answer

    async def _awaited(
        self, pending: _Pending, called: Callable[[], Any], context: Context, tokens: dict[str, int], seconds: float
    ) -> Any:
        """Await what the function returned on the loop of all calls.

        Where a call holds that loop, later calls get another, and each call that was on it is made once more on a loop
        of its own: one call that blocks is not to cost its neighbours their answers.
        """
        thread = self._service.start()
        future = thread.soon(lambda: _finish(pending, tokens), context)
        try:
            return await _wait(future, seconds)
        except _LateError:
            if not await self._is_blocked(thread):
                raise
        tokens.clear()

        async def alone() -> Any:
            again = _guarded(called)
            return await _finish(again, tokens) if isinstance(again, _Pending) else again

        try:
            found = await context.run(lambda: run_apart(alone, "assay-target-alone", seconds))
        except TimeoutError:
            raise _LateError(seconds) from None
        return _checked(found)

    async def _is_blocked(self, thread: LoopThread) -> bool:
        """Whether a call holds the loop; another one is then in service."""
        if self._service.thread is not thread or thread.silence > 0:
            self._service.give_up(thread, END_GRACE)
            return True
        alive = threading.Event()
        thread.call(alive.set)
        for _ in range(20):
            if alive.is_set():
                return False
            await asyncio.sleep(0.05)
        self._service.give_up(thread, END_GRACE)
        return True


async def _begun_on_loop(call: Callable[..., Any], named: dict[str, Any]) -> Any:
    value = call(**named)
    return await value if inspect.isawaitable(value) else value


class _LateError(TargetFailure):
    def __init__(self, seconds: float) -> None:
        super().__init__(f"no answer within {seconds:g} s")


async def _wait(future: Future[Any], seconds: float) -> Any:
    waited = asyncio.wrap_future(future)
    done, _ = await asyncio.wait({waited}, timeout=seconds)
    if not done:
        future.cancel()
        raise _LateError(seconds)
    return _checked(waited.result())


def _checked(outcome: Any) -> Any:
    if isinstance(outcome, _Raised):
        raise outcome.failure
    return outcome


async def _finish(pending: _Pending, tokens: dict[str, int]) -> Any:
    try:
        with _counting_tokens(tokens):
            return answer_of(await _read_async(pending.value))
    except asyncio.CancelledError:
        raise
    except BaseException as error:
        return _Raised(_failure_of(error))


class _Raised:
    """A value in place of an exception: SystemExit in a task would end the event loop."""

    def __init__(self, failure: TargetFailure) -> None:
        self.failure = failure


class _Pending:
    """Something to await or to read on an event loop."""

    def __init__(self, value: Any) -> None:
        self.value = value


def _failure_of(error: BaseException) -> TargetFailure:
    if isinstance(error, TargetFailure):
        return error
    try:
        message = str(error)
    except Exception:
        message = "(its message cannot be read)"
    return TargetFailure(f"it raised {type(error).__name__}: {message[:2000]}")


def _guarded(called: Callable[[], Any]) -> Any:
    try:
        return called()
    except BaseException as error:  # SystemExit and KeyboardInterrupt of the application, too
        return _Raised(_failure_of(error))


def _read(value: Any, given_up: threading.Event) -> Any:
    """A generator is read to its end, while somebody waits for it."""
    if inspect.isawaitable(value) or inspect.isasyncgen(value):
        return _Pending(value)
    if not inspect.isgenerator(value):
        return value
    parts: list[object] = []
    room = LONGEST
    for part in value:
        room = _take(parts, part, room)
        if given_up.is_set():
            value.close()
            break
    return joined(parts)


async def _read_async(value: Any) -> Any:
    if inspect.isawaitable(value):
        value = await value
    if not inspect.isasyncgen(value):
        if inspect.isgenerator(value):
            return await asyncio.to_thread(_read, value, threading.Event())
        return value
    parts: list[object] = []
    room = LONGEST
    async for part in value:
        room = _take(parts, part, room)
    return joined(parts)


def _take(parts: list[object], part: object, room: int) -> int:
    """Keep one part. Returns the characters that further ones may have; each takes some, so that none is free."""
    parts.append(part)
    room -= 100 + (len(part) if isinstance(part, str) else 0)
    if room < 0:
        raise TargetFailure(f"its generator yielded more than {LONGEST:,} characters", passing=False)
    return room


@contextmanager
def _counting_tokens(found: dict[str, int]) -> Iterator[None]:
    """Count the tokens that LangChain's models report, where LangChain is in use."""
    count = getattr(sys.modules.get("langchain_core.callbacks"), "get_usage_metadata_callback", None)
    if count is None:
        yield
        return
    with count() as handler:
        try:
            yield
        finally:
            for usage in handler.usage_metadata.values():
                for name in ("input_tokens", "output_tokens"):
                    found[name] = found.get(name, 0) + int(usage.get(name) or 0)


# ---- what a call gets


class _FunctionInput:
    """Arguments of a function: the question, and what its other parameters name."""

    def __init__(self, function: Callable[..., Any]) -> None:
        try:
            parameters = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError):  # a function of C
            parameters = [inspect.Parameter("question", inspect.Parameter.POSITIONAL_ONLY)]
        self._named = {one.name for one in parameters if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)}
        self._any = any(one.kind is one.VAR_KEYWORD for one in parameters)
        positional = [one for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
        self._first = positional[0].name if positional else None
        if not positional and not any(one.kind is one.VAR_POSITIONAL for one in parameters):
            raise InputError("target: the function takes no question; expected a function such as answer(question)")

    def check(self, variables: Variables) -> None:
        unknown = [name for name in variables if not self._any and (name not in self._named or name == self._first)]
        if unknown:
            known = ", ".join(sorted(self._named - {self._first})) or "none besides the question"
            raise InputError(f"vary: the function has no parameter {unknown[0]!r}; its parameters: {known}")

    def arguments(self, sample: Sample, variables: Variables) -> tuple[tuple[Any, ...], dict[str, Any]]:
        fields = {"sample": sample, "history": sample.history, "metadata": sample.metadata, "language": sample.language}
        first = fields["sample"] if self._first == "sample" else sample.question
        named = {name: value for name, value in fields.items() if name in self._named and name != self._first}
        return (first,), {**named, **variables}


class _FrameworkInput:
    """What `invoke`, `query`, `chat` or `run` of an object get: by its input schema, where it has one."""

    def __init__(self, target: Any, method: str) -> None:
        self._method = method
        self._names = _schema_names(target)

    def check(self, variables: Variables) -> None:
        if variables and self._method != "invoke":
            raise InputError(f"vary: {next(iter(variables))!r}: an object with {self._method}() takes no variables; "
                             "wrap it in a function that has them as parameters")  # fmt: skip

    def arguments(self, sample: Sample, variables: Variables) -> tuple[tuple[Any, ...], dict[str, Any]]:
        if self._method == "run":
            return (), {"user_msg": sample.question}
        if self._method != "invoke":
            return (sample.question,), {}
        if "messages" in self._names:
            return ({"messages": [{"role": "user", "content": sample.question}], **variables},), {}
        known = next((name for name in QUESTION_NAMES if name in self._names), None)
        known = known or (self._names[0] if len(self._names) == 1 else "question" if variables else None)
        return (sample.question if known is None else {known: sample.question, **variables},), {}


def _schema_names(target: Any) -> list[str]:
    schema = getattr(target, "get_input_jsonschema", None)
    try:
        found = {} if schema is None else schema()
        return list(found.get("properties", {})) if found.get("type") == "object" else []
    except Exception:  # not every chain can say what it takes
        return []


def _method_of(target: Any) -> str | None:
    if isinstance(target, functools.partial):
        return None
    return next((name for name in METHODS if callable(getattr(target, name, None))), None)


def source_version(function: Any) -> str | None:
    """Identify a function by its module's source: the helpers beside it count, other modules do not.

    Returns:
        A hash; None where the source cannot be read, or the function depends on values that are not in it (a closure
        over objects, a bound method, a callable object).
    """
    fixed: list[Any] = []
    while isinstance(function, functools.partial):
        fixed.append([list(function.args), sorted(function.keywords.items())])
        function = function.func
    if not inspect.isfunction(function):
        return None
    try:
        cells = [cell.cell_contents for cell in function.__closure__ or ()]
        defaults = list(function.__defaults__ or ())
        fixed.append([cells, defaults, sorted((function.__kwdefaults__ or {}).items())])
        if not _is_constant(fixed):
            return None
        module = sys.modules.get(function.__module__)
        source = inspect.getsource(module) if module is not None else inspect.getsource(function)
        code = function.__code__
        told = json.dumps([function.__qualname__, code.co_firstlineno, fixed, source])
    except (OSError, TypeError, ValueError, RecursionError):
        return None
    return hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()[:16]


def _is_constant(value: object, depth: int = 4) -> bool:
    """Whether a value is the same as long as the process runs; the lists that hold such values are ours."""
    if isinstance(value, tuple) or (depth > 1 and isinstance(value, list)):
        return depth > 0 and all(_is_constant(item, depth - 1) for item in value)
    return value is None or isinstance(value, (str, int, float))
