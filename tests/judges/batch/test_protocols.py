"""What is read of a provider's words, without a provider: lines of results, messages of Anthropic's, what was saved."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.cli.detached_jobs import called_with, check_detach
from assay.errors import InputError
from assay.judges.batch.anthropic import MessageBatches, completion_of, params_of
from assay.judges.batch.check_code import code_in, code_of, key_of, with_code
from assay.judges.batch.openai import FilesAndBatches
from assay.judges.batch.protocol import BatchProtocol, collected, name_of
from assay.judges.batch.savings import saved
from assay.judges.batch.state import Batch, BatchState, CollectedReplies
from assay.judges.batch.transport import BatchClient, ResultFile, part
from assay.judges.budget.budget import Budget, Prices
from assay.judges.http.client import Address
from assay.judges.http.options import Settings
from assay.judges.http.retries import Trouble
from assay.records import Usage

WIRE = BatchClient(Address.of("http://127.0.0.1:9/v1", "secret-key", {}), Settings())
BATCH = Batch(1, "0123456789ab", "there model", "/chat/completions", "running", None, 3, 0.0)
KEYS = [bytes([n]) * 16 for n in range(3)]
BODY = {"choices": [{"message": {"content": "yes"}}], "usage": {"prompt_tokens": 7, "completion_tokens": 2}}
MESSAGE = {"content": [{"type": "text", "text": "yes"}], "usage": {"input_tokens": 7, "output_tokens": 2}}
PROTOCOLS: dict[str, BatchProtocol] = {"openai": FilesAndBatches(), "anthropic": MessageBatches()}


def line(kind: str, key: bytes, **result: Any) -> bytes:
    name = {"custom_id": name_of(BATCH, key)}
    if kind == "openai":
        return json.dumps({**name, "response": {"status_code": 200, "body": BODY}, "error": None, **result}).encode()
    return json.dumps({**name, "result": {"type": "succeeded", "message": MESSAGE, **result}}).encode()


def read(kind: str, *lines: bytes) -> dict[bytes, CollectedReplies]:
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"\n".join(lines))
        file.flush()
        files = [ResultFile(Path(file.name))]
        found = list(collected(PROTOCOLS[kind], WIRE, "model", BATCH, set(KEYS), files))
    assert len({one.key for one in found}) == len(found)
    return {one.key: one for one in found}


KINDS = pytest.mark.parametrize("kind", ["openai", "anthropic"])
#: Lines that say nothing of any request of this batch.
NOISE = st.one_of(
    st.binary(max_size=40),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(
            ["custom_id", "response", "result", "error", "body", "type", "message", "status_code", "code"]
        ), inner, max_size=4),
    ).map(lambda value: json.dumps(value).encode()),
)  # fmt: skip


@KINDS
@given(noise=st.lists(NOISE, max_size=6), order=st.permutations(range(3)), doubled=st.booleans())
def test_every_result_is_found_whatever_stands_around_it(kind, noise, order, doubled):
    lines = [line(kind, KEYS[n]) for n in order] * (2 if doubled else 1)
    lines = [one.replace(b"\n", b" ").replace(b"\r", b" ") for one in noise] + lines
    found = read(kind, *lines)
    assert set(found) == set(KEYS)
    assert {one.reply["body"]["choices"][0]["message"]["content"] for one in found.values() if one.reply} == {"yes"}
    assert {(one.usage.prompt_tokens, one.usage.completion_tokens) for one in found.values() if one.usage} == {(7, 2)}


@pytest.mark.long
@KINDS
@given(said=st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(
        ["status_code", "body", "choices", "data", "usage", "error", "code", "message", "type", "content", "text"]
    ), inner, max_size=4),
))  # fmt: skip
def test_whatever_a_result_holds_it_is_a_reply_a_failure_or_asked_again(kind, said):
    raw = {"custom_id": name_of(BATCH, KEYS[0])}
    results = [{"type": "succeeded", "message": said}, {"type": "errored", "error": said}, said]
    wholes = [{"response": said}, {"response": {"body": said}}, {"error": said}, *({"result": one} for one in results)]
    for whole in ({**raw, **one} for one in wholes):
        (one,) = read(kind, json.dumps(whole).encode()).values()
        assert one.reply is None or {"body", "failure"} & one.reply.keys()


def test_of_two_results_the_first_that_says_something_counts():
    broken = line("openai", KEYS[0], response={"status_code": 500, "body": {"error": {"message": "oops"}}})
    other = line("openai", KEYS[0], response={"status_code": 200, "body": {**BODY, "choices": [{"n": 2}]}})
    found = read("openai", broken, line("openai", KEYS[0]), other)
    assert found[KEYS[0]].reply == {"body": BODY}


@KINDS
def test_a_file_with_nothing_of_ours_is_no_result(kind):
    for blob in (
        b"<html>bad gateway</html>",
        b"[" * 100_000,
        line(kind, KEYS[0]).replace(b"0123456789ab", b"ba9876543210"),
    ):
        with pytest.raises(Trouble, match="none of its requests is found"):
            read(kind, blob)
    assert read(kind, b"", b"  ") == {}


@pytest.mark.parametrize(
    ("status", "error", "again"),
    [
        (400, {"message": "no such parameter: seed"}, False),
        (429, {"message": "slow down"}, True),
        (429, {"message": "You exceeded your quota", "code": "insufficient_quota"}, False),
        (500, {"message": "oops"}, True),
        (404, {"message": "no such model"}, False),
    ],
)
def test_what_passes_is_asked_again_and_the_rest_is_named(status, error, again):
    found = read("openai", line("openai", KEYS[0], response={"status_code": status, "body": {"error": error}}))
    reply = found[KEYS[0]].reply
    assert (reply is None) is again
    if reply is not None:
        assert reply["failure"]["detail"]["status"] == status
        assert error["message"] in reply["failure"]["message"]


@pytest.mark.parametrize(
    ("result", "again"),
    [
        ({"type": "expired"}, True),
        ({"type": "canceled"}, True),
        ({"type": "errored", "error": {"type": "error", "error": {"type": "overloaded_error", "message": "m"}}}, True),
        (
            {"type": "errored", "error": {"type": "error", "error": {"type": "invalid_request_error", "message": "m"}}},
            False,
        ),
        ({"type": "errored", "error": {"type": "invalid_request_error", "message": "m"}}, False),
        ({"type": "something new"}, True),
    ],
)
def test_what_anthropic_says_of_a_request_that_failed(result, again):
    assert (read("anthropic", line("anthropic", KEYS[0], **result))[KEYS[0]].reply is None) is again


def test_a_call_in_anthropics_words():
    body = {
        "model": "m",
        "messages": [
            {"role": "system", "content": "judge"},
            {"role": "user", "content": [
                {"type": "text", "text": "see"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}},
                {"type": "image_url", "image_url": {"url": "https://pictures.example/one.png"}},
            ]},
            {"role": "assistant", "content": "no"},
            {"role": "user", "content": "again"},
        ],
        "temperature": 1.5, "seed": 7, "max_tokens": 99, "top_k": 5,
        "response_format": {"type": "json_schema", "json_schema": {"name": "r", "schema": {"type": "object"}}},
    }  # fmt: skip
    png = {"type": "base64", "media_type": "image/png", "data": "QUJD"}
    assert params_of(body) == {
        "model": "m",
        "system": "judge",
        "max_tokens": 99,
        "temperature": 1.0,
        "top_k": 5,
        "output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}},
        "messages": [
            {"role": "user", "content": [
                {"type": "text", "text": "see"},
                {"type": "image", "source": png},
                {"type": "image", "source": {"type": "url", "url": "https://pictures.example/one.png"}},
            ]},
            {"role": "assistant", "content": "no"},
            {"role": "user", "content": "again"},
        ],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("reason", "ended"),
    [
        ("end_turn", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "refusal"),
    ],
)
def test_a_message_of_anthropics_as_a_completion(reason, ended):
    usage = {"input_tokens": 7, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 10, "output_tokens": 2}
    blocks = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    found = completion_of({"content": blocks, "stop_reason": reason, "usage": usage})
    assert found is not None
    assert found["choices"][0]["message"]["content"] == "ab"
    assert found["choices"][0]["finish_reason"] == ended
    assert found["usage"] == {"prompt_tokens": 117, "completion_tokens": 2, "cached_tokens": 100}


@pytest.mark.parametrize(
    ("share", "prices", "said"),
    [
        (0.5, None, "half the usual price: 1,000 prompt and 500 completion tokens, which saved the price of 500 and"),
        (0.75, None, "75% of the usual price: 1,000 prompt and 500 completion tokens, which saved the price of 250"),
        # 1000 x 2 + 500 x 8 = 6000 millionths
        (0.5, Prices(prompt=2.0, completion=8.0), "for $0.0030 in place of $0.0060"),
        (None, None, "what there takes off for batches is not known"),
    ],
)  # fmt: skip
def test_what_was_saved(share, prices, said):
    usage = Usage(calls=3, prompt_tokens=1000, completion_tokens=500, cached_tokens=0)
    assert said in saved(usage, 1, share, "there", prices)
    assert saved(usage, 1, share, "there", prices).startswith("batches: 3 requests in 1 batch")


def test_tokens_that_nobody_counted_are_not_nought():
    unknown = Usage(calls=1, prompt_tokens=None, completion_tokens=None, cached_tokens=None)
    assert "does not say how many tokens" in saved(unknown, 2, 0.5, "there")


def test_a_budget_in_dollars_takes_a_share_of_the_price():
    budget = Budget(dollars_per_day=1.0, prices=Prices(prompt=10.0, completion=20.0))
    budget.reserve(1000, 500, 0.5).settle(Usage(calls=1, prompt_tokens=800, completion_tokens=100, cached_tokens=0))
    # half of 800 x 10 + 100 x 20 millionths
    assert budget.state()["dollars_per_day"]["spent"] == pytest.approx(0.005)


def test_names_of_a_provider_stay_in_their_part_of_a_path():
    assert part("../../v1/keys?a=b") == "..%2F..%2Fv1%2Fkeys%3Fa%3Db"


def test_a_batch_on_disk_from_intent_to_replies(tmp_path: Path):
    state = BatchState(tmp_path)
    state.ask((key, b'{"n":1}') for key in KEYS)
    batch = state.intend("there", "/chat/completions", KEYS, "run")
    assert [key for key, _ in state.bodies(batch)] == KEYS
    assert [state.lookup(key) for key in KEYS] == [(True, None)] * 3
    state.move(batch, "running", id="batch_1")
    assert state.ids() == {"batch_1"}
    usage = Usage(calls=1, prompt_tokens=5, completion_tokens=1, cached_tokens=0)
    replies = [CollectedReplies(KEYS[0], {"body": BODY}, usage), CollectedReplies(KEYS[1], None)]
    assert sorted(state.collect(batch, replies, "completed", 2)) == [(KEYS[1], 7), (KEYS[2], 7)]
    assert state.lookup(KEYS[0]) == (True, {"body": BODY})
    assert state.lookup(KEYS[1]) == (False, None)
    again = state.intend("there", "/chat/completions", KEYS[1:], "run")
    assert state.collect(again, [], "expired", 2) == []  # the second time was the last
    under_way, lost = state.lookup(KEYS[2])
    assert under_way
    assert lost is not None
    assert lost["failure"]["message"] == "no usable result in 2 batches; the provider last said: expired"
    assert state.usage_of("run").calls == 3
    state.forget("run")
    assert state.lookup(KEYS[0]) == (False, None)


def test_a_call_is_not_kept_that_holds_a_password_or_reads_what_is_gone():
    secret = ["score", "a.jsonl", "--base-url", "http://user:word@host/v1"]
    with called_with(secret), pytest.raises(InputError, match="no address may hold a password"):
        check_detach(["a.jsonl"])
    with called_with(["score", "-"]), pytest.raises(InputError, match="standard input cannot be read a second time"):
        check_detach(["-"])
    with called_with(["score", "a.jsonl", "--base-url", "http://host/v1", "--note", "me@home"]):
        assert check_detach(["a.jsonl"]) is None  # type: ignore[func-returns-value]


ASKED: dict[str, Any] = {
    "model": "m", "messages": [{"role": "system", "content": "Judge."}, {"role": "user", "content": "Is it?"}],
    "response_format": {
        "type": "json_schema",
        "json_schema": {"name": "x", "schema": {"type": "object", "properties": {"a": {}}, "required": ["a"]}},
    },
}  # fmt: skip


def test_the_code_is_last_in_the_prompt_and_first_in_the_schema() -> None:
    sent = with_code(ASKED, bytes(16))
    assert sent["messages"][-1]["content"] == 'Is it?\n\nBegin the JSON with "request_code": "aaaaaa".'
    schema = sent["response_format"]["json_schema"]["schema"]
    assert list(schema["properties"]) == ["request_code", "a"]
    assert schema["properties"]["request_code"] == {"type": "string", "enum": ["aaaaaa"]}
    assert schema["required"] == ["request_code", "a"]
    assert ASKED["messages"][-1]["content"] == "Is it?"  # the request itself stays as it was
    pictures = {**ASKED, "messages": [{"role": "user", "content": [{"type": "text", "text": "Is it?"}]}]}
    assert len(with_code(pictures, b"k" * 16)["messages"][0]["content"]) == 2


def test_a_request_without_a_schema_has_no_code() -> None:
    plain = {"model": "m", "messages": ASKED["messages"]}
    assert with_code(plain, b"k" * 16) == plain
    assert with_code({"model": "m", "input": ["a"]}, b"k" * 16) == {"model": "m", "input": ["a"]}


@pytest.mark.parametrize("fence", ["{}", "```json\n{}\n```", "Here it is: {}"])
@given(st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=20), max_size=3))
def test_the_code_of_a_reply_is_found_whatever_stands_around_it(fence: str, said: dict[str, Any]) -> None:
    said = {"request_code": "0a1b2c", "why": 'a text with "request_code": "ffffff" in it', **said}
    assert (
        code_in({"choices": [{"message": {"content": fence.replace("{}", json.dumps(said))}}]}) == said["request_code"]
    )


@pytest.mark.parametrize(
    "message",
    [
        {"content": [{"type": "text", "text": "{}"}]},
        {"content": None, "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]},
        {"content": None, "function_call": {"name": "f", "arguments": "{}"}},
        {"content": {"request_code": "0a1b2c"}},
        {"content": None, "reasoning_content": "{}"},
    ],
)
def test_the_code_is_found_wherever_the_answer_is(message: dict[str, Any]) -> None:
    """As in the places of a chat reply of which the judge reads the answer."""
    said = json.dumps({"request_code": "0a1b2c", "items": []})
    placed = json.loads(json.dumps(message).replace('"{}"', json.dumps(said)))
    assert code_in({"choices": [{"message": placed}]}) == "0a1b2c"


@pytest.mark.parametrize(
    "content",
    [None, "yes", "[1]", "5", '{"a": 1}', "{", "[" * 10_000, 5, {}, '{"request_code": null}', '"request_code"' * 9999],
)
def test_what_has_no_code(content: Any) -> None:
    assert code_in({"choices": [{"message": {"content": content}}]}) is None
    assert code_in({}) is None
    assert code_in({"choices": []}) is None


def test_requests_with_one_code_keep_their_own_replies() -> None:
    """Two addresses that differ behind the 30 bits of the code: a reply under either name is its own."""
    first, second, other = bytes(16), bytes(15) + b"\x01", b"k" * 16
    coded = {code_of(first): [first, second], code_of(other): [other]}
    assert code_of(first) == code_of(second) == "aaaaaa"
    assert key_of("aaaaaa", first, coded) == first
    assert key_of("aaaaaa", second, coded) == second
    assert key_of("aaaaaa", other, coded) is None  # of one of two: asked again
    assert key_of(code_of(other), first, coded) == other
    assert key_of("zzzzzz", first, coded) is None
