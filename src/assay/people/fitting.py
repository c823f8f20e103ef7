"""From an alignment to a calibration: maps of probabilities by kind of inquiry, thresholds by metric."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from assay.errors import InputError
from assay.judges.calibrated import DENIALS, Calibration
from assay.people.groups import fitted

if TYPE_CHECKING:
    from assay.people.alignment import Alignment

#: Labels with a probability, and of the rarer kind, below which no map is fitted.
FEWEST, FEWEST_OF_ONE = 30, 8


def calibration(
    alignment: Alignment, method: str = "platt", threshold: str = "likely", note: str | None = None
) -> Calibration:
    """The calibration that these labels give. Labels of all readings of one kind count together.

    method     "platt": two numbers for each kind; "isotonic": any rising map, for some hundred labels and more
    threshold  "likely": a verdict affirms where yes is likelier than no; "balanced": where balanced accuracy is highest

    Raises InputError for too few labels, for probabilities that do not rise with the labels, and for runs whose judge
    has a calibration already.
    """
    if method not in ("platt", "isotonic"):
        raise InputError(f"method: expected 'platt' or 'isotonic', got {method!r}")
    if threshold not in ("likely", "balanced"):
        raise InputError(f"threshold: expected 'likely' or 'balanced', got {threshold!r}")
    if "#calibrated-" in alignment.judge:
        raise InputError("calibration: the judge of this run has one already; align a run of the judge alone")
    maps = {}
    why = []
    kinds = dict.fromkeys(group.kind for group in alignment.groups.values() if group.kind in DENIALS)
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
    thresholds = {
        group.name: group.threshold
        for group in alignment.groups.values()
        if group.level == "sample" and group.threshold is not None and len(group.pairs) >= FEWEST
    }
    if not maps and not thresholds:
        raise InputError(f"calibration: {'; '.join(why) or 'the labels are of no verdicts with probabilities'}")
    made = datetime.now(UTC).date().isoformat()
    return Calibration(judge=alignment.judge, made=made, maps=maps, thresholds=thresholds, note=note)
