"""How judgements and rows lie on disk: what was packed comes back, and damage is named."""

from __future__ import annotations

import json
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay._util.compression import DICTIONARY, pack, unpack

VERDICTS = [
    {"label": "supported", "probability": None, "reason": f"reason {n}", "claim": None, "passage": n, "cells": [],
     "evidence": [], "unlocated": 0, "unsupported": []}
    for n in range(2)
]  # fmt: skip


@given(st.binary(max_size=400))
def test_what_was_packed_comes_back(content: bytes) -> None:
    assert unpack(pack(content)) == content


@given(st.binary(max_size=400))
def test_what_was_packed_without_the_dictionary_is_read(content: bytes) -> None:
    assert unpack(zlib.compress(content, 1)) == content


def test_a_small_judgement_takes_half_of_what_it_took_without_the_dictionary() -> None:
    content = json.dumps(VERDICTS, separators=(",", ":")).encode()
    assert len(pack(content)) < 0.5 * len(zlib.compress(content, 9))
    assert len(DICTIONARY) < 2_000  # it is in the memory of every process


@given(st.integers(0, 200), st.binary(min_size=1, max_size=3))
def test_a_torn_or_longer_blob_is_damaged(cut: int, more: bytes) -> None:
    blob = pack(json.dumps(VERDICTS).encode())
    for damaged in (blob[: min(cut, len(blob) - 1)], blob + more):
        with pytest.raises(ValueError, match="it is damaged"):
            unpack(damaged)


@pytest.mark.parametrize("blob", [b"", b"x", "text", None, 3])
def test_what_is_no_blob_is_damaged(blob: object) -> None:
    with pytest.raises(ValueError, match="it is damaged"):
        unpack(blob)  # type: ignore[arg-type]
