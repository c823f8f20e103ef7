"""All scores of a session as one run of a store, also where many workers bring them."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from assay import AssayError, InputError, Result, ScoredSample, Store
from assay.extension import NOT_FINISHED, BaseJudge, JudgementCache, new_name, report_run, store_may_exist
from assay_pytest.judge_options import store_of

#: Under this name a report tells the controlling process that its test was scored, and into which run.
PROPERTY = "assay_run"
_KEY: pytest.StashKey[SessionScores] = pytest.StashKey()
_seen: set[str] = set()


class SessionScores:
    """The run of this session, as one process sees it.

    Args:
        session: What tells this session's run from an older one of the same name.
    """

    def __init__(self, config: pytest.Config, run: str, session: str) -> None:
        self._config = config
        self.run = run
        self._session = session
        self.folder = store_of(config)
        self._store: Store | None = None
        self._begun = False
        self._said: list[str] = []

    @property
    def store(self) -> Store:
        if self._store is None:
            self._store = Store(self.folder)
        return self._store

    def asking(self, judge: BaseJudge) -> JudgementCache:
        """The judge, with what the store knows in front of it."""
        return JudgementCache(judge, self.store.judgements(self.run))

    def begin(self, judge: BaseJudge) -> None:
        """Make the run, or find that another worker of this session has. Raises InputError for an older one's name."""
        if self._begun:
            return
        info = {"judge": judge.fingerprint, "metrics": [], "stopped": NOT_FINISHED, "note": "pytest",
                "data": str(self._config.rootpath.name), "session": self._session}  # fmt: skip
        try:
            self.store.create_run(self.run, info)
        except InputError:
            if self.store.get_run(self.run).get("session") != self._session:
                raise InputError(
                    f"--assay-run: {self.run!r} is in the store {self.store.name!r} already; take another name"
                ) from None
        self._begun = True

    def keep(self, item: pytest.Item, scored: ScoredSample) -> int:
        """Keep the scores of a test; the number of their row."""
        number = self.store.merge_row(self.run, scored)
        if (PROPERTY, self.run) not in item.user_properties:
            item.user_properties.append((PROPERTY, self.run))
        return number

    def finish(self, stopped: str | None, report: Path | None) -> None:
        """Close the run: its means, what it cost, and the report, where one is wanted.

        Args:
            stopped: Why not all tests of the session were scored; None where all were.
            report: The file of the report; None: none is wanted.
        """
        try:
            result = Result.load(self.run, self.store)
            result.end(None if stopped is None else "interrupted", stopped)
            result.seconds = time.time() - (result.started or time.time())
            for row in result.numbered_rows():
                for score in row.scored.scores.values():
                    result.usage = result.usage + score.usage
            self.store.put_run(self.run, result.info())
            rows = f"{result.rows} answer{'' if result.rows == 1 else 's'}"
            self._said = [str(result), f"{rows} in run {self.run} of {self.store.name}"]
            if report is not None:
                report.parent.mkdir(parents=True, exist_ok=True)
                self._said.append(f"report: {report_run(result, report)}")
        except (AssayError, OSError) as error:  # what the tests found stands without it
            self._said.append(f"assay: {type(error).__name__}: {error}")

    def show(self, terminal: Any) -> None:
        """Print the run at the end of the session."""
        if self._said:
            terminal.section("assay")
            for text in self._said:
                terminal.write_line(text)


def of(config: pytest.Config) -> SessionScores | None:
    """What was scored in this session, as far as this process knows; None where nothing was."""
    known = config.stash.get(_KEY, None)
    if known is None and _seen:
        run, session = _run_name(config)
        if run in _seen:
            known = config.stash[_KEY] = SessionScores(config, run, session)
    return known


def collected_in(config: pytest.Config, judge: BaseJudge) -> SessionScores:
    """The run of this session, begun."""
    found = config.stash.get(_KEY, None)
    if found is None:
        found = config.stash[_KEY] = SessionScores(config, *_run_name(config))
    found.begin(judge)
    return found


def note(properties: Iterable[tuple[str, object]]) -> None:
    """Take up what a report says of the run that its test was scored in."""
    _seen.update(str(value) for name, value in properties if name == PROPERTY)


def expected(config: pytest.Config) -> None:
    """Something may have been scored, though no report says so: its worker went down. Look into the store."""
    run, _ = _run_name(config)
    folder = store_of(config)
    if store_may_exist(folder) and Store(folder).has_run(run):
        _seen.add(run)


_NAMED = pytest.StashKey[tuple[str, str]]()


def _run_name(config: pytest.Config) -> tuple[str, str]:
    """The run's name and the session's mark: what the controlling process said, or for the first time here."""
    workers = config.pluginmanager.get_plugin("assay-workers")
    if workers is not None:
        return workers.run, workers.session
    if _NAMED not in config.stash:
        config.stash[_NAMED] = (config.getoption("assay_run") or new_name(), secrets.token_hex(8))
    return config.stash[_NAMED]
