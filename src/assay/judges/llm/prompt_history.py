"""Shortened prompts that their own numbers do not show: by the counts that the server reported before.

A low count may be that of a shortened prompt, or of the part that the server had not cached. They differ in what other
prompts get. A context window leaves the same number of tokens of every prompt that does not fit, and no prompt is ever
reported with more than twice that number: Ollama leaves half of its window. A server that leaves out what it had cached
has reported a long prompt in whole when it read it first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from statistics import median

from assay.judges.llm.prompt_truncation import WIDE, check_prompt, is_window, measure, truncation_failure

RECENT = 64  # counts that are looked at
BASELINE = 8  # whole prompts that tell how many characters a token of this server has
FEWEST = 128  # tokens; no window is smaller, and caches leave a few tokens of a prompt that was sent before
ALIKE = 3  # prompts with the same count

#: How often the characters of a whole prompt of as many tokens a prompt has: one that is too long for its count, one of
#: which half cannot be what is left, and the longest of several with the same count.
_TOO_LONG, _HALVED, _LONGEST = 1.5, 2.0, 2.25
#: The longest of several with the same count, in lengths of the shortest.
_APART = 1.25


class PromptHistory:
    """The prompts that one judge sent lately, and how many tokens the server reported."""

    __slots__ = ("_most", "_ratios", "_recent")

    def __init__(self) -> None:
        self._recent: deque[tuple[int, int]] = deque(maxlen=RECENT)
        self._ratios: list[float] = []
        self._most = 0

    def check(self, reported: int, length: int, texts: Callable[[], Iterable[str]]) -> None:
        """Check that the server read the whole prompt, by its count and by those of earlier prompts.

        Args:
            reported: Tokens of the prompt by the server's count, cached ones included.
            length: Characters of the prompt, about, as a difference to those of others.
            texts: Makes the texts of the messages. Called only where it matters.

        Raises:
            JudgeFailure: The server shortened the prompt (prompt_truncated).
        """
        check_prompt(reported, length, texts)
        alike = [other for count, other in self._recent.copy() if count == reported]  # other threads may ask, too
        self._recent.append((reported, length))
        self._most = max(self._most, reported)
        if reported < FEWEST or self._most > 2 * reported:
            return
        repeated = len(alike) >= ALIKE - 1 and len({*alike, length}) > 1
        if not repeated and not is_window(reported) and len(self._ratios) >= BASELINE:
            return
        size = sum(map(measure, texts()))
        sizes = [size + other - length for other in (*alike, length)]
        if (repeated and self._is_cut_off(reported, sizes)) or self._is_halved(reported, size):
            raise truncation_failure(reported, size)
        if size <= WIDE * reported and len(self._ratios) < BASELINE:
            self._ratios.append(size / reported)

    def _is_cut_off(self, reported: int, sizes: list[int]) -> bool:
        """Whether prompts of different lengths, all too long for it, have this one count."""
        shortest, longest, whole = min(sizes), max(sizes), self._characters * reported
        return shortest > _TOO_LONG * whole and longest > max(_LONGEST * whole, _APART * shortest)

    def _is_halved(self, reported: int, size: int) -> bool:
        """Whether the count is that of a usual window, of a server that is known to count whole prompts in whole."""
        return bool(self._ratios) and is_window(reported) and size > _HALVED * self._characters * reported

    @property
    def _characters(self) -> float:
        """Characters of a token, as `measure` counts them."""
        return median(self._ratios) if self._ratios else WIDE / _TOO_LONG
