"""Draws the reliability diagram of the card: said probability against the share that people found supported or useful.

python reliability.py --files DIR --out FILE.svg
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

SIZE, EDGE, GAP = 220, 46, 30
STYLE = "font-family='sans-serif' font-size='11' fill='#333'"


def panel(title: str, error: float, bins: list[dict[str, Any]], left: int) -> str:
    """One diagram: a dot per bin, its area by the rows in it, the diagonal being a judge that is right about itself."""
    most = max(one["rows"] for one in bins)
    base = EDGE + SIZE

    def place(x: float, y: float) -> tuple[float, float]:
        return left + x * SIZE, base - y * SIZE

    dots, path = [], []
    for one in bins:
        x, y = place(one["probability"], one["supported"])
        path.append(f"{x:.1f},{y:.1f}")
        radius = 2 + 5 * (one["rows"] / most) ** 0.5
        told = f"{one['rows']} rows: said {one['probability']}, found {one['supported']}"
        circle = f"<circle cx='{x:.1f}' cy='{y:.1f}' r='{radius:.1f}' fill='#2563eb' fill-opacity='0.8'>"
        dots.append(f"{circle}<title>{told}</title></circle>")
    marks = "".join(
        f"<text x='{place(v, 0)[0]:.0f}' y='{base + 14}' text-anchor='middle' {STYLE}>{v:g}</text>"
        f"<text x='{left - 6}' y='{place(0, v)[1] + 4:.0f}' text-anchor='end' {STYLE}>{v:g}</text>"
        for v in (0, 0.5, 1)
    )
    return (
        f"<rect x='{left}' y='{EDGE}' width='{SIZE}' height='{SIZE}' fill='white' stroke='#999'/>"
        f"<line x1='{left}' y1='{base}' x2='{left + SIZE}' y2='{EDGE}' stroke='#999' stroke-dasharray='4 3'/>"
        f"<polyline points='{' '.join(path)}' fill='none' stroke='#2563eb'/>{''.join(dots)}{marks}"
        f"<text x='{left}' y='{EDGE - 20}' font-weight='bold' {STYLE}>{title}</text>"
        f"<text x='{left}' y='{EDGE - 6}' {STYLE}>expected calibration error {error:.3f}</text>"
        f"<text x='{left + SIZE / 2:.0f}' y='{base + 30}' text-anchor='middle' {STYLE}>said probability</text>"
        f"<text transform='translate({left - 26},{EDGE + SIZE / 2:.0f}) rotate(-90)' text-anchor='middle' {STYLE}>"
        "share that people found so</text>"
    )


def drawn(card: dict[str, Any]) -> str:
    found = {
        "supported: 14 sources": card["support"]["agreement"],
        "supported: RAGTruth answers": card["support"]["ragtruth"],
        "useful: context_relevance": card["relevance"]["usefulness"],
    }
    panels = [
        panel(title, one["expected_calibration_error"], one["reliability"], EDGE + n * (SIZE + EDGE + GAP))
        for n, (title, one) in enumerate(found.items())
    ]
    width, height = EDGE + len(panels) * (SIZE + EDGE + GAP), SIZE + 2 * EDGE
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{height}' viewBox='0 0 {width} {height}'>"
        f"<rect width='{width}' height='{height}' fill='white'/>{''.join(panels)}</svg>\n"
    )


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--files", type=Path, required=True, help="the files that ship")
    ask.add_argument("--out", type=Path, required=True)
    given = ask.parse_args()
    card = json.loads((given.files / "card.json").read_text(encoding="utf-8"))
    given.out.write_text(drawn(card), encoding="utf-8")


if __name__ == "__main__":
    main()
