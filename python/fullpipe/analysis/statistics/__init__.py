"""Statistics of replicated experiments: summaries, intervals, effects.

Every function here is pure: numbers in, numbers out. A *replicate* is one independent run (another seed), so
the functions take one number per run. Samples along the time of one run are not replicates: see
[`autocorrelation_warning`][fullpipe.analysis.statistics.autocorrelation_warning], and
[`steadiness`][fullpipe.analysis.statistics.steadiness] for whether their mean can be trusted."""

from fullpipe.analysis.statistics.anova import (
    EFFECTS,
    FTest,
    Sample,
    anova,
    anova_of_samples,
    factorial_anova,
    two_way_anova,
    welch_anova,
    welch_anova_of_samples,
    welch_factorial_anova,
    welch_two_way_anova,
)
from fullpipe.analysis.statistics.autocorrelation import (
    autocorrelation_warning,
    effective_sample_size,
    integrated_autocorrelation_time,
    lag1_autocorrelation,
)
from fullpipe.analysis.statistics.cumulative import dkw_half_width
from fullpipe.analysis.statistics.effect_sizes import (
    Effect,
    cliffs_delta_interval,
    eta_squared,
    hedges_g,
    hedges_g_of_pairs,
    omega_squared,
    ratio,
    ratio_of_pairs,
)
from fullpipe.analysis.statistics.effects import Magnitude, cliffs_delta, cohens_d, magnitude_of_delta
from fullpipe.analysis.statistics.equivalence import (
    MeanContrast,
    Tost,
    WelchT,
    contrast_of_cells,
    contrast_of_pairs,
    tost,
    tost_of_pairs,
    welch_t,
)
from fullpipe.analysis.statistics.hotelling import Hotelling, hotelling
from fullpipe.analysis.statistics.intervals import (
    Interval,
    bootstrap_interval,
    t_interval,
    welch_interval,
    wilson_interval,
)
from fullpipe.analysis.statistics.letters import compact_letters
from fullpipe.analysis.statistics.models import Pillai, factorial_mixed_model, manova, mixed_model
from fullpipe.analysis.statistics.modes import Mode, TwoModes, two_modes
from fullpipe.analysis.statistics.multiple import benjamini_hochberg, holm
from fullpipe.analysis.statistics.paired import Paired, paired, pairs_that_decide
from fullpipe.analysis.statistics.pairwise import MeanPair, games_howell, games_howell_of_samples, tukey_hsd
from fullpipe.analysis.statistics.power import (
    pairs_by_simulation,
    pairs_for_power,
    power_of_pairs,
    seeds_that_decide,
)
from fullpipe.analysis.statistics.rank_effects import epsilon_squared, kendalls_w
from fullpipe.analysis.statistics.ranks import RankPair, RankTest, dunn, friedman, kruskal_wallis
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
    "EFFECTS",
    "Doubt",
    "Effect",
    "FTest",
    "Hotelling",
    "Interval",
    "Magnitude",
    "MeanContrast",
    "MeanPair",
    "Mode",
    "Paired",
    "Pillai",
    "RankPair",
    "RankTest",
    "Sample",
    "Steadiness",
    "Summary",
    "Tost",
    "TwoModes",
    "WelchT",
    "anova",
    "anova_of_samples",
    "autocorrelation_warning",
    "benjamini_hochberg",
    "bootstrap_interval",
    "cliffs_delta",
    "cliffs_delta_interval",
    "cohens_d",
    "compact_letters",
    "contrast_of_cells",
    "contrast_of_pairs",
    "dkw_half_width",
    "doubtful_means",
    "dunn",
    "effective_sample_size",
    "epsilon_squared",
    "eta_squared",
    "factorial_anova",
    "factorial_mixed_model",
    "friedman",
    "games_howell",
    "games_howell_of_samples",
    "geweke",
    "hedges_g",
    "hedges_g_of_pairs",
    "holm",
    "hotelling",
    "integrated_autocorrelation_time",
    "kendalls_w",
    "kruskal_wallis",
    "lag1_autocorrelation",
    "magnitude_of_delta",
    "manova",
    "mixed_model",
    "mser5",
    "omega_squared",
    "paired",
    "pairs_by_simulation",
    "pairs_for_power",
    "pairs_that_decide",
    "power_of_pairs",
    "ratio",
    "ratio_of_pairs",
    "seeds_that_decide",
    "steadiness",
    "summarise",
    "t_interval",
    "tost",
    "tost_of_pairs",
    "tukey_hsd",
    "two_modes",
    "two_way_anova",
    "welch_anova",
    "welch_anova_of_samples",
    "welch_factorial_anova",
    "welch_interval",
    "welch_t",
    "welch_two_way_anova",
    "wilson_interval",
]
