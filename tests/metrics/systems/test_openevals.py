"""openevals' and agentevals' evaluators: their numbers on scripted samples and ours, and where there is no number."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import hypothesis
import pytest
from hypothesis import strategies as st

from assay.errors import Cause
from assay.judges.base import BaseJudge
from assay.judges.protocol import Answer
from assay.judges.scripted_judge import ScriptedJudge
from assay.metrics.openevals.code_judge import code_in
from assay.metrics.openevals.json_match import JsonMatch
from assay.metrics.openevals.labels import INTENTS, called, most_used
from assay.metrics.openevals.llm_as_judge import LlmAsJudge
from assay.metrics.openevals.texts import EmbeddingSimilarity
from assay.metrics.openevals.trajectories import reference_trajectory
from assay.metrics.openevals.trajectory_match import TrajectoryMatch
from assay.metrics.systems import named, system_entries
from assay.metrics.systems.base import SystemMetric
from assay.prompts import Criterion
from assay.records import Context, Message, Sample
from tests.metrics.systems.golden import CASES, agrees, golden, sample_of
from tests.metrics.systems.scoring import score

import texts  # isort: skip  # beside worlds, on the path that golden.py adds
import ways  # isort: skip
import worlds  # isort: skip

GOLDEN: Mapping[str, Mapping[str, float | None]] = golden("openevals")["values"]
TEXTS = texts.text_pairs()
OBJECTS = ways.objects()
WAYS = ways.pairs()
GRAPHS = ways.graphs()
CODES = ways.codes()


def metric_of(key: str) -> SystemMetric:
    """The metric that a name of the golden file means: its name, and after a space how it was made."""
    name, _, how = key.partition(" ")
    if name.startswith("json_match"):
        made = {**ways.json_matches()[key]}
        return JsonMatch(profile="original", **{**made, "exclude_keys": tuple(made.get("exclude_keys", ()))})
    if key in ways.matches():
        return TrajectoryMatch(profile="original", **ways.matches()[key])
    if how == "dotted":
        return EmbeddingSimilarity("dot_product", profile="original")
    if how == "continuous":
        return LlmAsJudge(continuous=True, profile="original")
    if how == "choices":
        return LlmAsJudge(choices=ways.CHOICES, profile="original")
    return named(f"openevals:{name}@original")


class OfValues(BaseJudge):
    """Says of a value and its reference whether it is right."""

    budgeted = True

    @property
    def fingerprint(self) -> str:
        return "of values"

    async def answer(self, prompts: Any) -> list[Answer]:
        found = []
        for prompt in prompts:
            assert isinstance(prompt, Criterion)
            shown = dict(prompt.material)
            said = ways.right(shown["VALUE"], shown["REFERENCE"])
            found.append(Answer(judgement=prompt.apply_rule(lambda question, vote, said=said: said)))
        return found


def judge_for(key: str, case: str) -> BaseJudge:
    """The judge that says what the driver's script said."""
    if key.endswith(" rubric"):
        return OfValues()
    said = ways.said(key, case)
    return ScriptedJudge(
        criterion=lambda question, vote: said,
        rating=lambda question: round(said * 10),
        question=lambda question: repr(said),
        similarity=worlds.cosine,
    )


def messages_of(listed: list[dict[str, Any]]) -> tuple[Message, ...]:
    """Messages as OpenAI writes them, as ours."""
    return reference_trajectory(Sample(metadata={"reference_outputs": listed}), TrajectoryMatch())


def sample_for(case: str) -> Sample:
    if case in WAYS:
        ours, theirs = WAYS[case]
        return Sample(id=case, messages=messages_of(ours), metadata={"reference_outputs": theirs})
    if case in GRAPHS:
        steps, reference = GRAPHS[case]
        return Sample(id=case, metadata={"graph_trajectory": steps, "reference_graph_trajectory": reference})
    if case in CODES:
        return Sample(id=case, question="Write it.", answer=CODES[case])
    if case in OBJECTS:
        answer, right = OBJECTS[case]
        return Sample(id=case, answer=json.dumps(answer), reference=json.dumps(right))
    return sample_of(CASES[case], metadata={"plan": "1. Look. 2. Answer.", "prompt": "brevity"})


