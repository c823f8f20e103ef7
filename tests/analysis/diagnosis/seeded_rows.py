"""The seeded failures: rows of RAG systems written by hand, each wrong by one known fault, or right.

One file a topic in `seeded/`. A row has the verdicts of a reader who did not see its fault: the claims of answer and
reference, what each passage says of them (S supports, C contradicts, N does not mention, T supports together with the
others marked T), and what the other text says. Topics of the part "final" are read by nobody who changes the rules.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from assay.analysis.diagnosis.labels import Label
from assay.judges.protocol import Answer
from assay.judges.scripted_judge import ScriptedJudge
from assay.prompts import Claims, Directness, JudgePrompt, Support
from assay.records import Cell, Claim, Span, Verdict

FOLDER = Path(__file__).parent / "seeded"
Part = Literal["development", "final"]
#: The label that is right for each fault; None: the row is right and must not fail.
LABEL_OF: Mapping[str, Label | None] = {
    "none": None,
    "retrieval_miss": "not retrieved",
    "truncated": "truncated",
    "conflict": "conflicting passages",
    "refused_answerable": "answerable and refused",
    "contradiction": "hallucination: contradicts the passage",
    "context_not_used": "context not used",
    "off_topic": "off-topic answer",
    "omission": "incomplete answer",
    "unsupported_addition": "hallucination: unsupported",
    "format": "format failure",
    "wrong_reference": "wrong or incomplete reference",
    "answered_unanswerable": "unanswerable and answered",
}
_WORDS = {"S": "supported", "C": "contradicted", "N": "not_mentioned", "T": "not_mentioned"}
#: Changes a letter of a verdict, or keeps it.
Flip = Callable[[str], str]


def unchanged(letter: str) -> str:
    return letter


@dataclass(frozen=True)
class SeededRow:
    """One row, as data, with its fault and its verdicts."""

    topic: str
    fault: str
    data: Mapping[str, Any]
    verdicts: Mapping[str, Any]

    @property
    def label(self) -> Label | None:
        return LABEL_OF[self.fault]


def seeded_rows(part: Part | None = None) -> Iterator[SeededRow]:
    """The rows of one part, or all, in the order of files and rows."""
    for path in sorted(FOLDER.glob("*.json")):
        topic = json.loads(path.read_text(encoding="utf-8"))
        if part is None or topic["part"] == part:
            for row in topic["rows"]:
                yield SeededRow(topic["topic"], row["fault"], _data(row, topic["passages"]), row["verdicts"])


def _data(row: Mapping[str, Any], passages: Mapping[str, str]) -> dict[str, Any]:
    dropped = row.get("not_in_prompt", ())
    contexts = [{"text": passages[name], "in_prompt": name not in dropped} for name in row["contexts"]]
    data = {key: row[key] for key in ("id", "question", "answer", "reference")}
    return {**data, "contexts": contexts if dropped else [one["text"] for one in contexts],
            "answerable": row.get("answerable", True)}  # fmt: skip


class VerdictJudge(ScriptedJudge):
    """Says of one row what its reader said."""

    def __init__(self, row: SeededRow, flip: Flip = unchanged) -> None:
        super().__init__(name="reader")
        self._sides = {side: row.data[side] for side in ("answer", "reference")}
        self._claims = {side: [one[0] for one in row.verdicts[side]] for side in self._sides}
        contexts = tuple(one if isinstance(one, str) else one["text"] for one in row.data["contexts"])
        self._labels: dict[tuple[str, tuple[str, ...]], tuple[str, tuple[str, ...]]] = {}
        for side, other in (("answer", "reference"), ("reference", "answer")):
            for text, passages, said in row.verdicts[side]:
                cells = "".join(map(flip, passages))
                self._labels[text, contexts] = _overall(cells), tuple(_WORDS[cell] for cell in cells)
                label = _WORDS[flip(said)]
                self._labels[text, (self._sides[other],)] = label, (label,)
        given = [self._labels[text, (self._sides["answer"],)][0] for text in self._claims["reference"]]
        self._given = next((label for label in given if label != "supported"), "supported")
        self._direct = row.verdicts["direct"]

    def cannot(self, prompt: type[JudgePrompt[Any]], language: str = "en") -> None:
        return None

    async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
        return [Answer(judgement=self._judgement(prompt)) for prompt in prompts]

    def _judgement(self, prompt: JudgePrompt[Any]) -> Any:
        if isinstance(prompt, Claims):
            side = next(side for side, text in self._sides.items() if text == prompt.text)
            return tuple(Claim(text=text, span=Span(0, len(prompt.text))) for text in self._claims[side])
        if isinstance(prompt, Support):
            return tuple(self._verdict(claim, prompt.passages) for claim in prompt.claims)
        assert isinstance(prompt, Directness)
        return Verdict(label="direct" if self._direct else "indirect")

    def _verdict(self, claim: Claim, passages: tuple[str, ...]) -> Verdict:
        # a short reference is asked about as a whole, in words of the metric's
        label, cells = self._labels.get((claim.text, passages), (self._given, (self._given,)))
        return Verdict(label=label, claim=claim, cells=tuple(Cell(label=cell) for cell in cells))  # type: ignore[arg-type]


def _overall(cells: str) -> str:
    """What all passages together say: one that supports is enough, then one that contradicts."""
    return "supported" if "S" in cells or cells.count("T") > 1 else "contradicted" if "C" in cells else "not_mentioned"
