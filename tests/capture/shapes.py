"""What a shape is: a way in which applications are built with a framework, and what has to be captured of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from assay.records import Sample

QUESTION = "Why do cats purr?"
ANSWER = "Cats purr when calm."
CALM = "Cats purr when they are calm."
HEAL = "Cats also purr to heal."
BARK = "Dogs bark at the moon."

#: Makes what is attached (a handler, an instrumentation), with the options given.
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
    """`run` builds the application, attaches what the factory makes, and uses it; `expect` is what comes of it.

    in_order  whether the samples come in the order of `expect`
    since     the oldest release of the framework's core on which this was seen
    why       why that is right, where it was written down before capture had seen the shape
    wrong     what is captured wrong today, and why; the test then expects to fail
    """

    name: str
    group: str
    about: str
    run: Callable[[Attach], None]
    expect: tuple[Expected, ...]
    in_order: bool = True
    since: str
    why: str = ""
    wrong: str = ""


class Group:
    """Collects the shapes of one kind, seen on all releases from `since` on; its instances are decorators for `run`."""

    since: ClassVar[str]

    def __init__(self, name: str) -> None:
        self.name = name
        self.shapes: list[Shape] = []

    def __call__(
        self, about: str, *expect: Expected, in_order: bool = True, since: str | None = None
    ) -> Callable[[Callable[[Attach], None]], Callable[[Attach], None]]:
        def add(run: Callable[[Attach], None]) -> Callable[[Attach], None]:
            self.shapes.append(
                Shape(name=run.__name__, group=self.name, about=about, run=run, expect=expect, in_order=in_order,
                      since=since or self.since)
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
    since: str | None = None
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
                  in_order=right.in_order, since=right.since or self.since, why=right.why, wrong=right.wrong)
        )  # fmt: skip
        return run


def observed(sample: Sample, kind: type[Expected] = Expected) -> Expected:
    """A sample in the form in which it is expected."""
    contexts = sample.contexts
    return kind(
        question=sample.question,
        contexts=None if contexts is None else tuple((context.text, context.in_prompt) for context in contexts),
        answer=sample.answer,
        status=sample.status,
        history=tuple((turn.question, turn.answer, tuple(c.text for c in turn.contexts)) for turn in sample.history),
        no_context=sample.metadata.get("no_context"),
    )


def compared(shape: Shape, samples: Sequence[Sample]) -> tuple[list[Expected], list[Expected]]:
    """What was observed and what was expected, in an order in which they can be compared."""
    expected = list(shape.expect)
    kind = type(expected[0]) if expected else Expected  # a framework may have defaults of its own
    found = [observed(sample, kind) for sample in samples]
    if not shape.in_order:
        found.sort(key=repr)
        expected.sort(key=repr)
    return found, expected
