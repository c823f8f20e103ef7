"""Question batch: several prompts on the texts of one sample, asked in one request.

Evidence comes first and the task last, as everywhere. A request holds at most `MOST` claims and `MOST` passages; more
are asked in blocks. Passages and what is asked of them stand in an order drawn by a hash of their texts, so that no
place is always that of the same member. The words of each task are those of the prompt asked alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from assay.errors import InvalidReply
from assay.prompts.base import Division, JudgePrompt, PromptContent, PromptSection
from assay.prompts.pieces import Piece
from assay.prompts.schemas import READINGS, items_by_id, passage_index, question_section
from assay.prompts.support import Support, join_passages
from assay.prompts.usefulness import Usefulness
from assay.records import Verdict
from assay.text.languages import ENGLISH

#: Claims, and passages, of one request.
MOST = 8

Member = Support | Usefulness
Rows = tuple[Verdict, ...]

TASK = """\
One reply answers all parts of this task ({count}). "items" holds one entry for each id that a part lists, and
no other. Judge each by itself: neither what is asked beside it nor the EXPECTED ANSWER is evidence for it or against
it."""


@dataclass(frozen=True)
class QuestionBatch(JudgePrompt[tuple[Rows, ...]]):
    """Several readings of passages in one request; all of one question, in one language and without pictures.

    Judgement: of each member its own judgement, in order. A judgement got so has an address of its own, and never
    passes for that of a member asked alone.
    """

    name: ClassVar[str] = "question_batch"
    version: ClassVar[str] = "2"
    judgement: ClassVar[Any] = tuple[Rows, ...]

    members: tuple[Member, ...]

    @property
    def language(self) -> str:
        """That of its members."""
        return self.members[0].language

    # ---- asked

    def content(self) -> PromptContent:
        layout = _Layout.of(self.members)
        question = question_section(self.members[0].question, _earlier(self.members))
        given = tuple(
            PromptSection("EXPECTED ANSWER", member.given)
            for member in self.members
            if isinstance(member, Usefulness) and member.given
        )
        texts = tuple(PromptSection(f"PASSAGE P{n}", layout.text(n)) for n in range(1, len(layout.passages) + 1))
        claims = tuple(PromptSection(layout.title(n), layout.claim(n)) for n in range(1, len(layout.claims) + 1))
        parts = [TASK.format(count=len(self.members)), *map(layout.part, range(len(self.members)))]
        return PromptContent(
            material=texts + question + given + claims,
            task="\n\n".join(parts),
            schema=READINGS,
            output_tokens=sum(member.content().output_tokens for member in self.members),
            shared=len(texts) + len(question),
            needed=("items",),
            labels=tuple(dict.fromkeys(label for member in self.members for label in member.labels())),
        )

    def with_notes(self, notes: Mapping[str, str]) -> Self:
        own = super().with_notes(notes)
        return replace(own, members=tuple(member.with_notes(notes) for member in own.members))

    def read(self, reply: Mapping[str, Any]) -> tuple[Rows, ...]:
        layout = _Layout.of(self.members)
        items = items_by_id(reply.get("items"), "id", layout.ids, "item")
        return tuple(
            member.read({"items": layout.own_items(number, items)}) for number, member in enumerate(self.members)
        )

    # ---- its parts

    def items(self) -> int:
        return sum(member.items() for member in self.members)

    def labels(self) -> tuple[str, ...]:
        return ()

    @property
    def too_many(self) -> bool:
        return len(_claims(self.members)) > MOST or _most_passages(self.members) > MOST

    def fit(self, chars: int) -> Division[tuple[Rows, ...]] | None:
        return self._apart()  # each divides its texts as it does alone

    def halve(self) -> Division[tuple[Rows, ...]] | None:
        return self._blocks() if self.too_many else self._apart()

    def _apart(self) -> Division[tuple[Rows, ...]]:
        """The members, each alone."""
        parts: tuple[JudgePrompt[Any], ...] = self.members
        return Division(parts, tuple)

    def _blocks(self) -> Division[tuple[Rows, ...]]:
        """Requests of at most `MOST` claims and passages. Passages are asked about once, with the first claims."""
        jobs = [_Block(number, member) for number, member in enumerate(self.members)]
        width = max(len(job.places) for job in jobs)
        depth = max(len(rows) for job in jobs for rows in job.grid)
        parts, where = [], []
        for at in range(width):
            for row in range(depth):
                taken = [(job, job.grid[at][row]) for job in jobs if at < len(job.grid) and row < len(job.grid[at])]
                # claims of two texts, of 8 each, are 16 in one request: those are asked in two
                for some in _pack(taken):
                    parts.append(QuestionBatch(tuple(member for _, member in some), instructions=self.instructions))
                    where.append([(job.number, at) for job, _ in some])

        def join(judgements: Sequence[tuple[Rows, ...]]) -> tuple[Rows, ...]:
            found: dict[tuple[int, int], list[Verdict]] = {}
            for places, judgement in zip(where, judgements, strict=True):
                for place, rows in zip(places, judgement, strict=True):
                    found.setdefault(place, []).extend(rows)
            return tuple(job.joined([tuple(found[job.number, at]) for at in range(len(job.grid))]) for job in jobs)

        return Division(tuple(parts), join)

    # ---- its judgement

    def check(self, judgement: tuple[Rows, ...]) -> str | None:
        if len(judgement) != len(self.members):
            return f"expected {len(self.members)} judgements, got {len(judgement)}"
        wrong = (member.check(rows) for member, rows in zip(self.members, judgement, strict=True))
        return next(filter(None, wrong), None)


@dataclass(frozen=True, slots=True)
class _Layout:
    """Which member's what stands where: numbers of what is shown, from 1, to numbers of the members' own, from 0.

    Attributes:
        passages: Of each passage shown, by member, its number there; members with the same passages share them.
        claims: Of each claim shown its member and its number there.
        own: Of each member, by the number of a passage shown, its number there.
    """

    members: tuple[Member, ...]
    passages: tuple[Mapping[int, int], ...]
    claims: tuple[tuple[int, int], ...]
    own: tuple[Mapping[int, int], ...]

    @classmethod
    def of(cls, members: tuple[Member, ...]) -> _Layout:
        groups: dict[tuple[str, ...], list[int]] = {}
        for number, member in enumerate(members):
            groups.setdefault(member.passages, []).append(number)
        shown = [dict.fromkeys(numbers, n) for texts, numbers in groups.items() for n in range(len(texts))]
        texts = [text for passages in groups for text in passages]
        seed = _digest([members[0].question or "", *texts])
        claims = [(number, n) for number, n, _ in _claims(members)]
        of_claims = _digest([seed, *(text for *_, text in _claims(members))])
        passages = tuple(_permuted(shown, seed))
        own: list[dict[int, int]] = [{} for _ in members]
        for place, owners in enumerate(passages, 1):
            for number, n in owners.items():
                own[number][place] = n
        return cls(members, passages, tuple(_permuted(claims, of_claims)), tuple(own))

    @property
    def ids(self) -> list[str]:
        """The ids that a reply must have."""
        asked = [n for n, owners in enumerate(self.passages, 1) if any(self._useful(number) for number in owners)]
        return [f"C{n}" for n in range(1, len(self.claims) + 1)] + [f"P{n}" for n in asked]

    def text(self, shown: int) -> str:
        number, n = next(iter(self.passages[shown - 1].items()))
        return self.members[number].passages[n]

    def claim(self, shown: int) -> str:
        number, n = self.claims[shown - 1]
        member = self.members[number]
        assert isinstance(member, Support)
        return member.claims[n].text

    def title(self, shown: int) -> str:
        """The title of a claim, which says what it is compared with where that is not all."""
        places = self.own[self.claims[shown - 1][0]]
        return f"CLAIM C{shown}" + (
            "" if len(places) == len(self.passages) else f", AGAINST {_ids_text('P', [*places])}"
        )

    def part(self, number: int) -> str:
        """What is asked for a member: its own task, under the ids that are meant."""
        member, places = self.members[number], [*self.own[number]]
        ids = places if self._useful(number) else [n for n, (of, _) in enumerate(self.claims, 1) if of == number]
        about = _ids_text("P" if self._useful(number) else "C", ids)
        only = "" if len(places) == len(self.passages) else f", on {_ids_text('P', places)} alone"
        asked = replace(member, language=ENGLISH).full_content  # another language is said once, of the whole
        assert asked is not None
        return f"PART {number + 1}: {about}{only}\n{asked.task}"

    def own_items(self, number: int, items: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
        """The items of a reply that are a member's, with its own numbers."""
        if self._useful(number):
            found = [(f"P{n + 1}", items[f"P{shown}"]) for shown, n in self.own[number].items()]
        else:
            found = [(f"C{n + 1}", items[f"C{shown}"]) for shown, (of, n) in enumerate(self.claims, 1) if of == number]
        if self._useful(number):  # a passage is quoted for itself
            return [{**item, "id": name} for name, item in found]
        return [{**item, "id": name, "quotes": self._quotes(number, item.get("quotes"))} for name, item in found]

    def _quotes(self, number: int, quotes: Any) -> Any:
        if not isinstance(quotes, list):
            return quotes
        own, moved = self.own[number], []
        for quote in quotes:
            shown = passage_index(quote, len(self.passages)) + 1
            if shown not in own:
                only = _ids_text("P", sorted(own))
                raise InvalidReply(f"P{shown} is quoted for what is compared with {only} alone.")
            moved.append({**quote, "passage": f"P{own[shown] + 1}"})
        return moved

    def _useful(self, number: int) -> bool:
        return isinstance(self.members[number], Usefulness)


