"""`assay judge trust`: a configuration that was found may send what it names, until it changes."""

from __future__ import annotations

import json
import os
import shutil
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from assay.cli.main import app
from assay.config import configuration
from assay.config.keys import (
    ALLOW,
    check_canaries,
    check_data_files,
    check_instructions,
    check_judge_key,
    check_source_keys,
    check_store,
    destinations,
)
from assay.config.trust import forget, is_trusted, record_file, trust, trusted_files
from assay.errors import InputError
from tests._support.servers.openai_server import OpenAIServer
from tests.config.test_keys import SCORE, SECRET, assay, authorizations, project

ADDRESS = '[judge]\nname = "openai:m"\nbase_url = "http://llm.example.com/v1"\napi_key_env = "MY_KEY"\n'


@pytest.fixture(autouse=True)
def user(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of a user who trusts nothing yet."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    monkeypatch.setenv("LOCALAPPDATA", str(home))
    monkeypatch.setenv("MY_KEY", SECRET)
    monkeypatch.delenv(ALLOW, raising=False)
    return home


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as started:
        yield started


def run(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["judge", "trust", *arguments])
    said = done.output if done.exception is None or isinstance(done.exception, SystemExit) else str(done.exception)
    return done.exit_code, " ".join(said.split())


def is_refused(folder: Path) -> bool:
    config = configuration(folder=folder)
    assert config is not None
    try:
        check_judge_key(config, "openai:m", config.judge.base_url, "MY_KEY", "api_key_env")
    except InputError:
        return True
    return False


@pytest.mark.long
def test_a_trusted_file_sends_its_key_until_it_changes(tmp_path: Path, server: OpenAIServer) -> None:
    folder = project(tmp_path, server)
    refused = assay(folder, *SCORE)
    assert (refused.returncode, server.calls) == (2, [])
    assert "run `assay judge trust`, name the file with --config" in refused.stderr
    done = assay(folder, "judge", "trust", "--yes")
    assert done.returncode == 0, done.stderr
    assert f"send the texts of rows to http://{server.base_url.split('/')[2]}, for the judge openai:m" in done.stdout
    assert "send the key in AWS_SECRET_ACCESS_KEY to http://127.0.0.1:" in done.stdout
    assert SECRET not in done.stdout + done.stderr
    done = assay(folder, *SCORE)
    assert done.returncode == 0, done.stderr
    assert authorizations(server) == {f"Bearer {SECRET}"}
    with (folder / "assay.toml").open("a") as file:
        file.write('embedding_model = "e"\n')
    server.calls.clear()
    assert (assay(folder, *SCORE).returncode, server.calls) == (2, [])


def test_the_record_is_private_and_not_in_the_project(tmp_path: Path, user: Path) -> None:
    (tmp_path / "assay.toml").write_text(ADDRESS)
    code, said = run(str(tmp_path / "assay.toml"), "--yes")
    assert code == 0, said
    record = record_file()
    assert record.is_relative_to(user)
    assert [path.name for path in tmp_path.iterdir()] == ["assay.toml"]
    assert stat.S_IMODE(record.stat().st_mode) == 0o600
    assert SECRET not in record.read_text()
    (kept,) = json.loads(record.read_text())["files"]
    assert set(kept) == {"path", "sha256", "at"}


@pytest.mark.parametrize("change", ["other address", "comment", "other key", "other place", "forgotten", "swapped"])
def test_only_that_file_with_that_content_is_trusted(
    tmp_path: Path, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "a"
    folder.mkdir()
    file = folder / "assay.toml"
    file.write_text(ADDRESS)
    assert is_refused(folder)
    assert run(str(file), "--yes")[0] == 0
    assert not is_refused(folder)
    if change == "other address":
        file.write_text(ADDRESS.replace("llm.example.com", "evil.example.com"))
    elif change == "comment":
        file.write_text(f"# {change}\n{ADDRESS}")
    elif change == "other key":
        file.write_text(ADDRESS.replace("MY_KEY", "AWS_SECRET_ACCESS_KEY"))
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    elif change == "other place":
        folder = tmp_path / "b"
        shutil.copytree(tmp_path / "a", folder)
    elif change == "forgotten":
        assert run("--forget", str(file))[0] == 0
    else:  # the trusted file is moved away, and another lies in its place
        file.rename(folder / "old.toml")
        file.write_text(ADDRESS.replace("/v1", "/v2"))
    assert is_refused(folder)


def test_of_a_pyproject_only_its_table_counts(tmp_path: Path) -> None:
    table = ADDRESS.replace("[judge]", "[tool.assay.judge]")
    (tmp_path / "pyproject.toml").write_text(f'[project]\nversion = "1"\n{table}')
    assert run(str(tmp_path / "pyproject.toml"), "-y")[0] == 0
    (tmp_path / "pyproject.toml").write_text(f'[project]\nversion = "2"\n# later\n{table}')
    assert not is_refused(tmp_path)
    (tmp_path / "pyproject.toml").write_text(f'[project]\nversion = "2"\n{table.replace("llm.", "evil.")}')
    assert is_refused(tmp_path)


def test_a_file_by_a_link_is_the_file(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "assay.toml").write_text(ADDRESS)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert run(str(tmp_path / "link" / "assay.toml"), "--yes")[0] == 0
    assert not is_refused(tmp_path / "real")


@pytest.mark.parametrize(
    "content", ["", "[]", "{", '{"files": 3}', '{"files": [{"path": "x"}]}', "[" * 100_000, "\x00"]
)
def test_a_damaged_record_trusts_nothing_and_is_written_anew(tmp_path: Path, content: str) -> None:
    record_file().parent.mkdir(parents=True)
    record_file().write_text(content)
    assert trusted_files() == ()
    (tmp_path / "assay.toml").write_text(ADDRESS)
    assert is_refused(tmp_path)
    trust(tmp_path / "assay.toml", "digest")
    assert is_trusted(tmp_path / "assay.toml", "digest")
    assert not is_trusted(tmp_path / "assay.toml", "")


def test_files_are_listed_with_what_became_of_them(tmp_path: Path) -> None:
    assert run("--list") == (0, f"assay: no file is trusted in {record_file()}")
    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "assay.toml").write_text(ADDRESS)
        run(str(tmp_path / name / "assay.toml"), "--yes")
    run(str(tmp_path / "a" / "assay.toml"), "--yes")  # once more: one entry
    (tmp_path / "b" / "assay.toml").write_text(ADDRESS + "\n")
    (tmp_path / "c" / "assay.toml").unlink()
    code, said = run("--list")
    assert (code, said.count("assay.toml")) == (0, 3)
    assert "a/assay.toml" in said.partition(" trusted")[0]
    assert "changed since, not trusted" in said
    assert "cannot be read any more" in said
    assert forget(tmp_path / "c" / "assay.toml")
    assert not forget(tmp_path / "c" / "assay.toml")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("none.toml", "--yes"), "none.toml: cannot be read"),
        (("--forget", "none.toml"), "is not among the trusted files"),
        (("--list", "--forget"), "--list: goes alone"),
        ((), "there is no assay.toml here"),
    ],
)
def test_what_cannot_be_trusted_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    code, found = run(*arguments)
    assert code != 0
    assert said in found


