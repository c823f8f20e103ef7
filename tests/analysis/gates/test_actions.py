"""The example for GitHub Actions: its shell steps run here, on the main branch and on a pull request."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from assay.config import configuration

yaml = pytest.importorskip("yaml")

EXAMPLE = Path(__file__).parents[3] / "cookbook" / "github-actions"
PASSAGE = "The museum opened in 1990 in Rome. It has twelve rooms."

#: What the workflow asks before a step, and whether it holds: on the main branch, and on a pull request.
CONDITIONS = {
    "github.event_name == 'push'": (True, False),
    "github.event_name == 'pull_request'": (False, True),
    "github.event_name == 'pull_request' && steps.baseline.outputs.cache-matched-key != ''": (False, True),
    "always() && hashFiles('comment.md') != '' && github.event.pull_request.head.repo.full_name == github.repository": (
        False,
        True,
    ),
}


def workflow() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((EXAMPLE / "rag-gate.yml").read_text(encoding="utf-8"))
    return found


def steps() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = workflow()["jobs"]["gate"]["steps"]
    return found


def test_the_workflow_is_one() -> None:
    found = workflow()
    assert set(found[True]) == {"pull_request", "push"}  # YAML 1.1 reads `on` as true
    assert found["permissions"] == {"contents": "read", "pull-requests": "write"}
    for step in steps():
        assert ("run" in step) != ("uses" in step), step
        assert " ".join(step.get("if", "").split()) in {"", *CONDITIONS}
        assert "${{" not in step.get("run", ""), "texts of a pull request are never put into a shell"
    order = [step.get("name") for step in steps()]
    assert order.index("Baseline") < order.index("Gate") < order.index("Comment")


def test_its_configuration_is_one() -> None:
    found = configuration(EXAMPLE / "assay.toml")
    assert found is not None
    assert found.gates is not None
    assert [str(rule) for rule in found.gates.gate.rules] == [
        "faithfulness at least 0.5",
        "faithfulness at most 0.02 worse than the baseline",
    ]


class Runner:
    """A machine on which the steps run: their folder, and stand-ins for pip and gh that write down their calls."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.bin = folder / "repo", folder / "bin"
        self.folder.mkdir()
        self.bin.mkdir()
        shutil.copy(EXAMPLE / "assay.toml", self.folder)
        self._program("assay", f'exec "{sys.executable}" -m assay "$@"')
        self._program("python", f'exec "{sys.executable}" "$@"')
        for name in ("pip", "gh"):
            self._program(name, f'echo "{name} $*" >> "{folder}/calls"')
        self.calls = folder / "calls"
        self.summary = folder / "summary.md"

    def _program(self, name: str, body: str) -> None:
        (self.bin / name).write_text(f"#!/bin/sh\n{body}\n")
        (self.bin / name).chmod(0o755)

    def run(self, pull_request: bool, answers: list[str]) -> int:
        """Run the job; its exit code is that of the first step that fails."""
        rows = [{"id": f"q{n}", "question": "Tell me of the museum.", "contexts": [PASSAGE], "answer": answer}
                for n, answer in enumerate(answers)]  # fmt: skip
        text = "\n".join(map(json.dumps, rows))
        (self.folder / "answer_questions.py").write_text(f"print({text!r})")
        failed = 0
        for step in steps():
            condition = " ".join(step.get("if", "").split())
            wanted = not condition or CONDITIONS[condition][pull_request]
            if "run" in step and wanted and (not failed or condition.startswith("always()")):
                code = self._shell(step["run"])
                failed = failed or code
        return failed

    def _shell(self, script: str) -> int:
        environment = {
            **os.environ,
            "PATH": f"{self.bin}{os.pathsep}{os.environ['PATH']}",
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "PULL_REQUEST": "https://example.org/pull/17",
        }
        done = subprocess.run(["bash", "-e", "-c", script], cwd=self.folder, env=environment, check=False, timeout=120)
        return done.returncode


@pytest.mark.long
def test_a_pull_request_that_makes_answers_worse_fails_and_says_so(tmp_path: Path) -> None:
    runner = Runner(tmp_path)
    good, bad = "The museum opened in 1990.", "The museum opened in 1990. Dogs are welcome in the restaurant."
    assert runner.run(pull_request=False, answers=[good] * 12) == 0
    assert (runner.folder / ".assay-main" / "assay.db").exists()
    assert runner.run(pull_request=True, answers=[good] * 12) == 0
    assert runner.summary.read_text(encoding="utf-8").startswith("### ✅ assay: PASS")
    assert runner.run(pull_request=True, answers=[bad] * 10 + [good] * 2) == 5
    comment = (runner.folder / "comment.md").read_text(encoding="utf-8")
    assert comment.startswith("### ❌ assay: FAIL")
    assert 'added: "Dogs are welcome in the restaurant." (' in comment
    assert runner.summary.read_text(encoding="utf-8").endswith(comment)
    assert (runner.folder / "gate.xml").exists()
    said = runner.calls.read_text().splitlines()
    assert (
        said.count("gh pr comment https://example.org/pull/17 --body-file comment.md --edit-last --create-if-none") == 2
    )
