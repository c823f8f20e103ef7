"""The small cases that `.ci/run` keeps of long tests: each fails when what it guards is broken.

    python -m tests.mutation.small_cases                every entry of `ENTRIES`
    python -m tests.mutation.small_cases kills ppi      those that have one of these words in their names

The tests of an entry run in a copy of the sources and tests: as they are, and with each of its faults. It is caught if
each fault makes a test fail, and each case that is kept fails with one of the faults. The command prints a line for
each entry, and ends with 1 unless all are caught. An entry that `needs` an environment of its own, which takes minutes
to make, runs only where a word names it.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests._support.full import REDUCED

ROOT = Path(__file__).parents[2]
#: What is copied; all else in the checkout is linked. Larger files (models) are linked too.
COPIED = ("src", "integrations", "tests", "conftest.py", "pyproject.toml")
LARGE = 1 << 20
_IGNORED = shutil.ignore_patterns("__pycache__", ".venv", "*.egg-info")
#: Settings of the session that started this one.
_FOREIGN = ("PYTEST_", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE")

_PASSED, _FAILED = 0, 1  # exit codes of pytest


@dataclass(frozen=True, slots=True)
class Fault:
    """One change of a file: `old`, which stands in it once, becomes `new`."""

    path: str
    old: str
    new: str

    @property
    def text(self) -> str:
        """The changed lines, in one line."""
        old, new = (" ".join(text.split()) for text in (self.old, self.new))
        return f"{self.path}: {old} -> {new}"

    @contextmanager
    def apply(self, folder: Path) -> Iterator[None]:
        """In the block, the file below `folder` has the fault."""
        file = folder / self.path
        before = file.read_text(encoding="utf-8")
        file.write_text(before.replace(self.old, self.new), encoding="utf-8")
        try:
            yield
        finally:
            file.write_text(before, encoding="utf-8")


class Entry:
    """A function of `REDUCED`, and faults of what it guards.

    Args:
        function: The key of `REDUCED`.
        faults: One, or more where no single one makes every case fail.
        others: Ids of tests that guard the same, where `REDUCED` keeps no case of the function.
        needs: What the tests need that takes minutes to make.
    """

    def __init__(self, function: str, *faults: Fault, others: Sequence[str] = (), needs: str = "") -> None:
        self.function, self.faults, self.others, self.needs = function, faults, others, needs

    @property
    def cases(self) -> list[str]:
        """The ids of the cases that `.ci/run` keeps."""
        return [f"{self.function}[{case}]" for case in REDUCED[self.function]]

    @property
    def tests(self) -> list[str]:
        """The ids of the tests that run: the cases, or where none is kept the others."""
        return [*self.cases, *self.others]


_LINEAR = "tests/test_linear_time.py::test_every_"
_BATCH = "tests/judges/batch/test_batch_"
_SEEDED = "tests/analysis/diagnosis/test_seeded.py::test_by_"
_GUARANTEE = "tests/judges/test_cascade_guarantee.py::test_"
_ALIKE = "tests/stats/test_alike.py::test_"
_SEQUENTIAL = "tests/stats/test_sequential.py::test_"
_LANGCHAIN = "integrations/langchain/tests/test_application_forms.py::test_application_in_another_form"
_LLAMA_INDEX = "integrations/llama_index/tests/test_application_forms.py::test_application_awaited"
_LANGCHAIN_SPANS = "integrations/opentelemetry/tests/test_langchain_parity.py::test_imported_is_what_was_captured_live"
_LLAMA_INDEX_SPANS = (
    "integrations/opentelemetry/tests/test_llama_index_parity.py::test_imported_is_what_was_captured_live"
)

ENTRIES = (
    Entry(
        "tests/analysis/comparison/test_equal_runs.py::"
        "test_of_1000_pairs_of_equal_runs_5_percent_are_better_or_worse_at_most",
        # the p-values of a family are not corrected
        Fault("src/assay/analysis/comparison/family.py", "iter(holm([one", "iter(list([one"),
    ),
    Entry(
        f"{_SEEDED}a_readers_verdicts_all_rows_have_the_right_cause",
        # a claim that nothing supports costs nothing
        Fault(
            "src/assay/analysis/diagnosis/signatures.py",
            "return (one.supported == one.contradicted == 0) + one.contradicted",
            "return float(one.contradicted)",
        ),
    ),
    Entry(
        f"{_SEEDED}the_embedded_judge_labels_are_mostly_right",
        # what texts share is what they don't
        Fault("src/assay/analysis/diagnosis/cause_features.py", "len(some & others)", "len(some - others)"),
    ),
    Entry(
        f"{_LINEAR}pattern_takes_linear_time",
        # two runs of spaces that share theirs
        Fault("src/assay/judges/prompt_rendering.py", r"<(?=\s*+/?\s*+data\s*+-)", r"<(?=\s*/?\s*data\s*-)"),
        others=(f"{_LINEAR}pattern_takes_linear_time_on_what_is_worst_for_it[src/assay/judges/prompt_rendering.py]",),
    ),
    Entry(
        f"{_LINEAR}prompt_is_asked_and_read_in_linear_time",
        # a copy of the rest of the text for each mark
        Fault(
            "src/assay/text/quotes.py",
            "if text.startswith(mark, start, end)), None):",
            "if text[start:end].startswith(mark)), None):",
        ),
        # the code of all sections is made for each of them
        Fault(
            "src/assay/judges/prompt_rendering.py",
            "</data-{code}>' for section in material]",
            "</data-{code}>' for section in material for code in [_code([one.text for one in material])]]",
        ),
        # pysbd is given whole texts
        Fault("src/assay/text/sentences.py", "_WINDOW = 1000\n", "_WINDOW = 1_000_000\n"),
    ),
    Entry(
        f"{_LINEAR}function_takes_linear_time",
        # the text is searched from its beginning for each character
        Fault(
            "src/assay/errors.py",
            '    return INVISIBLE.sub(_escaped, text.replace("\\r\\n", "\\n"))',
            '    text = text.replace("\\r\\n", "\\n")\n'
            "    while found := INVISIBLE.search(text):\n"
            "        text = text[: found.start()] + _escaped(found) + text[found.end() :]\n"
            "    return text",
        ),
        # a copy of the rest of the text for each mark
        Fault(
            "src/assay/text/quotes.py",
            "if text.startswith(mark, start, end)), None):",
            "if text[start:end].startswith(mark)), None):",
        ),
        # pysbd is given whole texts
        Fault("src/assay/text/sentences.py", "_WINDOW = 1000\n", "_WINDOW = 1_000_000\n"),
    ),
    Entry(
        f"{_BATCH}kills.py::test_killed_at_each_state",
        # a batch that may have been made is not looked for
        Fault(
            "src/assay/judges/batch/submit.py",
            'seen = await self._found(batch) if batch.state == "creating" else None',
            "seen = None",
        ),
        # a batch that the provider has is given up
        Fault("src/assay/judges/batch/submit.py", 'elif batch.state != "running":', "else:"),
    ),
    Entry(
        f"{_BATCH}kills.py::test_killed_at_a_random_point",
        # the lock of a process that was killed holds
        Fault(
            "src/assay/judges/batch/runner.py",
            '        lock = Database(self.state.folder / LOCK_NAME, "CREATE TABLE held (by)", "held", timeout=0.5)\n',
            "        if (self.state.folder / LOCK_NAME).exists():\n"
            '            raise InputError("batches: another run is at work")\n'
            '        lock = Database(self.state.folder / LOCK_NAME, "CREATE TABLE held (by)", "held", timeout=0.5)\n',
        ),
    ),
    Entry(
        f"{_BATCH}kills.py::test_killed_again_and_again",
        # a batch that the provider has is given up
        Fault("src/assay/judges/batch/submit.py", 'elif batch.state != "running":', "else:"),
    ),
    Entry(
        f"{_BATCH}faults.py::test_trouble_that_passes_costs_no_request_twice",
        # the call that makes a batch is repeated though it may have arrived
        Fault(
            "src/assay/judges/batch/submit.py",
            "                return batch, refused\n",
            '                return self.state.move(batch, "uploaded"), refused\n',
        ),
        # results that cannot be fetched count as none
        Fault(
            "src/assay/judges/batch/transport.py",
            "            except ReplyTooLarge:\n                return ResultFile(file, complete=False)\n",
            '            except (ReplyTooLarge, Trouble):\n                file.write_bytes(b"")\n',
        ),
    ),
    Entry(
        f"{_GUARANTEE}false_certificates_are_five_percent_at_most",
        # the row that was not seen is left out
        Fault(
            "src/assay/judges/cascade/agreement.py",
            "return _effect(sizes, wrong, unseen=max(1, round(sizes.total() / len(sizes))))",
            "return _effect(sizes, wrong)",
        ),
        # it counts as much as all rows together, and nothing is certified
        Fault(
            "src/assay/judges/cascade/agreement.py",
            "unseen=max(1, round(sizes.total() / len(sizes)))",
            "unseen=sizes.total()",
        ),
    ),
    Entry(
        f"{_GUARANTEE}several_prompts_on_a_row_are_no_more_witnesses",
        # each verdict is a witness
        Fault("src/assay/judges/cascade/agreement.py", "effective = int(count / effect)", "effective = count"),
    ),
    Entry(
        f"{_GUARANTEE}the_guarantee_in_more_worlds_and_runs",
        # the rows of the test alone say how alike verdicts are
        Fault("src/assay/judges/cascade/agreement.py", "max(cautious, _effect(sizes, wrong))", "_effect(sizes, wrong)"),
        others=(
            f"{_GUARANTEE}rows_that_are_wrong_as_a_whole_where_the_first_judge_is_sure[50-10]",
            f"{_GUARANTEE}rows_that_are_wrong_as_a_whole_where_the_first_judge_is_sure[100-5]",
        ),
    ),
    Entry(
        "tests/analysis/gates/test_labelled_simulated.py::test_a_gate_whose_limit_is_the_true_share_is_wrong_seldom",
        # the labels count as if there were any number of them
        Fault(
            "src/assay/stats/shares.py",
            "of_true, of_false = found * (1.0 - found) / (told.true + 3.0), left * (1.0 - left) / (told.false + 3.0)",
            "of_true, of_false = 0.0, 0.0",
        ),
        # rows count as more than they are
        Fault("src/assay/analysis/gates/label_share.py", "true_share(said, n, told,", "true_share(said, n * n, told,"),
    ),
    Entry(
        "tests/analysis/gates/test_simulated.py::test_gates_on_two_runs_of_one_system_fail_at_most_5_percent",
        # no correction for the number of rules
        Fault("src/assay/stats/paired.py", "(len(ps) - rank) * ps[number]", "ps[number]"),
        # rows that hang together count as independent
        Fault(
            "src/assay/analysis/gates/evidence.py",
            "found = difference(*_columns(pairs), low, high, clusters=clusters,",
            "found = difference(*_columns(pairs), low, high, clusters=None,",
        ),
    ),
    Entry(
        "tests/stats/test_ppi.py::test_it_is_unbiased_its_interval_holds_and_is_short_where_the_judge_is_good",
        # as many labels as there are rows
        Fault(
            "src/assay/stats/ppi.py",
            "(self.left(w) - self.mean(w)) / self.n",
            "(self.left(w) - self.mean(w)) / self.rows",
        ),
    ),
    Entry(
        "tests/stats/test_ppi.py::test_labels_drawn_by_uncertainty_give_no_biased_mean_in_4000_draws",
        # the judge's mean of the other rows is taken for that of all
        Fault("src/assay/stats/ppi.py", "(self.judged - self.every.mean())", "(self.judged - self.rest.mean())"),
        others=("tests/stats/test_ppi.py::test_labels_drawn_by_uncertainty_give_no_biased_mean[200-100]",),
    ),
    Entry(
        "tests/stats/test_ppi.py::test_labels_with_few_bad_rows_are_seldom_wrong_in_4000_draws",
        # the exact end of few answers of one kind is left out
        Fault(
            "src/assay/stats/ppi.py",
            "ends = (*wilson(share, n, t), *beside_few(share, n, confidence))",
            "ends = (share, share + 0.5 * (wilson(share, n, t)[1] - share))",
        ),
        others=("tests/stats/test_ppi.py::test_thirty_labels_with_few_bad_rows_are_seldom_wrong[0.97-0.95-0.1]",),
    ),
    Entry(
        "tests/stats/test_worlds.py::test_the_interval_holds_the_truth_in_4000_draws",
        # of graded scores, nothing is added for the rows that were not seen
        Fault(
            "src/assay/stats/intervals.py",
            "least, most = _unseen(found, share, n / size, low, width, confidence)",
            "least, most = share, share",
        ),
        others=("tests/stats/test_worlds.py::test_the_interval_holds_the_truth[certain, 5 % bad]",),
    ),
    Entry(
        "tests/stats/test_verdicts.py::test_the_interval_of_a_difference_holds_the_truth_in_4000_draws",
        # nearly certain scores give intervals of no length
        Fault(
            "src/assay/stats/paired.py",
            "return _rounded_too(found, first,",
            "return found or _rounded_too(found, first,",
        ),
    ),
    Entry(
        "tests/stats/test_noise.py::test_two_more_readings_differ_by_no_more_than_the_tolerance_in_4000_draws",
        # rows that never differed so far never will
        Fault("src/assay/stats/noise.py", "return self.judge + self.unseen / self.rows", "return self.judge"),
    ),
    Entry(
        "tests/stats/test_coverage.py::test_intervals_hold_the_truth_as_often_as_they_say",
        # the quantile of one side
        Fault(
            "src/assay/stats/intervals.py",
            "t = t_quantile(0.5 + confidence / 2.0, freedom)",
            "t = t_quantile(confidence, freedom)",
        ),
    ),
    Entry(
        "tests/stats/test_power.py::test_nine_of_ten_drops_are_seen_on_the_rows_that_the_plan_gives",
        # the level of one side
        Fault(
            "src/assay/stats/power.py", "binomial_two_sided(k, m) >= alpha", "binomial_two_sided(k, m) >= 2.0 * alpha"
        ),
    ),
    Entry(
        f"{_ALIKE}a_bias_of_5_points_is_hardly_ever_said_to_agree",
        # one side that passes is enough
        Fault(
            "src/assay/stats/alike.py",
            'if all(side.verdict == "pass" for side in plain):',
            'if any(side.verdict == "pass" for side in plain):',
        ),
    ),
    Entry(
        f"{_ALIKE}where_there_is_no_bias_it_is_hardly_ever_said_to_differ",
        # no correction for the number of tests
        Fault("src/assay/stats/alike.py", "sides(alpha / (SIDES * looks))", "sides(alpha)"),
    ),
    Entry(
        f"{_ALIKE}a_bias_as_large_as_the_margin_agrees_in_at_most_1_of_20",
        # the other end of the interval
        Fault("src/assay/stats/paired.py", '"pass" if found.low > -margin', '"pass" if found.mean > -margin'),
        others=("tests/analysis/gates/test_simulated.py::test_a_drop_beyond_the_margin_passes_seldom",),
    ),
    Entry(
        f"{_SEQUENTIAL}alike_runs_fail_rarely_though_looked_at_after_every_sample",
        # a sum of gains in place of a product
        Fault(
            "src/assay/stats/sequential.py",
            "np.log1p(STAKES * ((self.reference - value) / (self.high - self.reference)))",
            "STAKES * ((self.reference - value) / (self.high - self.reference))",
        ),
    ),
    Entry(
        f"{_SEQUENTIAL}it_stops_early_where_the_drop_is_twice_the_margin",
        # small stakes alone
        Fault("src/assay/stats/sequential.py", "np.geomspace(0.01, 0.97, 24)", "np.geomspace(0.01, 0.1, 24)"),
    ),
    Entry(
        "tests/stats/test_agreement.py::test_intervals_hold_the_true_figure",
        # the variance of values in place of that of the jackknife
        Fault("src/assay/stats/agreement.py", ".sum() * (left.size - 1) / left.size)", ".sum() / left.size)"),
    ),
    Entry(
        f"{_SEQUENTIAL}the_interval_holds_the_truth_at_every_look",
        # the confidence in place of the level
        Fault("src/assay/stats/sequential.py", "-math.log(self.alpha)", "-math.log(1.0 - self.alpha)"),
    ),
    Entry(
        "tests/analysis/judges/test_calibrate_cascade.py::"
        "test_few_rows_and_many_metrics_certify_nothing_that_does_not_hold",
        # the confidence in place of the level
        Fault(
            "src/assay/judges/cascade/agreement.py",
            "_at_most(self.wrong, self.effective, 1.0 - target) <= 1.0 - confidence",
            "_at_most(self.wrong, self.effective, 1.0 - target) <= confidence",
        ),
    ),
    Entry(
        "tests/live/test_kill.py::test_ten_kills_of_the_application_lose_only_what_was_not_yet_written",
        # counts are written with the samples that come next
        Fault(
            "src/assay/live/queue/queue_file.py",
            "            count(db, process, {**counts, **outcome})\n            count_by_hour",
            '            count(db, process, getattr(self, "late", {}))\n'
            "            self.late = {**counts, **outcome}\n"
            "            count_by_hour",
        ),
    ),
    Entry(
        "tests/live/test_kill.py::test_ten_kills_of_workers_lose_and_repeat_nothing",
        # a sample that was in work when a worker died is given up
        Fault(
            "src/assay/live/queue/worker.py",
            "if leased.attempts >= self._max_attempts:",
            "if leased.attempts:",
        ),
    ),
    Entry(
        _LANGCHAIN,
        # the inputs that streams give at their end are lost
        Fault(
            "integrations/langchain/src/assay_langchain/handler.py",
            'outputs, inputs=kwargs.get("inputs"), streamed="inputs" in kwargs)',
            "outputs)",
        ),
        others=(f"{_LANGCHAIN}[step_back-astream]", f"{_LANGCHAIN}[self_query-stream]"),
    ),
    Entry(
        _LLAMA_INDEX,
        # the awaited form is not known
        Fault(
            "integrations/llama_index/src/assay_llama_index/kinds.py",
            'frozenset({"query", "aquery"})',
            'frozenset({"query"})',
        ),
        others=(
            f"{_LLAMA_INDEX}[Applications: engines-tree_of_summaries]",
            f"{_LLAMA_INDEX}[Applications: engines-hyde_over_citations]",
        ),
    ),
    Entry(
        _LANGCHAIN_SPANS,
        # a stream that its reader left counts as read
        Fault(
            "integrations/opentelemetry/src/assay_opentelemetry/traces.py",
            "(call.ended or 0.0) > root.ended",
            "(call.ended or 0.0) < root.ended",
        ),
        others=[f"{_LANGCHAIN_SPANS}[stream_closed]"],
    ),
    Entry(
        _LLAMA_INDEX_SPANS,
        # the arguments of a call are left below `kwargs`
        Fault(
            "integrations/opentelemetry/src/assay_opentelemetry/openinference.py",
            'made.inputs = {name: value for name, value in made.inputs["kwargs"].items() if not is_object(value)}',
            "made.inputs = dict(made.inputs)",
        ),
        others=[f"{_LLAMA_INDEX_SPANS}[Agents-two_tool_calls]"],
    ),
    Entry(
        "tests/evaluation/test_evaluate.py::test_many_rows_in_flat_memory",
        # every row stays in memory
        Fault(
            "src/assay/evaluation/run.py",
            "            self.result.add(scored, number, row.facts)\n",
            "            self.result.add(scored, number, row.facts)\n"
            '            globals().setdefault("R", []).append(scored)\n',
        ),
    ),
    Entry(
        "tests/_util/test_install_hints.py::test_what_the_error_says_brings_the_judge_in_a_clone",
        # the part alone, without the core that it needs
        Fault(
            "src/assay/_util/install_hints.py",
            'return _folders(clone, str(clone / "integrations" / PARTS[extra]), PARTS[extra])',
            'return ["-e", str(clone / "integrations")]',
        ),
        needs="uv, and an index of packages",
    ),
    Entry(
        "tests/test_versions.py::test_every_shape_is_captured_exactly",
        # what a retriever found is lost
        Fault(
            "integrations/langchain/src/assay_langchain/handler.py",
            '"on_retriever_end", documents=documents)',
            '"on_retriever_end")',
        ),
        needs="environments with the oldest and the newest frameworks",
    ),
    Entry(
        "tests/packaging/test_wheels.py::test_type_checkers_know_every_public_type",
        # a parameter without its type
        Fault("src/assay/judges/scripted_judge.py", "rules: Mapping[str, Rule] | None = None,", "rules=None,"),
        needs="packages for an empty environment",
    ),
    Entry(
        "tests/evaluation/sharded/test_on_ray.py::test_in_the_environment_of_ray",
        # a Dataset is taken for a file
        Fault(
            "integrations/ray/src/assay_ray/engine.py",
            "return DatasetRows.of(data, **how) if is_read_by_ray(data) else ShardedFiles.of(data, **how)",
            "return ShardedFiles.of(data, **how)",
        ),
        needs="an environment with Ray",
    ),
    Entry(
        "tests/frameworks/test_frameworks.py::test_assay_makes_no_difference_that_an_empty_handler_does_not_make",
        # a hook that fails
        Fault(
            "integrations/llama_index/src/assay_llama_index/handler.py",
            "self.capture.exit(id_, instance, result)",
            "self.capture.exit(id_, result)",
        ),
        needs="environments with the frameworks and their tests",
    ),
    Entry(
        "tests/live/test_servers.py::test_with_a_warning_everything_is_kept",
        # the server of uvicorn is not followed
        Fault(
            "src/assay/live/process_end.py",
            "        server.shutdown = shutdown_and_run\n",
            "        self._shutdown = shutdown_and_run\n",
        ),
        # nothing is done at the end of a process
        Fault(
            "src/assay/live/process_end.py",
            "        if self._ran_in != os.getpid():",
            "        if self._ran_in != os.getpid() == 0:",
        ),
        needs="an environment with the servers",
    ),
    Entry(
        "tests/live/test_servers.py::test_without_a_warning_a_queue_loses_the_last_100_ms_at_most",
        # it is written a hundred times as seldom
        Fault(
            "src/assay/live/queue/sample_queue.py",
            "        flush_every: float = 0.05,\n",
            "        flush_every: float = 5.0,\n",
        ),
        needs="an environment with the servers",
    ),
)


@dataclass(frozen=True, slots=True)
class Run:
    """A run of tests: the exit code of pytest, the tests that failed, and what was printed."""

    code: int
    failed: frozenset[str]
    printed: str


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation.small_cases", description=__doc__)
    parser.add_argument("words", nargs="*", help="parts of the names of entries")
    chosen = choose(parser.parse_args().words)
    with tempfile.TemporaryDirectory(prefix="assay-small-cases-") as name:
        copy = copy_project(Path(name))
        outcomes = [check(entry, copy) for entry in chosen]
    print(f"{sum(outcomes)} of {len(outcomes)} entries are caught", flush=True)
    return int(not outcomes or not all(outcomes))


def choose(words: Sequence[str]) -> list[Entry]:
    """The entries that have one of the words in their names; without words all that need nothing."""
    if words:
        return [entry for entry in ENTRIES if any(word in entry.function for word in words)]
    for entry in ENTRIES:
        if entry.needs:
            print(f"{'not run':8} {'':7} {entry.function}: needs {entry.needs}", flush=True)
    return [entry for entry in ENTRIES if not entry.needs]


def check(entry: Entry, copy: Path) -> bool:
    """Run an entry, and print what became of it; whether it is caught."""
    began = time.monotonic()
    wrong = list(find_gaps(entry, copy))
    word = "SURVIVED" if wrong else "caught"
    faults = "; ".join(fault.text for fault in entry.faults)
    print(f"{word:8} {time.monotonic() - began:5.0f} s {entry.function}: {faults}", *wrong, sep="\n    ", flush=True)
    return not wrong


def find_gaps(entry: Entry, copy: Path) -> Iterator[str]:
    """What keeps an entry from being caught."""
    plain = run(entry.tests, copy, imports_copy=not entry.needs)
    if plain.code != _PASSED or " passed" not in plain.printed:
        yield f"its tests do not pass without a fault (pytest ended with {plain.code}):\n{plain.printed[-3000:]}"
        return
    failed: set[str] = set()
    for fault in entry.faults:
        # a case that has failed need not run again
        tests = [test for test in entry.tests if test not in failed] or entry.tests
        with fault.apply(copy):
            done = run(tests, copy, imports_copy=not entry.needs)
        failed |= done.failed
        if done.code not in (_PASSED, _FAILED):
            yield f"{fault.text}: pytest ended with {done.code}:\n{done.printed[-3000:]}"
        elif not done.failed:
            yield f"no test fails with {fault.text}"
    yield from (f"passes with every fault: {case}" for case in entry.cases if case not in failed)


def run(tests: Sequence[str], copy: Path, *, imports_copy: bool) -> Run:
    """Run tests in the copy, whatever their marks. `imports_copy`: they import it; else what they install does."""
    with tempfile.TemporaryDirectory(prefix="assay-small-cases-") as folder:
        words = ["-q", "-m", "", "-p", "no:cacheprovider", "--tb=short", f"--basetemp={folder}/base"]
        command = [sys.executable, "-m", "pytest", *words, *tests]
        environment = {**make_settings(Path(folder)), **(make_path(copy) if imports_copy else {})}
        done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)
    return Run(done.returncode, read_failures(done.stdout, tests), done.stdout + done.stderr)


def make_path(copy: Path) -> dict[str, str]:
    """The setting by which Python imports the sources of the copy."""
    return {"PYTHONPATH": os.pathsep.join(map(str, [copy / "src", *sorted(copy.glob("integrations/*/src"))]))}


def read_failures(printed: str, tests: Sequence[str]) -> frozenset[str]:
    """The tests that pytest lists as failed: `FAILED ID - MESSAGE`, where an id may have spaces too."""
    said = [line.removeprefix("FAILED ") for line in printed.splitlines() if line.startswith("FAILED ")]
    return frozenset(test for test in tests if any(line == test or line.startswith(f"{test} - ") for line in said))


def make_settings(folder: Path) -> dict[str, str]:
    """The environment of a run. `folder` holds what its tests install.

    Such environments are usually kept in the user's cache, with links to the checkout that they were made for.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}
    cache = Path(kept.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return {"UV_CACHE_DIR": str(cache / "uv"), **kept, "XDG_CACHE_HOME": str(folder / "cache")}


def copy_project(folder: Path) -> Path:
    """A copy of the sources and tests in `folder`, with links to whatever else the checkout has."""
    for path in ROOT.iterdir():
        if path.name not in COPIED:
            if path.name not in (".git", ".venv"):
                (folder / path.name).symlink_to(path)
        elif path.is_dir():
            shutil.copytree(path, folder / path.name, ignore=_IGNORED, copy_function=_copy)
        else:
            shutil.copy2(path, folder)
    return folder


def _copy(source: str, target: str) -> str:
    if os.path.getsize(source) < LARGE:
        return shutil.copy2(source, target)
    os.symlink(source, target)
    return target


if __name__ == "__main__":
    sys.exit(main())
