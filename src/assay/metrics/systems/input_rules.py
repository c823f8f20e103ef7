"""Rules of other systems for empty input: what they refuse, and what they measure all the same.

assay gives such input no value (`Metric.missing`). With the profile "original" a metric follows the rules of its
system. They are one object of the metric's class, so that no base class is needed for each system.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from assay.errors import Cause
from assay.records import Context, Sample, ScoreError

_STAND_IN = "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class InputRules:
    """What a system does with empty and blank fields. Empty is "" or no passage, blank is white space alone.

    Attributes:
        refuses_empty: Fields that are no input where they are empty, whatever else would be the matter.
        takes_empty: Fields that are measured although they are empty.
        takes_blank: Fields that are measured although they are blank.
        blank_reference: The cause, of those in `conventions`, of a reference that is empty or blank.
    """

    refuses_empty: tuple[str, ...] = ()
    takes_empty: tuple[str, ...] = ()
    takes_blank: tuple[str, ...] = ()
    blank_reference: Cause | None = None

    def refusal(self, sample: Sample, needs: tuple[str, ...], label: str) -> ScoreError | None:
        """Say why the system has no value for a sample.

        Args:
            sample: The sample.
            needs: The fields that the metric needs.
            label: The name of its score.

        Returns:
            The cause with a message; None where these rules refuse nothing.
        """
        for field in self.refuses_empty:
            if field in needs and _is_empty(getattr(sample, field)):
                message = f"{label}: the original refuses an empty field: {field}"
                return ScoreError(cause=Cause.MISSING_INPUT, message=message)
        if self.blank_reference and sample.contexts and not (sample.reference or "").strip():
            return ScoreError(cause=self.blank_reference, message="the reference is empty")
        return None

    def filled(self, sample: Sample) -> Sample:
        """Fill the fields that the system takes as they are, so that a check for missing input passes them.

        Args:
            sample: The sample.

        Returns:
            The sample with a stand-in for each; it is for the check alone, and not to be measured.
        """
        changed: dict[str, Any] = {}
        for field in dict.fromkeys((*self.takes_empty, *self.takes_blank)):
            value = getattr(sample, field)
            empty, blank = field in self.takes_empty, field in self.takes_blank
            if (empty and _is_empty(value)) or (blank and _is_blank(value)):
                changed[field] = _STAND_IN if isinstance(value, str) else (Context(text=_STAND_IN),)
        return replace(sample, **changed) if changed else sample


#: A judge is asked without passages too.
TAKES_NO_PASSAGES = InputRules(takes_empty=("contexts",), takes_blank=("contexts",))
#: Passages without text are passages.
TAKES_BLANK_PASSAGES = InputRules(takes_blank=("contexts",))
#: Texts are compared as they are; one that is not there is none.
TAKES_BLANK_TEXTS = InputRules(takes_empty=("answer", "reference"), takes_blank=("answer", "reference"))


def _is_empty(value: Any) -> bool:
    return value is not None and not value


def _is_blank(value: Any) -> bool:
    if not value:
        return False
    return not (value.strip() if isinstance(value, str) else any(one.text.strip() or one.image for one in value))
