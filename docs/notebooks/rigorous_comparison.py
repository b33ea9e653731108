# %% [markdown]
# # A comparison that holds
#
# Is BBRv3 better than CUBIC beside a neighbour with CUBIC? One run each shows one case. Twenty
# paired seeds show by how much, with what confidence, and what is undecided.

# %%
import polars as pl

from fullpipe import Scenario, compare_over, plots

scenario = Scenario.from_toml("""
name = "home"
duration = "15 s"
warmup = "5 s"

[topology]
kind = "dumbbell"
[topology.bottleneck]
rate = "50 Mbit/s"
delay = "10 ms"
queue = { size = "1 bdp" }

[[flows]]
name = "mine"
cca = "cubic"
start_jitter = "100 ms"

[[flows]]
name = "neighbour"
cca = "cubic"
start_jitter = "100 ms"

[record]
interval = "off"
""")

# %% [markdown]
# Choose the metrics before you look: all metrics of one comparison share one error rate. Both
# variants run with the same seeds, so paired runs have the same arrivals. The
# difference, its 95 % interval and the margin are in base units, here bit/s and seconds.

# %%
[found] = compare_over(
    scenario, {"flows.0.cca": ["cubic", "bbr3"]}, seeds=range(1, 21), metrics=["goodput", "rtt_mean"]
)
rows = [row for row in found.rows if row.of in ("mine", "neighbour")]
for row in rows:
    of = row.assessment
    between = f"[{of.interval.low:.4g}, {of.interval.high:.4g}]"
    print(f"{row.of:9} {row.metric:8} {of.difference:+12.4g} {between} {of.verdict}")

# %%
verdicts = {(row.of, row.metric): str(row.assessment.verdict) for row in rows}
print(
    f"Answer: with BBRv3 my goodput is {verdicts['mine', 'goodput']}, my RTT {verdicts['mine', 'rtt_mean']}; "
    f"the neighbour's goodput is {verdicts['neighbour', 'goodput']}."
)

# %% [markdown]
# The forest has every difference with its interval. Differences within the grey margin do not matter.

# %%
drawn = pl.DataFrame(
    [
        {
            "metric": row.metric,
            "label": row.of,
            "difference": row.assessment.difference,
            "low": row.assessment.interval.low,
            "high": row.assessment.interval.high,
            "margin": row.margin.allowed(row.reference),
            "verdict": str(row.assessment.verdict),
        }
        for row in rows
    ]
)
figure, _ = plots.forest(drawn, {"goodput": "goodput, bit/s", "rtt_mean": "mean RTT, s"})
figure
