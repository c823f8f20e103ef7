"""One pytest session for all mutants: tests are imported once, and the session is forked for each mutant.

First all tests run in a fork that notes which lines each of them runs, and how long it takes. Then each mutant meets
the tests that run its statement, the quickest first, until one fails. In its fork the functions of the file get the
code of the mutant. What is made when a file is imported (constants, tables, defaults of parameters) cannot be changed
like that: such a fork imports the package and the tests anew, with the mutant in the place of the file.
"""

from __future__ import annotations

import gc
import importlib
import importlib.machinery
import os
import pickle
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any, TypeVar

import pytest

from tests.mutation.kept import Kept
from tests.mutation.mutants import ROOMS, ROOT, Mutant, files

SURVIVED, KILLED = 0, 1
#: Seconds after which a test of a mutant counts as failed.
T = TypeVar("T")

TIMEOUT = 60
ARGUMENTS = (
    *("-q", "-s", "-x", "--tb=no", "--assert=plain", "-o", f"timeout={TIMEOUT}"),  # nobody reads why a test fails
    *("-p", "no:cacheprovider", "-p", "no:faulthandler"),
)


@dataclass
class Covered:
    """What each test runs: lines of the files that are mutated, and the classes whose methods it calls.

    `modules` of other packages are imported before forks are made, which would each import them anew.
    """

    seconds: dict[str, float] = field(default_factory=dict)
    by_line: dict[tuple[str, int], set[str]] = field(default_factory=partial(defaultdict, set))
    by_file: dict[str, set[str]] = field(default_factory=partial(defaultdict, set))
    modules: set[str] = field(default_factory=set)

    def tests(self, mutant: Mutant) -> list[str]:
        """The tests that can notice a mutant, the quickest first: for what is made at import those of the room that use
        the file, where none is known to, all of the room."""
        found = self._reaching(mutant)
        if not found:
            found = self.by_file.get(mutant.path, set())
            own = (f"test_{mutant.room}", f"[{mutant.room}]")
            found = {name for name in found or self.seconds if any(one in name for one in own)} or found
        return self.quickest(found)

    def inside(self, mutant: Mutant) -> bool:
        """Whether it is in a function that tests call, not in one that runs at import alone."""
        return mutant.inside and bool(self._reaching(mutant))

    def _reaching(self, mutant: Mutant) -> set[str]:
        first, last = mutant.lines
        return set().union(*(self.by_line.get((mutant.path, line), set()) for line in range(first, last + 1)))

    def forget(self, test: str) -> None:
        """Drop what is known of a test."""
        del self.seconds[test]
        for known in (*self.by_line.values(), *self.by_file.values()):
            known.discard(test)

    def quickest(self, tests: Iterable[str]) -> list[str]:
        return sorted(tests, key=lambda name: (self.seconds.get(name, 0.0), name))


def run(
    mutants: list[Mutant],
    tests: list[str],
    *,
    jobs: int = 1,
    marks: str = "not long and not needs",
    chosen: Callable[[Mutant, list[str]], list[str]] | None = None,
    kept: Path | None = None,
) -> list[Mutant]:
    """The mutants that no test notices.

    chosen  which tests a mutant meets, in the place of those that run it
    kept    a folder that keeps from one time to the next what each test runs, and which mutants were noticed
    """
    session = Session(mutants, jobs, chosen, Kept(kept))
    with tempfile.TemporaryDirectory() as folder:
        code = pytest.main([*ARGUMENTS, "-m", marks, f"--basetemp={folder}/base", *tests], plugins=[session])
    if session.survivors is None:
        raise SystemExit(f"the tests do not pass without a mutant (pytest ended with {code})")
    return session.survivors


