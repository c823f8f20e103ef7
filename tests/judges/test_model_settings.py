"""Settings of the frameworks' models: all that can change an answer is in them, and no secret."""

from __future__ import annotations

from typing import Any

import pytest

from assay.judges.llm.framework import FrameworkJudge
from assay.judges.llm.model_settings import ModelSettings, plain_settings


def settings_of(**fields: Any) -> ModelSettings:
    return ModelSettings.of(object(), "m", fields, lambda name: False, address=None, window=None, enforces=False)


@pytest.mark.parametrize("name", ["eos_token", "pad_token", "stop_token"])
def test_a_token_of_the_vocabulary_is_a_setting(name: str) -> None:
    settings = settings_of(**{name: "</s>"})
    assert settings.parameters[name] == "</s>"
    assert settings.secrets == ()
    assert plain_settings({name: "</s>"}) == {name: "</s>"}


@pytest.mark.parametrize(
    "name", ["token", "api_token", "hf_token", "access_token", "bearer_token", "api_key", "Password"]
)
def test_a_key_is_a_secret(name: str) -> None:
    settings = settings_of(**{name: "sk-secret"})
    assert name not in settings.parameters
    assert settings.secrets == ("sk-secret",)
    assert plain_settings({name: "sk-secret"}) == {}


@pytest.mark.parametrize("secrets", [("abcdef", "abcdef-ghijkl"), ("abcdef-ghijkl", "abcdef")])
def test_a_secret_that_begins_like_another_leaves_nothing_behind(secrets: tuple[str, str]) -> None:
    class Judge(FrameworkJudge):
        async def call(self, *args: Any, **options: Any) -> Any:
            raise NotImplementedError

    judge = Judge("kind", "m", {}, secrets=secrets)
    assert judge.scrub("wrong key abcdef-ghijkl, abcdef") == "wrong key ***, ***"
