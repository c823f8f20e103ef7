"""Error bars and comparisons: how far a mean can be trusted, and whether one run is better than another."""

from assay.stats.intervals import Estimate as Estimate
from assay.stats.intervals import estimate as estimate
from assay.stats.paired import Difference as Difference
from assay.stats.paired import difference as difference
from assay.stats.paired import holm as holm
