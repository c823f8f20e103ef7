"""Lines of text for terminals, wrapped between words. Imported where something is drawn: rich takes long to import."""

from __future__ import annotations

from rich.console import Console

from assay._util.rich_text import SafeText


def wrapped_lines(
    text: str, columns: int, indent: int = 0, *, hanging: int = 0, most: int | None = None, style: str = ""
) -> list[SafeText]:
    """Wrap a text into lines, none of which is wider than the terminal. Words are broken only if they are wider.

    Args:
        text: The text. All white space becomes single spaces.
        columns: Width of the terminal.
        indent: Spaces before each line.
        hanging: Spaces before each line but the first, besides.
        most: Most lines. The last one ends in "…" where something is left out. None: all lines.
        style: Style of the lines, as rich names it.

    Returns:
        The lines.
    """
    room = max(1, columns - indent - hanging)
    flat = SafeText(" ".join(text.split()))
    lines = list(flat.wrap(Console(width=room, file=None, _environ={}), room, overflow="fold"))
    if most is not None and len(lines) > most:
        lines = lines[:most]
        lines[-1].truncate(room - 1)
        lines[-1].rstrip()
        lines[-1].append("…")
    indents = [indent, *[indent + hanging] * len(lines)]
    return [SafeText(" " * spaces + line.plain.rstrip(), style) for spaces, line in zip(indents, lines, strict=False)]
