"""What the models say, and that it depends on nothing but the texts."""

from __future__ import annotations

import random
import threading

import numpy as np
import onnxruntime
import pytest
from assay_embedded import Models, graphs, load, runtime
from assay_embedded.files import FILES
from assay_embedded.windows import even, windows_of

from assay.data.demo import answers
from assay.judges.claim_rules import sentence_claims

# question, a passage that answers it, a passage that does not
ROWS = [
    (
        "When was the Eiffel Tower completed?",
        "Construction of the Eiffel Tower began in January 1887 and it was completed on 31 March 1889.",
        "The Louvre is the most visited museum in the world and stands on the right bank of the Seine.",
    ),
    (
        "How many people live in Berlin?",
        "Berlin is the capital of Germany, with a population of 3.5 million.",
        "Most cats sleep between twelve and sixteen hours a day.",
    ),
    (
        "What causes tides?",
        "Tides are caused by the gravitational pull of the Moon and, to a lesser extent, the Sun.",
        "The company announced that its chief executive would step down at the end of the year.",
    ),
]
FILLER = "The weather was fine that day and the dog slept in the garden. "
LONG = FILLER * 1600  # 100,000 characters


def test_same_text_has_similarity_1(models: Models) -> None:
    first, second = models.embed(["The cat sat on the mat.", "The cat sat on the mat."])
    assert float(first @ second) == pytest.approx(1, abs=1e-5)


def test_vectors_have_length_1(models: Models) -> None:
    vectors = models.embed(["", "a", FILLER, FILLER * 100])
    assert vectors.dtype == np.float32
    assert vectors.shape == (4, 384)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)


def test_paraphrase_is_nearer_than_unrelated(models: Models) -> None:
    said, again, other = models.embed(
        ["A man is playing the guitar.", "Someone plays a guitar.", "Shares fell sharply on Monday."]
    )
    assert said @ again > 0.6 > 0.3 > said @ other


@pytest.mark.parametrize(("question", "answering", "unrelated"), ROWS)
def test_relevance_ranks_the_answer_first(models: Models, question: str, answering: str, unrelated: str) -> None:
    good, bad = models.relevance([(question, answering), (question, unrelated)])
    assert good > 0.5 > bad


def test_support_of_a_restatement_and_of_changes(models: Models) -> None:
    passage = "Spain won the 2010 World Cup. The final was played in Johannesburg."
    same, number, name = models.support(
        [
            (passage, "Spain won the World Cup in 2010."),
            (passage, "Spain won the World Cup in 1967."),
            (passage, "The final was played in Berlin."),
        ]
    )
    assert same.probability > 0.5 > number.probability
    assert same.probability > name.probability
    assert (same.unsupported, same.overlap) == ((), 1.0)
    assert number.unsupported == ((27, 31),)  # 1967
    assert name.unsupported == ((24, 30),)  # Berlin
    assert passage[slice(*name.sentence)] == "The final was played in Johannesburg."


def test_a_question_is_read_before_its_claim_and_changes_nothing_else(models: Models) -> None:
    """What is nowhere in the passage is told of the claim alone; no question is as none given."""
    text = "The small tent costs 80 euros. The large tent costs 140 euros."
    pairs = [(text, "It costs 140 francs."), (text, "It costs 80 euros."), (text, ""), ("", "It costs 80 euros.")]
    alone = models.support(pairs)
    assert models.support(pairs, [""] * 4) == alone
    asked = models.support(pairs, ["What does the large tent cost?"] * 4)
    assert [one.unsupported for one in asked] == [one.unsupported for one in alone]
    assert [one.probability for one in asked[2:]] == [0.0, 0.0]
    assert all(one.probability != other.probability for one, other in zip(asked[:2], alone[:2], strict=True))
    joined = models.support_logits([(text, "What does the large tent cost? It costs 80 euros.")])
    assert models.support_logits(pairs[1:2], ["What does the large tent cost?"]) == joined


def test_nothing_asked(models: Models) -> None:
    assert models.embed([]).shape == (0, 384)
    assert models.relevance([]).shape == (0,)
    assert models.relevance([]).dtype == np.float64
    assert models.support([]) == []


def test_empty_and_odd_texts(models: Models) -> None:
    odd = ["", " ", "\x00", "\ud800", "…", "日本語", "a" * 5000]
    assert np.isfinite(models.embed(odd)).all()
    assert np.isfinite(models.relevance([(a, b) for a in odd for b in odd])).all()
    assert models.relevance([("", "a"), ("a", ""), (" ", "a")]).tolist() == [0, 0, 0]
    for reading in models.support([(a, b) for a in odd for b in odd]):
        assert 0 <= reading.probability <= 1
        assert 0 <= reading.contradiction <= 1 - reading.probability
    assert [reading.probability for reading in models.support([("", "a"), ("a", ""), (" ", "a")])] == [0, 0, 0]


@pytest.mark.long
def test_readings_do_not_depend_on_the_batch(models: Models) -> None:
    """Every text is read alone, so neighbours, order and the number of threads change no bit."""
    rng = random.Random(3)
    parts = [text for row in ROWS for text in row[1:]]
    pairs = [(rng.choice(ROWS)[0], " ".join(rng.choices(parts, k=rng.choice((1, 1, 2, 5, 12))))) for _ in range(24)]
    together = models.relevance(pairs)
    alone = np.concatenate([models.relevance([pair]) for pair in pairs])
    shuffled = rng.sample(range(len(pairs)), len(pairs))
    single = load(threads=1)
    assert np.array_equal(together, alone)
    assert np.array_equal(together[shuffled], models.relevance([pairs[i] for i in shuffled]))
    assert np.array_equal(together, single.relevance(pairs))
    texts = [passage for _, passage in pairs]
    assert np.array_equal(models.embed(texts), np.concatenate([single.embed([text]) for text in texts]))
    claims = [(passage, question) for question, passage in pairs]
    assert models.support(claims) == [models.support([claim])[0] for claim in claims]


