"""Every block of Python in README and docs runs, from the top of its page down, and suits the type checkers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from integrations.opentelemetry.tests.receiver import receiver
from tests._support.servers.batch_server import BatchServer
from tests._support.servers.decision_server import DecisionServer
from tests._support.servers.langfuse_server import PUBLIC, SECRET, LangfuseServer
from tests._support.servers.langsmith_server import KEY, LangSmithServer
from tests.docs.pages import ROOT, name_of, pages, script_of, unhandled

PRELUDE = Path(__file__).with_name("prelude.py")

#: Ports under which pages name a model that the reader serves.
MODELS = (11434, 8000)
#: Pages that write to a real server: its fixture, and the port under which the page names it.
SERVERS = {"integrations/phoenix/README.md": ("phoenix", 6006), "integrations/mlflow/README.md": ("mlflow", 5000)}
#: Pages whose examples another test runs, with what they need.
ELSEWHERE = {"docs/scorers.md": "tests/docs/test_scorers_page.py"}
RUN_HERE = [page for page in pages() if name_of(page) not in ELSEWHERE]

#: What other packages re-export without saying so is theirs to say.
LENIENT = (
    "\n# pyright: reportPrivateImportUsage=false\n"
    "# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics\n"
)


def marks(page: Path) -> list[pytest.MarkDecorator]:
    if name_of(page) in SERVERS:
        return [pytest.mark.needs(name=SERVERS[name_of(page)][0])]
    return [pytest.mark.long]


@pytest.fixture(scope="module")
def around(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment of a page: servers on this machine in place of what is hosted elsewhere, and keys to them."""
    log = tmp_path_factory.mktemp("otlp") / "requests.jsonl"
    with (
        BatchServer() as model,
        DecisionServer() as decisions,
        LangfuseServer() as langfuse,
        LangSmithServer() as langsmith,
        receiver(log) as otlp,
    ):
        langsmith.late = {}
        ports = {
            **dict.fromkeys(MODELS, port_of(model.base_url)),
            8080: port_of(decisions.base_url),
            4318: port_of(otlp),
        }
        yield {
            "OPENAI_API_KEY": "sk-of-nobody",
            "ASSAY_PAGE_OPENAI": model.base_url,
            "ASSAY_PAGE_PORTS": json.dumps(ports),
            "LANGFUSE_BASE_URL": langfuse.url,
            "LANGFUSE_PUBLIC_KEY": PUBLIC,
            "LANGFUSE_SECRET_KEY": SECRET,
            "LANGSMITH_ENDPOINT": langsmith.url,
            "LANGSMITH_API_KEY": KEY,
        }


def port_of(url: str) -> int:
    return urlsplit(url).port or 80


def run(page: Path, folder: Path, around: dict[str, str], ports: dict[int, int]) -> subprocess.CompletedProcess[str]:
    script = folder / "page.py"
    script.write_text(script_of(page), encoding="utf-8")
    environment = {
        **{name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")},
        **around,
        "ASSAY_PAGE_PORTS": json.dumps({**json.loads(around["ASSAY_PAGE_PORTS"]), **ports}),
        "PYTHONIOENCODING": "utf-8",
        "PYTHONPATH": str(ROOT),
    }
    return subprocess.run(
        [sys.executable, str(PRELUDE), str(script)],
        capture_output=True, text=True, timeout=240, check=False, cwd=folder, env=environment,
    )  # fmt: skip


@pytest.mark.timeout(900)  # the first run installs the server
@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=marks(page), id=name_of(page)) for page in pages() if name_of(page) not in ELSEWHERE],
)
def test_the_code_of_the_page_runs(
    page: Path, tmp_path: Path, around: dict[str, str], request: pytest.FixtureRequest
) -> None:
    ports = {}
    if name_of(page) in SERVERS:
        name, port = SERVERS[name_of(page)]
        ports = {port: port_of(request.getfixturevalue(f"{name}_url"))}
    done = run(page, tmp_path, around, ports)
    assert done.returncode == 0, f"{name_of(page)}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    assert unhandled(done.stderr) == [], done.stderr


#: What these import is in environments of their own: test_on_ray.py and test_on_spark.py of evaluation/sharded.
NOT_HERE = ("last_months_traces_on_ray.py", "traces_on_spark.py")


def scripts(folder: Path) -> dict[str, str]:
    """Every page and example as a file of its own in a folder; what each file is called for readers."""
    named = {}
    for page in pages():
        file = folder / f"{name_of(page).replace('/', '_').removesuffix('.md').replace('-', '_')}.py"
        file.write_text(script_of(page) + LENIENT, encoding="utf-8")
        named[file.name] = name_of(page)
    for example in sorted({*(ROOT / "cookbook").glob("*.py")} - {ROOT / "cookbook" / name for name in NOT_HERE}):
        (folder / f"cookbook_{example.name}").write_text(
            example.read_text(encoding="utf-8") + LENIENT, encoding="utf-8"
        )
        named[f"cookbook_{example.name}"] = f"cookbook/{example.name}"
    return named


@pytest.mark.long
def test_mypy_has_nothing_against_the_examples(tmp_path: Path) -> None:
    named = scripts(tmp_path)
    done = subprocess.run(
        # with the options of the project alone: what it has in its cache is not read anew
        [sys.executable, "-m", "mypy", "--no-error-summary", *map(str, sorted(tmp_path.glob("*.py")))],
        capture_output=True, text=True, timeout=280, check=False, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stderr
    found = [line for line in done.stdout.splitlines() if ": error:" in line]
    wrong = [line for line in found if Path(line.partition(":")[0]).name in named]  # not what the pages' tests import
    assert wrong == [], "\n".join(wrong) + str(named)


@pytest.mark.long
def test_pyright_has_nothing_against_the_examples(tmp_path: Path) -> None:
    named = scripts(tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable,
         *map(str, tmp_path.glob("*.py"))],
        capture_output=True, text=True, timeout=280, check=False, cwd=ROOT,
    )  # fmt: skip
    said = json.loads(done.stdout)
    assert said["summary"]["filesAnalyzed"] == len(named)
    wrong = [
        f"{named[Path(found['file']).name]}:{found['range']['start']['line'] + 1}: {found['message']}"
        for found in said["generalDiagnostics"]
        if found["severity"] == "error"
    ]
    assert wrong == [], "\n".join(wrong)
