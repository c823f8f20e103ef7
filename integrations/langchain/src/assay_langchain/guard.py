"""Guards in LangChain: a runnable for the end of a chain, and a wrapper around a whole one.

Both decide before anything is released. Where a chain is streamed, the guarded answer comes in one piece, after the
check: what a reader has seen cannot be taken back.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

from langchain_core.callbacks import CallbackManagerForChainRun
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import merge_configs

from assay import Guard, InputError, Sample
from assay.extension import (
    ANSWER_NAMES,
    CaptureRules,
    DisabledIntake,
    Health,
    Submission,
    answer_of,
    call_repr,
    describe,
    find_columns,
    passages,
    question_of,
)
from assay_langchain.handler import AssayCallbackHandler


class GuardRunnable(Runnable[Any, Any]):
    """A guard as the last step of a chain that ends with a dict of question, contexts and answer.

        guard = assay.guard(on_timeout="pass", on_error="block", on_skipped="block", fallback="I did not find that.")
        chain | GuardRunnable(guard)

    Contexts are documents, texts, dicts, or one text. Returns the answer as it stands in the dict, or the fallback;
    raises GuardBlocked where the guard has none. A dict without one of the three keys raises InputError; None and
    empty values are no error, the guard's `on_skipped` says what becomes of them.

    Args:
        guard: What decides.
        column_map: Which key of the dict is the question, contexts or answer, where it has no common name or several
            do: `{"contexts": "documents"}`.
    """

    def __init__(self, guard: Guard, *, column_map: Mapping[str, str] | None = None) -> None:
        self._guard = guard
        self._column_map = column_map
        self.name = "AssayGuard"

    def __repr__(self) -> str:
        return call_repr(self, self._guard)

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        return self._call_with_config(self._checked, input, config)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        return await self._acall_with_config(self._achecked, input, config)

    def _checked(self, values: Any) -> Any:
        sample, answer = self._read(values)
        decision = self._guard.check(sample)
        return answer if decision.allowed else in_place_of(answer, self._guard.replacement(decision))

    async def _achecked(self, values: Any) -> Any:
        sample, answer = self._read(values)
        decision = await self._guard.acheck(sample)
        return answer if decision.allowed else in_place_of(answer, self._guard.replacement(decision))

    def _read(self, values: Any) -> tuple[Sample, Any]:
        if not isinstance(values, Mapping):
            raise InputError(f"GuardRunnable: expected a dict of question, contexts and answer, got {describe(values)}")
        columns = find_columns([key for key in values if isinstance(key, str)], self._column_map)
        for field in ("question", "contexts", "answer"):
            if field not in columns:
                keys = ", ".join(map(repr, values))
                raise InputError(f"GuardRunnable: no key of {keys} is the {field}; column_map can say which one is")
        contexts, answer = values[columns["contexts"]], values[columns["answer"]]
        sample = Sample(
            question=question_of(values[columns["question"]]),
            contexts=None if contexts is None else passages(contexts),
            answer=answer_of(answer),
        )
        return sample, answer


class GuardedChain(Runnable[Any, Any]):
    """A chain, agent or graph behind a guard. See `guard_chain`."""

    def __init__(self, chain: Runnable[Any, Any], guard: Guard, rules: CaptureRules) -> None:
        self._chain = chain
        self._guard = guard
        self._rules = rules
        self.name = f"guarded:{chain.get_name()}"

    def __repr__(self) -> str:
        return call_repr(self, self._chain, self._guard)

    @property
    def InputType(self) -> Any:
        return self._chain.InputType

    @property
    def OutputType(self) -> Any:
        return Any

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        return self._call_with_config(self._run, input, config, **kwargs)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        return await self._acall_with_config(self._arun, input, config, **kwargs)

    def _run(self, input: Any, run_manager: CallbackManagerForChainRun, config: RunnableConfig, **kwargs: Any) -> Any:
        caught = _Caught()
        output = self._chain.invoke(input, self._listening(config, caught), **kwargs)
        sample = self._sample(caught, input, output)
        decision = self._guard.check(sample)
        return output if decision.allowed else self._replaced(output, self._guard.replacement(decision), sample)

    async def _arun(self, input: Any, run_manager: Any, config: RunnableConfig, **kwargs: Any) -> Any:
        caught = _Caught()
        output = await self._chain.ainvoke(input, self._listening(config, caught), **kwargs)
        sample = self._sample(caught, input, output)
        decision = await self._guard.acheck(sample)
        return output if decision.allowed else self._replaced(output, self._guard.replacement(decision), sample)

    def _listening(self, config: RunnableConfig, caught: _Caught) -> RunnableConfig:
        handler = AssayCallbackHandler(scorer=caught, rules=self._rules, remember=0)
        return merge_configs(config, {"callbacks": [handler]})

    def _sample(self, caught: _Caught, input: Any, output: Any) -> Sample:
        sample = caught.sample()
        if sample is not None:
            return sample
        # nothing was heard of the chain: without contexts the guard's `on_skipped` decides
        rules = self._rules
        return Sample(question=question_of(input, rules.question_key), answer=answer_of(output, rules.answer_key))

    def _replaced(self, output: Any, replacement: Any, sample: Sample) -> Any:
        return in_place_of(output, replacement, self._rules.answer_key, sample.answer)


def guard_chain(chain: Runnable[Any, Any], guard: Guard, *, rules: CaptureRules | None = None) -> GuardedChain:
    """Put a guard around a chain: the same runnable, whose answer goes out only when the guard allows it.

        guard = assay.guard(on_timeout="pass", on_error="block", on_skipped="block", fallback="I did not find that.")
        safe = guard_chain(rag_chain, guard)
        safe.invoke("Why do cats purr?")

    Question, contexts and answer are captured as `AssayCallbackHandler` captures them. An answer that is blocked gives
    way to the fallback in the same shape: a text to a text, a message to a message, in a dict or a state the value
    that was the answer; whatever else it holds stays. Without a fallback GuardBlocked is raised. What the chain itself
    raises comes through unchanged, and nothing is checked then.

    Args:
        chain: A chain, agent or graph.
        guard: What decides, made by `assay.guard`.
        rules: Where question, answer and contexts are, if they are not found by themselves.

    Returns:
        A runnable with the input of the chain. Streamed, its answer comes in one piece, after the check.

    Raises:
        InputError: `guard` is no Guard.
    """
    if not isinstance(guard, Guard):
        raise InputError(f"guard: expected a Guard, made by assay.guard(...), got {describe(guard)}")
    return GuardedChain(chain, guard, rules or CaptureRules())


def in_place_of(output: Any, replacement: Any, answer_key: str | None = None, answer: str | None = None) -> Any:
    """A text put where the answer stands in a chain's output. A replacement that is no text is taken as it is.

    Args:
        answer_key: Where that is, by the rules.
        answer: The answer, as far as it is known: it tells its place where no name does.
    """
    if not isinstance(replacement, str) or isinstance(output, str):
        return replacement
    if isinstance(output, BaseMessage):
        return AIMessage(replacement, id=output.id)
    if isinstance(output, Mapping):
        key = answer_key if answer_key in output else _key_of_answer(output, answer)
        if key is not None:
            return {**output, key: in_place_of(output[key], replacement)}
    if isinstance(output, (list, tuple)):
        last = next((n for n in reversed(range(len(output))) if answer_of(output[n : n + 1]) is not None), None)
        if last is not None:
            return [*output[:last], in_place_of(output[last], replacement), *output[last + 1 :]]
    return replacement


def _key_of_answer(output: Mapping[Any, Any], answer: str | None) -> Any:
    """The key from which capture takes the answer."""
    for key in (*ANSWER_NAMES, "messages", "text", "content"):
        if output.get(key) is not None and answer_of(output[key]) is not None:
            return key
    if answer is not None:
        same = [key for key, value in output.items() if answer_of(value) == answer]
        if same:
            return same[0]
    texts = [key for key, value in output.items() if isinstance(value, str)]
    return texts[0] if len(texts) == 1 == len(output) else None


class _Caught(DisabledIntake):
    """The intake of one call: it keeps what it is handed, for the guard to ask for."""

    def __init__(self) -> None:
        super().__init__("a guard's call")
        self._submissions: list[Submission] = []

    def sample(self) -> Sample | None:
        """The sample of the chain, whose root run ends last; None where capture failed."""
        for submission in reversed(self._submissions):
            with contextlib.suppress(Exception):
                sample = submission if isinstance(submission, Sample) else submission()
                if sample is not None:
                    return sample
        return None

    def submit(self, sample: Submission) -> bool:
        self._submissions.append(sample)
        return True

    def count_error(self, error: BaseException, where: str) -> None:
        """What breaks capture leaves no sample, and that is counted by the guard, as skipped."""

    def health(self) -> Health:
        return Health(submitted=len(self._submissions))
