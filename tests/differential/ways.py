"""Ways of agents, graphs and JSON objects for openevals, and what its judges say. Only the standard library."""

from __future__ import annotations

import json
import random
from typing import Any

from worlds import share

CHOICES = (0.0, 0.5, 1.0)


def said(name: str, case: str) -> Any:
    """What the judge says of a case: True or False, a number, or one of the choices."""
    chance = share(name, case)
    if name.endswith(" continuous"):
        return int(chance * 11) / 10
    return CHOICES[int(chance * 3)] if name.endswith(" choices") else chance < 0.5


def right(ours: str, theirs: str) -> bool:
    """Whether a value is right by its rubric, both as they are shown."""
    return share("rubric", ours.replace("null", "None"), theirs.replace("null", "None")) < 0.5


def codes() -> dict[str, str]:
    """Answers with code in blocks, or with none that counts."""
    one, two = "```python\nprint(1)\n```", "```\ndef f():\n    return 2\n\n```"
    shell = "```bash\nls\n```"
    return {
        "one": f"Here it is:\n{one}\nThat is all.",
        "two": f"{one}\n\nand\n\n{two}",
        "beside-commands": f"{shell}\n{one}",
        "commands-alone": shell,
        "data-alone": '```json\n{"a": 1}\n```',
        "none": "print(1)",
        "never-closed": "```python\nprint(1)",
        "opened-twice": "```python\nprint(1)\n```sh\nls\n```\nand\n```\n2\n```",
        "indented": "  ```python\n  print(1)\n  ```",
        "with-a-title": "```python title\nprint(1)\n```",
        "closed-with-more": "```python\nprint(1)\n``` \n```",
        "empty": "```python\n```",
        "four-backticks": "````python\nprint(1)\n````\n```\n3\n```",
        "carriage-returns": "```python\r\nprint(1)\r\n```\r\n",
    }


def pairs() -> dict[str, tuple[list[dict[str, Any]], list[dict[str, Any]]]]:
    """An agent's messages and those of the reference: often the same with one thing changed."""
    chance = random.Random(11)
    found = {}
    for number in range(48):
        ours = _way(chance)
        theirs = json.loads(json.dumps(ours)) if number % 4 else _way(chance)
        if number % 4 == 2:
            _change(theirs, chance)
        if number % 4 == 3:
            _change(ours, chance)
        found[f"way-{number}"] = (ours, theirs)
    hello = [{"role": "user", "content": "hello"}]
    found["no-calls"] = (hello, hello)
    found["longer"] = (hello, [*hello, {"role": "assistant", "content": "hi"}])
    return found


def _way(chance: random.Random) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "please"}]
    for turn in range(chance.randint(1, 2)):
        calls = [_call(chance, f"{turn}-{number}") for number in range(chance.randint(1, 3))]
        messages.append({"role": "assistant", "content": "", "tool_calls": calls})
        messages += [{"role": "tool", "content": "found", "tool_call_id": call["id"]} for call in calls]
    return [*messages, {"role": "assistant", "content": "done"}]


def _call(chance: random.Random, identity: str) -> dict[str, Any]:
    arguments: dict[str, Any] = {"query": chance.choice(["a", "b"])}
    if chance.random() < 0.4:
        arguments["deep"] = {"limit": chance.choice([1, 2])}
    function = {"name": chance.choice(["search", "read"]), "arguments": json.dumps(arguments)}
    return {"id": identity, "type": "function", "function": function}


def _change(messages: list[dict[str, Any]], chance: random.Random) -> None:
    """Change one thing of the first message with calls."""
    calls = messages[1]["tool_calls"]
    kind = chance.choice(["swap", "add", "drop", "argument", "name"])
    function = calls[0]["function"]
    if kind == "swap":
        calls.reverse()
    elif kind == "add":
        calls.append(_call(chance, "more"))
    elif kind == "drop":
        del calls[-1]
        if not calls:
            del messages[1]["tool_calls"]
    elif kind == "argument":
        function["arguments"] = json.dumps({**json.loads(function["arguments"]), "more": 1})
    else:
        function["name"] = "write"


#: How a match is made, by what comes after its name.
HOW: dict[str, dict[str, Any]] = {
    "": {},
    " ignore": {"tool_args_match_mode": "ignore"},
    " subset": {"tool_args_match_mode": "subset"},
    " superset": {"tool_args_match_mode": "superset"},
    " overrides": {"tool_args_match_overrides": {"search": "ignore", "read": ["query", "deep.limit"]}},
}


def matches() -> dict[str, dict[str, Any]]:
    """The arguments of each trajectory match, by its name and how it is made."""
    return {
        f"trajectory_{mode}_match{name}": {"trajectory_match_mode": mode, **how}
        for mode in ("strict", "unordered", "subset", "superset")
        for name, how in HOW.items()
    }


def graphs() -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    """What an agent in a graph went through and the reference."""
    chance = random.Random(5)

    def one() -> dict[str, Any]:
        steps = [["__start__", *chance.choices(["agent", "tools"], k=chance.randint(1, 2))] for _ in range(2)]
        return {"inputs": [{"messages": "x"}] * 2, "results": [{"messages": "y"}] * 2, "steps": steps}

    found = {}
    for number in range(44):
        ours = one()
        found[f"graph-{number}"] = (ours, ours if number % 3 == 0 else one())
    return found


def objects() -> dict[str, tuple[Any, Any]]:
    """Objects and lists of objects, of an answer and of the reference."""
    chance = random.Random(3)

    def one(least: int = 0) -> dict[str, Any]:
        keys = chance.sample(["a", "b", "c_1"], chance.randint(least, 3))
        return {key: chance.choice([1, 2, "x", [1], None]) for key in sorted(keys)}

    found: dict[str, tuple[Any, Any]] = {}
    for number in range(24):
        ours = one(1)
        found[f"object-{number}"] = (ours, ours if number % 3 == 0 else {**ours, **one()})
    for number in range(32):
        some = [one() for _ in range(chance.randint(0, 3))]
        others = [one() for _ in range(chance.randint(0, 3))]
        mixed = [*some[1:], *some[:1]]
        found[f"list-{number}"] = (some, (others, mixed, [*mixed, *others[:1]], [*others[:1], *some])[number % 4])
    found |= {
        "nothing": ({}, {}),
        "empty-lists": ([], []),
        "empty-records": ([{}], [{}]),
        "empty-record-alone": ([{}], []),
        "reference-record-alone": ([], [{}]),
        "one-is-a-list": ([{"a": 1}], {"a": 1}),
        "other-is-a-list": ({"a": 1}, [{"a": 1}]),
        "texts": (["a"], ["a"]),
        "true-is-one": ({"a": True}, {"a": 1}),
        "greedy": ([{"a": 1, "b": 1}, {"a": 1, "b": 2}], [{"a": 1, "b": 2}, {"a": 1, "b": 1}]),
    }
    return found


def json_matches() -> dict[str, dict[str, Any]]:
    """The arguments of each JSON match, by its name and how it is made."""
    found: dict[str, dict[str, Any]] = {}
    for aggregator in ("average", "all"):
        for listed in ("average", "all"):
            for mode in ("same_elements", "superset", "subset", "ordered"):
                found[f"json_match_{aggregator} {listed} {mode}"] = {
                    "aggregator": aggregator, "list_aggregator": listed, "list_match_mode": mode,
                }  # fmt: skip
    plain = {"aggregator": "average", "list_aggregator": "average"}
    found["json_match_average excluded"] = {**plain, "exclude_keys": ["a"]}
    found["json_match_average rubric"] = {**plain, "rubric": {"b": "the same in meaning"}}
    return found