class Session:
    """The plugin that runs mutants in the place of the tests."""

    def __init__(
        self,
        mutants: list[Mutant],
        jobs: int,
        chosen: Callable[[Mutant, list[str]], list[str]] | None,
        kept: Kept,
    ) -> None:
        noticed = kept.killed()
        wanted = [one for one in mutants if kept.identity(one) not in noticed]
        self.mutants = wanted
        self.jobs, self.chosen, self.kept = jobs, chosen, kept
        self.survivors: list[Mutant] | None = None
        self.failed = False

    def pytest_configure(self) -> None:
        _quick_examples()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed = self.failed or report.failed

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = {item.nodeid: item for item in session.items}
        self.base = Path(session.config._tmp_path_factory.getbasetemp())  # type: ignore[attr-defined]  # made once
        for path in sorted({mutant.path for mutant in self.mutants}):  # rooms are imported when one asks for them
            importlib.import_module(".".join(Path(path).with_suffix("").parts[1:]).removesuffix(".__init__"))
        functions = _functions({str(ROOT / mutant.path) for mutant in self.mutants})
        gc.collect()
        gc.freeze()
        if self.chosen is None:
            said(f"{len(items)} tests run once, to see what each of them runs")
            covered = _in_fork(lambda: self._covered(items))
            if not isinstance(covered, Covered):
                said(f"{covered or 'something'} fails without a mutant")
                return True
            self.kept.cover(covered)
            for name in sorted(covered.modules):
                with suppress(ImportError):
                    importlib.import_module(name)
            gc.freeze()
            find, inside = covered.tests, covered.inside
        else:
            every, chosen = list(items), self.chosen
            find, inside = lambda mutant: chosen(mutant, every), lambda mutant: mutant.inside
        self.survivors = []
        quick = [one for one in self.mutants if inside(one)]
        for room, group in groupby(quick, key=lambda one: one.room):
            mutants = sorted(group, key=lambda one: len(find(one)))  # what nearly all tests reach comes last
            self.survivors += self._all(
                room, "in functions", mutants, lambda one: self._patched(one, items, functions, find(one))
            )
        slow = [one for one in self.mutants if not inside(one)]
        for room, group in groupby(slow, key=lambda one: one.room):
            mutants = list(group)
            if not self._passes_unchanged(mutants[0], find(mutants[0])):
                self.survivors = None
                return True
            self.survivors += self._all(room, "made at import", mutants, lambda one: self._imported(one, find(one)))
        return True

    def _covered(self, items: dict[str, pytest.Item]) -> Covered | str:
        """Run every test; the name of one that fails."""
        covered: Covered = self.kept.covered() or Covered()
        wanted = {str(path): path.relative_to(ROOT).as_posix() for room in ROOMS for path in files(room)}
        modules = {name: wanted.get(getattr(module, "__file__", "") or "") for name, module in sys.modules.items()}
        for name, item in items.items():
            if name in covered.seconds:
                continue
            started = time.perf_counter()
            with _tracing(name, wanted, modules, covered):
                self._tests([item])
            covered.seconds[name] = time.perf_counter() - started
            if self.failed:
                return name
        covered.modules |= {name for name, module in sys.modules.items() if not _ours(module) and "." not in name}
        return covered

    def _tests(self, items: list[pytest.Item]) -> bool:
        """Whether all pass; stops at the first that fails."""
        for item, following in zip(items, [*items[1:], None], strict=False):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.failed:
                return False
        return True

    def _patched(
        self, mutant: Mutant, items: dict[str, pytest.Item], functions: dict[Any, list[FunctionType]], tests: list[str]
    ) -> int:
        """Run the tests with the code of a mutant in the functions of its file."""
        for code in _codes(mutant.code()):
            for function in functions.get(_place(code), ()):
                function.__code__ = code
        return SURVIVED if self._tests([items[name] for name in tests]) else KILLED

    def _passes_unchanged(self, mutant: Mutant, tests: list[str]) -> bool:
        """Whether the tests pass where everything is imported anew, without a mutant."""
        code = compile((ROOT / mutant.path).read_text(encoding="utf-8"), str(ROOT / mutant.path), "exec")
        _, status = os.waitpid(_fork(lambda: self._imported(mutant, tests, code)), 0)
        return os.waitstatus_to_exitcode(status) == SURVIVED

    def _imported(self, mutant: Mutant, tests: list[str], code: object = None) -> int:
        """Run the tests with everything imported anew, the mutant (or this code) in the place of its file."""
        if not tests:
            return SURVIVED
        for name, module in list(sys.modules.items()):
            if _ours(module) and not name.startswith("tests.mutation"):
                del sys.modules[name]
        _import_as(str(ROOT / mutant.path), code or mutant.code())
        files = sorted({name.partition("::")[0] for name in tests})
        arguments = [*ARGUMENTS, "-m", "", f"--basetemp={self.base}/{os.getpid()}", *files]
        return SURVIVED if pytest.main(arguments, plugins=[Only(tests)]) == pytest.ExitCode.OK else KILLED

    def _all(self, room: str, which: str, mutants: list[Mutant], judged: Callable[[Mutant], int]) -> list[Mutant]:
        """Those that survive, each judged in a fork, so many at a time."""
        said(f"{room}: {len(mutants)} mutants, {which}")
        under_way: dict[int, tuple[Mutant, float]] = {}
        survivors = []
        for mutant in [*mutants, *[None] * self.jobs]:
            if mutant is not None:
                under_way[_fork(lambda one=mutant: judged(one))] = mutant, time.monotonic()  # type: ignore[misc]
            if under_way and (len(under_way) >= self.jobs or mutant is None):
                pid, status = os.wait()
                ended, since = under_way.pop(pid)
                survived = os.waitstatus_to_exitcode(status) == SURVIVED
                self.kept.ended(ended, killed=not survived, seconds=time.monotonic() - since)
                if survived:
                    survivors.append(ended)
                    said(f"survives: {ended}")
        return sorted(survivors, key=mutants.index)


