"""Token ids cut into windows that a model can take; every token is in one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

EMBEDDER_WINDOW = 256  # tokens, with the two marks around them: what the model was made for
# The reranker could take 512, but was trained on short passages: one answer among other text in a long window moves it
# less than in a short one (training/README.md has the figures).
PAIR_WINDOW = 256  # tokens, with three marks
FIRST_WINDOW = 126  # of those at most for the question or claim, so that half is left for the passage
STRIDE_BACK = 64  # tokens that neighbouring windows of a passage share, so that no answer is cut in two
CLS, SEP = 101, 102

Window = tuple[Sequence[int], Sequence[int]]


def even(tokens: Sequence[int], longest: int) -> list[Sequence[int]]:
    """All tokens, in as few windows as fit, their lengths differing by 1 at most; one empty window for no tokens."""
    count = max(1, math.ceil(len(tokens) / longest))
    edges = [len(tokens) * i // count for i in range(count + 1)]
    return [tokens[edges[i] : edges[i + 1]] for i in range(count)]


def windows_of(first: Sequence[int], passage: Sequence[int]) -> Iterator[Window]:
    """Windows that show every token of both; none when one of them is empty."""
    if not first or not passage:
        return
    for part in even(first, FIRST_WINDOW):
        room = PAIR_WINDOW - 3 - len(part)
        start = 0
        while True:
            yield part, passage[start : start + room]
            if start + room >= len(passage):
                break
            start += room - STRIDE_BACK


def length(window: Window) -> int:
    """Tokens of a window, without the marks."""
    return len(window[0]) + len(window[1])


def pair_feed(window: Window, begin: int, end: int) -> dict[str, list[int]]:
    """What a model of pairs takes: both texts with the marks before the first and after each."""
    first, passage = window
    ids = [begin, *first, end, *passage, end]
    types = [0] * (len(first) + 2) + [1] * (len(passage) + 1)
    return {"input_ids": ids, "attention_mask": [1] * len(ids), "token_type_ids": types}
