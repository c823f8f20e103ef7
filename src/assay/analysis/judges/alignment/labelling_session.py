"""A person labels items of a run, one key each. Every label is on disk before the next item is shown."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from assay.analysis.judges.alignment.active_sampling import SampledItem, What, choose
from assay.analysis.judges.alignment.items import Item, RunItems
from assay.analysis.judges.alignment.labels import Label, read_labels
from assay.errors import InputError
from assay.evaluation.result import Result
from assay.records import Sample, Verdict

#: The keys of each kind, and the label that each stands for.
KEYS: dict[What, dict[str, str]] = {
    "claims": {"s": "supported", "c": "contradicted", "n": "not_mentioned", "u": "unsure"},
    "passages": {"y": "useful", "n": "not_useful", "u": "unsure"},
    "samples": {"y": "yes", "n": "no", "u": "unsure"},
}
UNDO, SKIP, QUIT = "b", "k", "q"
VerdictDisplay = Literal["after", "before", "never"]


@dataclass(slots=True)
class Session:
    """Items to label, and the file of labels.

    Attributes:
        read: The next key; "" at the end of the input.
        say: Shows a text.
        shown: When the judge's verdict is seen: after the label, before it, or never.
    """

    result: Result
    file: Path
    what: What
    chosen: Sequence[SampledItem]
    items: RunItems
    read: Callable[[], str]
    say: Callable[[str], None]
    by: str | None = None
    shown: VerdictDisplay = "after"
    done: set[tuple[int, str, str, int]] = field(default_factory=set)
    written: int = 0

    def run(self) -> int:
        """Show one item after the other until all have a label or the person stops; how many labels were given."""
        self._resume()
        left = [one for one in self.chosen if one.item.key not in self.done]
        self.say(self._welcome(len(left)))
        given: list[int] = []
        place = 0
        while place < len(left):
            self.say(self._page(left[place].item, len(self.done) + 1))
            key = self._key()
            if key == QUIT:
                break
            if key == UNDO:
                if given:
                    place = given.pop()
                    self._take_back(left[place].item)
                    self.say("taken back")
                else:
                    self.say("nothing was labelled in this session")
                continue
            if key == SKIP:
                place += 1
                continue
            self._write(left[place], KEYS[self.what][key])
            if self.shown == "after":
                self.say(self._verdict(left[place].item))
            given.append(place)
            place += 1
        self.say(f"{self.written} labels given; {len(self.done)} of {len(self.chosen)} in {self.file}")
        return self.written

    def _welcome(self, left: int) -> str:
        keys = "  ".join(f"[{key}] {label}" for key, label in KEYS[self.what].items())
        more = f"[{SKIP}] skip  [{UNDO}] take back  [{QUIT}] quit"
        group = self.chosen[0].item.group if self.chosen else ""
        return f"{left} {self.what} to label ({group}), {len(self.done)} labelled already.\n{keys}\n{more}"

    def _key(self) -> str:
        known = {*KEYS[self.what], UNDO, SKIP, QUIT}
        while True:
            given = self.read()
            key = given.strip()[:1].lower() if given else QUIT
            if key in known:
                return key
            self.say(f"expected one of {', '.join([*KEYS[self.what], SKIP, UNDO, QUIT])}")

    # ---- what is shown

    def _page(self, item: Item, number: int) -> str:
        sample = self.result.get_row(f"row:{item.row}").scored.sample
        name = f"row {item.row}" if item.id is None else f"row {item.row} ({item.id})"
        lines = [f"\n---- {number} of {len(self.chosen)}, {name}", f"QUESTION: {sample.question or '(none)'}"]
        if self.what == "samples":
            lines += [*_passages(sample), f"ANSWER: {sample.answer or '(none)'}"]
            lines += [f"REFERENCE: {sample.reference}"] if sample.reference else []
            lines.append(f"Is it good by {item.group}?")
        elif self.what == "passages":
            lines += [f"PASSAGE {item.index + 1}: {_close(item.text)}", "Does the passage help to answer the question?"]
        else:
            lines += [
                *_evidence(sample, item.group),
                f"CLAIM: {item.text}",
                "What do the texts above say of the claim?",
            ]
        if self.shown == "before":
            lines.append(self._verdict(item))
        return "\n".join(lines)

    def _verdict(self, item: Item) -> str:
        if item.value is not None:
            return f"the judge: {item.group} {item.value:.3f}"
        score = self.result.get_row(f"row:{item.row}").scored.scores[item.metrics[0]]
        verdicts = score.verdicts.get(item.group, ())
        found = next((v for n, v in enumerate(verdicts) if _place(v, n) == item.index), None)
        if found is None:
            return "the judge says nothing of it"
        p = "" if found.probability is None else f" (p {found.probability:.2f})"
        return f"the judge: {found.label}{p}" + (f"; {found.reason}" if found.reason else "")

    # ---- the file

    def _resume(self) -> None:
        if not self.file.exists() or not self.file.stat().st_size:
            return
        labels = read_labels(self.file, self.items.metrics)
        planned = {one.item.key: one.weight for one in self.chosen}
        for label in labels.labels:
            self._known(label, planned)
        # what nobody could tell is not asked again
        for line in self.file.read_text(encoding="utf-8").splitlines():
            row = json.loads(line) if line.strip() else {}
            if isinstance(row, dict) and row.get("label") == "unsure" and row.get("run") == self.result.run:
                for one in self.chosen:
                    if (one.item.row, one.item.group, one.item.index) == (
                        row.get("row"),
                        row.get("of"),
                        row.get("place"),
                    ):
                        self.done.add(one.item.key)

    def _known(self, label: Label, planned: dict[tuple[int, str, str, int], float]) -> None:
        item = self.items.item_of(label)
        if item is None or item.key not in planned or (label.by or None) != self.by:
            return
        if abs(planned[item.key] - label.weight) > 1e-6 * label.weight:
            raise InputError(
                f"{self.file}, row {label.number}: it was chosen with another weight; go on with the options that the "
                "file was begun with, or write into another one"
            )
        self.done.add(item.key)

    def _write(self, one: SampledItem, label: str) -> None:
        line = json.dumps(self._row(one, label), ensure_ascii=False) + "\n"
        with self.file.open("a+b") as out:
            out.seek(0, os.SEEK_END)
            end = out.tell()
            if end:
                out.seek(end - 1)
                if out.read(1) != b"\n":  # a line that somebody left without its end
                    out.write(b"\n")
            out.write(line.encode("utf-8", "surrogatepass"))
            out.flush()
            os.fsync(out.fileno())
        self.done.add(one.item.key)
        self.written += 1

    def _row(self, one: SampledItem, label: str) -> dict[str, Any]:
        item = one.item
        alike = sum(other.key[:3] == item.key[:3] and other.text == item.text for other in self.items.items)
        about: dict[str, Any] = {"metric": item.group}
        if item.level == "claim":
            about = {"reading": item.group, "claim": item.text, **({"index": item.index + 1} if alike > 1 else {})}
        elif item.level == "passage":
            about = {"reading": item.group, "passage": item.index + 1}
        return {
            "run": self.result.run,
            **({} if item.id is None else {"id": item.id}),
            "row": item.row,
            **about,
            "label": label,
            "weight": one.weight,
            **({} if self.by is None else {"by": self.by}),
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            **({"of": item.group, "place": item.index} if label == "unsure" else {}),
        }

    def _take_back(self, item: Item) -> None:
        """The file without its last line, which this session wrote."""
        data = self.file.read_bytes()
        with self.file.open("r+b") as out:
            out.truncate(data.rstrip(b"\n").rfind(b"\n") + 1)
        self.done.discard(item.key)
        self.written -= 1


def session(
    result: Result,
    file: str | Path,
    what: What = "claims",
    *,
    read: Callable[[], str],
    say: Callable[[str], None],
    n: int = 100,
    metric: str | None = None,
    by: str | None = None,
    shown: VerdictDisplay = "after",
    seed: int = 0,
    alike: bool = False,
) -> Session:
    """A session over `n` items of a run. See `choose` for which, and `Session` for the rest.

    Where more than half of the items are to be labelled, all have the same chance. Raises InputError for a run without
    such items, and for a file that does not hold labels of this plan.
    """
    if n < 1:
        raise InputError(f"n: expected at least 1, got {n}")
    if shown not in ("after", "before", "never"):
        raise InputError(f"shown: expected 'after', 'before' or 'never', got {shown!r}")
    items = RunItems.of(result)
    chosen = choose(items, what, metric=metric, seed=seed, alike=alike)
    if 2 * n > len(chosen) and not alike:
        chosen = choose(items, what, metric=metric, seed=seed, alike=True)
    return Session(result, Path(file), what, chosen[:n], items, read, say, by, shown)


def _passages(sample: Sample) -> list[str]:
    return [f"PASSAGE {n}: {_close(text)}" for n, text in enumerate(sample.passages, 1)] or ["(no passages)"]


def _evidence(sample: Sample, group: str) -> list[str]:
    """The texts that the claims of a reading are held against."""
    against = group.partition("/")[2]
    if against == "answer":
        return [f"ANSWER: {sample.answer}"]
    if against == "reference":
        return [f"REFERENCE: {sample.reference}"]
    earlier = (
        [f"EARLIER PASSAGE: {_close(text)}" for text in sample.earlier_passages] if against == "conversation" else []
    )
    return [*_passages(sample), *earlier]


def _close(text: str) -> str:
    """The text without its empty lines."""
    return "\n".join(line for line in text.splitlines() if line.strip())


def _place(verdict: Verdict, number: int) -> int:
    return number if verdict.passage is None else verdict.passage
