"""An alignment for people to read: a table for each reading or metric, its slices, and the corrected means."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group as Lines

from assay._util.rich_text import SafeText, render_text
from assay._util.tables import Column, make_table, number
from assay.evaluation.display.table import judge_in_words

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from assay.analysis.judges.alignment.figures import AlignmentFigures
    from assay.analysis.judges.alignment.groups import Group
    from assay.stats.agreement import Agreement, Figure
    from assay.stats.ppi import CorrectedMean

_WHAT = {"claim": "claims", "passage": "passages", "sample": "samples"}


def as_text(alignment: AlignmentFigures, width: int = 80) -> str:
    """The alignment as plain text."""
    return render_text(as_rich(alignment), width)


def as_rich(alignment: AlignmentFigures) -> RenderableType:
    """The alignment as rich draws it."""
    told: list[RenderableType] = [SafeText(_head(alignment))]
    for group in alignment.groups.values():
        told += ["", SafeText(_title(group), style="bold"), *_of_group(group, alignment.by)]
    if alignment.means:
        told += ["", SafeText("Means, by people's measure", style="bold"), _means(alignment)]
        told.append(SafeText(_means_note(alignment)))
    told += [SafeText(f"\n{note}") for note in alignment.notes]
    return Lines(*told)


def _head(alignment: AlignmentFigures) -> str:
    unsure = f"; {alignment.unsure} more could not be told" if alignment.unsure else ""
    head = f"run {alignment.run}, {judge_in_words(alignment.judge)}: "
    head += f"{alignment.matched} of {alignment.labels} labels used{unsure}"
    if alignment.people is not None:
        agree, several = alignment.people
        head += f"\npeople agree with each other on {agree} of {several} labels of the same thing"
    return head


def _title(group: Group) -> str:
    if group.level == "sample":
        return f"{group.name}, of samples"
    return f"{_WHAT[group.level]}: {group.name} ({', '.join(group.metrics)})"


def _of_group(group: Group, by: str | None) -> list[RenderableType]:
    found = group.agreement
    told: list[RenderableType] = []
    if found is None and group.ranks is None:
        return [SafeText("the judge says nothing of what is labelled")]
    if found is not None:
        told += [SafeText(_verdict(found)), _figures(group, found)]
        if found.thin is not None:
            told.append(SafeText(f"Little can be said: {found.thin}.", style="yellow"))
    if group.ranks is not None:
        told.append(SafeText(f"rank correlation with people: {_figure(group.ranks)}"))
    if group.threshold is not None and found is not None:
        told.append(
            SafeText(f"best threshold {group.threshold:.3f} (from {found.n} labels; the figures are cross-validated)")
        )
    if group.unmeasured:
        told.append(SafeText(f"{group.unmeasured} labelled items have no value of the judge"))
    if group.slices and by is not None:
        told.append(_slices(group, by))
    return told


def _verdict(found: Agreement) -> str:
    yes = f"{found.prevalence:.0%} yes"
    rows = f"{found.n} labels of {found.clusters} rows, {yes}"
    if found.gain is None or found.thin is not None:
        return rows
    most = "yes" if found.prevalence >= 0.5 else "no"
    gain = f"{found.gain.value:+.3f} ({found.gain.low:+.3f} to {found.gain.high:+.3f})"
    if found.gain.low > 0.0:
        said = f"the judge is right more often than one who always says {most}, by {gain}"
    elif found.gain.high < 0.0:
        said = f"one who always says {most} is right more often than the judge: {gain}"
    else:
        said = f"the judge cannot be told from one who always says {most}: {gain}"
    return f"{rows}; {said}"


def _figures(group: Group, found: Agreement) -> Table:
    interval = Column(title=f"judge ({found.confidence:.0%} interval)", wraps=False)
    calibrated = group.calibrated
    rows = (
        ("accuracy", "accuracy", f"{found.majority:.3f}"),
        ("balanced accuracy", "balanced_accuracy", "0.500"),
        ("kappa", "kappa", "0.000"),
        ("AUROC", "auroc", "0.500"),
        ("calibration error", "ece", "–"),
    )
    lines = []
    for title, name, trivial in rows:
        figure: Figure | None = getattr(found, name)
        if figure is None and name in ("ece", "auroc"):
            continue
        then: Figure | None = getattr(calibrated, name, None)
        lines.append((title, _figure(figure), trivial, "–" if then is None else f"{then.value:.3f}"))
    if found.ece is not None and found.ece_by_chance is not None:
        lines.append(("  by chance alone", f"{found.ece_by_chance:.3f}", "", ""))
    columns: list[Column | str] = ["", interval, number("always the same"), number("calibrated")]
    shown = 3 if calibrated is None else 4
    return make_table(columns[:shown], [line[:shown] for line in lines])


def _slices(group: Group, by: str) -> Table:
    figures = map(number, ("labels", "balanced accuracy", "kappa", "AUROC"))
    rows = []
    for name, found in group.slices.items():
        mark = "*" if found.thin is not None else ""
        kappa = "–" if found.kappa is None else f"{found.kappa.value:.2f}"
        rows.append((name, f"{found.n}{mark}", _short(found.balanced_accuracy), kappa, _short(found.auroc)))
    table = make_table([Column(title=by, fills=True), *figures], rows)
    if any(found.thin is not None for found in group.slices.values()):
        table.caption = "* too few labels to say much"
    return table


def _means_note(alignment: AlignmentFigures) -> str:
    """How many rows stand behind the corrected means, and what has to hold for them."""
    most = max(alignment.means.values(), key=lambda one: (one.unlabelled > 0, one.labelled))
    if not most.unlabelled:
        return "All is labelled: these are the means of the labels."
    return (
        f"From {most.labelled} labels and the judge on {most.unlabelled} more. That holds where the labelled ones are "
        "a random sample of the run (`assay data label` draws one)."
    )


def _means(alignment: AlignmentFigures) -> Table:
    rows = []
    for name, one in alignment.means.items():
        group = alignment.groups.get(name)
        title = f"yes in {name}" if group is not None and group.level != "sample" else name
        rows.append((title, f"{one.judged:.3f}", f"{one.mean:.3f} ({one.low:.3f}–{one.high:.3f})", _alone(one)))
    columns = map(number, ("judge", "corrected", "labels alone"))
    return make_table([Column(title="", fills=True), *columns], rows)


def _alone(one: CorrectedMean) -> str:
    return f"{one.alone:.3f} ({one.alone_low:.3f}–{one.alone_high:.3f})"


def _figure(figure: Figure | None) -> str:
    return "–" if figure is None else str(figure)


def _short(figure: Figure | None) -> str:
    return "–" if figure is None else f"{figure.value:.2f} ({figure.low:.2f}–{figure.high:.2f})"
