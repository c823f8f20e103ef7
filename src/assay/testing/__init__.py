"""Tests for what you write yourself: hold a metric, a judge, a sink or a framework integration to what assay promises.

    from assay.testing import check_metric

    def test_my_metric():
        check_metric(my_metric)

Each check needs no test framework: it raises AssertionError, saying what is wrong, for the first broken promise.
"""

from assay.testing.bench import Bench, StoredScore, checks_for, exchange
from assay.testing.captures import CapturedExchange, CollectingIntake, check_capture
from assay.testing.judges import FavourableJudge, check_judge
from assay.testing.metrics import check_metric
from assay.testing.sinks import check_sink

__all__ = [
    "Bench",
    "CapturedExchange",
    "CollectingIntake",
    "FavourableJudge",
    "StoredScore",
    "check_capture",
    "check_judge",
    "check_metric",
    "check_sink",
    "checks_for",
    "exchange",
]
