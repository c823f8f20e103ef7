"""How wide the interval is against others that hold the truth: `python -m tests.stats.widths` prints the table.

At each setting of the grid of test_coverage.py: the mean width of ours over that of the narrowest of

    student   mean ± t · standard error, cut off at the ends of the range; of clusters the error of their sums
    wilson    Wilson's interval of as many answers as leave the mean as uncertain (n*), with the normal quantile
    wilson t  the same with Student's quantile
    mover     of differences: put together from plain Wilson intervals (normal quantile) of rises and falls
    jeffreys  of shares: quantiles of Beta(k + 1/2, n - k + 1/2)

that hold the truth in at least 92.5 % of the same runs. None of them does so at every setting; the last lines say how
seldom each holds it at its worst one.
"""

from __future__ import annotations

import math
import sys
from collections import defaultdict

import numpy as np
from scipy import stats

from assay.stats import difference, estimate
from assay.stats.arrays import Floats
from assay.stats.distributions import normal_quantile, t_quantile
from assay.stats.intervals import wilson
from tests.stats.test_coverage import SETTINGS, Setting

RUNS = 600
HOLDS = 0.925
Z = normal_quantile(0.975)
Ends = tuple[float, float]


def student(x: Floats, sizes: tuple[int, ...], low: float, high: float) -> dict[str, Ends]:
    """Of independent rows, or clusters of these sizes one after the other."""
    n, mean = x.size, float(x.mean())
    count = len(sizes) or n
    sums = np.add.reduceat(x - mean, np.cumsum((0, *sizes[:-1]))) if sizes else x - mean
    error = math.sqrt(float((sums**2).sum()) * count / (count - 1)) / n
    width, t = high - low, t_quantile(0.975, count - 1)
    share = (mean - low) / width
    found: dict[str, Ends] = {}
    answers = share * (1 - share) * width**2 / error**2 if error > 1e-12 else float(count)
    for name, quantile in (("wilson", Z), ("wilson t", t)):
        bottom, top = wilson(share, answers, quantile)
        found[name] = (low + width * bottom, low + width * top)
    known = error > 1e-12  # where all are equal, it would be sure of it
    found["student"] = (max(low, mean - t * error), min(high, mean + t * error)) if known else found["wilson t"]
    return found


def others(x: Floats, setting: Setting) -> dict[str, Ends]:
    if setting.paired:
        found = {"student": student(x, (), -1.0, 1.0)["student"]}
        parts = [student(part, (), 0.0, 1.0)["wilson"] for part in (np.maximum(x, 0.0), np.maximum(-x, 0.0))]
        up, down = float(np.maximum(x, 0.0).mean()), float(np.maximum(-x, 0.0).mean())
        (a, b), (c, d) = parts
        found["mover"] = up - down - math.hypot(up - a, d - down), up - down + math.hypot(b - up, down - c)
        return found
    found = student(x, setting.sizes, 0.0, 1.0)
    if not setting.sizes and np.isin(x, (0.0, 1.0)).all():
        k, n = float(x.sum()), x.size
        found["jeffreys"] = tuple(stats.beta.ppf((0.025, 0.975), k + 0.5, n - k + 0.5).tolist())
    return found


def measured(setting: Setting) -> dict[str, tuple[float, float]]:
    """By method: how often it holds the truth, and its mean width."""
    rng = np.random.default_rng(sum(map(ord, setting.name)) + setting.n)
    held: dict[str, int] = defaultdict(int)
    widths: dict[str, float] = defaultdict(float)
    clusters = np.repeat(np.arange(len(setting.sizes)), setting.sizes).tolist() if setting.sizes else None
    for _ in range(RUNS):
        x = setting.draw(rng, setting.n)
        if setting.paired:
            both = difference(np.maximum(-x, 0.0).tolist(), np.maximum(x, 0.0).tolist())
            assert both is not None
            ours = both.estimate
        else:
            one = estimate(x.tolist(), clusters=clusters)
            assert one is not None
            ours = one
        for name, (low, high) in {"ours": (ours.low, ours.high), **others(x, setting)}.items():
            held[name] += low <= setting.truth <= high
            widths[name] += high - low
    return {name: (held[name] / RUNS, widths[name] / RUNS) for name in widths}


def main() -> None:
    ratios: dict[str, list[float]] = defaultdict(list)
    least: dict[tuple[str, str], float] = {}
    for setting in SETTINGS[:: int(sys.argv[1]) if len(sys.argv) > 1 else 1]:
        found = measured(setting)
        covering = {name: width for name, (held, width) in found.items() if held >= HOLDS}
        best = min(covering, key=covering.__getitem__, default="ours")
        ratio = found["ours"][1] / found[best][1]
        kind = "differences" if setting.paired else "clusters" if setting.sizes else "rows"
        ratios[kind].append(ratio)
        for name, (held, _) in found.items():
            least[kind, name] = min(held, least.get((kind, name), 1.0))
        print(f"{setting.name:40} n {setting.n:4} held {found['ours'][0]:.3f} ratio {ratio:.2f} to {best}", flush=True)
    for kind, values in ratios.items():
        wide = sum(value > 1.25 for value in values)
        print(f"{kind}: median {np.median(values):.2f}, largest {max(values):.2f}, above 1.25: {wide} of {len(values)}")
        print("  held at worst:", ", ".join(f"{name} {held:.3f}" for (of, name), held in least.items() if of == kind))


if __name__ == "__main__":
    main()
