"""Values of any kind in JSON's types."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay._util.normalise import json_object, json_value, leaving_out

ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.builds(object),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)


@pytest.mark.parametrize("value", [math.inf, -math.inf, b"bytes", object(), pytest.param(10**5000, id="huge")])
def test_an_outermost_value_that_json_cannot_hold_is_none(value: object) -> None:
    assert json_value(value) is None
    assert json_object({"left out": value, "kept": 1}) == {"kept": 1}


def test_in_a_list_it_is_left_out_and_a_missing_value_is_none() -> None:
    assert json_value([1, math.inf, math.nan, object(), "a"]) == [1, None, "a"]


def test_a_value_that_raises_is_left_out_where_that_is_asked_for() -> None:
    class Raises(dict[str, Any]):
        def items(self) -> Any:
            raise RuntimeError("the session is over")

    with pytest.raises(RuntimeError):
        json_value([Raises()])
    with leaving_out() as errors:
        assert json_value(Raises()) is None
        assert json_value([1, Raises()]) == [1]
    assert [str(error) for error in errors] == ["the session is over"] * 2


@pytest.mark.long
@given(ANY)
def test_what_comes_out_is_json_and_comes_out_again(value: object) -> None:
    found = json_value(value)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert json_value(found) == found
