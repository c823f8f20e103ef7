"""The part of a passage that a claim has to be read against: chosen by pieces from the whole of it, never cut."""

from __future__ import annotations

from assay_embedded.english import STOP
from assay_embedded.features import Passage, stem, words

AGAIN = 0.3  # what is left of a word's weight each time a chosen sentence has it
OVERALL = 0.15  # how much a sentence counts for words that are covered already
LETTERS = 12  # characters that count as a word where there are no spaces
LONG = 0.01  # by how much each word makes a sentence dearer


def excerpt(passage: Passage, claim: str, budget: int) -> tuple[int, ...]:
    """The pieces of the passage that cover the claim's words best, by number, in order: up to `budget` words.

    Rare words weigh more; what is covered already weighs less. Room that is left goes to the pieces around the chosen
    ones, for what pronouns mean. A passage within the budget is taken whole; one that shares no word with the claim
    gives its first pieces. At least one piece is taken, however long.
    """
    sizes = [max(len(piece.text.split()), len(piece.text) // LETTERS) for piece in passage.pieces]
    everything = range(len(passage.pieces))
    if sum(sizes) <= budget:
        return tuple(everything)
    chosen = _covering(passage, claim, budget, sizes)
    used = sum(sizes[i] for i in chosen)
    if not chosen:
        for i in everything:
            if chosen and used + sizes[i] > budget:
                break
            chosen.append(i)
            used += sizes[i]
    for i in sorted(chosen):
        for near in (i - 1, i + 1):
            if near in everything and near not in chosen and used + sizes[near] <= budget:
                chosen.append(near)
                used += sizes[near]
    return tuple(sorted(chosen))


def _covering(passage: Passage, claim: str, budget: int, sizes: list[int]) -> list[int]:
    content = {stem(word) for word in words(claim) if word not in STOP}
    weight = {word: value for word, value in passage.weights(content).items() if passage.places(word)}
    left = dict(weight)
    has: dict[int, list[str]] = {}
    for word in sorted(weight):  # in one order, so that sums round alike in every process
        for i in passage.places(word):
            has.setdefault(i, []).append(word)
    chosen: list[int] = []
    used = 0
    while has:
        gain = {
            i: sum(left[word] + OVERALL * weight[word] for word in found) / (1 + LONG * sizes[i])
            for i, found in has.items()
            if not chosen or used + sizes[i] <= budget
        }
        if not gain:
            break
        top = max(gain, key=lambda i: (gain[i], -i))
        chosen.append(top)
        used += sizes[top]
        for word in has.pop(top):
            left[word] *= AGAIN
    return chosen
