"""Prompts that a server shortens without an error: a failure with the remedy, and never one for a whole prompt."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import evaluate
from assay.errors import Cause, JudgeFailure
from assay.judges.http import transports
from assay.judges.http.replies import prompt_tokens_of
from assay.judges.llm.framework import FrameworkJudge, ModelCall
from assay.judges.llm.judge import Reply, Request
from assay.judges.llm.openai import OpenAIJudge
from assay.judges.llm.prompt_history import PromptHistory
from assay.judges.llm.prompt_truncation import check_prompt, is_window, measure
from assay.prompts import Support
from assay.records import Usage
from tests._support.servers.openai_server import OpenAIServer
from tests.judges.conftest import PASSAGES, Says, ask, claims
from tests.judges.test_text_judge import honest

JudgeAt = Callable[..., OpenAIJudge]
SENTENCE = "The bridge over the northern river is 330 metres long and has four lanes. "


def long_prompt(chars: int, text: str = SENTENCE) -> Support:
    return Support(claims("The bridge opened in 1889."), (*PASSAGES, (text * (chars // len(text) + 1))[:chars]))


@pytest.fixture(params=["aiohttp", "client"])
def sent_by(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "client":
        monkeypatch.setattr(transports, "_has_aiohttp", lambda: False)
    return str(request.param)


@pytest.mark.usefixtures("sent_by")
@pytest.mark.parametrize("num_ctx", [2048, 4096, 6144, 8192, 10_000, 10_240, 12_288])
async def test_a_prompt_that_ollama_shortened_is_a_failure_with_the_remedy(num_ctx: int, judge_at: JudgeAt) -> None:
    # 4 characters a token: 1.6 windows, of which 4 + (num_ctx - 4) / 2 tokens are left
    prompt = long_prompt(int(1.6 * num_ctx * 4))
    with OpenAIServer(num_ctx=num_ctx) as server:
        (answer,) = await ask(judge_at(server), prompt)
        assert len(server.calls) == 1  # asking again ends alike
    assert answer.failure is not None
    assert answer.failure.cause is Cause.PROMPT_TRUNCATED
    left = num_ctx // 2 + 2
    assert answer.failure.detail["prompt_tokens"] == left
    assert "num_ctx" in answer.failure.message
    assert f"window_tokens of the judge to {left}" in answer.failure.message
    assert answer.failure.raw
    assert answer.usage.prompt_tokens == left  # it was paid for


@pytest.mark.usefixtures("sent_by")
async def test_the_remedy_works(judge_at: JudgeAt) -> None:
    with OpenAIServer(num_ctx=4096) as server:
        (answer,) = await ask(judge_at(server, window_tokens=2050), long_prompt(30_000))
        assert max(sum(len(m["content"]) for m in call.body["messages"]) for call in server.calls) < 4 * 2050
    assert answer.failure is None, answer.failure
    assert [verdict.label for verdict in answer.judgement] == ["supported"]


ROWS = [
    {"question": f"When {n}?", "contexts": [SENTENCE * 300], "answer": f"It opened in {1800 + n}."} for n in range(30)
]


def test_a_run_has_no_score_for_it(tmp_path: Any) -> None:
    with OpenAIServer(num_ctx=4096) as server:
        judge = OpenAIJudge("fake", base_url=server.base_url)
        result = evaluate(ROWS[:3], "faithfulness", judge=judge, store=tmp_path, progress=False, stop_after=None)
    scores = [result.row(n).scores["faithfulness"] for n in (1, 2, 3)]
    found = [(score.value, score.error and score.error.cause) for score in scores]
    assert found == [(None, Cause.PROMPT_TRUNCATED)] * 3


def test_a_run_in_which_nothing_else_comes_stops_with_the_remedy(tmp_path: Any) -> None:
    with OpenAIServer(num_ctx=4096) as server:
        judge = OpenAIJudge("fake", base_url=server.base_url)
        with pytest.raises(JudgeFailure, match=r"20 rows in a row.*num_ctx") as caught:
            evaluate(ROWS, "faithfulness", judge=judge, store=tmp_path, progress=False)
    assert caught.value.cause is Cause.PROMPT_TRUNCATED


class Model(FrameworkJudge):
    """A framework's model that reports these tokens of a prompt, as ChatOllama does."""

    def __init__(self, read: int, cached: int | None = None) -> None:
        super().__init__("ChatOllama", "m", {})
        self.usage = Usage(calls=1, prompt_tokens=read, completion_tokens=9, cached_tokens=cached)

    def call(self, ask: ModelCall) -> Reply:
        content = next(message["content"] for message in ask.messages if message["role"] == "user")
        assert "TASK" in content
        return Reply(honest(Request(long_prompt(10).full_content)), usage=self.usage)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("read", "cached", "cause"), [(2050, None, Cause.PROMPT_TRUNCATED), (8000, None, None), (2050, 6000, None)]
)
async def test_models_of_frameworks_are_held_to_it_too(read: int, cached: int | None, cause: Cause | None) -> None:
    (answer,) = await ask(Model(read, cached), long_prompt(32_000))
    assert (answer.failure and answer.failure.cause) == cause


