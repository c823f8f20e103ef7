"""Nothing freezes: every regular expression and every function that reads a text takes time that grows with its length.

`re` holds the interpreter's lock: one quadratic search of a hostile text stops every thread of a host, and no deadline
helps. The texts are in `linear.py`, the patterns are found by `linear_patterns.py`, the functions are listed in
`linear_functions.py`, the prompts in `linear_prompts.py`. Every pattern is tried at once on the texts that are
worst for it; all texts, and the functions, take minutes and are tried with `-m long`.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay import Context, Sample, guard, prompts
from assay.judges import prompt_rendering as fences
from assay.judges.claim_rules import languages as further
from assay.judges.claim_rules import refusals
from assay.judges.claim_rules import small_talk as talk
from assay.judges.http.replies import failure_of
from assay.judges.llm.judge import Reply, TextJudge
from assay.text import fallback, guards, quotes, sentences
from assay.text.cache import BoundedCache
from tests._support import linear
from tests._support.linear_functions import NOT_READ, READ, is_gone, reader, readers_in_sources
from tests._support.linear_patterns import Found, heads_of, patterns_in, source_files
from tests._support.linear_prompts import PROMPTS, Asked, run

ROOT = Path(__file__).parents[1]

#: Patterns that are made at run time, with ones like them. Whoever adds one says here why it is linear.
MADE_AT_RUN_TIME = {
    # the user's own, which gets a process and some seconds; what stands here is one that is linear
    ("src/assay/metrics/systems/patterns.py", "re.compile(pattern, flags)"): "yes|no",
    (  # the name of a metric
        "src/assay/evaluation/error_groups.py",
        "re.sub(f'(?<![\\\\w:]){re.escape(metric)}(?![\\\\w:])', 'the metric', message)",
    ): r"(?<![\w:])faithfulness(?![\w:])",
    (
        "src/assay/judges/claim_rules/refusals.py",
        "re.compile('(?:' + '|'.join(alternatives) + ')')",
    ): refusals._REFUSAL.pattern,
    ("src/assay/judges/llm/replies.py", "re.compile(re.escape(ends), re.IGNORECASE)"): "</reflection>",
    ("src/assay/text/plain.py", "re.compile('|'.join(sorted(unclear)))"): "al|d|d.phil|dr.philos|e.g|i.e|ph.d|u.s|v",
}
#: The files that may hold patterns; they are parsed where a test asks, and not in each process that collects.
FILES = [str(path.relative_to(ROOT)) for path in source_files() if re.search(r"\bre\.[a-z]", path.read_text("utf-8"))]
LANGUAGES = "src/assay/judges/claim_rules/languages"


def _patterns(file: str) -> list[Found]:
    """The patterns of a file, with those in place of what is made at run time; or those of all further languages."""
    if file == LANGUAGES:
        return [
            Found(f"{file}/{code}", f"{code} {what}", getattr(known, what), False)
            for code, known in further.KNOWN.items()
            for what in ("refusal", "talk")
        ]
    found = list(patterns_in(ROOT / file))
    made = [(one.file, one.source) for one in found if (one.file, one.source) in MADE_AT_RUN_TIME]
    stand_ins = [Found(*key, re.compile(MADE_AT_RUN_TIME[key], re.IGNORECASE), False) for key in made]
    return [one for one in found if one.pattern is not None] + stand_ins


@pytest.fixture(autouse=True)
def _nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second time is as long as the first."""
    for room, name in ((sentences, "_REMEMBERED"), (quotes, "_NORMAL")):
        monkeypatch.setattr(room, name, BoundedCache(0, lambda key, value: 1))


# The check


@pytest.mark.long
@pytest.mark.parametrize(
    ("call", "size"),
    [
        (lambda text: re.search(r"<(?=\s*/?\s*data\s*-)", text), 1000),
        (lambda text: re.split(r"\s*(?:\.{3,}|…)\s*", text), 1000),
        (lambda text: sum(one == other for one in text for other in text), 250),
    ],
)
def test_the_check_finds_what_is_quadratic(call: Callable[[str], object], size: int) -> None:
    assert linear.fault(call, "<" + " " * size + "x", "<" + " " * 10 * size + "x")


