"""Writes oracles.json: what MLflow, scipy and statsmodels compute on the same numbers.

    python -m tests.stats.record_oracles

in an environment with these three; MLflow 3.18.0 may be its wheel, unpacked and first on the path.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

FILE = Path(__file__).parent / "oracles.json"


def pairs() -> Iterator[tuple[str, list[float], list[float]]]:
    """Scores of two runs on the same rows, as people have them: with ties, with zeros, few and many."""
    rng = np.random.default_rng(318)
    for n, right, flip in ((10, 0.8, 0.3), (40, 0.7, 0.3), (60, 0.9, 0.1), (120, 0.6, 0.3), (200, 0.7, 0.25)):
        first = (rng.random(n) < right).astype(float)
        second = np.where(rng.random(n) < flip, 1.0 - first, first)
        yield f"binary {n}", first.tolist(), second.tolist()
    yield "binary, all fall", [1.0] * 12, [0.0] * 12
    yield "binary, none moves", [1.0, 0.0] * 6, [1.0, 0.0] * 6
    for fell in (17, 18):  # 24 and 25 rows differ: the first without the exact test
        yield f"binary, {fell} fall", [1.0] * fell + [0.0] * 9, [0.0] * fell + [1.0] * 7 + [0.0] * 2
    for n, of in ((8, 5), (30, 5), (52, 4), (90, 3)):
        yield f"fifths {n}", *fractions(rng, n, of)
    for n in (6, 14, 15, 45, 70, 110):
        first = rng.random(n)
        yield f"continuous {n}", first.tolist(), np.clip(first + rng.normal(0.03, 0.1, n), 0, 1).tolist()
    first = rng.random(60)
    yield "half unmoved", first.tolist(), np.where(rng.random(60) < 0.5, first, rng.random(60)).tolist()
    yield "all alike", [0.5, 0.25, 0.75] * 4, [0.5, 0.25, 0.75] * 4
    yield "all by one step", [0.25] * 9, [0.5] * 9


def fractions(rng: np.random.Generator, n: int, of: int) -> tuple[list[float], list[float]]:
    return (rng.binomial(of, 0.7, n) / of).tolist(), (rng.binomial(of, 0.6, n) / of).tolist()


def mlflow_tests() -> list[dict[str, Any]]:
    from mlflow.genai.evaluation.comparison.paired_comparison import _compare_paired_values as compare

    found = []
    for name, first, second in pairs():
        one = compare("m", np.array(first), np.array(second), value_type="numeric")
        found.append({"name": name, "first": first, "second": second, "method": one.method, "p": one.p_value})
    return found


def wilson() -> list[dict[str, Any]]:
    from scipy.stats import binomtest
    from statsmodels.stats.proportion import proportion_confint

    found = []
    for k, n in ((0, 10), (3, 10), (10, 10), (45, 50), (1, 200), (777, 1000)):
        for confidence in (0.9, 0.95, 0.99):
            ours = proportion_confint(k, n, 1.0 - confidence, method="wilson")
            theirs = binomtest(k, n).proportion_ci(confidence, method="wilson")
            found.append({"k": k, "n": n, "confidence": confidence, "statsmodels": list(map(float, ours)),
                          "scipy": [float(theirs.low), float(theirs.high)]})  # fmt: skip
    return found


def newcombe() -> list[dict[str, Any]]:
    from statsmodels.stats.proportion import confint_proportions_2indep

    return [
        {"counts": counts, "interval": list(map(float, confint_proportions_2indep(*counts, method="newcomb")))}
        for counts in ((56, 70, 48, 80), (9, 10, 3, 10), (10, 10, 0, 10), (5, 56, 0, 29), (0, 10, 0, 20))
    ]


def student() -> list[dict[str, Any]]:
    from scipy.stats import t

    found = []
    for values in ([1.0, 2.5, 3.0], [0.2, 0.2, 0.9, 0.4, 0.7, 0.1], [5.0, 5.0]):
        error = float(np.std(values, ddof=1) / np.sqrt(len(values)))
        ends = (np.mean(values) + error * t.ppf(q, len(values) - 1) for q in (0.025, 0.975))
        found.append({"values": values, "interval": [float(end) for end in ends]})
    return found


def power() -> list[dict[str, Any]]:
    from statsmodels.stats.power import TTestIndPower, TTestPower

    return [
        {
            "effect": effect,
            "power": share,
            "paired": float(TTestPower().solve_power(effect_size=effect, alpha=0.05, power=share)),
            "unpaired": float(TTestIndPower().solve_power(effect_size=effect, alpha=0.05, power=share)),
        }
        for effect in (0.1, 0.2, 0.5)
        for share in (0.8, 0.9)
    ]


def main() -> None:
    import mlflow
    import scipy
    import statsmodels

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {
            "versions": {
                "mlflow": mlflow.__version__,
                "scipy": scipy.__version__,
                "statsmodels": statsmodels.__version__,
            },
            "paired": mlflow_tests(),
            "wilson": wilson(),
            "newcombe": newcombe(),
            "student": student(),
            "power": power(),
        }
    lines = [f"{json.dumps(name)}: {_listed(value)}" for name, value in found.items()]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def _listed(value: Any) -> str:
    if isinstance(value, list):
        return "[\n" + ",\n".join(json.dumps(one) for one in value) + "\n]"
    return json.dumps(value)


if __name__ == "__main__":
    main()
