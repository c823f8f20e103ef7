"""Themes of failures: failed rows grouped by what their questions are about, each named by its distinguishing terms."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay._util.tabular import ResultRows, Tabular

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Texts to vectors of length 1, [n, dimensions].
Embed = Callable[[Sequence[str]], "NDArray[np.float32]"]

FEWEST = 3  # rows of a theme
MOST = 500  # failed rows that are grouped: the others belong to no theme
#: Mean cosine of two groups of questions from which on they are one theme.
ALIKE = 0.35
TERMS = 3  # that name a theme
_WORD = re.compile(r"[^\W\d_]{3,30}")


@dataclass(frozen=True, slots=True)
class Theme(Tabular):
    """Failed rows whose questions are about one thing.

    Attributes:
        terms: Words that stand in its questions more often than in those of other rows, the most telling first.
        rows: Their numbers, from 1.
        counts: The rows by label of their cause.
    """

    _noun = "theme"

    terms: tuple[str, ...]
    rows: tuple[int, ...]
    counts: Mapping[str, int]

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {"terms": list(self.terms), "rows": list(self.rows), "counts": dict(self.counts)}


def find_themes(questions: Mapping[int, str], labels: Mapping[int, str], embed: Embed | None) -> tuple[Theme, ...]:
    """Group the questions of failed rows, by row number; the largest theme first.

    () without an embedder, and for fewer rows than two themes have.

    Agglomerative clustering with average linkage (Sokal and Michener, 1958) on the cosine of the questions. Terms are
    ranked by their smoothed log-odds in the theme against the other questions (Monroe et al., Political Analysis 16,
    2008).
    """
    numbers = [number for number, text in questions.items() if text.strip()][:MOST]
    if embed is None or len(numbers) < 2 * FEWEST:
        return ()
    groups = _clusters(embed([questions[number] for number in numbers]))
    words = {number: set(_WORD.findall(questions[number].lower())) for number in numbers}
    every = Counter(word for number in numbers for word in words[number])
    found = []
    for group in groups:
        if len(group) >= FEWEST:
            rows = tuple(sorted(numbers[place] for place in group))
            inside = Counter(word for number in rows for word in words[number])
            counts = Counter(labels[number] for number in rows)
            found.append(Theme(_terms(inside, len(rows), every, len(numbers)), rows, dict(counts.most_common())))
    return ResultRows(sorted(found, key=lambda one: (-len(one.rows), one.rows)), Theme)


def _clusters(vectors: NDArray[np.float32]) -> list[list[int]]:
    """Merge the two groups with the highest mean cosine until none reaches `ALIKE`."""
    import numpy as np

    groups: list[list[int]] = [[n] for n in range(len(vectors))]
    alike = np.asarray(vectors @ vectors.T, np.float64)
    np.fill_diagonal(alike, -np.inf)
    for _ in range(len(groups) - 1):
        place = int(alike.argmax())
        first, second = sorted(divmod(place, len(alike)))
        if alike[first, second] < ALIKE:
            break
        a, b = len(groups[first]), len(groups[second])
        merged = (a * alike[first] + b * alike[second]) / (a + b)
        merged[first] = -np.inf
        alike[first], alike[:, first] = merged, merged
        alike[second], alike[:, second] = -np.inf, -np.inf
        groups[first] += groups[second]
        groups[second] = []
    return [group for group in groups if group]


def _terms(inside: Counter[str], rows: int, every: Counter[str], total: int) -> tuple[str, ...]:
    def odds(word: str) -> float:
        k, others = inside[word], every[word] - inside[word]
        return math.log((k + 0.5) / (rows - k + 0.5)) - math.log((others + 0.5) / (total - rows - others + 0.5))

    known = [word for word in inside if inside[word] > 1 or rows <= FEWEST]
    return tuple(sorted(known, key=lambda word: (-odds(word), word))[:TERMS])