async def test_without_a_count_nothing_is_known(judge_at: JudgeAt) -> None:
    with OpenAIServer(num_ctx=2048, usage=False) as server:
        (answer,) = await ask(judge_at(server), long_prompt(32_000))
    assert answer.failure is None
    (answer,) = await ask(Says(lambda request: Reply(honest(request))), long_prompt(32_000))
    assert answer.failure is None


#: Characters of a token, the least and the most of the tokenizers of GPT-4, GPT-4o, Claude 2, DeepSeek, Qwen and
#: Mistral (tekken), measured over 10 to 200 thousand characters (Arabic 4, Chinese 0.7 thousand).
ENGLISH, CODE, INDENTED, TABLES = (4.25, 5.13), (3.90, 4.16), (7.02, 7.49), (8.76, 9.31)
CHINESE, RUSSIAN, ARABIC = (1.43, 1.67), (2.12, 3.48), (1.19, 2.17)
TEXTS: dict[str, tuple[str, tuple[float, float]]] = {
    "English": (SENTENCE, ENGLISH),
    "code": ("    def length(self) -> int:\n        return self._metres  # of the bridge\n", CODE),
    "indented code": (" " * 36 + "def length(self) -> int:\n" + " " * 40 + "return self._metres\n", INDENTED),
    "tables": ("| name | value | unit |\n|" + ("-" * 40 + "|") * 3 + "\n", TABLES),
    "Chinese": ("这座桥长三百三十米，有四条车道，于一八八九年通车。", CHINESE),
    "Russian": ("Мост через северную реку имеет длину триста тридцать метров. ", RUSSIAN),
    "Arabic": ("يبلغ طول الجسر فوق النهر الشمالي ثلاثمئة وثلاثين مترا. ", ARABIC),
}


@pytest.mark.short_cases(2)
@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("most", [0, 1])
async def test_no_tokenizers_whole_prompt_is_taken_for_a_shortened_one(name: str, most: int, judge_at: JudgeAt) -> None:
    text, ratios = TEXTS[name]
    with OpenAIServer(density=ratios[most]) as server:
        judge = judge_at(server, window_tokens=200_000)
        (answer,) = await ask(judge, long_prompt(60_000, text))
        read = server.calls[0].body["messages"][1]["content"]
    assert answer.failure is None, answer.failure
    for window in filter(is_window, range(1024, 70_000)):  # not even where its tokens are as many as a window has
        check_prompt(window, int(window * ratios[most]), lambda window=window: [read[: int(window * ratios[most])]])  # type: ignore[misc]


