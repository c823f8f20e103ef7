"""What a shape is: a way in which applications are built with LlamaIndex, and exactly what has to be captured of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.records import Sample
from integrations.llama_index.tests.fakes import ANSWER, PASSAGES, QUESTION

CALM, HEAL = PASSAGES
BARK = "Dogs bark at the moon."

#: Makes an attached instrumentation, with the options given.
Attach = Callable[..., Any]


@dataclass(frozen=True, kw_only=True)
class Expected:
    """One sample. `contexts` are pairs: the text, and whether it stood in the prompt of the call that answered."""

    question: str | None = QUESTION
    contexts: tuple[tuple[str, bool | None], ...] | None = ((CALM, True), (HEAL, True))
    answer: str | None = ANSWER
    status: str = "complete"
    history: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    no_context: str | None = None


@dataclass(frozen=True, kw_only=True)
class Shape:
    """`run` attaches an instrumentation from the factory, builds the application and uses it; `expect` is what comes
    of it.

    in_order  whether the samples come in the order of `expect`
    since     the oldest release of llama-index-core on which this was seen
    why       why that is right, where it was written down before capture had seen the shape
    wrong     what is captured wrong today, and why; the test then expects to fail
    """

    name: str
    group: str
    about: str
    run: Callable[[Attach], None]
    expect: tuple[Expected, ...]
    in_order: bool = True
    since: str = "0.13"
    why: str = ""
    wrong: str = ""


class Group:
    """Collects the shapes of one kind; its instances are decorators for `run`."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.shapes: list[Shape] = []

    def __call__(
        self, about: str, *expect: Expected, in_order: bool = True, since: str = "0.13"
    ) -> Callable[[Callable[[Attach], None]], Callable[[Attach], None]]:
        def add(run: Callable[[Attach], None]) -> Callable[[Attach], None]:
            self.shapes.append(
                Shape(name=run.__name__, group=self.name, about=about, run=run, expect=expect, in_order=in_order,
                      since=since)
            )  # fmt: skip
            return run

        return add


@dataclass(frozen=True, kw_only=True)
class Right:
    """What has to be captured of an application, and why: written down before capture had seen it.

    wrong  what is captured wrong today, and why: added afterwards, and taken away with the fault
    """

    about: str
    why: str
    expect: tuple[Expected, ...] = (Expected(),)
    in_order: bool = True
    since: str = "0.13"
    wrong: str = ""


class Written(Group):
    """Shapes whose expectations stand under their names in a table of their own."""

    def __init__(self, name: str, right: Mapping[str, Right]) -> None:
        super().__init__(name)
        self.right = right

    def application(self, run: Callable[[Attach], None]) -> Callable[[Attach], None]:
        right = self.right[run.__name__]
        self.shapes.append(
            Shape(name=run.__name__, group=self.name, about=right.about, run=run, expect=right.expect,
                  in_order=right.in_order, since=right.since, why=right.why, wrong=right.wrong)
        )  # fmt: skip
        return run


def observed(sample: Sample) -> Expected:
    """A sample in the form in which it is expected."""
    contexts = sample.contexts
    return Expected(
        question=sample.question,
        contexts=None if contexts is None else tuple((context.text, context.in_prompt) for context in contexts),
        answer=sample.answer,
        status=sample.status,
        history=tuple((turn.question, turn.answer, tuple(c.text for c in turn.contexts)) for turn in sample.history),
        no_context=sample.metadata.get("no_context"),
    )


def compared(shape: Shape, samples: Sequence[Sample]) -> tuple[list[Expected], list[Expected]]:
    """What was observed and what was expected, in an order in which they can be compared."""
    found, expected = [observed(sample) for sample in samples], list(shape.expect)
    if not shape.in_order:
        found.sort(key=repr)
        expected.sort(key=repr)
    return found, expected
