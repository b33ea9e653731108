"""Statistics of replicated experiments: summaries, intervals, effects.

Every function here is pure: numbers in, numbers out. A *replicate* is one independent run (another seed), so
the functions take one number per run. Samples along the time of one run are not replicates: see
[`autocorrelation_warning`][fullpipe.analysis.statistics.autocorrelation_warning], and
[`steadiness`][fullpipe.analysis.statistics.steadiness] for whether their mean says anything."""

from fullpipe.analysis.statistics.autocorrelation import (
    autocorrelation_warning,
    effective_sample_size,
    lag1_autocorrelation,
)
from fullpipe.analysis.statistics.effects import Magnitude, cliffs_delta, cohens_d, magnitude_of_delta
from fullpipe.analysis.statistics.intervals import Interval, bootstrap_interval, t_interval, welch_interval
from fullpipe.analysis.statistics.paired import Paired, holm, paired, pairs_that_decide
from fullpipe.analysis.statistics.stationarity import (
    Doubt,
    Steadiness,
    doubtful_means,
    geweke,
    mser5,
    steadiness,
)
from fullpipe.analysis.statistics.summaries import Summary, summarise

__all__ = [
    "Doubt",
    "Interval",
    "Magnitude",
    "Paired",
    "Steadiness",
    "Summary",
    "autocorrelation_warning",
    "bootstrap_interval",
    "cliffs_delta",
    "cohens_d",
    "doubtful_means",
    "effective_sample_size",
    "geweke",
    "holm",
    "lag1_autocorrelation",
    "magnitude_of_delta",
    "mser5",
    "paired",
    "pairs_that_decide",
    "steadiness",
    "summarise",
    "t_interval",
    "welch_interval",
]
