"""A configuration that the user did not name sends no key of the environment to an address of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from assay.cli.main import app
from assay.config import configuration
from assay.config.keys import ALLOW, check_judge_key, check_source_keys, check_store
from assay.errors import InputError
from tests._support.servers.openai_server import OpenAIServer

SECRET = "aws-very-secret"
ROW = '{"question":"q","answer":"Paris is a city.","contexts":["Paris is a city."]}\n'
SCORE = ("score", "rows.jsonl", "--metrics", "faithfulness", "--quiet")


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as started:
        yield started


def project(folder: Path, server: OpenAIServer, *, file: str = "assay.toml", key: bool = True) -> Path:
    """A repository whose configuration sends a key of the environment to the server."""
    table = "tool.assay.judge" if file == "pyproject.toml" else "judge"
    variable = 'api_key_env = "AWS_SECRET_ACCESS_KEY"\n' if key else ""
    (folder / ".git").mkdir()
    (folder / "rows.jsonl").write_text(ROW)
    (folder / file).write_text(f'[{table}]\nname = "openai:m"\nbase_url = "{server.base_url}"\n{variable}')
    return folder


def assay(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    known = {name: value for name, value in os.environ.items() if name != ALLOW}
    return subprocess.run(
        [sys.executable, "-m", "assay", *arguments],
        cwd=folder,
        env={**known, "AWS_SECRET_ACCESS_KEY": SECRET, "OPENAI_API_KEY": "sk-real", "COLUMNS": "200", **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def authorizations(server: OpenAIServer) -> set[str]:
    return {call.headers.get("authorization", "") for call in server.calls}


@pytest.mark.long
@pytest.mark.parametrize("file", ["assay.toml", "pyproject.toml"])
def test_the_key_of_a_located_file_is_not_sent(tmp_path: Path, server: OpenAIServer, file: str) -> None:
    done = assay(project(tmp_path, server, file=file), *SCORE)
    assert done.returncode == 2
    assert server.calls == []
    place = f"127.0.0.1:{server.base_url.split(':')[2].partition('/')[0]}"
    error = done.stderr.splitlines()[-1]
    table = "[tool.assay.judge]" if file == "pyproject.toml" else "[judge]"
    assert error.startswith(
        f"assay: error: {file}: {table} api_key_env line 4: AWS_SECRET_ACCESS_KEY is not sent to http://{place}: "
    )
    ways = "run `assay judge trust`, name the file with --config, or give --base-url and --api-key-env"
    assert f"set {ALLOW}=AWS_SECRET_ACCESS_KEY@{place}, {ways}" in error
    assert SECRET not in done.stdout + done.stderr


def test_the_file_of_a_folder_above_is_not_trusted_either(tmp_path: Path, server: OpenAIServer) -> None:
    project(tmp_path, server)
    below = tmp_path / "below"
    below.mkdir()
    (below / "rows.jsonl").write_text(ROW)
    assert assay(below, *SCORE).returncode == 2
    assert server.calls == []


@pytest.mark.parametrize(
    "command",
    [
        *(("causes", "last"), ("report", "last"), ("show", "last", "1", "--definitions", "faithfulness")),
        *(("judge", "check"), ("judge", "align", "rows.jsonl"), ("judge", "noise", "rows.jsonl")),
        *(("judge", "probe", "rows.jsonl"), ("judge", "batching", "rows.jsonl"), ("live", "worker", "rows.jsonl")),
        *(("live", "canary"), ("run", "builtins:str", "rows.jsonl", "--metrics", "faithfulness")),
    ],
    ids=" ".join,
)
def test_every_command_with_a_judge_refuses(
    tmp_path: Path, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    monkeypatch.chdir(project(tmp_path, server))
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    done = CliRunner().invoke(app, command)
    assert "AWS_SECRET_ACCESS_KEY is not sent to" in str(done.exception), done.output
    assert server.calls == []


def test_no_other_command_takes_a_key() -> None:
    """The test before this one names them all, besides `score`, `store repair`, and `cascade`, whose judges no file
    names."""
    assert set(commands_with_a_key(get_command(app))) == {
        *("score", "run", "causes", "report", "show", "live worker", "live canary", "store repair"),
        *(f"judge {name}" for name in ("check", "align", "noise", "probe", "batching", "cascade")),
    }


def commands_with_a_key(group: Any, path: str = "") -> Iterator[str]:
    """The names of all commands that take the name of a key's variable, with those of their groups."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands_with_a_key(command, f"{path}{name} ")
        elif any(parameter.name == "api_key_env" for parameter in command.params):
            yield path + name


