# %% [markdown]
# # A Wi-Fi cell
#
# A laptop near the access point and a phone far from it download together. Why is the laptop slow, and what
# do Linux's queues change?

# %%
import fullpipe
from fullpipe import plots

base = fullpipe.Scenario.named("wifi-anomaly").with_values({"duration": "6 s", "warmup": "1 s"})
queues = {"one queue of 1,000 packets": {"packets": 1000}, "mac80211": "mac80211"}
runs = {name: fullpipe.run(base.with_values({"cells.0.queue": queue})) for name, queue in queues.items()}

# %% [markdown]
# `wifi-anomaly` has a station at 65 Mbit/s and one at 6.5. From one queue both get packets in turn, and a
# packet of the slow station takes ten times as long. So both get the goodput of the slow one. `mac80211`
# gives them equal airtime instead.

# %%
rates = {
    name: {flow: bps / 1e6 for flow, bps in run.flows.select("flow", "goodput_bps").iter_rows()}
    for name, run in runs.items()
}
for name, each in rates.items():
    print(name, {flow: f"{mbps:.1f} Mbit/s" for flow, mbps in each.items()})

# %%
before, after = ([*each.values()] for each in rates.values())
print(
    f"Answer: airtime fairness takes the near station from {before[0]:.1f} to {after[0]:.1f} Mbit/s, "
    f"and the far one from {before[1]:.1f} to {after[1]:.1f}."
)

# %%
figure, [axes] = plots.new_figure(width="column")
plots.grouped_bars(
    axes,
    {name: {flow: [mbps] for flow, mbps in each.items()} for name, each in rates.items()},
    label="goodput (Mbit/s)",
)
figure