@pytest.mark.long
def test_other_kernels_move_readings_by_little(models: Models, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on another CPU: without its optimisations onnxruntime computes the same graph with other kernels."""
    plain = onnxruntime.SessionOptions()
    plain.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    plain.log_severity_level = 3
    monkeypatch.setattr(graphs, "_session", lambda graph: onnxruntime.InferenceSession(graph, plain))
    other = Models(runtime._open(FILES), threads=2)
    rows = answers()
    pairs = [("\n".join(row["contexts"]), claim.text) for row in rows for claim in sentence_claims(row["answer"])]
    here, there = models.support(pairs), other.support(pairs)
    moved = [abs(a.probability - b.probability) for a, b in zip(here, there, strict=True)]
    assert max(moved) < 0.1
    assert sum(moved) / len(moved) < 0.005
    assert sum((a.probability < 0.5) != (b.probability < 0.5) for a, b in zip(here, there, strict=True)) <= 1
    asked = [(row["question"], passage) for row in rows for passage in row["contexts"]]
    assert np.abs(models.relevance(asked) - other.relevance(asked)).mean() < 0.005


@pytest.mark.long
def test_an_answer_at_the_end_of_a_long_passage_is_found(models: Models) -> None:
    """100,000 characters: the usefulness of the answer shows, wherever it stands."""
    question, answering, _ = ROWS[1]
    without, end = models.relevance([(question, LONG), (question, LONG + answering)])
    assert end > 0.5 > without


@pytest.mark.parametrize("before", [1, 3, 6, 12, 20])
def test_an_answer_among_other_sentences_is_found(models: Models, before: int) -> None:
    """The model alone overlooks it from six sentences on."""
    question, answering, _ = ROWS[1]
    (found,) = models.relevance([(question, FILLER * before + answering + " " + FILLER * 3)])
    assert found > 0.5


def test_a_claim_at_the_end_of_a_long_passage_is_supported(models: Models) -> None:
    passage = LONG + "Saransk is the capital of Mordovia since 1930."
    (reading,) = models.support([(passage, "The capital of Mordovia is Saransk.")])
    assert passage[slice(*reading.sentence)] == "Saransk is the capital of Mordovia since 1930."
    assert reading.probability > 0.5
    assert reading.unsupported == ()


def test_a_small_change_in_a_copied_sentence_lowers_support(models: Models) -> None:
    passage = "The Eiffel Tower was completed in 1889. Gustave Eiffel's company built it for the World's Fair in Paris."
    same, year, place, turned = models.support(
        [
            (passage, "The Eiffel Tower was completed in 1889."),
            (passage, "The Eiffel Tower was completed in 1921."),
            (passage, "Gustave Eiffel's company built it for the World's Fair in Vienna."),
            (passage, "The Eiffel Tower was not completed in 1889."),
        ]
    )
    assert same.probability > 0.5
    assert same.probability > max(year.probability, place.probability, turned.probability)


def test_the_end_of_a_long_text_moves_its_vector(models: Models) -> None:
    plain, other = models.embed([FILLER * 60, FILLER * 60 + ROWS[2][1] * 10])
    assert float(plain @ other) < 0.999


@pytest.mark.parametrize(("asked", "given"), [(10, 200), (10, 243), (10, 244), (10, 5000), (600, 1200), (300, 3)])
def test_windows_cover_both_texts(asked: int, given: int) -> None:
    question, passage = list(range(asked)), list(range(10_000, 10_000 + given))
    windows = list(windows_of(question, passage))
    assert all(len(q) + len(p) + 3 <= 256 for q, p in windows)
    assert {token for q, _ in windows for token in q} == set(question)
    assert {token for _, p in windows for token in p} == set(passage)
    assert len(windows) == 1 or asked + given + 3 > 256


@pytest.mark.parametrize(("count", "sizes"), [(0, [0]), (1, [1]), (254, [254]), (255, [127, 128]), (800, [200] * 4)])
def test_windows_of_a_text_are_even(count: int, sizes: list[int]) -> None:
    assert [len(window) for window in even(list(range(count)), 254)] == sizes


def test_threads_may_share_the_models(models: Models) -> None:
    pairs = [(question, passage) for question, *passages in ROWS for passage in passages]
    expected = models.relevance(pairs)
    vectors = models.embed([passage for _, passage in pairs])
    wrong: list[str] = []

    def work() -> None:
        if not np.array_equal(models.relevance(pairs), expected):
            wrong.append("relevance")
        if not np.array_equal(models.embed([passage for _, passage in pairs]), vectors):
            wrong.append("embed")

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_what_opening_left_is_given_back_where_that_can_be_done(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs._give_back()

    def no_such_library(name: str | None) -> None:
        raise OSError("no such library")

    monkeypatch.setattr(graphs.ctypes, "CDLL", no_such_library)
    models = Models(runtime._open(FILES), threads=1)
    assert models.relevance([("Why do cats purr?", "Cats purr when they are calm.")])[0] > 0.5