def test_a_key_on_the_command_line_does_not_go_to_the_address_of_the_file(tmp_path: Path, server: OpenAIServer) -> None:
    folder = project(tmp_path, server, key=False)
    done = assay(folder, *SCORE, "--api-key-env", "OPENAI_API_KEY")
    assert (done.returncode, server.calls) == (2, [])
    assert "assay.toml: [judge] base_url line 3: OPENAI_API_KEY is not sent to" in done.stderr


@pytest.mark.long
def test_a_file_that_is_named_sends_the_key(tmp_path: Path, server: OpenAIServer) -> None:
    done = assay(project(tmp_path, server), *SCORE, "--config", "assay.toml")
    assert done.returncode == 0, done.stderr
    assert authorizations(server) == {f"Bearer {SECRET}"}


@pytest.mark.long
def test_a_pair_that_the_environment_allows_is_sent(tmp_path: Path, server: OpenAIServer) -> None:
    pair = f"OTHER@example.com, AWS_SECRET_ACCESS_KEY@{server.base_url.split('/')[2]}"
    done = assay(project(tmp_path, server), *SCORE, **{ALLOW: pair})
    assert done.returncode == 0, done.stderr
    assert authorizations(server) == {f"Bearer {SECRET}"}


@pytest.mark.long
def test_address_and_key_on_the_command_line_are_sent(tmp_path: Path, server: OpenAIServer) -> None:
    options = ("--base-url", server.base_url, "--api-key-env", "AWS_SECRET_ACCESS_KEY")
    done = assay(project(tmp_path, server), *SCORE, *options)
    assert done.returncode == 0, done.stderr
    assert authorizations(server) == {f"Bearer {SECRET}"}


@pytest.mark.long
def test_an_address_without_a_key_gets_the_texts_and_no_key(tmp_path: Path, server: OpenAIServer) -> None:
    done = assay(project(tmp_path, server, key=False), *SCORE)
    assert done.returncode == 0, done.stderr
    assert authorizations(server) == {"Bearer none"}


def test_the_python_interface_reads_no_configuration(
    tmp_path: Path, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    import assay as package

    monkeypatch.chdir(project(tmp_path, server))
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    package.evaluate([{"question": "q", "answer": "Paris.", "reference": "Paris."}], ["ragas:exact_match"], store=None)
    assert server.calls == []


# ---- which variable belongs to which address


def refused(folder: Path, variable: str, address: str | None, judge: str = "openai:m") -> bool:
    where = f'base_url = "{address}"\n' if address else ""
    (folder / "assay.toml").write_text(f'[judge]\nname = "{judge}"\n{where}api_key_env = "{variable}"\n')
    config = configuration(folder=folder)
    assert config is not None
    try:
        check_judge_key(config, judge, address, variable, "api_key_env")
    except InputError:
        return True
    return False


@pytest.mark.parametrize(
    ("variable", "address", "judge", "sent"),
    [
        ("OPENAI_API_KEY", None, "openai:m", True),
        ("OPENAI_API_KEY", None, "openai-batch:m", True),
        ("OPENAI_API_KEY", None, "decisions:m", True),
        ("OPENAI_API_KEY", "https://api.openai.com/v1", "openai:m", True),
        ("OPENAI_API_KEY", "https://API.OpenAI.com:443/v1", "openai:m", True),
        ("ANTHROPIC_API_KEY", None, "anthropic-batch:m", True),
        ("OPENROUTER_API_KEY", "https://openrouter.ai/api/alpha/decisions", "systemone:m", True),
        ("AWS_SECRET_ACCESS_KEY", None, "openai:m", False),
        ("AWS_SECRET_ACCESS_KEY", None, "cascade:plan.json", False),
        ("AWS_SECRET_ACCESS_KEY", "https://llm.example.com/v1", "systemone:m", False),
        ("AWS_SECRET_ACCESS_KEY", "http://localhost:8000/v1", "decisions:m", False),
        ("OPENAI_API_KEY", None, "anthropic-batch:m", False),
        ("OPENAI_API_KEY", "http://api.openai.com/v1", "openai:m", False),  # readable on its way
        ("OPENAI_API_KEY", "https://api.openai.com:8443/v1", "openai:m", False),
        ("OPENAI_API_KEY", "https://api.openai.com.example.com/v1", "openai:m", False),
        ("OPENAI_API_KEY", "https://example.com/api.openai.com", "openai:m", False),
        ("GROQ_API_KEY", "https://api.openai.com/v1", "openai:m", False),
    ],
)
def test_a_variable_goes_to_the_host_that_it_belongs_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, address: str | None, judge: str, sent: bool
) -> None:
    monkeypatch.delenv(ALLOW, raising=False)
    monkeypatch.setenv(variable, SECRET)
    assert refused(tmp_path, variable, address, judge) is not sent