class _Block:
    """A member in blocks of passages, each with blocks of its claims."""

    def __init__(self, number: int, member: Member) -> None:
        self.number, self.member = number, member
        self.places = _evenly(len(member.passages))
        self.grid: list[list[Member]] = []
        for places in self.places:
            if isinstance(member, Usefulness):
                self.grid.append([member.part(places)])
                continue
            some = replace(member, passages=tuple(member.passages[n] for n in places))
            self.grid.append([some.part(numbers) for numbers in _evenly(len(member.claims))])

    def joined(self, rows: Sequence[Rows]) -> Rows:
        if isinstance(self.member, Usefulness):
            whole: Rows = tuple(row for found in rows for row in found)
            return self.member.with_part(whole, range(len(whole)), whole)
        texts = self.member.passages
        pieces = [[Piece(n, 0, texts[n]) for n in places] for places in self.places]
        return join_passages(texts, pieces, rows)


def _pack(taken: Sequence[tuple[_Block, Member]]) -> list[list[tuple[_Block, Member]]]:
    """These in as few requests as hold at most `MOST` claims and passages."""
    if len(_claims([member for _, member in taken])) <= MOST and _most_passages([m for _, m in taken]) <= MOST:
        return [list(taken)] if taken else []
    return [[one] for one in taken]


