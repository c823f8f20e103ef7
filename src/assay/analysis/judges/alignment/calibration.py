"""From an alignment to a calibration: maps of probabilities by kind of prompt, thresholds by metric."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from assay.analysis.judges.alignment.groups import fitted
from assay.analysis.judges.alignment.thresholds import FEWEST, FEWEST_OF_ONE, threshold_of
from assay.errors import InputError
from assay.judges.calibrated_judge import DENIALS, Calibration

if TYPE_CHECKING:
    from assay.analysis.judges.alignment.figures import AlignmentFigures


def calibration(
    alignment: AlignmentFigures, method: str = "platt", threshold: str = "likely", note: str | None = None
) -> Calibration:
    """The calibration that these labels give. Labels of all readings of one kind count together.

    Raises InputError where there is neither a map nor a threshold: for too few labels, and for probabilities and values
    that do not rise with the labels. A judge that has a calibration already gets no other maps; thresholds of metrics
    are those of the run as it was judged.

    Args:
        method: "platt": two numbers for each kind; "isotonic": any rising map, for some hundred labels and more.
        threshold: "likely": a verdict affirms where yes is likelier than no; "balanced": where balanced accuracy is
            highest.
    """
    if method not in ("platt", "isotonic"):
        raise InputError(f"method: expected 'platt' or 'isotonic', got {method!r}")
    if threshold not in ("likely", "balanced"):
        raise InputError(f"threshold: expected 'likely' or 'balanced', got {threshold!r}")
    maps = {}
    why = []
    kinds = dict.fromkeys(group.kind for group in alignment.groups.values() if group.kind in DENIALS)
    if "#calibrated-" in alignment.judge:
        why.append("the judge of this run has one already; for maps of probabilities align a run of the judge alone")
        kinds = {}
    for kind in kinds:
        pairs = [pair for group in alignment.groups.values() if group.kind == kind for pair in group.pairs]
        pairs = [pair for pair in pairs if pair.item.probability is not None]
        yes = sum(pair.truth == 1.0 for pair in pairs)
        if len(pairs) < FEWEST or min(yes, len(pairs) - yes) < FEWEST_OF_ONE:
            why.append(
                f"{kind} has {len(pairs)} labels with a probability, {yes} of them yes; expected {FEWEST}, and "
                f"{FEWEST_OF_ONE} of each kind"
            )
            continue
        found = fitted(pairs, method, threshold)
        if found is None:
            why.append(f"{kind}: people do not say yes more often where the judge gives a higher probability")
        elif kind is not None:
            maps[kind] = found
    found_or_not = {
        group.name: threshold_of(group, alignment.parameters.get(group.name))
        for group in alignment.groups.values()
        if group.level == "sample"
    }
    thresholds = {name: one for name, one in found_or_not.items() if not isinstance(one, str)}
    without = {name: one for name, one in found_or_not.items() if isinstance(one, str)}
    why += without.values()
    if not maps and not thresholds:
        raise InputError(f"calibration: {'; '.join(why) or 'the labels are of no verdicts with probabilities'}")
    made = datetime.now(UTC).date().isoformat()
    return Calibration(judge=alignment.judge, made=made, maps=maps, thresholds=thresholds, without=without, note=note)