@pytest.mark.parametrize("quadratic", [r"<(?=\s*/?\s*data\s*-)", r"[!?]{2,}(?=\s)", r"\(\s*a*\s*\d"])
def test_the_quick_check_picks_a_text_on_which_a_pattern_is_quadratic(quadratic: str) -> None:
    pattern = re.compile(quadratic)
    assert linear.fault_of_worst(_everywhere(pattern), heads_of(pattern), 700)


@pytest.mark.long
def test_one_quadratic_text_among_linear_ones_is_found() -> None:
    found = linear.first_fault(_everywhere(re.compile(" +x")), units=("a", ".", " ", "0", *linear.UNITS[20:28]))
    assert found is not None
    assert found.startswith("' '")


def test_the_check_lets_linear_work_pass() -> None:
    def work(text: str) -> object:
        return [ord(char) for char in text] + [len(text.split())]

    assert linear.first_fault(work, units=linear.FEW) is None
    assert linear.fault_of_worst(work, ["<"]) is None


def test_patterns_are_found_wherever_they_stand(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests._support.linear_patterns.ROOT", tmp_path)
    path = tmp_path / "src" / "module.py"
    path.parent.mkdir()
    path.write_text(
        "import re\nfrom assay.text.scripts import CJK_ENDS\n_A = 'x' + CJK_ENDS\n_B = re.compile(rf'[{_A}]+', re.I)\n"
        "class C:\n    p: re.Pattern[str] = re.compile('c')\ndef f(t, u):\n    _B.match(t)\n"
        "    return re.sub('(?i)d', '', t), re.split(u, t), re.compile('e').fullmatch(t), \\\n"
        "        re.search(pattern='f', string=t)\n"
    )
    found = {item.source: item for item in patterns_in(path)}
    assert [(n, i.pattern and i.pattern.pattern) for n, i in sorted(found.items())] == [
        ("_B", "[x。！？｡]+"), ("p", "c"), ("re.compile('e')", "e"), ("re.search(pattern='f', string=t)", "f"),
        ("re.split(u, t)", None), ("re.sub('(?i)d', '', t)", "(?i)d"),
    ]  # fmt: skip
    assert {name for name, item in found.items() if item.anchored} == {"_B", "re.compile('e')"}


# Patterns


def test_every_pattern_is_known() -> None:
    patterns = [found for file in FILES for found in patterns_in(ROOT / file)]
    unknown = {(found.file, found.source) for found in patterns if found.pattern is None}
    assert unknown == MADE_AT_RUN_TIME.keys()
    assert len(patterns) > 60


every_file = pytest.mark.parametrize("file", [*FILES, LANGUAGES])


def _everywhere(pattern: re.Pattern[str]) -> Callable[[str], object]:
    """What is searched, split or replaced tries every place of the text."""
    return lambda text: sum(1 for _ in pattern.finditer(text))


def _calls(found: Found) -> list[Callable[[str], object]]:
    assert found.pattern is not None
    return [found.pattern.match, found.pattern.fullmatch, *([] if found.anchored else [_everywhere(found.pattern)])]


def _each(calls: Sequence[Callable[[str], object]], text: str) -> object:
    return [call(text) for call in calls]


def _faults(file: str, fault: Callable[[Callable[[str], object], Sequence[str]], str | None]) -> dict[str, str]:
    """What takes more than linear time, of all patterns of a file."""
    faults = {}
    for found in _patterns(file):
        assert found.pattern is not None
        wrong = fault(partial(_each, _calls(found)), heads_of(found.pattern))
        if wrong:
            faults[found.source] = wrong
    return faults


@every_file
def test_every_pattern_takes_linear_time_on_what_is_worst_for_it(file: str) -> None:
    assert _faults(file, linear.fault_of_worst) == {}


@pytest.mark.long
@every_file
def test_every_pattern_takes_linear_time(file: str) -> None:
    assert _faults(file, linear.first_fault) == {}


# Functions


def test_every_function_that_takes_a_text_is_listed() -> None:
    missing = set(readers_in_sources()) - READ.keys() - NOT_READ.keys()
    assert not missing, "say in tests/_support/linear_functions.py how it is called"
    assert not [name for name in (*READ, *NOT_READ) if is_gone(name)]
    assert not READ.keys() & NOT_READ.keys()


#: These split sentences, of which pysbd makes slow work, print with rich, or are called several times.
_SLOW = {
    *("assay.judges.llm.labels:attach_probabilities", "assay.evaluation.display.explanation:Explanation"),
    *("assay.text.quotes:locate", "assay.text.quotes:locate_parts"),
    *("assay.prompts.pieces:pack", "assay.text.windows:windows"),
    *("assay.judges.claim_rules.extract:sentence_claims", "assay.text.sentences:split_sentences"),
    *("assay.metrics.shared_prompts:not_judged", "assay.metrics.shared_prompts:both_not_judged"),
    *("assay.metrics.ragas.tool_calls:accuracy", "assay.metrics.ragas.tool_calls:pairs_of_any_order"),
    *("assay.metrics.ragas.tool_calls:f1", "assay_embedded.records:pieces"),
    *("assay_embedded.records.objects:object_pieces", "assay_embedded.records.tables:pieces_between"),
}


@pytest.mark.long
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", READ)
def test_every_function_takes_linear_time(name: str) -> None:
    call = reader(name)
    call("Dr. X came (e.g. in 1. and a) of it). It is. " * 3)  # imports and compiles
    if name in _SLOW:
        assert linear.first_fault(call, units=linear.FEW) is None
    else:
        assert linear.first_fault(call, ["<", "</data-", "[...", '{"a": ', "Dr. "]) is None


@pytest.mark.parametrize("opening", ["[", '{"a": '])
def test_an_error_of_an_endpoint_is_read_however_deep_it_is(opening: str) -> None:
    failure, used_up = failure_of("judge", "model", 400, opening * 100_000, str.strip)
    assert str(failure).startswith("judge: HTTP 400: " + opening)
    assert not used_up


def test_a_long_passage_is_normalised_once_for_all_quotes_from_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # here it counts that something is kept
    passage = "The tower is tall. " * 20_000
    normalised = []
    original = quotes._normalise
    monkeypatch.setattr(quotes, "_normalise", lambda text: (normalised.append(text), original(text))[1])
    for number in range(5):
        assert quotes.locate_parts(f"the tower {number} ... is low", passage) == ()
    assert normalised.count(passage) == 1


# JudgePrompts


def test_every_prompt_is_listed() -> None:
    exported = {getattr(prompts, name) for name in prompts.__all__}
    own = {one for one in exported if issubclass(one, prompts.JudgePrompt) and one is not prompts.JudgePrompt}
    assert own == PROMPTS.keys(), "say in linear_prompts.py how it is made, and what replies may hold"


@pytest.mark.long
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "asked",
    [pytest.param(asked, id=f"{kind.name}{n}") for kind, ways in PROMPTS.items() for n, asked in enumerate(ways)],
)
def test_every_prompt_is_asked_and_read_in_linear_time(asked: Asked) -> None:
    run(asked, "Dr. X came (e.g. in 1. and a) of it). It is. " * 3)
    assert linear.first_fault(lambda text: run(asked, text), units=linear.FEW) is None


