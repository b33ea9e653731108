# %% [markdown]
# # Sweep and SQL
#
# How large must a buffer be? Run three algorithms at five sizes, store the runs in a folder, and query the
# folder in SQL. The last step needs DuckDB: `pip install 'fullpipe[query]'`.

# %%
from pathlib import Path

import fullpipe
from fullpipe import plots

STORE = Path("runs-of-the-notebook")
BUFFERS = [0.1, 0.25, 0.5, 1, 2]
base = fullpipe.Scenario.named("single-cubic").with_values({"duration": "10 s", "warmup": "3 s"})
scenario = base.with_values(
    {
        "sweep": {
            "flows.0.cca": ["cubic", "bbr1", "bbr3"],
            "topology.bottleneck.queue.size": [f"{size} bdp" for size in BUFFERS],
        },
        "flows.0.start_jitter": "100 ms",
    }
)
runs = fullpipe.sweep(scenario, seeds=range(1, 4), workers=2, out=STORE)
print(len(runs), "runs")

# %% [markdown]
# A stored run is never computed again: the same call re-uses it. `fullpipe.query` has all runs as
# tables. Swept paths are columns. Put a name with a dot in double quotes.

# %%
found = fullpipe.query(
    """
    select "flows.0.cca" as cca, "topology.bottleneck.queue.size" as buffer,
           avg(goodput_bps) / 1e6 as mbps, avg(rtt_mean_s) * 1e3 as rtt_ms
    from flows group by 1, 2 order by 1, 2
    """,
    out=STORE,
)
print(found)

# %%
enough = {}
for (cca,), rows in found.group_by("cca", maintain_order=True):
    sufficient = rows.filter(rows["mbps"] > 0.97 * rows["mbps"].max())["buffer"]
    enough[cca] = min(sufficient, key=lambda size: float(size.split()[0]))
told = ", ".join(f"{size} with {cca}" for cca, size in enough.items())
print(f"Answer: 97 % of the best goodput needs a buffer of {told}.")

# %%
figure, [left, right] = plots.new_figure(1, 2)
for axes, column, label in ((left, "mbps", "goodput (Mbit/s)"), (right, "rtt_ms", "mean RTT (ms)")):
    for cca in enough:
        at = {row["buffer"]: row[column] for row in found.filter(cca=cca).iter_rows(named=True)}
        axes.plot(BUFFERS, [at[f"{size} bdp"] for size in BUFFERS], "o-", label=cca)
    axes.set(xlabel="buffer (BDP)", ylabel=label, ylim=(0, None))
left.legend()
figure