@pytest.mark.parametrize(
    ("allowed", "sent"),
    [
        ("MY_KEY@llm.example.com", True),
        ("MY_KEY@LLM.example.com:8000", True),
        ("A@b, MY_KEY@llm.example.com:8000,", True),
        ("MY_KEY@llm.example.com:443", False),
        ("MY_KEY@example.com", False),
        ("OTHER@llm.example.com", False),
        ("MY_KEY@*", False),  # no value allows all
        ("*@llm.example.com", False),
        ("*@*", False),
        ("MY_KEY@*.example.com", False),
        ("MY_@llm.example.com", False),
        ("", False),
    ],
)
def test_pairs_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, allowed: str, sent: bool) -> None:
    monkeypatch.setenv(ALLOW, allowed)
    monkeypatch.setenv("MY_KEY", SECRET)
    assert refused(tmp_path, "MY_KEY", "http://llm.example.com:8000/v1") is not sent


@pytest.mark.parametrize(
    "wrong", ["MY_KEY", "@host", "MY_KEY@", "MY_KEY@host:x", "MY_KEY@a@b", "MY_KEY@http://host", "MY_KEY@\u00dfhost"]
)
def test_a_pair_that_cannot_be_read_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: str) -> None:
    monkeypatch.setenv(ALLOW, wrong)
    monkeypatch.setenv("K", SECRET)
    (tmp_path / "assay.toml").write_text('[judge]\nname = "openai:m"\nbase_url = "http://h/v1"\napi_key_env = "K"\n')
    config = configuration(folder=tmp_path)
    assert config is not None
    with pytest.raises(InputError, match=f"{ALLOW}: expected entries like"):
        check_judge_key(config, "openai:m", "http://h/v1", "K", "api_key_env")


# ---- the store and the data


@pytest.mark.parametrize(
    ("store", "environment", "sent"),
    [
        ("postgresql://me@db.example.com/assay", {}, False),  # rows and scores would go there
        ("postgresql+pg8000://db.example.com/assay", {ALLOW: "PGPASSWORD@db.example.com:5432"}, True),
        ("postgres://127.0.0.2/assay", {}, False),
        ("postgresql:///assay?host=/tmp/foreign", {}, False),
        ("postgresql://me@db.example.com/assay", {"PGPASSWORD": "pw"}, False),
        ("postgresql://me@db.example.com/assay", {"PGPASSWORD": "pw", "PGHOST": "db.example.com"}, True),
        ("postgresql://me@db.example.com:6432/assay", {"PGPASSWORD": "pw", "PGHOST": "db.example.com"}, False),
        ("postgresql://me@db.example.com/assay", {"PGPASSWORD": "pw", ALLOW: "PGPASSWORD@db.example.com"}, True),
        ("postgresql://me:own@db.example.com/assay", {"PGPASSWORD": "pw"}, False),  # its own password
        ("postgresql://me:own@db.example.com/assay", {"PGHOST": "db.example.com"}, True),
        ("postgresql://me@localhost/assay", {"PGPASSWORD": "pw"}, True),  # where PGPASSWORD goes without PGHOST
        ("postgresql://me@localhost/assay?host=/tmp/foreign", {"PGPASSWORD": "pw"}, False),
        (".assay", {"PGPASSWORD": "pw"}, True),
    ],
)
def test_the_password_of_a_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store: str, environment: dict[str, str], sent: bool
) -> None:
    for name in (ALLOW, "PGPASSWORD", "PGHOST", "PGPORT"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "assay.toml").write_text(f'store = "{store}"\n')
    config, named = configuration(folder=tmp_path), configuration(tmp_path / "assay.toml")
    assert config is not None
    assert named is not None
    check_store(named)
    if sent:
        check_store(config)
    else:
        with pytest.raises(
            InputError, match=r"assay.toml: store line 1: (PGPASSWORD is|rows and scores are) not sent to postgresql://"
        ):
            check_store(config)