# pysbd: its own expressions are quadratic, and worse; what it is given is bounded


class Entry:
    """Stands where pysbd does, and notes how much it is given, and at once."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.all = self.most = 0
        self._split = guards.split
        monkeypatch.setattr(guards, "split", self)

    def __call__(self, masked: str, language: str) -> Any:
        self.all += len(masked)
        self.most = max(self.most, len(masked))
        return self._split(masked, language)


@pytest.mark.parametrize("language", ["en", "de", "zh"])
def test_pysbd_is_given_windows_of_a_text_and_little_of_it_twice(
    language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = Entry(monkeypatch)
    for name, text in [*linear.hostile(linear.SHORT), *linear.after(["e(g. ", "<a Y!J « !!! et 2) "], linear.SHORT)]:
        entry.all = 0
        sentences.split_sentences(text, language)
        assert entry.all <= 2 * len(text), name
    assert 0 < entry.most <= 1000


def test_windows_get_ahead_whatever_the_splitter_says(monkeypatch: pytest.MonkeyPatch) -> None:
    # each window: one short sentence, and the rest as another; the next window says so again
    entry = Entry(monkeypatch)
    entry._split = lambda masked, language: [(0, 2), (3, len(masked.rstrip()))]
    text = "a. (b " * 10_000
    spans = sentences.split_sentences(text)
    assert entry.all <= 4 * len(text) + 2000
    assert "".join(span.of(text) for span in spans).replace(" ", "") == text.replace(" ", "")


# What changed to become linear, and nothing else about it

_PIECES = st.lists(st.sampled_from([*'<>/ \t\n\u00a0-x[].!?…(")。1*_', "data", "DATA", "...", "!!!", "\u2028"])).map(
    "".join
)


@pytest.mark.long
@settings(max_examples=2000, deadline=None)
@given(_PIECES)
def test_fences_are_found_as_before(text: str) -> None:
    before = re.compile(r"<(?=\s*/?\s*data\s*-)", re.IGNORECASE)
    assert fences._LOOKS_LIKE_A_FENCE.sub("\u2039", text) == before.sub("\u2039", text)


@pytest.mark.long
@settings(max_examples=2000, deadline=None)
@given(_PIECES)
def test_quotes_are_parted_as_before(text: str) -> None:
    before = re.compile(r"\s*(?:\[\s*(?:\.{3,}|…)\s*\]|\(\s*(?:\.{3,}|…)\s*\)|\.{3,}|…)\s*")
    parts = [part for part in before.split(text.strip()) if part]
    assert [part for piece in quotes._ELISION.split(text) if (part := piece.strip())] == parts


@pytest.mark.long
@settings(max_examples=2000, deadline=None)
@given(_PIECES)
def test_runs_of_marks_are_read_as_before(text: str) -> None:
    before = re.compile(r"[!?]{2,}+(?<=[!?]{3})(?=\s)")
    assert [match.span() for match in guards._SHOUT.finditer(text)] == [match.span() for match in before.finditer(text)]
    old_end = re.compile(fallback._END.pattern.replace("(?<![.!?…‼⁇⁈⁉．])", "", 1))
    assert old_end.pattern != fallback._END.pattern
    found = [(match.span(), match.lastgroup) for match in fallback._END.finditer(text)]
    assert found == [(match.span(), match.lastgroup) for match in old_end.finditer(text)]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from([*" \n,.-('a", "if", "what", "i", "b" * 30, "word ", " " * 30])).map("".join))
def test_conditions_are_read_as_before(text: str) -> None:
    before = re.compile(r"\W*(?:.{0,60}\b)?(?:if|whether|what|how|when|in case)\b|\W*\Z")
    assert bool(talk._CONDITION.match(text)) == bool(before.match(text))


# And so a deadline holds


class Idle(TextJudge):
    fingerprint = "idle"

    async def generate(self, request: Any) -> Reply:
        self.user(request)
        return Reply(text="{}")


@pytest.mark.timeout(60)
@pytest.mark.parametrize("hostile", ["<" + " " * 24_000 + "x", "<" * 24_000, "... " * 6_000, "Mr. (a) " * 3_000])
def test_a_guard_keeps_its_deadline_whatever_the_text(hostile: str) -> None:
    said: dict[str, Any] = {"on_timeout": "pass", "on_error": "pass", "on_skipped": "pass"}
    checked = guard("faithfulness", Idle(), deadline=1.0, **said)
    sample = Sample(question="What is Paris? " + hostile, answer="Paris is a city.", contexts=(Context(text=hostile),))
    checked.check(Sample(question="?", answer="It is.", contexts=(Context(text="It is."),)))  # imports and starts
    longest, over = 0.0, threading.Event()

    def unrelated() -> None:
        nonlocal longest
        while not over.is_set():
            start, cpu = time.monotonic(), time.process_time()
            over.wait(0.01)
            # a busy machine stops threads too: what counts is the time for which this process was running
            longest = max(longest, min(time.monotonic() - start, time.process_time() - cpu))

    watch = threading.Thread(target=unrelated)
    watch.start()
    start = time.monotonic()
    checked.check(sample)
    took = time.monotonic() - start
    over.set()
    watch.join()
    assert took < 2.0
    assert longest < 0.5
