"""Agreement within a verdict: its label, the labels of single passages, and the quotes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay import OpenAIJudge, evaluate
from assay.errors import Cause, InconsistentReply, InvalidReply
from assay.judges.llm.judge import Reply, Request, TextJudge
from assay.metrics._faithfulness import share_supported
from assay.prompts import QuestionBatch, Support, SupportCells, Usefulness
from assay.prompts.consistency import mark_quotes
from assay.records import Claim, Span, Usage, Verdict
from tests._support.servers.openai_server import Call, OpenAIServer, Say
from tests.judges.conftest import ask

PASSAGES = ("Refunds are possible within 14 days.", "Members pay no fee.")
CLAIM = Claim(text="Members get 90 days.", span=Span(0, 20))
SUPPORT = Support((CLAIM,), PASSAGES, "Refunds?")

TRUE, TRUE_TOO, INVENTED = PASSAGES[0], PASSAGES[1], "Members fly for free."
S, C, N, T = "supported", "contradicted", "not_mentioned", "together"
AMBIGUOUS = None

Entry = tuple[str, str, str]


def entries(quotes: tuple[Entry, ...]) -> list[dict[str, Any]]:
    return [{"passage": passage, "label": label, "quote": quote} for passage, label, quote in quotes]


def reply(label: str, *quotes: Entry) -> dict[str, Any]:
    return {"items": [{"id": "C1", "reason": "r", "label": label, "quotes": entries(quotes)}], "sentences": []}


def read(label: str, *quotes: Entry, prompt: Support = SUPPORT) -> Verdict:
    (verdict,) = prompt.read(reply(label, *quotes))
    assert prompt.check((verdict,)) is None
    return verdict


def cells(verdict: Verdict) -> list[str]:
    return [cell.label for cell in verdict.cells]


#: Label of the verdict, what is said of passages, and what is read: label, cells, located quotes, quotes not located.
#: None: the reply contradicts itself.
TABLE: list[tuple[str, tuple[Entry, ...], tuple[str, list[str], int, int] | None]] = [
    # no quotes: nothing is supported or contradicted
    (S, (), AMBIGUOUS),
    (C, (), AMBIGUOUS),
    (N, (), (N, [N, N], 0, 0)),
    # one located quote
    (S, (("P1", S, TRUE),), (S, [S, N], 1, 0)),
    (S, (("P1", C, TRUE),), AMBIGUOUS),
    (C, (("P1", C, TRUE),), (C, [C, N], 1, 0)),
    (C, (("P1", S, TRUE),), AMBIGUOUS),
    (N, (("P1", S, TRUE),), (S, [S, N], 1, 0)),
    (N, (("P1", C, TRUE),), (C, [C, N], 1, 0)),
    # a located quote of a few letters, which is in many passages, changes no label
    (N, (("P1", S, "."),), AMBIGUOUS),
    (N, (("P1", S, "a"),), AMBIGUOUS),
    (N, (("P1", C, "14 days"),), AMBIGUOUS),  # six letters and digits
    (N, (("P1", S, "Ref ... e ... s ... 14 ... s"),), AMBIGUOUS),
    (N, (("P1", N, "a"),), (N, [N, N], 1, 0)),
    (N, (("P1", S, "a"), ("P2", S, TRUE_TOO)), (S, [S, S], 2, 0)),
    (S, (("P1", S, "14 days"),), (S, [S, N], 1, 0)),
    (S, (("P1", S, "14"),), (S, [S, N], 1, 0)),
    # a piece of a word, or none, keeps no label
    (S, (("P1", S, "e"),), AMBIGUOUS),
    (S, (("P1", S, "."),), AMBIGUOUS),
    (C, (("P1", C, "4"),), AMBIGUOUS),  # of 14
    (S, (("P1", T, "e"), ("P2", T, "m")), AMBIGUOUS),
    (S, (("P1", T, "14"), ("P2", T, "fee")), (S, [N, N], 2, 0)),
    # one invented quote
    (S, (("P1", S, INVENTED),), AMBIGUOUS),
    (S, (("P1", C, INVENTED),), AMBIGUOUS),
    (S, (("P1", N, INVENTED),), AMBIGUOUS),
    (C, (("P1", C, INVENTED),), AMBIGUOUS),
    (C, (("P1", S, INVENTED),), AMBIGUOUS),
    (N, (("P1", S, INVENTED),), (N, [N, N], 0, 1)),
    (N, (("P1", C, INVENTED),), (N, [N, N], 0, 1)),
    # a quote of another passage is not in this one
    (N, (("P2", S, TRUE),), (N, [N, N], 0, 1)),
    (S, (("P2", S, TRUE),), AMBIGUOUS),
    # a located and an invented quote
    (S, (("P1", S, TRUE), ("P2", S, INVENTED)), (S, [S, N], 1, 1)),
    (S, (("P1", C, TRUE), ("P2", S, INVENTED)), AMBIGUOUS),
    (C, (("P1", C, TRUE), ("P2", S, INVENTED)), (C, [C, N], 1, 1)),
    (C, (("P1", S, TRUE), ("P2", C, INVENTED)), AMBIGUOUS),
    (N, (("P1", C, TRUE), ("P2", S, INVENTED)), (C, [C, N], 1, 1)),
    (N, (("P1", S, TRUE), ("P1", C, INVENTED)), (S, [S, N], 1, 1)),
    # two located quotes: passages may contradict each other
    (S, (("P1", S, TRUE), ("P2", C, TRUE_TOO)), (S, [S, C], 2, 0)),
    (C, (("P1", S, TRUE), ("P2", C, TRUE_TOO)), (C, [S, C], 2, 0)),
    (N, (("P1", C, TRUE), ("P2", S, TRUE_TOO)), (S, [C, S], 2, 0)),
    # two quotes of one passage: support wins, as between passages
    (S, (("P1", S, TRUE), ("P1", C, TRUE)), (S, [S, N], 2, 0)),
    # labels without quotes keep no label and lift none
    (S, (("P1", S, ""),), AMBIGUOUS),
    (S, (("P1", C, ""),), AMBIGUOUS),
    (S, (("P1", N, ""), ("P2", N, "")), AMBIGUOUS),
    (C, (("P1", C, ""),), AMBIGUOUS),
    (N, (("P1", S, ""),), (N, [N, N], 0, 0)),
    (N, (("P1", C, ""),), (N, [N, N], 0, 0)),
    (S, (("P1", S, ""), ("P2", S, INVENTED)), AMBIGUOUS),
    (S, (("P1", S, ""), ("P2", S, TRUE_TOO)), (S, [S, S], 1, 0)),
    # two passages that support the claim together, and neither alone
    (S, (("P1", T, TRUE), ("P2", T, TRUE_TOO)), (S, [N, N], 2, 0)),
    (S, (("P1", T, TRUE), ("P2", T, TRUE_TOO), ("P2", T, INVENTED)), (S, [N, N], 2, 1)),
    (S, (("P1", T, TRUE), ("P2", S, TRUE_TOO)), (S, [N, S], 2, 0)),
    (S, (("P1", T, TRUE),), AMBIGUOUS),
    (S, (("P1", T, TRUE), ("P1", T, "14 days")), AMBIGUOUS),  # one passage is not several
    (S, (("P1", T, TRUE), ("P2", T, INVENTED)), AMBIGUOUS),
    (S, (("P1", T, TRUE), ("P2", T, "")), AMBIGUOUS),
    (S, (("P1", T, TRUE), ("P2", C, TRUE_TOO)), AMBIGUOUS),
    (C, (("P1", T, TRUE), ("P2", T, TRUE_TOO)), AMBIGUOUS),
    (N, (("P1", T, TRUE), ("P2", T, TRUE_TOO)), AMBIGUOUS),
    (N, (("P1", T, TRUE),), (N, [N, N], 1, 0)),
    (N, (("P1", T, "a"),), AMBIGUOUS),
]


@pytest.mark.parametrize(("label", "quotes", "expected"), TABLE)
@pytest.mark.parametrize("kind", [Support, SupportCells])
def test_what_is_read(
    label: str, quotes: tuple[Entry, ...], expected: tuple[str, list[str], int, int] | None, kind: type[Support]
) -> None:
    prompt = kind((CLAIM,), PASSAGES, "Refunds?")
    if expected is None:
        with pytest.raises(InconsistentReply, match=r"The claim 'Members get 90 days\.' has the label"):
            read(label, *quotes, prompt=prompt)
        return
    verdict = read(label, *quotes, prompt=prompt)
    assert (verdict.label, cells(verdict), len(verdict.evidence), verdict.unlocated) == expected


@pytest.mark.parametrize(("label", "quotes", "expected"), TABLE)
def test_a_request_for_several_prompts_is_read_in_the_same_way(
    label: str, quotes: tuple[Entry, ...], expected: tuple[str, list[str], int, int] | None
) -> None:
    fused = QuestionBatch((SUPPORT, Usefulness("Refunds?", PASSAGES)))
    content = fused.content()
    shown = {
        section.text: section.title.split()[-1] for section in content.material if section.title.startswith("PASS")
    }
    moved = tuple((shown[PASSAGES[int(passage[1]) - 1]], *rest) for passage, *rest in quotes)
    said = reply(label, *moved)  # type: ignore[arg-type]
    said["items"] += [{"id": name, "reason": "", "label": "not_useful", "quotes": []} for name in ("P1", "P2")]
    if expected is None:
        with pytest.raises(InconsistentReply):
            fused.read(said)
        return
    (verdict,), _ = fused.read(said)
    assert (verdict.label, cells(verdict), len(verdict.evidence), verdict.unlocated) == expected


@pytest.mark.parametrize(
    ("label", "quotes", "expected"),
    [
        ("useful", (), ("useful", 0, 0)),
        ("useful", (TRUE,), ("useful", 1, 0)),
        ("useful", (TRUE, INVENTED), ("useful", 1, 1)),
        ("useful", (INVENTED,), AMBIGUOUS),
        ("useful", ("",), ("useful", 0, 0)),
        ("not_useful", (TRUE,), ("not_useful", 0, 0)),
        ("not_useful", (INVENTED,), ("not_useful", 0, 0)),
    ],
)
def test_a_passage_is_useful_by_no_invented_quote(
    label: str, quotes: tuple[str, ...], expected: tuple[str, int, int] | None
) -> None:
    prompt = Usefulness("Refunds?", PASSAGES[:1])
    item = {"id": "P1", "reason": "r", "label": label, "quotes": [{"passage": "P1", "quote": one} for one in quotes]}
    if expected is None:
        with pytest.raises(InconsistentReply, match="The passage that begins 'Refunds are"):
            prompt.read({"items": [item]})
        return
    (verdict,) = prompt.read({"items": [item]})
    assert (verdict.label, len(verdict.evidence), verdict.unlocated) == expected


def test_a_label_that_a_located_quote_lifts_has_the_probability_of_its_passage() -> None:
    item = reply(N, ("P1", S, TRUE))["items"][0]
    item["probs"] = {S: 0.1, C: 0.1, N: 0.8}
    item["quotes"][0]["probs"] = {S: 0.9, C: 0.1}
    (verdict,) = SUPPORT.read({"items": [item]})
    assert (verdict.label, verdict.probability, verdict.cells[0].probability) == (S, 0.9, 0.9)


# ---- no invented quote ever helps

WORDS = st.sampled_from([TRUE, TRUE_TOO, INVENTED, "", "14 days", "nowhere", "Members", "…", "[name]"])
LABELS = st.sampled_from([S, C, N])
ENTRIES = st.lists(st.tuples(st.sampled_from(["P1", "P2"]), LABELS | st.just(T), WORDS), max_size=4).map(tuple)
CLAIMS = (CLAIM, Claim(text="Refunds exist.", span=Span(0, 14)))


def faithfulness(items: list[dict[str, Any]]) -> float | None:
    """The score of a reply; None where it has none."""
    try:
        return share_supported(Support(CLAIMS, PASSAGES, "Refunds?").read({"items": items}))
    except InvalidReply:
        return None


def is_invented(entry: dict[str, Any]) -> bool:
    return bool(entry["quote"]) and entry["quote"] not in PASSAGES[int(entry["passage"][1]) - 1]


@pytest.mark.long
@settings(max_examples=400, deadline=None)
@given(st.lists(st.tuples(LABELS, ENTRIES), min_size=2, max_size=2))
def test_no_reply_scores_higher_with_quotes_that_are_not_in_the_passages(
    verdicts: list[tuple[str, tuple[Entry, ...]]],
) -> None:
    """The score against that of the same reply without those quotes; nor do they make a score where there is none."""
    items: list[dict[str, Any]] = [
        {"id": f"C{n}", "reason": "r", "label": label, "quotes": entries(quotes)}
        for n, (label, quotes) in enumerate(verdicts, 1)
    ]
    score = faithfulness(items)
    dropped = [{**item, "quotes": [one for one in item["quotes"] if not is_invented(one)]} for item in items]
    without = faithfulness(dropped)
    if score is not None:
        assert without is not None
        assert score <= without
    if score is not None and all(
        not is_invented(one) or item["label"] == N for item in items for one in item["quotes"]
    ):
        assert score == without  # an invented quote says nothing of a claim that is not mentioned


# ---- what a judge is asked, and what a run says


class Sequence(TextJudge):
    """Gives these replies, the last one again and again."""

    fingerprint = "sequence"

    def __init__(self, *replies: dict[str, Any]) -> None:
        self.replies = list(replies)
        self.requests: list[Request] = []

    async def generate(self, request: Request) -> Reply:
        self.requests.append(request)
        said = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        return Reply(json.dumps(said), usage=Usage(calls=1))


async def test_the_judge_is_asked_again_with_the_reason() -> None:
    judge = Sequence(reply(S, ("P1", S, INVENTED)), reply(N))
    (answer,) = await ask(judge, SUPPORT)
    assert [verdict.label for verdict in answer.judgement] == [N]
    correction = judge.requests[1].correction
    assert correction is not None
    assert correction.message == (
        "The claim 'Members get 90 days.' has the label 'supported', and the quote 'Members fly for free.' is not "
        "in its passage. Copy the words that decide exactly from the passage, or change the label."
    )


async def test_a_judge_that_quotes_nothing_is_told_what_a_quote_is_for() -> None:
    judge = Sequence(reply(S), reply(S, ("P1", T, TRUE), ("P2", T, TRUE_TOO)))
    (answer,) = await ask(judge, SUPPORT)
    (verdict,) = answer.judgement
    assert [evidence.text for evidence in verdict.evidence] == [TRUE, TRUE_TOO]
    correction = judge.requests[1].correction
    assert correction is not None
    assert correction.message == (
        "The claim 'Members get 90 days.' has the label 'supported', and no quote that decides. Copy the words that "
        "decide exactly from the passage; where only several passages together support a claim, words of each of them, "
        "with the label 'together'; or change the label."
    )


async def test_a_judge_that_keeps_contradicting_itself_gives_no_verdict() -> None:
    judge = Sequence(reply(S, ("P1", C, TRUE)))
    (answer,) = await ask(judge, SUPPORT)
    assert answer.failure is not None
    assert answer.failure.cause is Cause.AMBIGUOUS
    assert "the reply contradicts itself: The claim 'Members get 90 days.' has the label" in answer.failure.message
    assert len(judge.requests) == 3


async def test_a_quote_from_behind_a_mask_keeps_its_label_and_lifts_none() -> None:
    def mask(text: str) -> str:
        return text.replace("Refunds", "[money]")

    quote = "[money] are possible within 14 days."
    for label, expected in ((S, S), (N, N)):
        judge = Sequence(reply(label, ("P1", S, quote)))
        judge.mask = mask
        (answer,) = await ask(judge, SUPPORT)
        (verdict,) = answer.judgement
        assert (verdict.label, verdict.evidence, verdict.unlocated) == (expected, (), 1)


def test_a_reply_cannot_mark_its_own_quotes() -> None:
    said = {**reply(S, ("P1", S, INVENTED))}
    said["items"][0]["quotes"][0]["as_shown"] = True
    mark_quotes(said, [])
    with pytest.raises(InconsistentReply):
        SUPPORT.read(said)


@pytest.mark.parametrize(
    ("label", "quotes", "value", "cause"),
    [
        (N, (("P1", S, INVENTED),), 0.0, None),  # was 1.0: 0 of 1 claims are supported
        (N, (("P1", S, TRUE),), 1.0, None),  # located: 1 of 1
        (S, (("P1", S, TRUE),), 1.0, None),
        (S, (), None, "ambiguous"),  # was 1.0
        (S, (("P1", S, INVENTED),), None, "ambiguous"),  # was 1.0
        (S, (("P1", C, TRUE),), None, "ambiguous"),  # was 1.0
        (C, (("P1", S, TRUE),), None, "ambiguous"),  # was 0.0
    ],
)
@pytest.mark.parametrize("batched_questions", ["no", "yes"])
def test_faithfulness_of_a_reply(
    label: str, quotes: tuple[Entry, ...], value: float | None, cause: str | None, batched_questions: Any
) -> None:
    def say(call: Call) -> Say:
        if '"sentence"' in json.dumps(call.body.get("response_format", call.body)):
            return Say(text=json.dumps({"claims": [{"sentence": 1, "claim": CLAIM.text}]}))
        said = reply(label, *quotes)
        if "PART 2" in json.dumps(call.body["messages"]):
            said["items"].append({"id": "P1", "reason": "", "label": "not_useful", "quotes": []})
        elif "Decide for each PASSAGE" in json.dumps(call.body["messages"]):
            said["items"] = [{"id": "P1", "reason": "", "label": "not_useful", "quotes": []}]
        return Say(text=json.dumps(said))

    row = {"question": "Refunds?", "contexts": [PASSAGES[0]], "answer": CLAIM.text}
    with OpenAIServer(plan=say) as server:
        judge = OpenAIJudge("m", base_url=server.base_url, api_key="k", max_attempts=1).with_batched_questions(
            batched_questions
        )
        names = ["faithfulness", "context_utilization"]
        result = evaluate([row], metrics=names, judge=judge, progress=False, store=None)
    (scored,) = result
    score = scored.scores["faithfulness"]
    assert score.value == value
    assert (None if score.error is None else score.error.cause) == cause
