"""Plain prose is split without pysbd, and exactly as pysbd splits it."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.text import guards, plain, sentences, split_sentences
from assay.text.repair import repair
from tests.text.test_sentences import NASTY

SHARED = Path(__file__).parents[3] / "shared" / "data"
WORDS = (
    *("The", "the", "it", "Paris", "is", "I", "A", "a", "No", "no", "No.", "Mr.", "Dr.", "St.", "etc.", "Hon.", "Co."),
    *("J.", "I.", "V.", "v.", "B.", "x.", "12.", "2.", "1999.", "3.5", "$3.5m", "5%.", "20°.", "al.", "egg.", "phil."),
    *("Fig.", "p.", "may.", "Yahoo!", "Wow!", "so?", "said.", "them.", "U.S.", "KG", "(it", "(a)", "(1889)", "of 2)"),
    *("(see the map)", '"a word"', '"so,"', "“so”", "[1]", "[1, 2].", "students'", "it's", "it’s.", "don't", "-", "–"),
    *(" .", " ,", ",", ";", "is:", "\n", "  ", "I'm", "I'll", "(b", "i", "ii)", "ph", "d.", "Ş.", "ß.", "é.", "İs."),
)


def both(window: str) -> tuple[object, object]:
    """The sentences by the quick way, and by pysbd; the first is None where the text is not plain."""
    quick = plain.split(window)
    masked = guards.mask(window)
    slow = guards.split(masked, "en")
    return quick and repair(window, quick), slow and repair(masked, slow)


@pytest.mark.long
@settings(max_examples=800, deadline=None)
@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=12), st.sampled_from([" ", "\n"]))
def test_whatever_is_plain_is_split_as_by_pysbd(words: list[str], space: str) -> None:
    quick, slow = both(space.join(words))
    assert quick is None or quick == slow


@pytest.mark.long
@settings(max_examples=400, deadline=None)
@given(st.lists(st.one_of(st.sampled_from(NASTY), st.sampled_from(WORDS)), max_size=14), st.sampled_from(["", " "]))
def test_no_nasty_text_passes_for_plain(pieces: list[str], space: str) -> None:
    quick, slow = both(space.join(pieces))
    assert quick is None or quick == slow


@settings(max_examples=500, deadline=None)
@given(st.text(alphabet="aZiI .,!?()\"'’“”[]19-–\n:;éu", max_size=40))
def test_no_short_text_passes_for_plain_wrongly(text: str) -> None:
    quick, slow = both(text)
    assert quick is None or quick == slow


@pytest.mark.skipif(sys.version_info < (3, 11, 5), reason="matches possessive groups wrongly: pysbd splits more texts")
@pytest.mark.parametrize(
    "text",
    [
        "The tower is 330 m tall. It was built in 1889 (in two years), wasn't it? Dr. Smith and J. Doe say so!",
        'He said that the "new" one costs $3.5 million [1]. That is 5% more.\nIt went on, as of 1999. The end.',
    ],
)
def test_ordinary_prose_needs_no_pysbd(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guards, "split", lambda *args: pytest.fail("asked pysbd"))
    assert len(split_sentences(text)) > 1


def shared_texts() -> Iterator[str]:
    for path in sorted(SHARED.glob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines):
                if number % 20 == 0:
                    row = json.loads(line)
                    yield from (row[key] for key in ("question", "response", "claim", "reference") if row.get(key))
                    yield from (text[:3000] for text in (row.get("contexts") or ()) if isinstance(text, str))


@pytest.mark.long
@pytest.mark.skipif(not SHARED.is_dir(), reason="needs ../shared/data")
def test_real_texts_are_split_as_by_pysbd(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = sorted(set(shared_texts()))[::12]
    quick = [sentences._split_all(text, "en") for text in texts]
    monkeypatch.setattr(plain, "split", lambda window: None)
    assert quick == [sentences._split_all(text, "en") for text in texts]
