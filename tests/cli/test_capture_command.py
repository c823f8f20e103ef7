"""`assay capture --check`: an application of either framework, run once in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

LANGCHAIN = """
from langchain_core.documents import Document
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from assay.capture import CaptureRules

class Shelf(BaseRetriever):
    def _get_relevant_documents(self, query, *, run_manager):
        return [Document("Cats purr when calm."), Document("Dogs bark.")]

def first(documents):
    return documents[0].page_content

model = GenericFakeChatModel(messages=iter([AIMessage("When they are calm.")] * 9))
prompt = ChatPromptTemplate.from_template("Answer from {context}: {question}")
chain = {"context": Shelf() | first, "question": RunnablePassthrough()} | prompt | model | StrOutputParser()
keyed = RunnableLambda(lambda given: given["question"]).with_types(input_type=dict[str, str]) | chain
mute = RunnableLambda(lambda question: {"score": 3, "of": 5})
ruled = CaptureRules(answer_key="text")

def ask(question):
    return chain.invoke(question)

async def aask(question):
    return await chain.ainvoke(question)

def broken(question):
    raise LookupError("no shelf")

number = 7
"""

LLAMA_INDEX = """
from llama_index.core import get_response_synthesizer
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, TextNode

class Shelf(BaseRetriever):
    def _retrieve(self, bundle):
        return [NodeWithScore(node=TextNode(text="Cats purr when calm."), score=0.9)]

engine = RetrieverQueryEngine(Shelf(), get_response_synthesizer(llm=MockLLM(max_tokens=5)))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "app.py").write_text(LANGCHAIN)
    (tmp_path / "engines.py").write_text(LLAMA_INDEX)
    (tmp_path / "empty.py").write_text("def ask(question):\n    return question\n")
    (tmp_path / "keyless.py").write_text("raise RuntimeError('no key')\n")
    (tmp_path / "wrong.py").write_text("def ask(:\n")
    return tmp_path


def check(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "assay.cli", "live", "capture", "--check", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.long
@pytest.mark.parametrize("name", ["chain", "ask", "aask"])
def test_a_chain_or_a_function_shows_question_contexts_with_places_and_answer(folder: Path, name: str) -> None:
    done = check(folder, f"app:{name}", "Why do cats purr?")
    assert done.returncode == 0, done.stderr
    # the prompt begins "Answer from ": 12 characters; the passage has 20
    lines = [line.strip() for line in done.stdout.splitlines()]
    assert lines[0] == "question  Why do cats purr?"
    assert any(line.startswith("1  in the prompt at ") for line in lines)
    assert "2  NOT in the prompt" in lines
    assert "answer    When they are calm." in lines


@pytest.mark.long
def test_an_engine_of_llama_index(folder: Path) -> None:
    done = check(folder, "engines:engine", "Why do cats purr?")
    assert done.returncode == 0, done.stderr
    assert "question  Why do cats purr?" in done.stdout
    assert "in the prompt at" in done.stdout
    assert "Cats purr when calm." in done.stdout


@pytest.mark.long
def test_a_question_that_is_half_a_json_object_is_a_wrong_use(folder: Path) -> None:
    done = check(folder, "app:chain", '{"question":')
    assert done.returncode == 2
    assert "error: the question begins like a JSON object and is none" in done.stderr


@pytest.mark.long
def test_no_sample_is_exit_code_1_with_the_rule_that_would_help(folder: Path) -> None:
    done = check(folder, "app:mute", "Why?")
    assert done.returncode == 1
    assert done.stdout == ""
    assert "CaptureRules(answer_key=" in done.stderr
    assert "'score'" in done.stderr


@pytest.mark.long
def test_json_for_machines_and_a_whole_input(folder: Path) -> None:
    done = check(folder, "app:keyed", '{"question": "Why do cats purr?"}', "--json")
    assert done.returncode == 0, done.stderr
    sample = json.loads(done.stdout)
    assert sample["question"] == "Why do cats purr?"
    assert [context["in_prompt"] for context in sample["contexts"]] == [True, False]


@pytest.mark.long
@pytest.mark.parametrize(
    ("target", "more", "code", "said"),
    [
        ("app", (), 2, "expected MODULE:NAME"),
        ("nowhere:chain", (), 2, "there is no module 'nowhere'"),
        ("app:chains", (), 2, "there is no 'chains' in 'app'"),
        ("app:number", (), 2, "expected something with invoke, query, chat, or a function, got int"),
        ("empty:ask", (), 2, "neither LangChain nor LlamaIndex"),
        ("app:broken", (), 1, "the application raised LookupError: no shelf"),
        ("app:chain", ("--rules", "app:prompt"), 2, "is no assay.capture.CaptureRules"),
        ("keyless:chain", (), 2, "'keyless' cannot be imported: it raised RuntimeError: no key"),
        ("wrong:chain", (), 2, "'wrong' cannot be imported: it raised SyntaxError: "),
    ],
)
def test_wrong_use_and_broken_applications_are_said(
    folder: Path, target: str, more: tuple[str, ...], code: int, said: str
) -> None:
    done = check(folder, target, "Why?", *more)
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr
