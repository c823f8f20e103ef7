"""The table of docs/evidence/integrity.md: kinds of damage, faults and hostile input, and how many variants are tried.

    python -m tests.docs.integrity_page --write

A variant is a collected test case; a test that loops over variants counts once. Cases of tests that need a server count
too, and the small case of a long test counts beside the long one.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "evidence" / "integrity.md"
BEGIN, END = "<!-- table -->", "<!-- end of the table -->"

#: Area -> kind -> files, or tests of a file: beginnings of the ids of their cases.
KINDS: dict[str, dict[str, tuple[str, ...]]] = {
    "Runs": {
        "bit flips, cut files and pages, deleted rows": ("tests/evaluation/test_damage.py",),
        "rows that are lost, exchanged or renamed, in gates, tables and exports": (
            "tests/analysis/gates/test_incomplete.py",
            "tests/evaluation/test_exported_rows.py",
        ),
        "digests of rows": ("tests/store/test_digests.py", "tests/store/test_pruning.py"),
        "damaged facts about a run: names, counts, starts, versions": ("tests/cli/test_damaged_runs.py",),
        "runs that end early": ("tests/evaluation/test_run_ends.py",),
        "sessions of pytest that end early": ("integrations/pytest/tests/test_plugin.py",),
        "check and repair": ("tests/cli/test_store_check.py", "tests/evaluation/test_repair.py"),
        "copies without the -wal file": ("tests/store/test_copied_without_wal.py",),
        "two processes on one run; locked stores": ("tests/store/test_replaced_runs.py", "tests/_util/test_sqlite.py"),
    },
    "Verdicts": {
        "labels, labels of passages and quotes that disagree": ("tests/prompts/test_consistency.py",),
        "decisions that contradict each other": (
            "tests/judges/test_decisions.py::test_decisions_that_contradict",
            "tests/prompts/test_prompts.py::test_decisions_on_passages",
        ),
        "replies with too few verdicts, or for others": ("tests/prompts/test_missing_items.py",),
        "exchanged replies of a batch": (
            "tests/judges/batch/test_batch_faults.py",
            "tests/judges/batch/test_protocols.py",
        ),
        "quotes that were not found, counted": ("tests/evaluation/test_quote_counts.py",),
    },
    "Trust": {
        "keys, stores and instruction files of a configuration that was found": (
            "tests/config/test_keys.py",
            "tests/config/test_trust.py",
        ),
        "pictures that data name": ("tests/data/test_pictures_of_data.py",),
        "patterns that data hold": ("tests/metrics/systems/test_patterns.py",),
        "texts of rows outside of the fences": (
            "tests/metrics/systems/test_fenced.py",
            "tests/judges/test_fences.py",
            "tests/judges/test_injection.py",
        ),
    },
    "Bytes": {
        "files that unpack to too much, damaged files": (
            "tests/data/test_hostile_files.py",
            "tests/data/test_large_rows.py",
            "tests/data/test_json_sizes.py",
        ),
        "replies that are too large or packed too often": ("tests/judges/test_reply_bytes.py",),
        "results of batches": ("tests/judges/batch/test_large_results.py",),
        "pictures": ("tests/text/test_picture_sizes.py",),
        "very long answers": ("tests/metrics/test_long_texts.py",),
    },
    "Files": {
        "full disks, formulas in CSV, links, names": ("tests/_util/test_output_files.py",),
        "stores on read-only media": ("tests/store/test_read_only.py",),
    },
    "Endpoints": {
        "replies in other places and shapes, error bodies, refusals": ("tests/judges/test_endpoint_replies.py",),
        "prompts that the server shortened": ("tests/judges/test_prompt_truncation.py",),
        "dialects and misbehaviour": ("tests/judges/test_dialect.py", "tests/judges/test_misbehaving.py"),
        "JSON as models write it": ("tests/judges/test_replies.py",),
    },
    "Data": {
        "lists that Python printed": ("tests/data/test_printed_lists.py",),
        "missing values that are written as text": ("tests/data/test_missing_words.py",),
        "columns: numbered, prefixed, joined": (
            "tests/data/test_column_names.py",
            "tests/data/test_columns_joined.py",
            "tests/data/test_columns.py",
        ),
        "JSON in cells, paths, passages as objects": (
            "tests/data/test_cells.py",
            "tests/data/test_passage_objects.py",
        ),
        "conversations": ("tests/data/test_messages.py", "tests/records/test_messages.py"),
        "exports of other tools": (
            "tests/evaluation/imports",
            "integrations/langfuse/tests/test_source.py",
            "integrations/langsmith/tests/test_source.py",
            "integrations/phoenix/tests/test_source.py",
        ),
    },
    "Capture": {
        "shapes of LangChain and LangGraph applications": ("integrations/langchain/tests/test_shape_matrix.py",),
        "shapes of LlamaIndex applications": ("integrations/llama_index/tests/test_shape_matrix.py",),
        "the same applications async, streamed, in batches": (
            "integrations/langchain/tests/test_application_forms.py",
            "integrations/llama_index/tests/test_application_forms.py",
        ),
        "live and spans give the same": (
            "integrations/opentelemetry/tests/test_langchain_parity.py",
            "integrations/opentelemetry/tests/test_llama_index_parity.py",
        ),
        "results of tools": ("tests/capture/test_tool_results.py",),
        "interrupts": ("tests/capture/test_interrupts.py", "integrations/langchain/tests/test_interrupts.py"),
    },
    "Values": {
        "values that are no text, in five hosts": ("tests/evaluation/adapters/test_odd_values.py",),
        "fractions and decimals, by every way in": ("tests/records/test_numbers.py",),
        "deadlines, also of judges that do not let go": (
            "tests/evaluation/adapters/test_deadlines.py",
            "tests/evaluation/test_run_deadlines.py",
            "tests/live/test_deadlines.py",
        ),
        "objects that raise when they are looked at": ("tests/data/test_raising_objects.py",),
    },
    "Live scoring": {
        "servers and ways to end": ("tests/live/test_servers.py", "tests/live/test_process_ends.py"),
        "queue files that are deleted, replaced, overwritten or damaged; clocks": ("tests/live/test_queue_file.py",),
        "forks, exits, kills": ("tests/live/test_forks.py", "tests/live/test_exit.py", "tests/live/test_kill.py"),
        "damaged model files": ("integrations/embedded/tests/test_files.py",),
    },
    "Numbers": {
        "coverage of intervals in 63 worlds": ("tests/stats/test_worlds.py",),
        "verdicts and intervals agree": (
            "tests/stats/test_verdicts.py",
            "tests/analysis/comparison/test_agreement_of_verdicts.py",
        ),
        "means that labels correct": (
            "tests/stats/test_ppi.py",
            "tests/analysis/judges/alignment/test_align.py",
            "tests/analysis/gates/test_labelled.py",
        ),
        "variance of judges": ("tests/stats/test_noise.py", "tests/analysis/gates/test_tolerance.py"),
        "null arguments, ranges without an end": (
            "tests/metrics/systems/test_null_arguments.py",
            "tests/evaluation/test_infinite_ranges.py",
        ),
    },
}


def collected(files: Iterable[str]) -> list[str]:
    """The ids of all cases of some files."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-n", "0", "-m", "long or not long", *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    found = [line for line in done.stdout.splitlines() if "::" in line]
    if not found:
        raise SystemExit(done.stdout + done.stderr)
    return found


def table(ids: list[str]) -> Iterator[str]:
    """The lines of the table."""
    yield "| area | kind | variants |"
    yield "|---|---|--:|"
    for area, kinds in KINDS.items():
        for kind, tests in kinds.items():
            count = sum(name.startswith(tests) for name in ids)
            if not count:
                raise SystemExit(f"{kind}: no case is collected of {tests}")
            yield f"| {area} | {kind} | {count:,} |"


def main() -> None:
    """Print the table, or write it into the page."""
    files = sorted({name.partition("::")[0] for kinds in KINDS.values() for tests in kinds.values() for name in tests})
    lines = "\n".join(table(collected(files)))
    if "--write" not in sys.argv:
        print(lines)
        return
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n\n{lines}\n\n{END}{rest.partition(END)[2]}", encoding="utf-8")


if __name__ == "__main__":
    main()