def test_nobody_is_trusted_unasked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "assay.toml").write_text(ADDRESS)
    monkeypatch.chdir(tmp_path)
    code, said = run()
    assert (code != 0, "nobody can be asked here; give --yes" in said) == (True, True)
    assert trusted_files() == ()


@pytest.mark.parametrize(("answer", "trusted"), [(True, 1), (False, 0)])
def test_a_person_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: bool, trusted: int) -> None:
    (tmp_path / "assay.toml").write_text(ADDRESS)
    monkeypatch.setattr("assay.cli.trust._agreed", lambda: answer)
    assert run(str(tmp_path / "assay.toml"))[0] == 1 - trusted
    assert len(trusted_files()) == trusted


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="permissions do not hold here")
def test_a_record_that_cannot_be_written_says_so(tmp_path: Path, user: Path) -> None:
    user.chmod(0o500)
    with pytest.raises(InputError, match="cannot be written"):
        trust(tmp_path / "assay.toml", "digest")


def test_what_a_file_would_do_is_said_in_full(tmp_path: Path) -> None:
    (tmp_path / "assay.toml").write_text(
        'store = "postgresql://me:pw@db.example.com/x"\n'
        'data = ["phoenix:https://user:pw@traces.example.com/?q=1", "../outside.jsonl", "own.jsonl"]\n'
        '[judge]\nname = "anthropic-batch:m"\ninstructions = "i.toml"\n'
    )
    config = configuration(tmp_path / "assay.toml")
    assert config is not None
    found = destinations(config)
    assert [one.partition(str(tmp_path))[0] for one in found] == [
        "send the texts of rows to https://api.anthropic.com:443, for the judge anthropic-batch:m",
        "read judge instructions from ",
        "send rows and scores to postgresql://db.example.com:5432",
        "read traces from https://traces.example.com:443, with the keys in PHOENIX_...",
        found[4].partition(str(tmp_path))[0],
    ]
    assert "outside.jsonl, outside of its repository" in found[4]
    assert "pw" not in str(found)


