"""Draw the picture of the README: `python docs/images/flow.py`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 850, 210
BOX_WIDTH, BOX_HEIGHT = 172, 92
TOP, MARGIN = 34, 16


@dataclass(frozen=True)
class Box:
    """One step: title, and the lines below it."""

    title: str
    lines: tuple[str, ...]


STEPS = (
    Box("Your application", ("LangChain chain,", "LlamaIndex engine,", "or a file of answers")),
    Box("Handler", ("question, contexts,", "answer, history;", "never waits or raises")),
    Box("Judge and metrics", ("claims, verdicts,", "quotes; offline,", "or your LLM")),
    Box("Scores", ("on the trace, in a", "report or a CI gate,", "with evidence")),
)


def draw() -> str:
    """Return the picture as SVG. Colours suit a light and a dark page."""
    gap = (WIDTH - 2 * MARGIN - len(STEPS) * BOX_WIDTH) / (len(STEPS) - 1)
    parts: list[str] = []
    for number, box in enumerate(STEPS):
        x = MARGIN + number * (BOX_WIDTH + gap)
        parts.append(
            f'<rect x="{x + 1:.0f}" y="{TOP}" width="{BOX_WIDTH - 2}" height="{BOX_HEIGHT}" rx="8" class="box"/>'
        )
        parts.append(_text(x + BOX_WIDTH / 2, TOP + 22, box.title, "title"))
        parts += [_text(x + BOX_WIDTH / 2, TOP + 44 + 17 * row, line, "line") for row, line in enumerate(box.lines)]
        if number:
            parts.append(
                f'<path d="M{x - gap + 4:.0f} {TOP + 46} H{x - 6:.0f}" class="arrow" marker-end="url(#head)"/>'
            )
    parts.append(_text(WIDTH / 2, 166, "faithfulness 0.50", "score"))
    parts.append(_text(WIDTH / 2, 190, "✓ “It was played on January 15, 1967.”   ✗ “Denver won it.”", "line"))
    return "\n".join([HEAD, *parts, "</svg>"]) + "\n"


HEAD = f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">
<title>From an application to scores with evidence</title>
<style>
.box {{ fill: #f4f7fb; stroke: #4a6fa5; stroke-width: 1.5 }}
text {{ font-family: system-ui, sans-serif; text-anchor: middle; fill: #1d2a3a }}
.title {{ font-size: 15px; font-weight: 600 }} .score {{ font-size: 14px; font-weight: 600 }}
.line {{ font-size: 13px }}
.arrow {{ stroke: #4a6fa5; stroke-width: 2; fill: none }}
</style>
<defs><marker id="head" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="6" markerHeight="6" orient="auto">
<path d="M0 0 L8 4 L0 8 z" fill="#4a6fa5"/></marker></defs>
<rect width="{WIDTH}" height="{HEIGHT}" rx="10" fill="#ffffff"/>"""


def _text(x: float, y: float, text: str, kind: str) -> str:
    return f'<text x="{x:.0f}" y="{y}" class="{kind}">{escape(text)}</text>'


if __name__ == "__main__":
    Path(__file__).with_suffix(".svg").write_text(draw(), encoding="utf-8")
