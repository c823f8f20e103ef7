"""Usage blocks and messages in the shapes that providers send them."""

from __future__ import annotations

from typing import Any

import pytest

from assay.judges.http.client import Address
from assay.judges.http.endpoint import Endpoint
from assay.judges.http.options import Settings
from assay.judges.http.replies import usage_of
from assay.judges.llm.chat import reply_of


@pytest.mark.parametrize(
    ("block", "counts"),
    [
        # OpenAI, vLLM with caching
        ({"prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 3}}, (9, 4, 3)),
        ({"prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details": None}, (9, 4, None)),
        # plain servers
        ({"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}, (9, 4, None)),
        # the responses style
        ({"input_tokens": 9, "output_tokens": 4, "input_tokens_details": {"cached_tokens": 0}}, (9, 4, 0)),
        # Anthropic behind a gateway
        ({"input_tokens": 9, "output_tokens": 4, "cache_read_input_tokens": 2}, (9, 4, 2)),
        # DeepSeek
        ({"prompt_tokens": 9, "completion_tokens": 4, "prompt_cache_hit_tokens": 5}, (9, 4, 5)),
        # numbers as floats; only a part; nothing; nonsense
        ({"prompt_tokens": 9.0, "completion_tokens": 4.0}, (9, 4, None)),
        ({"prompt_tokens": 9}, (9, None, None)),
        ({"prompt_tokens": None, "completion_tokens": "4"}, (None, None, None)),
        ({"prompt_tokens": -1, "completion_tokens": True}, (None, None, None)),
        ({}, (None, None, None)),
        (None, (None, None, None)),
        ("9", (None, None, None)),
    ],
)
def test_usage_is_read_exactly_and_what_is_missing_is_unknown(block: Any, counts: tuple[int | None, ...]) -> None:
    usage = usage_of(block)
    assert usage.calls == 1
    assert (usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens) == counts


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content": "x"}, "x"),
        ({"content": [{"type": "text", "text": "x"}, {"type": "text", "text": "y"}]}, "xy"),
        ({"content": None, "reasoning_content": "hm"}, ""),
        ({}, ""),
        (None, ""),
    ],
)
def test_content_in_its_forms(message: Any, text: str) -> None:
    endpoint = Endpoint(Address.of("http://localhost:1/v1", "k", {}), Settings())
    assert reply_of({"choices": [{"message": message, "finish_reason": "stop"}]}, endpoint).reply.text == text
