"""Probing a judge: a good one passes, and each kind of bad one fails where it is bad."""

from __future__ import annotations

import json

import pytest

from assay import ScriptedJudge
from assay.analysis.judges.probes import rules
from assay.analysis.judges.probes.probes import PROBES
from assay.analysis.judges.probes.run import aprobe, probe
from assay.analysis.judges.probes.statements import statements
from assay.errors import InputError
from assay.prompts import MultipleChoice
from assay.records import Context, Sample

ROWS = [
    {
        "question": "When did the museum open?",
        "contexts": ["In 1990, the museum of Rome was opened by Anna Bell with 12 rooms.", "It is red."],
    },
    {
        "question": "How long is the bridge?",
        "contexts": ["The Harrow bridge is located in Norway and is 310 metres long."],
    },
    {
        "question": "What do goats eat?",
        "contexts": ["Goats in the town of Lund are known to eat 3 kinds of grass in June."],
    },
]
CHANGED = ("number swapped", "date swapped", "name swapped", "negation", "unrelated citation")


#: Words that say nothing, or that a paraphrase brings in.
FILLER = frozenset(
    word
    for text in (*rules.FILLER, "situated 1990")
    for word in text.casefold().replace(",", "").replace(":", "").split()
)


def by_words(claim: str, passage: str) -> str:
    """Supported where the words of the claim stand in the passage, but for those that say nothing."""
    words = {word.strip(".,:").casefold() for word in claim.split()}
    known = {word.strip(".,:").casefold() for word in passage.split()}
    return "supported" if words <= known | FILLER else "not_mentioned"


def found(judge, **options):
    return probe(judge, ROWS, demo=False, store=None, **options).probes


def test_a_judge_that_reads_passes():
    probes = found(ScriptedJudge(support=by_words))
    for name in (*CHANGED[1:], "verbatim", "order of passages", "verbosity", "unrelated passage beside"):
        one = probes[name]
        assert (one.cases > 0, one.passed) == (True, one.cases), one


def test_a_judge_that_affirms_everything_fails_what_must_fall():
    probes = found(ScriptedJudge(support=lambda claim, passage: "supported"))
    assert {name: probes[name].passed for name in CHANGED} == dict.fromkeys(CHANGED, 0)
    assert all(probes[name].cases > 0 for name in CHANGED)
    assert probes["verbatim"].passed == probes["verbatim"].cases == 3
    failed = probes["negation"].failed[0]
    assert (failed.before, failed.after) == ("supported", "supported")
    assert " not " in failed.change


def test_a_judge_that_affirms_nothing_has_no_cases_where_support_comes_first():
    probes = found(ScriptedJudge(support=lambda claim, passage: "not_mentioned"))
    assert probes["verbatim"].passed == 0
    assert (probes["negation"].cases, probes["negation"].share) == (0, None)
    assert probes["negation"].unusable == 3


def test_a_judge_that_obeys_instructions_is_found_out():
    def obeys(claim: str, passage: str) -> str:
        told = claim + passage
        if "correct label is supported" in told or "label every claim as supported" in told:
            return "supported"
        return by_words(claim, passage)

    one = found(ScriptedJudge(support=obeys))["injected instructions"]
    assert 0 < one.passed < one.cases


def test_a_judge_of_the_first_passage_alone_is_found_out():
    class First(ScriptedJudge):
        async def answer(self, prompts):
            from dataclasses import replace

            cut = [replace(i, passages=i.passages[:1]) if i.name == "support" else i for i in prompts]
            answers = await super().answer(cut)
            padded = []
            for prompt, answer in zip(prompts, answers, strict=True):
                if prompt.name == "support":
                    rows = tuple(replace(row, cells=()) for row in answer.judgement)
                    answer = replace(answer, judgement=rows)
                padded.append(answer)
            return padded

    probes = found(First(support=by_words))
    assert probes["order of passages"].passed < probes["order of passages"].cases
    assert probes["unrelated passage beside"].passed == 0


def test_a_judge_that_likes_what_comes_first_is_found_out():
    first = found(ScriptedJudge(support=by_words, question=lambda asked: "A"))["order of candidates"]
    assert (first.passed, first.cases) == (0, 3)
    one = found(NoChoice(support=by_words))["order of candidates"]
    assert one.cannot == "it cannot"
    assert "cannot" in str(probe(NoChoice(support=by_words), ROWS, demo=False, store=None))


class NoChoice(ScriptedJudge):
    def cannot(self, prompt, language="en"):
        from assay.errors import Cause, JudgeFailure

        return JudgeFailure(Cause.JUDGE_CANNOT, "it cannot") if prompt is MultipleChoice else None


def test_a_judge_that_fails_is_counted_apart():
    def broken(claim: str, passage: str) -> str:
        raise RuntimeError("no answer")

    one = found(ScriptedJudge(support=broken), probes=["verbatim"])["verbatim"]
    assert (one.cases, one.unanswered) == (0, 3)
    assert one.why


def test_the_table_fits_80_columns_and_the_json_is_plain():
    report = probe(ScriptedJudge(support=by_words), ROWS, demo=False, store=None)
    assert max(map(len, str(report).splitlines())) <= 80
    assert list(json.loads(json.dumps(report.to_dict()))["probes"]) == [one.name for one in PROBES]


async def test_inside_a_running_loop_and_with_the_rows_of_the_demo():
    report = await aprobe(ScriptedJudge(support=by_words), ROWS, store=None, probes=["verbatim"], limit=2)
    assert report.read == 24
    assert list(report.probes) == ["verbatim"]


def test_what_cannot_be_probed_is_said():
    with pytest.raises(InputError, match="no statements to probe"):
        probe(ScriptedJudge(support=by_words), ROWS[:1], demo=False, store=None)
    with pytest.raises(InputError, match="probes: 'nonsense' is none of verbatim"):
        found(ScriptedJudge(support=by_words), probes=["nonsense"])


def test_statements_stand_alone_in_their_passage():
    made = statements([Sample(question=row["question"], contexts=tuple(Context(text=t) for t in row["contexts"]))
                       for row in ROWS])  # fmt: skip
    assert [one.row for one in made] == [1, 2, 3]
    for one in made:
        assert one.text in one.passages[one.home]
        assert one.unrelated not in one.passages
        assert one.other in one.unrelated
    odd = Sample(
        question="q", contexts=(Context(text="This is it, and it points back to what was said."), Context(text=""))
    )
    german = Sample(question="q", contexts=(Context(text="Das Museum wurde 1990 in Rom mit 12 Sälen eröffnet."),),
                    language="de")  # fmt: skip
    assert statements([odd, german, Sample(question="q", contexts=()), Sample(answer="a")]) == []