def texts_of(ours: Any, theirs: Any) -> Sample:
    return Sample(answer=json.dumps(ours), reference=json.dumps(theirs))


@pytest.mark.parametrize("name", sorted(GOLDEN))
def test_every_number_of_openevals_is_ours(name: str) -> None:
    assert len(GOLDEN[name]) >= (len(CODES) if name == "code_llm_as_judge" else 40)
    for case, expected in GOLDEN[name].items():
        texts_only = name.split(" ")[0] in ("exact_match", "levenshtein_distance", "embedding_similarity")
        sample = Sample(answer=TEXTS[case][0], reference=TEXTS[case][1]) if texts_only else sample_for(case)
        agrees(score(metric_of(name), sample, judge_for(name, case)), expected)


def test_code_is_taken_out_of_an_answer_as_there() -> None:
    found = golden("openevals")["code"]
    assert {case: code_in(answer) for case, answer in CODES.items()} == found
    assert len({code for code in found.values() if code is not None}) >= 6


LINES = st.text(alphabet="ab `\n", max_size=20).filter(lambda text: "```" not in text)


@hypothesis.given(st.lists(st.tuples(LINES, LINES), max_size=4))
def test_code_is_what_stands_in_the_blocks(parts: list[tuple[str, str]]) -> None:
    answer = "\n".join(f"{around}\n```python\n{code}\n```" for around, code in parts)
    assert code_in(answer) == ("\n".join(f"{code}\n" for _, code in parts) if parts else None)


def test_every_entry_has_a_label_of_its_own() -> None:
    made = [entry.make() for entry in system_entries("openevals").values()]
    labels = [metric.label for metric in (*made, LlmAsJudge(continuous=True), LlmAsJudge(choices=(0.0, 1.0)))]
    assert len(set(labels)) == len(labels)


# ---- where there is no number

HELLO = (Message(role="user", content="hello"),)


@pytest.mark.parametrize(
    ("name", "sample", "cause"),
    [
        ("llm_as_judge", Sample(answer="a"), Cause.MISSING_INPUT),
        ("correctness", Sample(question="q", answer="a"), Cause.MISSING_INPUT),
        ("groundedness", Sample(answer="a", contexts=()), Cause.NO_CONTEXT),
        ("retrieval_relevance", Sample(question="q", contexts=(Context(text=" "),)), Cause.NO_CONTEXT),
        ("conciseness", Sample(question="q", answer=""), Cause.NO_CLAIMS),
        ("plan_adherence", Sample(question="q", answer="a"), Cause.MISSING_INPUT),
        ("code_llm_as_judge", Sample(question="q", answer="print(1)"), Cause.NOT_APPLICABLE),
        ("language_detection", Sample(question="ok"), Cause.NOT_APPLICABLE),
        ("language_detection", Sample(), Cause.MISSING_INPUT),
        ("support_intent", Sample(), Cause.MISSING_INPUT),
        (
            "support_intent",
            Sample(question="q", metadata={"expected_labels": {"support_intent": "Lunch"}}),
            Cause.MISSING_INPUT,
        ),
        ("agent_tone", Sample(messages=HELLO), Cause.MISSING_INPUT),
        ("trajectory_accuracy", Sample(question="q", answer="a"), Cause.MISSING_INPUT),
        ("trajectory_accuracy_with_reference", Sample(messages=HELLO), Cause.MISSING_INPUT),
        ("graph_trajectory_strict_match", Sample(metadata={"graph_trajectory": {"steps": []}}), Cause.MISSING_INPUT),
        ("graph_trajectory_accuracy", Sample(metadata={"graph_trajectory": {"nodes": []}}), Cause.MISSING_INPUT),
        ("exact_match", Sample(answer="a"), Cause.MISSING_INPUT),
        ("levenshtein_distance", Sample(answer="", reference="r"), Cause.NO_CLAIMS),
        ("embedding_similarity", Sample(answer="a", reference=" "), Cause.MISSING_INPUT),
        ("json_match", Sample(answer="a", reference="{}"), Cause.NOT_APPLICABLE),
        ("json_match_all", texts_of({}, {}), Cause.NOT_APPLICABLE),
        ("json_match_all", texts_of([1], [1]), Cause.NOT_APPLICABLE),
        ("trajectory_strict_match", Sample(messages=HELLO), Cause.MISSING_INPUT),
        ("trajectory_strict_match", Sample(messages=HELLO, metadata={"reference_outputs": ["x"]}), Cause.MISSING_INPUT),
        *(
            (
                f"trajectory_{how}_match",
                Sample(messages=HELLO, metadata={"reference_outputs": []}),
                Cause.NOT_APPLICABLE,
            )
            for how in ("unordered", "subset", "superset")
        ),
    ],
)
def test_nothing_to_measure_is_skipped(name: str, sample: Sample, cause: Cause) -> None:
    judge = ScriptedJudge(criterion=lambda *_: True, similarity=worlds.cosine, question=lambda question: "Other")
    found = score(named(f"openevals:{name}"), sample, judge)
    assert found.value is None
    assert found.error is not None
    assert found.error.cause is cause


