"""Similarity by embeddings: batches, exact ones, long texts, ways out."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from assay.errors import Cause
from assay.judges.llm import embeddings
from assay.judges.llm.openai import OpenAIJudge
from assay.judges.scripted_judge import ScriptedJudge
from assay.prompts import Distance, Similarity
from tests._support.servers.openai_server import OpenAIServer, Say
from tests.judges.conftest import ask

JudgeAt = Callable[..., OpenAIJudge]


async def test_equal_texts_are_one_and_cost_nothing(judge_at: JudgeAt) -> None:
    with OpenAIServer() as server:
        (answer,) = await ask(judge_at(server, embedding_model="e"), Similarity("A text.", ("A text.", "A text.")))
        assert answer.judgement == (1.0, 1.0)
        assert answer.usage.calls == len(server.calls) == 0


async def test_distances_are_of_the_vectors_that_similarity_takes(judge_at: JudgeAt) -> None:
    with OpenAIServer() as server:
        judge = judge_at(server, embedding_model="e")
        others = ("a tower", "a bridge")
        cosine, *apart = await ask(
            judge,
            Similarity("a bridge", others),
            *(Distance("a bridge", others, measure) for measure in ("manhattan", "chebyshev", "hamming")),
        )
        assert len(server.calls) == 1
    assert [answer.judgement[1] for answer in apart] == [0.0, 0.0, 0.0]
    manhattan, chebyshev, hamming = (answer.judgement[0] for answer in apart)
    euclidean = (2 - 2 * cosine.judgement[0]) ** 0.5
    assert 0 < chebyshev <= euclidean <= manhattan  # as of any two vectors
    assert 0 < hamming <= 1


async def test_prompts_share_batches_of_distinct_texts(judge_at: JudgeAt, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embeddings, "BATCH_TEXTS", 10)
    with OpenAIServer() as server:
        judge = judge_at(server, embedding_model="e")
        answers = await ask(judge, *(Similarity("the bridge", (f"bridge {n % 15}", "a cat")) for n in range(30)))
        texts = [text for call in server.calls for text in call.body["input"]]
        assert sorted(texts) == sorted({"the bridge", "a cat", *(f"bridge {n}" for n in range(15))})
        assert len(server.calls) == 2
    assert sum(answer.usage.calls for answer in answers) == 2
    assert answers[0].usage.prompt_tokens
    assert all(-1.0 <= value <= 1.0 for answer in answers for value in answer.judgement)
    assert all(answer.judgement[0] > answer.judgement[1] for answer in answers)


async def test_servers_without_base64_get_floats(judge_at: JudgeAt) -> None:
    with OpenAIServer(rejects={"encoding_format"}) as server:
        judge = judge_at(server, embedding_model="e")
        for n in range(2):
            (answer,) = await ask(judge, Similarity("a bridge", (f"bridge {n}",)))
            assert answer.failure is None
        assert [call.body["encoding_format"] for call in server.calls] == ["base64", "float", "float"]


async def test_a_long_text_is_the_mean_of_its_pieces(judge_at: JudgeAt, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embeddings, "WINDOW_TOKENS", 20)
    long = "The bridge is long. " * 20 + "Cats sleep all day. " * 20
    with OpenAIServer() as server:
        (answer,) = await ask(judge_at(server, embedding_model="e"), Similarity(long, ("The bridge is long.", "Rain.")))
        assert max(len(text) for call in server.calls for text in call.body["input"]) <= 60
    near, far = answer.judgement
    assert 0.5 < near < 1.0
    assert far < near


async def test_an_empty_text_is_not_applicable(judge_at: JudgeAt) -> None:
    with OpenAIServer() as server:
        judge = judge_at(server, embedding_model="e")
        empty, fine = await ask(judge, Similarity("text", (" ",)), Similarity("text", ("texts",)))
    assert empty.failure is not None
    assert empty.failure.cause is Cause.NOT_APPLICABLE
    assert fine.failure is None


async def test_without_a_model_the_way_out_is_told(judge_at: JudgeAt) -> None:
    with OpenAIServer() as server:
        judge = judge_at(server)
        (answer,) = await ask(judge, Similarity("a", ("b",)))
    cannot = judge.cannot(Similarity)
    assert cannot is not None
    for failure in (cannot, answer.failure):
        assert failure is not None
        assert failure.cause is Cause.JUDGE_CANNOT
        assert "embedding_model=" in failure.message
        assert "similarity=" in failure.message


async def test_another_judge_may_do_it(judge_at: JudgeAt) -> None:
    other = ScriptedJudge(similarity=lambda text, other: 0.25)
    with OpenAIServer() as server:
        judge = judge_at(server, similarity=other)
        assert judge.cannot(Similarity) is None
        (answer,) = await ask(judge, Similarity("a", ("b",)))
        assert answer.judgement == (0.25,)
        assert server.calls == []
        assert judge.fingerprint != judge_at(server).fingerprint


@pytest.mark.parametrize("vector", [[0.0, 0.0], ["x"], [[1.0]], None, "!", [float("nan"), 1.0]])
async def test_vectors_that_are_none_give_no_number(judge_at: JudgeAt, vector: object) -> None:
    class Odd(OpenAIServer):
        def _embeddings(self, call: object) -> Say:
            return Say(body={"data": [{"index": n, "embedding": vector} for n in range(2)]})

    with Odd() as server:
        (answer,) = await ask(judge_at(server, embedding_model="e"), Similarity("a", ("b",)))
    assert answer.failure is not None
    assert answer.failure.cause is Cause.PARSE


async def test_an_endpoint_without_embeddings_says_so(judge_at: JudgeAt) -> None:
    with OpenAIServer(embeddings=False) as server:
        (answer,) = await ask(judge_at(server, embedding_model="e"), Similarity("a", ("b",)))
    assert answer.failure is not None
    assert answer.failure.cause is Cause.NO_MODEL
