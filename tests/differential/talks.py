"""Conversations and agents' ways whose truth is known: a verdict follows from the marks that stand in the texts.

Each message of a user ends with a mark such as #u3.1, each of an assistant with #a3.2: verdicts are looked up by the
last mark that a text holds, so that it does not matter how a prompt words its question. Only the standard library.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from typing import Any

import worlds

TOOLS = ("search", "lookup", "calculate", "send")
MARK = re.compile(r"#[auit][0-9]+\.[0-9]+")
TOP = 4


@dataclass(frozen=True)
class Said:
    """One message. `told` are facts of the user or claims of the assistant, all of which stand in the text."""

    role: str
    text: str
    told: tuple[str, ...] = ()
    contexts: tuple[str, ...] = ()
    calls: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True)
class Talk:
    id: str
    said: tuple[Said, ...]
    known: tuple[str, ...]
    expected: tuple[dict[str, Any], ...]
    intentions: tuple[str, ...] = ()
    plan: tuple[str, ...] = ()

    @property
    def calls(self) -> tuple[dict[str, Any], ...]:
        return tuple(call for one in self.said for call in one.calls)

    @property
    def reference(self) -> str:
        return " ".join(self.known)

    def facts(self, text: str) -> tuple[str, ...]:
        """What is told in a message."""
        return next((one.told for one in self.said if one.text == text), ())


def last_mark(text: str, kinds: str = "au") -> str:
    """The last mark in a text of the first of these kinds that stands in it: of assistants rather than of users."""
    found = MARK.findall(text)
    return next((mark for kind in kinds for mark in reversed(found) if mark[1] == kind), "")


def level(what: str, text: str) -> int:
    """A level, 0 to 4; of a plan by the marks of its steps."""
    return int(worlds.pick("01234", what, last_mark(text, "t" if what == "plan_quality" else "au")))


def yes(what: str, text: str, kinds: str = "au") -> bool:
    return worlds.share(what, last_mark(text, kinds)) < 0.6


def talks() -> list[Talk]:
    """44 conversations: 40 ordinary ones, and some that decide what a formula does at its ends."""
    chance = random.Random(11)

    def sentence() -> str:
        return f"{chance.choice(worlds.SUBJECTS).capitalize()} {chance.choice(worlds.FACTS)}."

    def call(mark: str) -> dict[str, Any]:
        arguments: dict[str, Any] = {
            "q": chance.choice("abc"),
            "k": chance.choice((1, 2)),
            "f": {"x": chance.choice("pq"), "y": 1},
        }
        if chance.random() < 0.3:
            del arguments["k"]
        return {"name": chance.choice(TOOLS), "args": arguments, "output": chance.choice(("one", "two")) + mark}

    def talk(number: int) -> Talk:
        said: list[Said] = []
        for turn in range(1, chance.randint(1, 4) + 1):
            mark = f"{number}.{turn}"
            facts = (f"I like {chance.choice(worlds.SUBJECTS)}.",) if chance.random() < 0.6 else ()
            said.append(Said("user", " ".join((*facts, f"What of it? #u{mark}")), facts))
            steps = chance.randint(1, 3)
            for step in range(1, steps + 1):
                told = tuple(dict.fromkeys(sentence() for _ in range(chance.randint(0, 3))))
                calls = tuple(call("") for _ in range(chance.choice((0, 0, 1, 2))))
                texts = tuple(" ".join((sentence(), sentence())) for _ in range(chance.choice((0, 1, 2, 3))))
                said.append(Said("assistant", " ".join((*told, f"Well #a{mark}{step}")), told, texts, calls))
        called = [one for item in said for one in item.calls]
        expected = [dict(one) for one in called if chance.random() < 0.7]
        expected += [call("") for _ in range(chance.choice((0, 1, 1)))]
        chance.shuffle(expected)
        wanted = tuple(f"To know it #i{number}.{n}" for n in range(1, chance.randint(0, 3) + 1))
        plan = tuple(f"Step {n} #t{number}.{n}" for n in range(chance.choice((0, 2, 3))))
        known = tuple(dict.fromkeys(sentence() for _ in range(chance.randint(1, 3))))
        return Talk(f"talk-{number}", tuple(said), known, tuple(expected), wanted, plan)

    found = [talk(number) for number in range(40)]
    greeting = Said("assistant", "Hello #a40.0")
    user, assistant = Said("user", "What? #u40.1"), Said("assistant", "That. #a40.11", ("That.",))
    one = {"name": "search", "args": {"q": "a"}, "output": "one"}
    other = {"name": "lookup", "args": {"q": "b"}, "output": "two"}
    twice = Said("assistant", "Again #a43.1", (), (), (one, one))
    found += [
        Talk("greeting", (greeting, user, assistant), ("It is so.",), ()),
        Talk("nobody-answers", (user, assistant, Said("user", "And? #u41.2")), ("It is so.",), (one,)),
        Talk("nobody-asks", (greeting, assistant), ("It is so.",), ()),
        Talk("called-twice", (Said("user", "Go #u43.1"), twice), ("It is so.",), (one, one)),
        Talk(
            "wrong-order",
            (Said("user", "Go #u44.1"), Said("assistant", "Yes #a44.1", (), (), (other, one))),
            ("It is so.",),
            (one, other),
        ),
    ]
    return found


def traces() -> dict[str, list[str]]:
    """What the model of an agent wrote, step by step, to look for loops in."""
    chance = random.Random(13)
    names = [f"word{n}" for n in range(60)]
    found = {}
    for number in range(20):
        text = [chance.choice(names) for _ in range(40)]
        steps = [" ".join(text)]
        for _ in range(3):
            for _ in range(chance.choice((0, 1, 4, 20))):
                text[chance.randrange(40)] = chance.choice(names)
            steps.append(" ".join(text))
        found[f"talk-{number}"] = steps
    return found
