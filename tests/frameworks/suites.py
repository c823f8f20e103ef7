"""Which suites of the frameworks are run, and what each needs. Nothing of theirs is kept in this repository."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

#: Frameworks in the environment of every suite of the LangChain family, so that all are run on one set of versions.
LANGCHAIN = (
    "langchain-core==1.7.2",
    "langchain==1.4.7",
    "langchain-classic==1.0.8",
    "langgraph==1.2.22",
    "langgraph-prebuilt==1.1.2",
    "langchain-tests>=1.1.9,<2",
)
#: What their suites import besides.
PYTEST = (
    "pytest>=9.0.3,<10",
    "pytest-asyncio>=1.3,<2",
    "pytest-benchmark>=5.1,<6",
    "pytest-mock>=3.10,<4",
    "pytest-socket>=0.7,<0.9",
    "pytest-timeout>=2.4,<3",
    "syrupy>=5,<6",
    "blockbuster>=1.5.26,<1.6",
)
GRAPHS = (
    *LANGCHAIN,
    "pytest>=9,<10",
    "pytest-asyncio>=1.3,<2",
    "pytest-mock",
    "pytest-timeout>=2.4,<3",
    "syrupy>=5,<6",
    "langgraph-checkpoint-sqlite",
    "langgraph-checkpoint-postgres",
    "psycopg[binary]",
    "pycryptodome",
    "redis",
    "uvloop>=0.21,<1",
)
NO_NETWORK = ("--disable-socket", "--allow-unix-socket", "--benchmark-disable")


@dataclass(frozen=True, kw_only=True)
class Suite:
    """One suite of a framework.

    framework     which side of assay is attached: "langchain" (`install`) or "llama_index" (`attach`)
    package       whose tests they are, and `version`, the one that is installed and tested
    tests         where they come from: "sdist", the source distribution of that very version, or the version of a
                  snapshot of the framework's repository, whose folder is given as `--source SUITE=FOLDER`
    requirements  what its environment holds besides assay; the package itself is among them
    paths         files and folders of tests, from the folder that holds `tests`
    small         the part of `paths` that CI runs; empty: none
    options       further words for pytest; `settings` are environment variables
    installing    further words for `uv pip install`
    timed         tests that measure seconds, and fail on a busy machine whatever is attached: CI leaves them out
    deselected    tests that are not run (`pytest --deselect`), each with the reason
    """

    framework: str
    package: str
    version: str
    tests: str = "sdist"
    requirements: tuple[str, ...]
    paths: tuple[str, ...] = ("tests",)
    small: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    installing: tuple[str, ...] = ()
    timed: tuple[str, ...] = ()
    deselected: Mapping[str, str] = field(default_factory=dict)


def _under(folder: str, names: str) -> tuple[str, ...]:
    return tuple(f"{folder}/{name}" for name in names.split())


_PREGEL = _under("tests", "test_pregel.py test_pregel_async.py")
_SERVERS = "tests/test_prune_postgres.py"

SUITES: Mapping[str, Suite] = {
    "langchain-core": Suite(
        framework="langchain",
        package="langchain-core",
        version="1.7.2",
        requirements=(*LANGCHAIN, *PYTEST, "freezegun>=1.2.2,<2", "grandalf>=0.8,<1", "responses>=0.25,<1", "numpy>=2"),
        paths=("tests/unit_tests",),
        small=_under("tests/unit_tests", "callbacks tracers fake language_models runnables/test_runnable_events_v1.py"),
        timed=_under("tests/unit_tests/language_models/chat_models", "test_benchmark.py test_rate_limiting.py"),
        options=NO_NETWORK,
    ),
    "langchain": Suite(
        framework="langchain",
        package="langchain",
        version="1.4.7",
        requirements=(*LANGCHAIN, *PYTEST, "toml", "langchain-openai", "fastmcp>=4.0.11,<5", "vcrpy>=8.2,<9"),
        paths=("tests/unit_tests",),
        options=NO_NETWORK,
    ),
    "langchain-classic": Suite(
        framework="langchain",
        package="langchain-classic",
        version="1.0.8",
        requirements=(
            *(*LANGCHAIN, *PYTEST, "toml", "langchain-openai", "freezegun>=1.2.2,<2", "responses>=0.25,<1"),
            *("lark>=1.1.5,<2", "pandas>=2,<3", "requests-mock>=1.11,<2", "cffi", "packaging", "pytest-dotenv"),
        ),
        paths=("tests/unit_tests",),
        small=_under("tests/unit_tests", "callbacks chains"),
        options=NO_NETWORK,
    ),
    "langgraph": Suite(
        framework="langchain",
        package="langgraph",
        version="1.2.22",
        requirements=GRAPHS,
        options=tuple(f"--ignore={path}" for path in (*_PREGEL, _SERVERS)),
        settings={"NO_DOCKER": "true"},  # checkpoints, stores and caches in memory and in SQLite
    ),
    "langgraph-pregel": Suite(
        framework="langchain",
        package="langgraph",
        version="1.2.22",
        requirements=GRAPHS,
        paths=_PREGEL,
        settings={"NO_DOCKER": "true"},
    ),
    "langgraph-prebuilt": Suite(
        framework="langchain",
        package="langgraph-prebuilt",
        version="1.1.2",
        requirements=GRAPHS,
        small=_under("tests", "test_react_agent.py test_tool_node.py test_on_tool_call.py"),
    ),
    "llama-index-core": Suite(
        framework="llama_index",
        package="llama-index-core",
        version="0.14.25",
        tests="0.14.14",  # the source distributions have none
        requirements=(
            *("llama-index-core==0.14.25", "llama-index-workflows==2.26.1", "openai", "llama-index-llms-openai"),
            *("pytest>=8.3,<10", "pytest-asyncio>=1.3,<2", "pytest-mock>=3.11,<4", "pytest-timeout>=2.4,<3"),
            *("boto3", "pandas", "rake-nltk", "llama-cloud"),
        ),
        deselected={
            "tests/ingestion/test_pipeline.py::test_pipeline_parallel": "waits for processes for ever, plain too"
        },
        installing=("--link-mode", "copy"),  # nltk does not read its data from files that are hard links
    ),
    "llama-index-instrumentation": Suite(
        framework="llama_index",
        package="llama-index-instrumentation",
        version="0.6.0",
        requirements=(
            *("llama-index-core==0.14.25", "llama-index-workflows==2.26.1", "llama-index-instrumentation==0.6.0"),
            *("pytest>=8.3,<10", "pytest-asyncio>=1.3,<2", "pytest-timeout>=2.4,<3"),
        ),
        small=("tests",),
        timed=("tests/test_dispatcher.py::test_aevent_concurrent_handlers",),
    ),
}