def _ours(module: object) -> bool:
    """Whether a module is of this repository."""
    return (getattr(module, "__file__", None) or "").startswith(f"{ROOT}{os.sep}")


class Only:
    """Of the tests that are collected those that are wanted, in this order."""

    def __init__(self, tests: list[str]) -> None:
        self.order = {name: place for place, name in enumerate(tests)}

    def pytest_configure(self) -> None:
        _quick_examples()

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted((one for one in items if one.nodeid in self.order), key=lambda one: self.order[one.nodeid])


def said(line: str) -> None:
    """Tell how it goes."""
    print(line, flush=True)


def _quick_examples() -> None:
    """Property tests neither shrink what fails nor keep it."""
    import hypothesis

    phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
    hypothesis.settings.register_profile(
        "mutation",
        deadline=None,
        database=None,
        derandomize=True,
        phases=phases,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    hypothesis.settings.load_profile("mutation")


def _fork(judged: Callable[[], int]) -> int:
    """The process that judges."""
    pid = os.fork()
    if pid:
        return pid
    code = KILLED
    try:
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        code = judged()
    finally:
        os._exit(code)


def _in_fork(asked: Callable[[], T]) -> T | None:
    """What a function returns in a fork; None where that dies."""
    with tempfile.NamedTemporaryFile() as file:

        def judged() -> int:
            Path(file.name).write_bytes(pickle.dumps(asked()))
            return SURVIVED

        os.waitpid(_fork(judged), 0)
        data = Path(file.name).read_bytes()
    found: T | None = pickle.loads(data) if data else None
    return found


class _tracing:
    """Note under a test's name which lines of the wanted files run, and in which files the classes are that it uses."""

    def __init__(self, name: str, wanted: dict[str, str], modules: dict[str, str | None], covered: Covered) -> None:
        lines: set[tuple[str, int]] = set()
        classes: set[type] = set()

        def local(frame: FrameType, event: str, arg: object) -> Any:
            lines.add((frame.f_code.co_filename, frame.f_lineno))
            return local

        def trace(frame: FrameType, event: str, arg: object) -> Any:
            code = frame.f_code
            if code.co_filename not in wanted:
                return None
            if code.co_varnames[:1] == ("self",):
                classes.add(type(frame.f_locals.get("self")))
            lines.add((code.co_filename, frame.f_lineno))
            return local

        self.trace = trace
        self.name, self.wanted, self.modules, self.covered = name, wanted, modules, covered
        self.lines, self.classes = lines, classes

    def __enter__(self) -> None:
        threading.settrace(self.trace)
        sys.settrace(self.trace)

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type]
        for file, line in self.lines:
            self.covered.by_line[self.wanted[file], line].add(self.name)
            self.covered.by_file[self.wanted[file]].add(self.name)
        for one in {base for found in self.classes for base in found.__mro__}:
            if path := self.modules.get(one.__module__):
                self.covered.by_file[path].add(self.name)


def _codes(code: object) -> Iterator[CodeType]:
    """All code below a module's."""
    assert isinstance(code, CodeType)
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield one
            yield from _codes(one)


def _place(code: CodeType) -> tuple[str, str, int]:
    return code.co_filename, code.co_qualname, code.co_firstlineno


def _functions(files: set[str]) -> dict[tuple[str, str, int], list[FunctionType]]:
    """The functions of these files, by where they stand."""
    found: dict[tuple[str, str, int], list[FunctionType]] = defaultdict(list)
    for one in gc.get_objects():
        if isinstance(one, FunctionType) and one.__code__.co_filename in files:
            found[_place(one.__code__)].append(one)
    return found


def _import_as(path: str, code: object) -> None:
    """From now on the file at this path is imported as this code."""
    get_code = importlib.machinery.SourceFileLoader.get_code

    def mutated(self: importlib.machinery.SourceFileLoader, fullname: str) -> Any:
        return code if self.path == path else get_code(self, fullname)

    importlib.machinery.SourceFileLoader.get_code = mutated  # type: ignore[method-assign]