# ---- stores, instructions and data of a file that was found


@pytest.mark.parametrize(
    "named", ["/{m}/other/i.toml", "../other/i.toml", "link.toml", "folder/i.toml", "sub/../../other/i.toml"]
)
def test_instructions_lie_in_the_repository(tmp_path: Path, named: str) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "repo" / "sub").mkdir(parents=True)
    (tmp_path / "other" / "i.toml").write_text("")
    (tmp_path / "repo" / "link.toml").symlink_to(tmp_path / "other" / "i.toml")
    (tmp_path / "repo" / "folder").symlink_to(tmp_path / "other")
    file = tmp_path / "repo" / "assay.toml"
    file.write_text(f'[judge]\nname = "openai:m"\ninstructions = "{named.format(m=str(tmp_path).lstrip("/"))}"\n')
    config = configuration(folder=tmp_path / "repo")
    assert config is not None
    with pytest.raises(InputError, match=r"\[judge\] instructions line 3: .* lies outside of the repository"):
        check_instructions(config)
    run(str(file), "--yes")
    for trusted in (configuration(folder=tmp_path / "repo"), configuration(file)):
        assert trusted is not None
        check_instructions(trusted)


def test_canary_rows_lie_in_the_repository(tmp_path: Path) -> None:
    for name in ("repo", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "c.jsonl").write_text("")
    file = tmp_path / "repo" / "assay.toml"
    for named, fits in (("c.jsonl", True), ("../other/c.jsonl", False)):
        file.write_text(f'[live]\napplication = "shop"\ncanaries = "{named}"\n')
        config = configuration(folder=tmp_path / "repo")
        assert config is not None
        assert config.live.canaries is not None
        assert (config.here / config.live.canaries).resolve() == (file.parent / named).resolve()
        assert any("read canary rows" in one for one in destinations(config)) is not fits
        if fits:
            check_canaries(config)
            continue
        with pytest.raises(InputError, match=r"\[live\] canaries line 3: .* lies outside of the repository"):
            check_canaries(config)
        named_by_the_user = configuration(file)
        assert named_by_the_user is not None
        check_canaries(named_by_the_user)


STORES = ["/{m}/other/kept", "../other/kept", "link", "folder/kept", "sub/../../other", "..", "link/../x"]


@pytest.mark.parametrize("named", STORES)
def test_a_store_lies_in_the_repository(tmp_path: Path, named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "other" / "deep").mkdir(parents=True)
    (tmp_path / "repo" / "sub").mkdir(parents=True)
    (tmp_path / "repo" / "link").symlink_to(tmp_path / "other" / "deep")
    (tmp_path / "repo" / "folder").symlink_to(tmp_path / "other")
    file = tmp_path / "repo" / "assay.toml"
    file.write_text(f'store = "{named.format(m=str(tmp_path).lstrip("/"))}"\n')
    for here in (tmp_path / "repo", tmp_path):  # wherever the process stands
        monkeypatch.chdir(here)
        config = configuration(folder=tmp_path / "repo")
        assert config is not None
        with pytest.raises(InputError, match=r"store line 1: .* lies outside of the repository.*give --store"):
            check_store(config)
        assert "outside of its repository" in " ".join(destinations(config))
    run(str(file), "--yes")
    for trusted in (configuration(folder=tmp_path / "repo"), configuration(file)):
        assert trusted is not None
        check_store(trusted)


@pytest.mark.parametrize("named", ["kept", ".assay", "sub/kept", "sub/../kept", "kept/assay.db", "inner/kept", "."])
def test_a_store_in_the_repository_needs_no_trust(tmp_path: Path, named: str) -> None:
    (tmp_path / "repo" / "sub").mkdir(parents=True)
    (tmp_path / "repo" / "inner").symlink_to(tmp_path / "repo" / "sub")
    (tmp_path / "repo" / "assay.toml").write_text(f'store = "{named}"\n')
    config = configuration(folder=tmp_path / "repo")
    assert config is not None
    check_store(config)
    assert destinations(config) == []