def test_commands_that_read_a_store_do_not_send_the_password(tmp_path: Path) -> None:
    (tmp_path / "assay.toml").write_text('store = "postgresql://me@127.0.0.1:1/assay"\n')
    done = assay(tmp_path, "runs", PGPASSWORD="pw", PGHOST="db.example.com")
    assert (done.returncode, "PGPASSWORD is not sent to postgresql://127.0.0.1:1" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("source", "environment", "sent"),
    [
        ("phoenix:http://traces.example.com", {}, True),
        ("phoenix:http://traces.example.com", {"PHOENIX_API_KEY": "k"}, False),
        ("acme:http://traces.example.com", {"ACME_API_KEY": "k"}, False),  # of a package of others
        (
            "phoenix:http://traces.example.com",
            {"PHOENIX_API_KEY": "k", "PHOENIX_ENDPOINT": "http://traces.example.com/v1"},
            True,
        ),
        ("mlflow:http://traces.example.com", {"MLFLOW_TRACKING_TOKEN": "k"}, False),
        (
            "mlflow:http://traces.example.com",
            {"MLFLOW_TRACKING_TOKEN": "k", ALLOW: "MLFLOW_TRACKING_TOKEN@traces.example.com"},
            True,
        ),
        ("langfuse:https://cloud.langfuse.com", {"LANGFUSE_SECRET_KEY": "k"}, True),
        ("otel:spans.jsonl", {"OTEL_EXPORTER_OTLP_HEADERS": "k"}, True),
    ],
)
def test_the_keys_of_a_trace_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, environment: dict[str, str], sent: bool
) -> None:
    for name in list(os.environ):
        if name.startswith(("PHOENIX_", "MLFLOW_", "LANGFUSE_", "OTEL_", ALLOW)):
            monkeypatch.delenv(name)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "assay.toml").write_text(f'data = "{source}"\n')
    config = configuration(folder=tmp_path)
    assert config is not None
    if sent:
        check_source_keys(config)
    else:
        with pytest.raises(InputError, match=r"assay.toml: data line 1: \w+ is not sent to http://traces.example.com"):
            check_source_keys(config)


def test_a_source_of_the_file_is_not_asked_with_a_key(tmp_path: Path) -> None:
    (tmp_path / "assay.toml").write_text('data = "phoenix:http://127.0.0.1:1"\n')
    done = assay(tmp_path, "score", PHOENIX_API_KEY="k")
    assert (done.returncode, "PHOENIX_API_KEY is not sent to http://127.0.0.1:1" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    "host", ["llm.a\u00dfess.com", "llm.assess\u3002com", "\uff4clm.assess.com", "llm.\u0430ssess.com"]
)
def test_a_host_that_is_not_ascii_gets_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    """Clients and Python do not agree on the host that "\u00df" stands for."""
    monkeypatch.setenv(ALLOW, "LLMK@llm.assess.com")
    monkeypatch.setenv("LLMK", SECRET)
    text = f'[judge]\nname = "openai:m"\nbase_url = "https://{host}/v1"\napi_key_env = "LLMK"\n'
    (tmp_path / "assay.toml").write_text(text, encoding="utf-8")
    config = configuration(folder=tmp_path)
    assert config is not None
    with pytest.raises(InputError):
        check_judge_key(config, "openai:m", f"https://{host}/v1", "LLMK", "api_key_env")


@pytest.mark.parametrize("store", ["postgresql://localhost:abc/x", "postgresql://[::1", "postgresql://h:99999/x"])
def test_a_database_address_that_cannot_be_read_is_named(tmp_path: Path, store: str) -> None:
    (tmp_path / "assay.toml").write_text(f'store = "{store}"\n')
    config = configuration(folder=tmp_path)
    assert config is not None
    with pytest.raises(InputError, match="expected an address like postgresql://USER@HOST/DATABASE"):
        check_store(config)
