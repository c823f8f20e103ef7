"""Instructions and few-shot examples from the user of a judge, for single kinds of judge prompt.

    judge = OpenAIJudge("MODEL").with_instructions({"claims": "Prices and opening hours are claims of their own."})
    judge = OpenAIJudge("MODEL").with_instructions("house-rules.toml")

In a file (TOML or JSON) each kind of prompt is a table:

    [claims]
    text = "Prices and opening hours are claims of their own."

    [[claims.examples]]
    texts = { TEXT = "[1] Open daily from 9 to 5." }
    reply = { claims = [ { sentence = 1, claim = "It is open daily." }, { sentence = 1, claim = "It opens at 9." } ] }

It follows the task and is part of what is asked: a judgement made with it has another address than one made without,
and changing what is said of claims asks only for claims again.
"""

from __future__ import annotations

import difflib
import json
import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from assay import prompts
from assay.errors import InputError
from assay.prompts.base import JudgePrompt
from assay.records.field_names import describe

F = TypeVar("F")

#: Characters of what is said of one kind of prompt, at most: it is sent with each of them.
MOST = 8_000

#: How instructions may be given: itself, a text or a table for each kind of prompt, or the path of a file of those.
InstructionsSpec: TypeAlias = "JudgeInstructions | Mapping[str, Any] | str | os.PathLike[str]"


@dataclass(frozen=True)
class Example:
    """Texts by their titles, and the reply that is right for them."""

    texts: Mapping[str, str]
    reply: Mapping[str, Any]

    def __str__(self) -> str:
        shown = [f"{title}: {text}" for title, text in self.texts.items()]
        return "\n".join([*shown, "Reply: " + json.dumps(self.reply, ensure_ascii=False)])


@dataclass(frozen=True)
class JudgeInstructions:
    """Instructions for a judge, by the name of a judge prompt. Make them with `JudgeInstructions.of`."""

    notes: Mapping[str, str]

    @classmethod
    def of(cls, given: InstructionsSpec) -> JudgeInstructions:
        """The instructions that are meant. Raises InputError naming the prompt and what was expected."""
        if isinstance(given, JudgeInstructions):
            return given
        if not isinstance(given, Mapping):
            if not isinstance(given, (str, os.PathLike)):
                raise InputError(f"instructions: expected a table, or the path of a file, got {describe(given)}")
            return cls.of(_from_file(Path(given)))
        known = sorted(set(_names(JudgePrompt)))
        for name in given:
            if name not in known:
                near = difflib.get_close_matches(str(name), known, n=1)
                hint = f"; did you mean {near[0]!r}?" if near else f"; known are {', '.join(known)}"
                raise InputError(f"instructions: there is no prompt {name!r}{hint}")
        return cls({name: _note(name, said) for name, said in given.items()})

    def add_to(self, prompt: JudgePrompt[F]) -> JudgePrompt[F]:
        """The prompt with what is said of its kind."""
        return prompt.with_notes(self.notes)


def _from_file(path: Path) -> Mapping[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
        found: Any = json.loads(text) if path.suffix.lower() == ".json" else tomllib.loads(text)
    except OSError as error:
        raise InputError(f"instructions: {str(path)!r} cannot be read ({error.strerror or error})") from None
    except ValueError as error:  # of either format, and of what is no UTF-8
        raise InputError(f"instructions: {str(path)!r} is neither TOML nor JSON: {error}") from None
    if not isinstance(found, Mapping):
        raise InputError(f"instructions: {str(path)!r}: expected a table for each kind of prompt")
    if not found:
        raise InputError(f"instructions: {str(path)!r} says nothing: expected a table for each kind of prompt")
    return found


def _names(kind: type[JudgePrompt[Any]]) -> Iterator[str]:
    """The names of all kinds of prompt, a user's own too."""
    assert prompts.__all__  # so that assay's own are known
    for one in kind.__subclasses__():
        if isinstance(getattr(one, "name", None), str):
            yield one.name
        yield from _names(one)


def _note(name: str, said: Any) -> str:
    """What a prompt says of this kind of prompt."""
    where = f"instructions: {name}"
    table = {"text": said} if isinstance(said, str) else said
    if not isinstance(table, Mapping) or not table.keys() <= {"text", "examples"} or not table:
        raise InputError(f"{where}: expected a text, or a table with text and examples, got {describe(said)}")
    text = table.get("text", "")
    examples = table.get("examples", ())
    if not isinstance(text, str) or not isinstance(examples, (list, tuple)):
        raise InputError(f"{where}: expected a text and a list of examples, got {describe(said)}")
    parts = [f"GUIDANCE FOR THIS TASK\n{text.strip()}"] if text.strip() else []
    for number, one in enumerate(examples, 1):
        parts.append(f"EXAMPLE {number}, OF OTHER TEXTS\n{_example(one, f'{where}: example {number}')}")
    note = "\n\n".join(parts)
    if not note:
        raise InputError(f"{where}: it is empty")
    if len(note) > MOST:
        raise InputError(f"{where}: expected at most {MOST:,} characters, got {len(note):,}")
    return note


def _example(given: Any, where: str) -> Example:
    if isinstance(given, Example):
        return given
    texts, reply = (given.get("texts"), given.get("reply")) if isinstance(given, Mapping) else (None, None)
    if (
        not isinstance(texts, Mapping)
        or not texts
        or not all(isinstance(part, str) for pair in texts.items() for part in pair)
    ):
        raise InputError(f"{where}: texts: expected a table of titles and texts, got {texts!r}")
    if not isinstance(reply, Mapping):
        raise InputError(f"{where}: reply: expected an object, got {reply!r}")
    return Example(texts, reply)