def _claims(members: Sequence[Member]) -> list[tuple[int, int, str]]:
    """Of each claim the number of its member, its own there, and its text."""
    return [
        (number, n, claim.text)
        for number, member in enumerate(members)
        if isinstance(member, Support)
        for n, claim in enumerate(member.claims)
    ]


def _most_passages(members: Sequence[Member]) -> int:
    return sum(map(len, {member.passages for member in members}))


def _earlier(members: Sequence[Member]) -> str | None:
    return next((member.earlier for member in members if isinstance(member, Usefulness)), None)


def _evenly(count: int) -> list[list[int]]:
    """The numbers up to count in as few blocks as hold `MOST` each, of about one size."""
    blocks = -(-count // MOST) or 1
    return [list(range(count * k // blocks, count * (k + 1) // blocks)) for k in range(blocks)]


def _digest(texts: Sequence[str]) -> str:
    blob = "".join(f"{len(text)}:{text}" for text in texts)
    return hashlib.sha256(blob.encode("utf-8", "surrogatepass")).hexdigest()


def _permuted(things: Sequence[Any], seed: str) -> list[Any]:
    order = sorted(range(len(things)), key=lambda n: hashlib.sha256(f"{seed}:{n}".encode()).digest())
    return [things[n] for n in order]


def _ids_text(letter: str, numbers: Sequence[int]) -> str:
    return ", ".join(f"{letter}{n}" for n in numbers)
