"""The configuration file that `assay init` writes."""

from __future__ import annotations

from importlib.resources import files

_TEXT = """\
# Configuration of assay: what the command line uses where an option is not given.
# All keys: docs/configuration.md. Secrets do not belong here: keys come from the environment.

# What `assay score` reads: a file, a list of files, a pattern, or traces as "otel:spans.jsonl".
data = "assay-demo.jsonl"

# Where judgements and runs are kept.
store = ".assay"

# The language of rows that do not say theirs. Without it, it is found out row by row.
# language = "en"

# Columns that have a name of your own.
# [columns]
# question = "prompt"
# contexts = ["passage 1", "passage 2"]

# Who judges: "embedded" (offline, free), or "openai:MODEL" with the key of OPENAI_API_KEY.
[judge]
name = "embedded"
# The address and the key of another judge:
# base_url = "http://localhost:11434/v1"
# A key goes there after `assay judge trust`, or with ASSAY_ALLOW_KEYS=MY_KEY@localhost:11434.
# api_key_env = "MY_KEY"

# What is measured: a table for each metric, with its parameters where it has any. `assay metrics` lists them.
[metrics.faithfulness]
[metrics.context_relevance]
# [metrics."ragas:context_precision"]
# profile = "original"

# What judging may cost.
# [budget]
# calls_per_day = 10000

# What must hold: `assay gate`, or `assay score --gate`. PASS ends with 0, FAIL with 5, INCONCLUSIVE with 6.
[gates]
coverage = 0.8        # of the rows, how many must have a value to pass
# baseline = "main"   # the run that others are held against
# cluster = "source"  # rows with one value in this column are one witness
# thresholds = "calibration.json"  # what `assay judge align LABELS --write` found, for good_share
# noise = "noise.json"  # of `assay judge noise --out`: nothing fails for less than the judge's own variance

[gates.faithfulness]
at_least = 0.5
# by = "interval"     # the mean of many such rows, and not of these alone
# good_share = 0.9    # people would call so many rows good, by a threshold found on labels
# max_drop = 0.02     # against the baseline: fails where a larger drop is shown
# margin = 0.05       # against the baseline: passes only where it is shown that the drop is smaller
"""


def template() -> tuple[str, str]:
    """The file, and the rows of JSONL that it speaks of."""
    return _TEXT, (files("assay.data.demo") / "answers.jsonl").read_text(encoding="utf-8")
