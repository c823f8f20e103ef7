"""What cannot be had is said, and fails unless it was named; what is left is chosen by marks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

import pytest

from tests._support.servers import needed


def gone() -> None:
    raise OSError("no such package")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """The program, as `.ci/run` starts it; gives exit code, stdout and stderr."""

    def run(install: Mapping[str, Callable[[], object]], without: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr(needed, "INSTALL", install)
        monkeypatch.setattr(sys, "argv", ["needed", "--without", without])
        code = needed.main()
        return code, *capsys.readouterr()

    return run


def test_all_that_is_there_is_tested(run):
    assert run({"phoenix": int, "browser": int}) == (0, "needs\n", "")


def test_what_is_missing_fails_and_is_said(run):
    code, chosen, said = run({"phoenix": gone, "browser": int})
    assert (code, chosen) == (1, "needs and not needs(name='phoenix')\n")
    assert said == "not tested: what needs phoenix, since it cannot be had: no such package\n"


def test_what_was_named_is_not_even_tried_and_is_said(run):
    code, chosen, said = run({"phoenix": gone, "browser": int}, "phoenix")
    assert (code, chosen) == (0, "needs and not needs(name='phoenix')\n")
    assert said == "not tested: what needs phoenix, since ASSAY_CI_WITHOUT names it\n"


def test_naming_one_does_not_excuse_another(run):
    code, chosen, said = run({"phoenix": gone, "browser": gone}, "browser")
    assert (code, said.count("not tested")) == (1, 2)
    assert chosen == "needs and not needs(name='phoenix') and not needs(name='browser')\n"


def test_a_name_that_nothing_has_is_an_error(run):
    with pytest.raises(SystemExit):
        run({"phoenix": int}, "phenix")
