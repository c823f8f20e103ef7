"""The command `assay live capture --check`: run an application once and show what is captured. No judge is used."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import json
import logging
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay._util.install_hints import install_extra
from assay._util.terminal import width
from assay.cli.output import say, say_json
from assay.errors import InputError, MissingExtra

if TYPE_CHECKING:
    from assay.capture import CaptureRules, Trace
    from assay.live.protocol import Intake
    from assay.records import Sample

OK, NOTHING = 0, 1
GROUP = "assay.captures"

#: Packages of frameworks, and the extra of assay that listens to each.
FRAMEWORKS = {"langchain_core": "langchain", "llama_index": "llama-index"}

#: Methods that ask an application something, in the order in which they are looked for.
ASKING = ("invoke", "query", "chat")


def capture(
    target: Annotated[str, typer.Option("--check", help="MODULE:NAME of a chain, an engine or a function to run.")],
    question: Annotated[str, typer.Argument(help="What to ask it; or its whole input as a JSON object.")],
    rules: Annotated[str | None, typer.Option(help="MODULE:NAME of the Rules to capture by.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the samples as JSON lines.")] = False,
) -> None:
    """Run an application once and show what is captured of it: question, contexts, answer."""
    from assay.capture import CaptureRules
    from assay.testing.captures import CollectingIntake

    application = find_object(target)
    given = CaptureRules() if rules is None else find_object(rules)
    if not isinstance(given, CaptureRules):
        raise InputError(f"--rules: {rules} is no assay.capture.CaptureRules but {type(given).__name__}")
    intake, places = CollectingIntake(), Places()
    with _log() as said, _listening(intake, places.beside(given)) as left_out:
        output, error = _ask(application, question)
        left = {reason: number for tell in left_out for reason, number in tell().items()}
    for sample in intake.samples:
        if as_json:
            say_json(sample.to_dict())
        else:
            _print(sample, places)
    if error is not None:
        say(f"the application raised {type(error).__name__}: {error}", aside=True)
    _print_missing([*said, *intake.errors], left, output if error is None and not intake.samples else None)
    raise typer.Exit(OK if intake.samples else NOTHING)


# ---- judgement and asking the application


def find_object(target: str) -> Any:
    """The object that MODULE:NAME means, from this folder as from anywhere on the path."""
    module, colon, path = target.partition(":")
    if not (module and colon and path):
        raise InputError(f"expected MODULE:NAME, such as app:chain, got {target!r}")
    if "" not in sys.path and os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        found: Any = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and (module == error.name or module.startswith(error.name + ".")):
            raise InputError(f"there is no module {module!r} in {os.getcwd()!r} or on the path") from None
        raise InputError(f"{module!r} cannot be imported: {error}") from error
    except Exception as error:  # the user's own code: no fault of ours
        raise InputError(f"{module!r} cannot be imported: it raised {type(error).__name__}: {error}") from error
    for name in path.split("."):
        if not hasattr(found, name):
            raise InputError(f"{target}: there is no {name!r} in {module!r}")
        found = getattr(found, name)
    return found


def _ask(application: Any, question: str) -> tuple[Any, BaseException | None]:
    """What the application gives, or raises."""
    method = next((getattr(application, name) for name in ASKING if hasattr(application, name)), None)
    ask = method if method is not None and not inspect.isclass(application) else application
    if not callable(ask):
        what = ", ".join(ASKING)
        raise InputError(f"--check: expected something with {what}, or a function, got {type(application).__name__}")
    given = _input(application, question)
    try:
        output = ask(given)
        if inspect.isawaitable(output):
            output = asyncio.run(_awaited(output))
        return _read(output), None
    except (Exception, SystemExit) as error:
        return None, error


async def _awaited(output: Any) -> Any:
    return await output


def _read(output: Any) -> Any:
    """The output; a generator is read to its end, which is when its exchange is over."""
    if inspect.isasyncgen(output):

        async def read() -> list[Any]:
            return [part async for part in output]

        return asyncio.run(read())
    return list(output) if inspect.isgenerator(output) else output


def _input(application: Any, question: str) -> Any:
    """The question in the shape that the application takes: JSON as it is, else by its input schema, else the text."""
    if question.lstrip().startswith("{"):
        try:
            return json.loads(question)
        except ValueError as error:
            raise InputError(f"the question begins like a JSON object and is none: {error}") from None
    names = _input_names(application)
    if "messages" in names:
        return {"messages": [{"role": "user", "content": question}]}
    from assay.records.field_names import QUESTION_NAMES

    known = next((name for name in QUESTION_NAMES if name in names), None)
    known = known or (names[0] if len(names) == 1 else None)
    return question if known is None else {known: question}


def _input_names(application: Any) -> list[str]:
    schema = getattr(application, "get_input_jsonschema", None)
    if schema is None:
        return []
    try:
        found = schema()
        return list(found.get("properties", {})) if found.get("type") == "object" else []
    except Exception:  # not every chain can say what it takes
        return []


# ---- listening


@contextmanager
def _listening(intake: Intake, rules: CaptureRules) -> Iterator[list[Callable[[], Mapping[str, int]]]]:
    """Listen to all frameworks that the application has imported. Gives what tells what was left out."""
    loaded = [name for name in FRAMEWORKS if name in sys.modules]
    if not loaded:
        raise InputError("the application imports neither LangChain nor LlamaIndex: there is nothing to listen to")
    points = {point.name: point for point in entry_points(group=GROUP)}
    with ExitStack() as stack:
        told = []
        for name in loaded:
            if name not in points:
                raise MissingExtra(f"to listen to {name} needs a package: {install_extra(FRAMEWORKS[name])}")
            told.append(stack.enter_context(points[name].load()(intake, rules)))
        yield told


@contextmanager
def _log() -> Iterator[list[str]]:
    """What assay logs meanwhile, each line once: why a trace gave no sample, for example."""
    lines: list[str] = []

    class Keeping(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            line = record.getMessage().removeprefix("assay: ")
            if line not in lines:
                lines.append(line)

    logger, keeping = logging.getLogger("assay"), Keeping(logging.INFO)
    level, propagates = logger.level, logger.propagate
    logger.addHandler(keeping)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    try:
        yield lines
    finally:
        logger.removeHandler(keeping)
        logger.setLevel(level)
        logger.propagate = propagates


class Places:
    """Where the passages of samples stand in the prompt of the call that answered, by sample and number."""

    def __init__(self) -> None:
        self._prompts: dict[str, str] = {}

    def beside(self, rules: CaptureRules) -> CaptureRules:
        """The rules, which also let this look at each trace."""
        before = rules.adjust

        def adjust(sample: Sample, trace: Trace) -> Sample | None:
            from assay.capture.answering_call import answering_runs

            texts = [text for run in answering_runs(trace, sample.answer) for text in run.prompt or ()]
            if texts:
                self._prompts[sample.key()] = "\n".join(texts)
            return sample if before is None else before(sample, trace)

        return replace(rules, adjust=adjust)

    def of(self, sample: Sample, text: str, stands: bool | None) -> str:
        """The place of a passage, in words."""
        if stands is None:
            return "not known whether it was in the prompt"
        prompt = self._prompts.get(sample.key(), "")
        at = prompt.find(text)
        if not stands:
            return "NOT in the prompt"
        if at < 0:
            return "in the prompt, spaced or written otherwise"
        return f"in the prompt at {at}-{at + len(text)} of {len(prompt)} characters"


# ---- printing


def _print(sample: Sample, places: Places) -> None:
    say(f"question  {_short(sample.question)}")
    if sample.history:
        say(f"history   {len(sample.history)} earlier turns")
    if sample.contexts is None:
        say(f"contexts  not known: {sample.metadata.get('no_context', 'nothing was retrieved')}")
    else:
        say(f"contexts  {len(sample.contexts)}")
    for number, context in enumerate(sample.contexts or (), 1):
        say(f"  {number:>2}  {places.of(sample, context.text, context.in_prompt)}")
        say(f"      {_short(context.text)}")
    say(f"answer    {_short(sample.answer)}")
    if sample.status != "complete":
        say(f"status    {sample.status}")
    say("")


def _short(text: str | None) -> str:
    if text is None:
        return "(none)"
    line, room = " ".join(text.split()), width() - 12
    return line if len(line) <= room else line[: room - 1] + "…"


def _print_missing(said: list[str], left: Mapping[str, int], output: Any) -> None:
    """What was left out and why; where nothing came, what may help. To stderr."""
    for reason, number in left.items():
        say(f"left out  {number} × {reason}", aside=True)
    for line in said:
        say(f"          {line}", aside=True)
    if output is None:
        return
    if isinstance(output, Mapping):
        keys = ", ".join(map(repr, output))
        say(
            f"no sample: the output has the keys {keys}; say which is the answer: CaptureRules(answer_key=...)",
            aside=True,
        )
    else:
        what = type(output).__name__
        say(
            f"no sample: the application gave {what}; name the run that answers: CaptureRules(answer_run=...)",
            aside=True,
        )
