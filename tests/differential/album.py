"""Samples with pictures whose truth is known, as `worlds` has them for texts. Only the standard library.

What a judge would say follows from a hash of the texts and of the bytes of the pictures, in their order: a picture that
was lost, changed or put elsewhere on its way changes the numbers.
"""

from __future__ import annotations

import base64
import hashlib
import struct
import zlib
from dataclasses import dataclass
from typing import Any

import worlds


def png(*about: str) -> bytes:
    """A picture of one colour, always the same for the same texts."""
    colour = hashlib.sha256("\x00".join(about).encode()).digest()[:3]
    rows = b"".join(b"\x00" + colour * 4 for _ in range(4))
    chunks = [(b"IHDR", struct.pack(">IIBBBBB", 4, 4, 8, 2, 0, 0, 0)), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
    made = b"".join(struct.pack(">I", len(d)) + n + d + struct.pack(">I", zlib.crc32(n + d)) for n, d in chunks)
    return b"\x89PNG\r\n\x1a\n" + made


def uri(data: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(data).decode()


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def sent(body: dict[str, Any]) -> list[str]:
    """The digests of the pictures of an OpenAI request, in order."""
    lists = [message["content"] for message in body["messages"] if isinstance(message["content"], list)]
    parts = [part for parts in lists for part in parts if part["type"] == "image_url"]
    return [digest(base64.b64decode(part["image_url"]["url"].partition(",")[2])) for part in parts]


@dataclass(frozen=True)
class Shot:
    """One sample. `contexts` are texts and pictures; `pieces` those of an answer that has pictures too.

    `said` are the statements of the answer, `known` those of the reference.
    """

    id: str
    question: str
    contexts: tuple[str | bytes, ...]
    answer: str
    pieces: tuple[str | bytes, ...]
    said: tuple[str, ...]
    known: tuple[str, ...]

    @property
    def shown(self) -> list[str]:
        """The digests of the pictures among the contexts."""
        return [digest(one) for one in self.contexts if isinstance(one, bytes)]

    @property
    def texts(self) -> list[str]:
        return [one for one in self.contexts if isinstance(one, str)]


def shots() -> list[Shot]:
    """48 samples: no, one or several pictures, among texts or alone; answers with no picture to four."""
    made = []
    for n, case in enumerate(worlds.cases()):
        contexts: list[str | bytes] = list(case.contexts)
        for k in range(n % 4):
            place = 0 if worlds.pick("0123", case.id, str(k)) == "0" else len(contexts) // 2
            contexts.insert(place, png(case.id, str(k)))
        if n % 7 == 3:
            contexts = [one for one in contexts if isinstance(one, bytes)]
        said = case.said if n % 3 else ()  # else the answer is pictures alone
        pieces: list[str | bytes] = [case.answer + " " if n % 3 else ""]
        for k in range(n % 5):
            pieces += [png(case.id, "answer", str(k)), f" Picture {k} of {case.question} " if k % 2 else ""]
        made.append(
            Shot(case.id, case.question, tuple(contexts), case.answer, tuple(filter(None, pieces)), said, case.known)
        )
    return made


def faithful(shot: Shot, pictures: list[str]) -> bool:
    """Whether the answer follows from texts and pictures, of which these were sent."""
    return worlds.share("faithful", shot.id, *pictures) < 0.5


def relevant(shot: Shot, pictures: list[str]) -> bool:
    return worlds.share("relevant", shot.id, *pictures) < 0.5


def level(what: str, picture: str, before: str, after: str) -> int:
    """How a judge rates a picture of an answer, 0 to 10, with the text around it."""
    return int(worlds.share(what, picture, before.strip(), after.strip()) * 11)


def expected(shot: Shot) -> list[str]:
    """The digests of the pictures that should have been retrieved: some of those that were, and others."""
    wanted = [one for one in shot.shown if worlds.share("expected", shot.id, one) < 0.5]
    more = int(worlds.share("more", shot.id) * 3)
    return [*wanted, *(digest(png(shot.id, "expected", str(k))) for k in range(more))]


def around(shot: Shot, picture: str, size: int | None) -> tuple[str, str]:
    """The nearest texts before and after a picture of the answer; at most `size` characters of each."""
    at = next(n for n, one in enumerate(shot.pieces) if isinstance(one, bytes) and digest(one) == picture)
    before = next((one for one in reversed(shot.pieces[:at]) if isinstance(one, str)), "")
    after = next((one for one in shot.pieces[at + 1 :] if isinstance(one, str)), "")
    return (before[-size:], after[:size]) if size else (before, after)


def faithfulness(shot: Shot, claim: str) -> str:
    """What texts and pictures say of a claim: "yes", "no" or "borderline"."""
    return worlds.pick(("yes", "no", "borderline"), "faithfulness", shot.id, claim, *shot.shown)


def recalled(shot: Shot, claim: str) -> bool:
    """Whether texts and pictures hold what the reference says."""
    return worlds.share("recalled", shot.id, claim, *shot.shown) < 0.5


def names(shot: Shot) -> list[str]:
    """What the contexts are called: texts by themselves, pictures by their digest."""
    return [one if isinstance(one, str) else digest(one) for one in shot.contexts]


def useful(shot: Shot, name: str) -> bool:
    """Whether a passage, a sentence of one or a picture helps to answer the question."""
    return worlds.share("useful", shot.id, name) < 0.5


def sentences(name: str) -> list[str]:
    """The sentences of a text; a picture, which is called by its digest, is one."""
    return [one.rstrip(".") + "." for one in name.split(". ")] if " " in name else [name] * bool(name)


def relevance(shot: Shot, statement: str) -> str:
    """How a statement of the answer relates to the question."""
    return worlds.pick(("yes", "no", "borderline"), "relevance", shot.id, statement)


def fits(shot: Shot, picture: str) -> str:
    """Whether a picture of the answer does."""
    return worlds.pick(("yes", "no"), "fits", shot.id, picture)