@pytest.mark.long
@given(
    st.sampled_from([text for text, _ in TEXTS.values()]),
    st.integers(100, 400_000),
    st.floats(1, 12),
)
def test_up_to_twelve_characters_a_token_no_whole_prompt_is_taken_for_a_shortened_one(
    text: str, chars: int, ratio: float
) -> None:
    whole = (text * (chars // len(text) + 1))[:chars]
    tokens = -(-measure(whole) // ratio)
    if not is_window(int(tokens)) or ratio <= 6:
        check_prompt(int(tokens), chars, lambda: [whole])


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_fewer_characters_are_never_more_suspicious(reported: int, chars: int) -> None:
    def suspicious(chars: int) -> bool:
        try:
            check_prompt(reported, chars, lambda: [SENTENCE * (chars // len(SENTENCE))])
        except JudgeFailure:
            return True
        return False

    assert suspicious(chars) or not suspicious(chars // 2)


@pytest.mark.parametrize(
    ("body", "most"),
    [
        # what was cached is among the prompt's tokens (OpenAI, vLLM), or beside them: both are counted
        ({"usage": {"prompt_tokens": 1500, "prompt_tokens_details": {"cached_tokens": 30_000}}}, 31_500),
        ({"usage": {"input_tokens": 1500, "cache_read_input_tokens": 30_000}}, 31_500),
        ({"usage": {"input_tokens": 1500, "cache_creation_input_tokens": 20_000}}, 21_500),
        ({"usage": {"input_tokens": 9, "cache_creation_input_tokens": 2, "cache_read_input_tokens": 3}}, 14),
        ({"usage": {"prompt_tokens": 1500, "prompt_cache_hit_tokens": 30_000}}, 31_500),
        # llama.cpp
        ({"usage": {"prompt_tokens": 1500}, "timings": {"cache_n": 30_000, "prompt_n": 1500}}, 31_500),
        # the same count twice
        ({"usage": {"prompt_tokens": 9, "cached_tokens": 4, "prompt_tokens_details": {"cached_tokens": 4}}}, 13),
        ({"usage": {"prompt_tokens": 1500, "prompt_tokens_details": None}, "timings": None}, 1500),
        ({"usage": {"completion_tokens": 9}}, None),
        ({"usage": None}, None),
        ({}, None),
    ],
)
def test_cached_tokens_were_read_as_well(body: Any, most: int | None) -> None:
    assert prompt_tokens_of(body) == most


@pytest.mark.parametrize("uncached", [0, 1, 40, 700, 1023])
def test_a_server_that_counts_only_what_was_not_cached_raises_no_alarm(uncached: int) -> None:
    check_prompt(uncached, 100_000, lambda: [SENTENCE * 1300])


# Below 1,024 tokens: by the counts of other prompts


def causes(answers: Sequence[Any]) -> list[Cause | None]:
    return [answer.failure and answer.failure.cause for answer in answers]


async def ask_each(judge: Any, prompts: Iterable[Support]) -> list[Any]:
    """The answers to prompts that are asked one after the other."""
    return [(await ask(judge, prompt))[0] for prompt in prompts]


@pytest.mark.usefixtures("sent_by")
@pytest.mark.parametrize("num_ctx", [320, 512, 768, 1000, 1280, 1536, 1750])
async def test_a_small_window_is_noticed_by_the_third_prompt_that_it_cut(num_ctx: int, judge_at: JudgeAt) -> None:
    # 4 characters a token; a prompt has 2,000 characters besides its passage: all are cut, to 4 + (num_ctx - 4) / 2
    lengths = [4 * num_ctx, 6 * num_ctx, 8 * num_ctx, 5 * num_ctx, 7 * num_ctx]
    with OpenAIServer(num_ctx=num_ctx) as server:
        answers = await ask_each(judge_at(server), map(long_prompt, lengths))
    assert causes(answers)[2:] == [Cause.PROMPT_TRUNCATED] * 3
    assert answers[2].failure.detail["prompt_tokens"] == num_ctx // 2 + 2
    assert "num_ctx" in answers[2].failure.message


@pytest.mark.parametrize("text", ["Chinese", "Russian", "Arabic"])
async def test_a_small_window_is_noticed_for_dense_tokens_where_whole_prompts_were_seen(
    text: str, judge_at: JudgeAt
) -> None:
    # 2 characters a token: prompts of 2,400 characters have 1,200 tokens and fit; the others are left with 1,002
    with OpenAIServer(num_ctx=2001, density=2) as server:
        judge = judge_at(server)
        assert causes(await ask_each(judge, [long_prompt(400, TEXTS[text][0])] * 3)) == [None] * 3
        answers = await ask_each(judge, [long_prompt(chars, TEXTS[text][0]) for chars in (4500, 6000, 9000)])
    assert causes(answers)[-1] is Cause.PROMPT_TRUNCATED


async def test_the_window_of_ollama_of_old_is_noticed_at_once_where_a_whole_prompt_was_seen(judge_at: JudgeAt) -> None:
    # num_ctx 1024 leaves 514 tokens; 2,000 characters are 500 tokens and fit, 8,000 are 2,000
    with OpenAIServer(num_ctx=1024) as server:
        answers = await ask_each(judge_at(server), [long_prompt(100), long_prompt(6000)])
    assert causes(answers) == [None, Cause.PROMPT_TRUNCATED]


async def test_a_window_of_an_unusual_size_is_noticed_above_1024_too(judge_at: JudgeAt) -> None:
    # 3,014 tokens of window leave 1,509, which none of the usual ones does, of prompts with 8 to 11 characters for each
    with OpenAIServer(num_ctx=3014) as server:
        answers = await ask_each(judge_at(server), [long_prompt(4 * tokens) for tokens in (3100, 3500, 4200)])
    assert causes(answers) == [None, None, Cause.PROMPT_TRUNCATED]


def outcome(history: PromptHistory, reported: int, chars: int) -> bool:
    """Whether a prompt of these characters passes."""
    try:
        history.check(reported, chars, lambda: [(SENTENCE * (chars // len(SENTENCE) + 1))[:chars]])
    except JudgeFailure:
        return False
    return True


@pytest.mark.long
@given(st.lists(st.integers(500, 60_000), min_size=3, max_size=40), st.floats(1, 12))
def test_a_server_that_counts_whole_prompts_raises_no_alarm_whatever_its_tokens(
    prompts: list[int], ratio: float
) -> None:
    history = PromptHistory()
    for chars in prompts:
        tokens = -(-chars // ratio)
        if not is_window(int(tokens)) or ratio <= 6:
            assert outcome(history, int(tokens), chars)


@pytest.mark.long
@given(
    st.lists(st.integers(500, 60_000), min_size=1, max_size=15),
    st.integers(1, 4),
    st.integers(0, 1023),
    st.floats(1, 5),
)
def test_a_server_that_leaves_out_what_it_had_cached_raises_no_alarm(
    rows: list[int], questions: int, uncached: int, ratio: float
) -> None:
    """Each row's passages are read in whole for the first question; of the others only their ends are counted."""
    history = PromptHistory()
    for chars in rows:
        whole = int(-(-chars // ratio))
        assert outcome(history, whole, chars)
        for _ in range(questions):
            assert outcome(history, min(whole, uncached), chars)


@given(st.integers(1000, 60_000), st.integers(0, 1023), st.integers(1, 30))
def test_one_prompt_that_is_sent_again_and_again_raises_no_alarm(chars: int, uncached: int, times: int) -> None:
    history = PromptHistory()
    assert all(outcome(history, uncached, chars) for _ in range(times))


@pytest.mark.long
@given(st.integers(260, 2000), st.lists(st.floats(1.05, 8), min_size=3, max_size=20), st.floats(3.5, 5))
def test_a_window_is_noticed_once_three_prompts_were_cut_to_it(
    num_ctx: int, lengths: list[float], ratio: float
) -> None:
    history, left = PromptHistory(), 4 + (num_ctx - 4) // 2
    sizes = [int(times * num_ctx * ratio) for times in lengths]
    passed = [outcome(history, left, chars) for chars in sizes]
    # the baseline is unknown, 4 characters a token: 6 times the count for the shortest, 9 times it for the longest
    enough = min(sizes) > 6 * left and max(sizes[2:]) > max(9.01 * left, 1.26 * min(sizes))
    assert not enough or not all(passed)
