"""What is open at the moment: exchanges, the spans that belong to them, and what was found so far."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from assay.records import Context, Sample, SampleStatus, Turn
from assay_llama_index.records import answer_text, each_once

SPANS = 10_000  # spans of one exchange that are followed; nobody nests so many

Kind = Literal["exchange", "retrieve", "postprocess", "write", "other"]

ID = "llama_index_span_id"


@dataclass(slots=True, eq=False)
class Exchange:
    """One outermost query or chat call, from its start until its last token."""

    id: str
    question: str | None
    engine: str
    history: tuple[Turn, ...] = ()
    tags: Mapping[str, Any] = field(default_factory=dict)
    started: float = field(default_factory=time.monotonic)
    found: list[Context] | None = None  # by retrievers; None: none was called
    searched: list[str] = field(default_factory=list)  # what retrievers were asked
    sources: tuple[Context, ...] = ()  # of the final response
    pieces: list[Any] = field(default_factory=list)  # of a streamed answer
    spans: set[str] = field(default_factory=set)
    returned: bool = False  # the call has returned; its answer may still be streaming
    heard: bool = False  # we listen to its stream
    written: tuple[SampleStatus, str | None] | None = None  # how the writing of a chat stream ended
    settled: bool = False

    def retrieved(self, query: str | None, contexts: Iterable[Context]) -> None:
        """An outermost retriever returned these."""
        self.found = [*(self.found or ()), *contexts]
        if query is not None and query != self.question and query not in self.searched:
            self.searched.append(query)

    def replaced(self, before: frozenset[str], after: Iterable[Context]) -> None:
        """A post-processor was given nodes with these ids and returned those."""
        found = self.found or []
        place = next((number for number, context in enumerate(found) if context.id in before), len(found))
        kept = [context for context in found if context.id not in before]
        self.found = [*kept[:place], *after, *kept[place:]]

    def streamed(self) -> str | None:
        """The text of the pieces so far: tokens are joined, of growing structured objects the last is the answer."""
        if all(isinstance(piece, str) for piece in self.pieces):
            return "".join(self.pieces) if self.pieces else None
        return answer_text(self.pieces[-1])

    def sample(self, answer: str | None, status: SampleStatus, error: str | None) -> Sample:
        """The record of this exchange."""
        contexts = self.sources or (None if self.found is None else each_once(self.found))
        metadata: dict[str, Any] = {"engine": self.engine}
        if self.searched:
            metadata["searched"] = list(self.searched)
        if error is not None:
            metadata["error"] = error
        return Sample(
            question=self.question,
            contexts=contexts,
            answer=answer,
            history=self.history,
            id=self.id,
            ids={ID: self.id},
            status=status,
            metadata={**metadata, **self.tags},
        )


@dataclass(slots=True, eq=False)
class Member:
    """What a span means to the exchange it belongs to; spans that mean the same may share it.

    `hidden`: they run inside a retriever, so their nodes are not final.
    """

    exchange: Exchange
    kind: Kind
    hidden: bool = False
    given: frozenset[str] = frozenset()  # ids of the nodes a post-processor was given


class OpenExchanges:
    """The open exchanges and their spans, by span id; bounded by number and age. Safe for threads.

    The lock may be taken again by its holder: a generator that is collected meanwhile settles its exchange.
    """

    def __init__(self, limit: int, ttl: float) -> None:
        self._limit = limit
        self._ttl = ttl
        self._lock = threading.RLock()
        self._members: dict[str, Member] = {}
        self._exchanges: OrderedDict[str, Exchange] = OrderedDict()
        self.seen = 0

    def __len__(self) -> int:
        return len(self._exchanges)

    @property
    def spans(self) -> int:
        return len(self._members)

    def member(self, span_id: str | None) -> Member | None:
        """The entry of a span that belongs to an open exchange."""
        return None if span_id is None else self._members.get(span_id)

    def open(self, exchange: Exchange) -> list[Exchange]:
        """Begin an exchange. Returns those that are too many or too old now; settle them."""
        with self._lock:
            self.seen += 1
            self._exchanges[exchange.id] = exchange
            self._members[exchange.id] = Member(exchange, "other")
            return self.overdue()

    def overdue(self) -> list[Exchange]:
        """The exchanges to give up: the oldest above the limit, and those that never ended."""
        with self._lock:
            surplus = len(self._exchanges) - self._limit
            oldest_allowed = time.monotonic() - self._ttl
            overdue = []
            for number, exchange in enumerate(self._exchanges.values()):
                if number >= surplus and exchange.started > oldest_allowed:
                    break
                overdue.append(exchange)
            return overdue

    def everything(self) -> list[Exchange]:
        """All open exchanges."""
        with self._lock:
            return list(self._exchanges.values())

    def join(self, span_id: str, member: Member) -> None:
        """A span begins inside an exchange."""
        with self._lock:
            exchange = member.exchange
            if not exchange.settled and len(exchange.spans) < SPANS:
                exchange.spans.add(span_id)
                self._members[span_id] = member

    def leave(self, span_id: str) -> Member | None:
        """A span ends. The exchange's own span stays until the exchange is settled."""
        with self._lock:
            member = self._members.get(span_id)
            if member is not None and member.exchange.id != span_id:
                del self._members[span_id]
                member.exchange.spans.discard(span_id)
            return member

    def settle(self, exchange: Exchange) -> bool:
        """The exchange is over: forget it. True for the first who says so."""
        with self._lock:
            if exchange.settled:
                return False
            exchange.settled = True
            self._exchanges.pop(exchange.id, None)
            self._members.pop(exchange.id, None)
            for span_id in exchange.spans:
                self._members.pop(span_id, None)
            exchange.spans.clear()
            return True

    def returned(self, exchange: Exchange) -> tuple[SampleStatus, str | None] | None:
        """The call of a chat stream returned. How the writing of the stream ended, if it has ended already."""
        with self._lock:
            exchange.returned = True
            return exchange.written

    def wrote(self, exchange: Exchange, status: SampleStatus, error: str | None) -> bool:
        """The writing of a chat stream ended. True if the call has returned already."""
        with self._lock:
            exchange.written = (status, error)
            return exchange.returned
