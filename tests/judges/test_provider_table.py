"""Providers in the table: each by its name, at its address, with its own key and no other."""

from __future__ import annotations

from typing import Any

import pytest

from assay.config.keys import PROVIDERS as HOSTS
from assay.errors import InputError
from assay.judges.llm.openai import OpenAIJudge
from assay.judges.providers.table import PROVIDERS
from assay.judges.resolve import check_judge, resolve_judge
from tests._support.servers.openai_server import OpenAIServer
from tests.judges.conftest import ask
from tests.judges.test_native_providers import support


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for provider in PROVIDERS.values():
        monkeypatch.delenv(provider.variable, raising=False)
    for name in ("OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT", "OPENAI_API_VERSION"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("name", sorted(PROVIDERS))
def test_each_provider_has_its_address_and_its_key(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    provider = PROVIDERS[name]
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-openai")
    check_judge(f"{name}:m")
    if provider.needs_key:
        with pytest.raises(InputError, match=provider.variable):
            resolve_judge(f"{name}:m")
    monkeypatch.setenv(provider.variable, "key-of-the-provider")
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://mine.openai.azure.com")
    judge: Any = resolve_judge(f"{name}:m")
    assert isinstance(judge, OpenAIJudge)
    assert judge.endpoint.name == (provider.address or "https://mine.openai.azure.com/openai")
    assert judge.endpoint.address.key == "key-of-the-provider"
    elsewhere: Any = resolve_judge(f"{name}:m", base_url="http://127.0.0.1:9/v1")
    assert elsewhere.endpoint.address.key == "none"


def test_a_file_may_send_each_key_to_its_own_provider() -> None:
    for provider in PROVIDERS.values():
        host = (provider.address or "").partition("://")[2].partition("/")[0]
        if provider.needs_key and host:
            assert provider.variable in HOSTS[host]


async def test_a_judge_by_the_name_of_a_provider_is_the_one_at_its_address() -> None:
    with OpenAIServer(key="k") as server:
        named: Any = resolve_judge("groq:fake", base_url=server.base_url, api_key="k")
        (answer,) = await ask(named, support())
        await named.release()
        same = resolve_judge("openai:fake", base_url=server.base_url, api_key="k")
        assert named.fingerprint == same.fingerprint  # so its judgements are found again
    assert answer.failure is None


async def test_azure_is_asked_in_its_own_way(monkeypatch: pytest.MonkeyPatch) -> None:
    with OpenAIServer(key="key-of-azure") as server:
        monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", server.base_url.removesuffix("/v1"))
        monkeypatch.setenv("AZURE_OPENAI_API_KEY", "key-of-azure")
        judge: Any = resolve_judge("azure:deployed")
        (answer,) = await ask(judge, support())
        await judge.release()
    assert answer.failure is None
    assert server.calls[0].path == "/openai/deployments/deployed/chat/completions"
    assert server.calls[0].headers["api-key"] == "key-of-azure"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("antropic:claude", "did you mean 'anthropic:claude'"),
        ("grok:x", "did you mean 'groq:x'"),
        ("cohere:command-r", "'any-llm:cohere:command-r'"),
        ("groq:", "name the model after the colon"),
        ("azure:m", "AZURE_OPENAI_API_KEY"),
        ("any-llm:cohere", "PROVIDER:MODEL"),
    ],
)
def test_a_name_that_is_none_says_what_is_near(name: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        resolve_judge(name)
    assert said in str(caught.value)


def test_azure_without_an_address_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="AZURE_OPENAI_ENDPOINT"):
        resolve_judge("azure:m", api_key="k")