def test_what_openevals_gives_for_nothing_is_a_convention() -> None:
    nothing = texts_of({}, {})
    for metric, value in ((JsonMatch("all"), 1.0), (JsonMatch("average"), 0.0)):
        original = type(metric)(metric.aggregator, profile="original")
        found = score(original, nothing)
        assert (found.value, found.measured) == (value, False)
    match = score(
        TrajectoryMatch("superset", profile="original"), Sample(messages=HELLO, metadata={"reference_outputs": []})
    )
    assert (match.value, match.measured) == (1.0, False)


# ---- what is named

GERMAN = "Wann wurde die Brücke gebaut, und wer hat sie damals für die Stadt entworfen und bezahlt?"
ENGLISH = "When was the bridge built, and who designed it and paid for it on behalf of the town at that time?"


def talk(*said: str, expected: str | None = None) -> Sample:
    messages = [
        message
        for text in said
        for message in (Message(role="user", content=text), Message(role="assistant", content=ENGLISH))
    ]
    labels = {} if expected is None else {"language_detection": expected}
    return Sample(messages=tuple(messages), metadata={"expected_labels": labels})


@pytest.mark.parametrize(
    ("sample", "label", "value"),
    [
        (talk(GERMAN, expected="German"), "German", 1.0),
        (talk(GERMAN, expected="de"), "German", 1.0),
        (talk(GERMAN, expected="DE-at"), "German", 1.0),
        (talk(GERMAN, expected="english"), "German", 0.0),
        (talk(ENGLISH, GERMAN, GERMAN, expected="German"), "German", 1.0),
        (talk("ok", GERMAN, expected="German"), "German", 1.0),  # what is in doubt does not count
        (Sample(question=GERMAN, metadata={"expected_labels": {"language_detection": "de"}}), "German", 1.0),
        (talk(GERMAN), "German", None),
    ],
)
def test_the_language_of_the_user_is_found_without_a_judge(sample: Sample, label: str, value: float | None) -> None:
    found = score(named("openevals:language_detection"), sample)
    assert (found.texts["label"], found.value) == ((label,), value)
    assert found.usage.calls == 0


def test_languages_without_a_name_in_the_table_are_called_by_their_code() -> None:
    assert [called(one) for one in ("de", "German", "german ", "eo", "klingon", "gsw", "yoda")] == [
        "German", "German", "German", "eo", "Klingon", "gsw", "Yoda",
    ]  # fmt: skip
    assert most_used(["ok", "yes"]) is None
    assert most_used([]) is None


def test_an_intent_is_one_of_nine() -> None:
    metadata = {"expected_labels": {"support_intent": "Order Management"}}
    sample = Sample(question="Where is my parcel?", metadata=metadata)
    for said, value in (("Order Management", 1.0), ("Status Check", 0.0)):
        found = score(
            named("openevals:support_intent"), sample, ScriptedJudge(question=lambda question, said=said: said)
        )
        assert (found.value, found.texts["label"]) == (value, (said,))
    found = score(
        named("openevals:support_intent"), Sample(question="Hi"), ScriptedJudge(question=lambda question: "Other")
    )
    assert (found.value, found.texts["label"]) == (None, ("Other",))
    assert len(INTENTS) == 9
