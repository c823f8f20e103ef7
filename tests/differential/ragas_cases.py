"""What the samples of `worlds` lack and ragas' further metrics need: ids, tables, quotations, tool calls, topics.

All follows from a hash of the case's id. Only the standard library.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import worlds

Call = tuple[str, dict[str, Any]]
TOOLS = ("search", "book", "cancel")
PLACES = ("Rome", "Oslo", "Lima")
TOPICS = ("bridges", "museums", "rivers", "trains", "gardens")


@dataclass(frozen=True)
class More:
    """One case with all that it is measured by."""

    id: str
    answer: str
    reference: str
    contexts: tuple[str, ...]
    reference_contexts: tuple[str, ...]
    ids: tuple[str, ...]
    reference_ids: tuple[str, ...]
    quoting: str
    table: str
    reference_table: str
    called: tuple[Call, ...]
    wanted: tuple[Call, ...]
    topics: tuple[str, ...]
    scope: tuple[str, ...] = ("bridges", "rivers")
    answered: tuple[bool, ...] = ()
    inside: tuple[bool, ...] = ()
    verdict: bool = False
    question: str = field(default="Where shall we go?")


def number(most: int, *about: str) -> int:
    """A whole number below `most`."""
    return int(worlds.share(*about) * most)


def calls(about: str, name: str) -> tuple[Call, ...]:
    found = []
    for n in range(number(4, "calls", about, name)):
        tool = TOOLS[number(3, "tool", about, str(n))]  # the same for both, so that the order often agrees
        if number(6, "other tool", about, name, str(n)) == 0:
            tool = TOOLS[0]
        place = PLACES[number(3, "place", about, name, str(n))]
        found.append((tool, {"city": place, "days": number(2, "days", about, name, str(n))}))
    return tuple(found)


def table(about: str, name: str) -> str:
    header = ("id,name,price", "ID,name,price", "id,price", "id,name,price,note")[number(4, "header", about, name)]
    lines = [header]
    for n in range(1, 2 + number(4, "rows", about, name)):
        price = ("1", "2.5", "", "x")[number(4, "price", about, name if n == 2 else "", str(n))]
        cells = {"id": str(n), "name": f"item {n}", "price": price, "note": "-"}
        lines.append(",".join(cells[column.lower()] for column in header.split(",")))
    return "\n".join(lines) + "\n"


def dated() -> dict[str, tuple[str, str]]:
    """Tables with dates, of an answer and of a reference, each a column "at" below a header."""
    columns = {
        "same dates": ("2024-01-31 2024-02-01", "2024-01-31 2024-02-01"),
        "another form": ("31/01/2024 2024-02-01", "2024-01-31 2024-02-01"),
        "american form": ("01/31/2024", "2024-01-31"),
        "with a time": ("2024-01-31T00:00:00", "2024-01-31"),
        "with a zone": ("2024-01-31T00:00:00Z", "2024-01-31T00:00:00+00:00"),
        "with a blank": ("2024-01-31T10:00:00", "2024-01-31T10:00"),
        "years": ("2024 2025", "2024.0 2025"),
        "digits alone": ("20240131", "2024-01-31"),
        "date and number": ("2024-01-31 5", "2024-01-31 5"),
        "no date beside it": ("2024-01-31 NaT", "2024-01-31 NaN"),
        "none at all": ("NaT", "NaT"),
    }
    return {
        name: tuple("at\n" + "".join(f"{cell}\n" for cell in column.split()) for column in pair)  # type: ignore[misc]
        for name, pair in columns.items()
    }


def cases() -> list[More]:
    found = []
    for case in worlds.cases():
        about = case.id
        texts = [*case.contexts, *case.known]
        chosen = tuple(text for n, text in enumerate(texts) if number(2, "chosen", about, str(n)))
        quote = case.contexts[0] if case.contexts and number(2, "quote", about) else "nobody ever said this"
        quoting = (
            f'{case.answer} They say "{quote}" and ‘to be sure’, it\'s said.'
            if number(4, "any", about)
            else case.answer
        )
        topics = tuple(topic for topic in TOPICS if number(2, "topic", about, topic))
        same = number(4, "same", about) == 0
        reference_table = table(about, "reference")
        wanted = calls(about, "wanted")
        found.append(
            More(
                id=about,
                answer=case.answer,
                reference=case.reference,
                contexts=case.contexts,
                reference_contexts=chosen,
                ids=tuple(f"d{number(6, 'id', about, str(n))}" for n in range(len(case.contexts))),
                reference_ids=tuple(f"d{n}" for n in range(6) if number(3, "wanted id", about, str(n)) == 0),
                quoting=quoting,
                table=reference_table if same else table(about, "answer"),
                reference_table=reference_table,
                called=tuple(reversed(wanted)) if same else calls(about, "called"),
                wanted=wanted,
                topics=topics,
                answered=tuple(bool(number(3, "answered", about, topic)) for topic in topics),
                inside=tuple(bool(number(2, "inside", about, topic)) for topic in topics),
                verdict=bool(number(2, "verdict", about)),
            )
        )
    return found
