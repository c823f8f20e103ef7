"""The state of passages: nearly the same, against each other, not used."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.analysis.diagnosis.context_health import ContextHealth
from assay.analysis.diagnosis.duplicates import likeness, near_duplicates, shingles
from assay.analysis.diagnosis.facts import ClaimFacts, Facts
from assay.records import Context

TEXT = " ".join(f"word{n}" for n in range(60))


def test_likeness_is_shared_threes_over_all_threes() -> None:
    """ "a b c d" has abc, bcd; "b c d e" has bcd, cde: 1 of 3."""
    assert likeness(shingles("a b c d"), shingles("b C d. e")) == pytest.approx(1 / 3)
    assert likeness(shingles(""), shingles("")) == 0.0


def test_a_passage_with_one_word_changed_is_there_twice_and_half_a_passage_is_not() -> None:
    """58 threes; another last word changes one of them: 57 of 59 are shared. Half has 28 of 58."""
    changed = TEXT.replace("word59", "other")
    half = " ".join(TEXT.split()[:30])
    assert near_duplicates([TEXT, "something else", changed, half, TEXT.upper()]) == [(0, 2), (0, 4)]


@pytest.mark.parametrize(
    "text", ["日本の首都は東京である。人口は多い。", "Größe über alles, naïve Straße", "x", "🙂 a"]
)
def test_texts_of_other_scripts_and_of_one_word(text: str) -> None:
    assert near_duplicates([text, "quite another text", text + " "]) == [(0, 2)]


@given(st.lists(st.text(max_size=30), max_size=6))
def test_equal_passages_with_a_word_in_them_are_always_found(texts: list[str]) -> None:
    found = near_duplicates([*texts, *texts])
    later = {n for _, n in found}
    assert {n + len(texts) for n, text in enumerate(texts) if len(shingles(text))} <= later
    assert all(first < second for first, second in found)


def seen(text: str, cells: tuple[str, ...]) -> ClaimFacts:
    label = "supported" if "supported" in cells else "not_mentioned"
    return ClaimFacts(text, "answer", label, cells)


def facts(texts: list[str], *claims: ClaimFacts) -> Facts:
    return Facts(answer=claims or None, contexts=tuple(Context(text=text) for text in texts), abstained=False)


def test_counts_of_passages() -> None:
    """Of 10 + 30 characters those of the second passage are used by no claim: 0.75."""
    health = ContextHealth()
    health.add(1, facts(["a" * 10, "b" * 30], seen("It is.", ("supported", "contradicted"))))
    health.add(2, facts([TEXT, TEXT]))  # nothing was read of it
    health.add(3, facts([]))
    assert (health.rows, health.passages, health.duplicates, health.repeating) == (2, 4, 1, 1)
    assert (health.contradicting, health.compared, health.used_known, health.share_unused) == (1, 1, 1, 0.75)
    assert [(one.row, one.first, one.second, one.claim) for one in health.against] == [(1, 1, 2, "It is.")]
    assert [(one.row, one.first, one.second) for one in health.repeated] == [(2, 1, 2)]


def test_what_is_not_known_is_no_number() -> None:
    health = ContextHealth()
    health.add(1, facts(["a", "b"], ClaimFacts("It is.", "answer", "supported")))  # by which passage was not read
    assert (health.share_unused, health.used_known, health.compared) == (None, 0, 0)