def test_a_store_of_a_part_of_a_repository_may_lie_in_another_part(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / "assay.toml").write_text('store = "../.assay"\n')
    for folder, allowed in ((tmp_path / "part", True), (tmp_path / "part", False)):
        config = configuration(folder=folder)
        assert config is not None
        if allowed:
            check_store(config)
            (tmp_path / ".git").rmdir()
            continue
        with pytest.raises(InputError, match="outside of the repository"):
            check_store(config)


@pytest.mark.long
def test_a_command_writes_no_store_outside_of_the_repository_unless_it_is_named(tmp_path: Path) -> None:
    (tmp_path / "repo").mkdir()
    row = {"question": "q", "answer": "a", "contexts": ["c"]}
    (tmp_path / "repo" / "rows.jsonl").write_text(json.dumps(row))
    (tmp_path / "repo" / "assay.toml").write_text('store = "../kept"\n')
    score = ("score", "rows.jsonl", "--metrics", "retrieval_calls")
    done = assay(tmp_path / "repo", *score)
    assert (done.returncode, (tmp_path / "kept").exists()) == (2, False)
    assert "lies outside of the repository of this file" in done.stderr
    done = assay(tmp_path / "repo", *score, "--store", "../kept")
    assert (tmp_path / "kept").exists(), done.stderr


def test_instructions_of_a_part_of_a_repository_may_lie_in_another_part(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / "assay.toml").write_text('[judge]\nname = "openai:m"\ninstructions = "../i.toml"\n')
    config = configuration(folder=tmp_path / "part")
    assert config is not None
    check_instructions(config)
    (tmp_path / ".git").rmdir()
    outside = configuration(folder=tmp_path / "part")
    assert outside is not None
    with pytest.raises(InputError, match="outside of the repository"):
        check_instructions(outside)


@pytest.mark.long
def test_commands_refuse_instructions_from_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "repo").mkdir()
    (tmp_path / "i.toml").write_text('[support]\nnote = "secret"\n')
    (tmp_path / "repo" / "rows.jsonl").write_text('{"question":"q","answer":"a","contexts":["c"]}\n')
    (tmp_path / "repo" / "assay.toml").write_text('[judge]\nname = "openai:m"\ninstructions = "../i.toml"\n')
    done = assay(tmp_path / "repo", *SCORE)
    assert (done.returncode, "lies outside of the repository of this file" in done.stderr) == (2, True)


@pytest.mark.parametrize("data", ["../private.jsonl", "link.jsonl", "l*.jsonl", "../p*.jsonl", "folder/*.jsonl"])
@pytest.mark.parametrize("judge", ["openai:m", "anthropic-batch:m", "embedded", ""])
def test_texts_from_elsewhere_do_not_go_to_an_address_of_the_file(
    tmp_path: Path, data: str, judge: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "repo").mkdir()
    (tmp_path / "private.jsonl").write_text('{"question":"q","answer":"a"}\n')
    (tmp_path / "repo" / "link.jsonl").symlink_to(tmp_path / "private.jsonl")
    (tmp_path / "repo" / "folder").symlink_to(tmp_path)
    named = f'[judge]\nname = "{judge}"\n' if judge else ""
    (tmp_path / "repo" / "assay.toml").write_text(f'data = "{data}"\n{named}')
    monkeypatch.chdir(tmp_path / "repo")
    config = configuration(folder=tmp_path / "repo")
    assert config is not None
    if judge in ("embedded", ""):
        check_data_files(config)
        return
    with pytest.raises(InputError, match=r"data line 1: .* lies outside of the repository"):
        check_data_files(config)


def test_a_trusted_file_may_name_stores_and_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", "pw")
    monkeypatch.setenv("PHOENIX_API_KEY", "k")
    file = tmp_path / "assay.toml"
    file.write_text('store = "postgresql://db.example.com/x"\ndata = "phoenix:http://traces.example.com"\n')
    for check in (check_store, check_source_keys):
        found = configuration(folder=tmp_path)
        assert found is not None
        with pytest.raises(InputError, match="run `assay judge trust`"):
            check(found)
    run(str(file), "--yes")
    for check in (check_store, check_source_keys):
        found = configuration(folder=tmp_path)
        assert found is not None
        check(found)
