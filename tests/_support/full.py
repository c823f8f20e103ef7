"""The tests that `.ci/run` leaves to `pytest -m full`, and what it runs in their place.

Kill matrices, simulations in many settings, every pattern on every hostile text: each proves its statement by many
cases, and any one case shows that something is broken. A function of `REDUCED` runs in `.ci/run` in the cases named
here alone; its other cases are `full`. Before a release, and after a change to what they are about:

    pytest -m full
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

#: The ids of all tests that a session has collected, before it chose any by their marks.
COLLECTED = pytest.StashKey[list[str]]()

_LINEAR = "tests/test_linear_time.py::test_every_"
_BATCH = "tests/judges/batch/test_batch_"
_SEEDED = "tests/analysis/diagnosis/test_seeded.py::test_by_"
_GUARANTEE = "tests/judges/test_cascade_guarantee.py::test_"

#: File and function -> the ids of the cases that `.ci/run` keeps. () where other tests guard the same, named behind.
REDUCED: Mapping[str, Sequence[str]] = {
    # the default tests have each pattern on the text that is worst for it
    f"{_LINEAR}pattern_takes_linear_time": (),
    f"{_LINEAR}prompt_is_asked_and_read_in_linear_time": ("claims0", "question0", "support0"),
    f"{_LINEAR}function_takes_linear_time": (
        "assay.errors:printable",
        "assay.text.quotes:locate",
        "assay.judges.claim_rules.extract:sentence_claims",
    ),
    f"{_BATCH}kills.py::test_killed_at_each_state": ("openai-create made-1", "anthropic-results asked-1"),
    f"{_BATCH}kills.py::test_killed_at_a_random_point": ("5",),  # the others are killed between two batches
    f"{_BATCH}kills.py::test_killed_again_and_again": ("0",),
    f"{_BATCH}faults.py::test_trouble_that_passes_costs_no_request_twice": ("503-create made", "dropped-results asked"),
    # the default tests have two sizes of the first, and the third
    f"{_GUARANTEE}false_certificates_are_five_percent_at_most": ("20-10", "100-5"),
    f"{_GUARANTEE}several_prompts_on_a_row_are_no_more_witnesses": ("30",),
    f"{_GUARANTEE}the_guarantee_in_more_worlds_and_runs": (),
    "tests/analysis/gates/test_labelled_simulated.py::test_a_gate_whose_limit_is_the_true_share_is_wrong_seldom": (
        "50-40-badly",
        "50-100-claims",
    ),
    "tests/analysis/gates/test_simulated.py::test_gates_on_two_runs_of_one_system_fail_at_most_5_percent": (
        "24-3-None-graded",
        "40-2-12-graded",
    ),
    "tests/analysis/comparison/test_equal_runs.py::"
    "test_of_1000_pairs_of_equal_runs_5_percent_are_better_or_worse_at_most": ("yes or no",),
    f"{_SEEDED}a_readers_verdicts_all_rows_have_the_right_cause": ("final-0.05",),
    f"{_SEEDED}the_embedded_judge_labels_are_mostly_right": ("14",),
    "tests/stats/test_ppi.py::test_it_is_unbiased_its_interval_holds_and_is_short_where_the_judge_is_good": (
        "wrong1-rows",
        "wrong3-clusters",
    ),
    # the default tests have 200 draws of the same
    "tests/stats/test_ppi.py::test_labels_drawn_by_uncertainty_give_no_biased_mean_in_4000_draws": (),
    "tests/stats/test_ppi.py::test_labels_with_few_bad_rows_are_seldom_wrong_in_4000_draws": (),
    "tests/stats/test_worlds.py::test_the_interval_holds_the_truth_in_4000_draws": (),
    "tests/stats/test_verdicts.py::test_the_interval_of_a_difference_holds_the_truth_in_4000_draws": (
        "certain, 0.0 and 0.05 bad-20",
    ),
    "tests/stats/test_noise.py::test_two_more_readings_differ_by_no_more_than_the_tolerance_in_4000_draws": (
        "1 % flip-50",
    ),
    "tests/stats/test_coverage.py::test_intervals_hold_the_truth_as_often_as_they_say": ("some",),
    "tests/stats/test_power.py::test_nine_of_ten_drops_are_seen_on_the_rows_that_the_plan_gives": ("world0-0.1",),
    "tests/stats/test_alike.py::test_a_bias_of_5_points_is_hardly_ever_said_to_agree": ("bias0-60",),
    "tests/stats/test_alike.py::test_where_there_is_no_bias_it_is_hardly_ever_said_to_differ": ("6-60",),
    "tests/stats/test_alike.py::test_a_bias_as_large_as_the_margin_agrees_in_at_most_1_of_20": (),
    "tests/stats/test_sequential.py::test_alike_runs_fail_rarely_though_looked_at_after_every_sample": ("world1",),
    "tests/stats/test_sequential.py::test_it_stops_early_where_the_drop_is_twice_the_margin": ("0.9-0.05",),
    "tests/stats/test_agreement.py::test_intervals_hold_the_true_figure": ("60-1-40",),
    "tests/stats/test_sequential.py::test_the_interval_holds_the_truth_at_every_look": ("80",),
    "tests/analysis/judges/test_calibrate_cascade.py::"
    "test_few_rows_and_many_metrics_certify_nothing_that_does_not_hold": ("40",),
    "tests/live/test_kill.py::test_ten_kills_of_the_application_lose_only_what_was_not_yet_written": ("1",),
    "tests/live/test_kill.py::test_ten_kills_of_workers_lose_and_repeat_nothing": ("3",),
    "tests/live/test_servers.py::test_with_a_warning_everything_is_kept": (
        "gunicorn_gthread_--preload-limit-live",
        "uvicorn-SIGTERM-live",
        "uvicorn_--workers-SIGTERM-live",
        "celery_prefork-limit-live",
    ),
    "tests/live/test_servers.py::test_without_a_warning_a_queue_loses_the_last_100_ms_at_most": (
        "gunicorn_sync-os._exit",
        "uvicorn-SIGKILL",
    ),
    # the shapes that are applications are among the default tests, in every form
    "integrations/langchain/tests/test_application_forms.py::test_application_in_another_form": (),
    "integrations/llama_index/tests/test_application_forms.py::test_application_awaited": (),
    "integrations/opentelemetry/tests/test_langchain_parity.py::test_imported_is_what_was_captured_live": (),
    "integrations/opentelemetry/tests/test_llama_index_parity.py::test_imported_is_what_was_captured_live": (),
    # the default tests have all shapes in the versions of constraints.txt, which are the newest
    "tests/test_versions.py::test_every_shape_is_captured_exactly": ("oldest-langchain", "oldest-llama_index"),
    # the core, and a framework whose base classes may be absent
    "tests/packaging/test_wheels.py::test_type_checkers_know_every_public_type": ("assay", "assay_langchain"),
    "tests/evaluation/test_evaluate.py::test_many_rows_in_flat_memory": ("20000",),
    "tests/_util/test_install_hints.py::test_what_the_error_says_brings_the_judge_in_a_clone": ("uv",),
    "tests/evaluation/sharded/test_on_ray.py::test_in_the_environment_of_ray": ("sample",),
    "tests/frameworks/test_frameworks.py::test_assay_makes_no_difference_that_an_empty_handler_does_not_make": (
        "llama-index-instrumentation",
    ),
}


def is_full(nodeid: str) -> bool:
    """Whether a long test runs in `pytest -m full` alone."""
    function, _, case = nodeid.partition("[")
    kept = REDUCED.get(function)
    return kept is not None and case.removesuffix("]") not in kept


def without_a_test(nodeids: Sequence[str]) -> list[str]:
    """The entries of `REDUCED` and their cases that name no test."""
    there = {nodeid.removesuffix("]") for nodeid in nodeids}
    functions = {nodeid.partition("[")[0] for nodeid in there}
    cases = [f"{function}[{case}" for function, kept in REDUCED.items() for case in kept]
    return [name for name in (*REDUCED, *cases) if name not in functions and name not in there]
