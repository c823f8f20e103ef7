"""The guide "Watch production" of docs/live.md, with the real LangChain and LlamaIndex and the real commands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.live import SampleQueue
from assay.store.store import Store

Command = Callable[..., tuple[int, str, str]]


def with_langchain(scorer: Any) -> None:
    from assay_langchain import AssayCallbackHandler

    from tests.docs.langchain_app import chain, question

    handler = AssayCallbackHandler(scorer=scorer)
    for user in ("ann", "bob"):
        chain.invoke(question, config={"callbacks": [handler], "metadata": {"user": user}})


def with_llama_index(scorer: Any) -> None:
    from assay_llama_index import AssayInstrumentation

    from tests.docs.llama_index_app import query_engine

    with AssayInstrumentation(scorer=scorer):
        for question in ("Why do cats purr?", "When do cats purr?"):
            query_engine.query(question)


@pytest.mark.long
@pytest.mark.parametrize("application", [with_langchain, with_llama_index])
def test_the_guide(
    application: Callable[[Any], None], tmp_path: Path, command_line: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_VERSION", "1.4")
    queue = SampleQueue("var/assay", application="shop")
    application(queue)
    queue.close()
    code, out, _ = command_line("live", "worker", "var/assay", "--metrics", "faithfulness", "--until-empty")
    assert (code, "2 scored" in out) == (0, True)
    code, out, _ = command_line("runs")
    assert (code, "live/shop" in out, "2 rows" in out) == (0, True, True)
    code, out, _ = command_line("worst", "faithfulness", "live/shop")
    assert (code, "Cats purr when they are calm" in out) == (0, True)
    code, out, _ = command_line("show", "live/shop", "1")
    assert (code, "passages" in out) == (0, True)
    with Store(tmp_path / ".assay") as store:
        metadata = [row.scored.sample.metadata for row in store.rows("live/shop")]
    assert [(one["application"], one["version"]) for one in metadata] == [("shop", "1.4")] * 2
    if application is with_langchain:
        code, out, _ = command_line("store", "prune", "--where", "user=ann", "--queue", "var/assay")
        assert (code, out) == (0, "deleted 1 row (live/shop: 1), 0 judgements, 1 sample of the queue\n")


@pytest.mark.long
def test_in_the_application(tmp_path: Path) -> None:
    from assay_langchain import AssayCallbackHandler

    from tests.docs.langchain_app import chain, question

    handler = AssayCallbackHandler(["faithfulness"], store=tmp_path / "store", application="shop")
    chain.invoke(question, config={"callbacks": [handler]})
    handler.close()
    with Store(tmp_path / "store") as store:
        (row,) = store.rows("live/shop")
    assert row.scored.values["faithfulness"] is not None
