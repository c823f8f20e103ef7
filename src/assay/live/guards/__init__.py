"""Guards: the same scores in the request path, within a deadline, with a stated outcome for every case.

The package is not called `guard`, because a package cannot have a module and a function of the same name.
"""

from assay.live.guards.decision import GuardBlocked, GuardDecision, GuardHealth
from assay.live.guards.threshold_guard import Guard, guard

__all__ = ["Guard", "GuardBlocked", "GuardDecision", "GuardHealth", "guard"]
