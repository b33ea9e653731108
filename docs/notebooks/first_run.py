# %% [markdown]
# # First run
#
# One CUBIC flow on a link of 20 Mbit/s. How deep does it fill a buffer of two bandwidth-delay products
# (BDP)?

# %%
import fullpipe

scenario = fullpipe.Scenario.named("single-cubic").with_values(
    {"topology.bottleneck.queue.size": "2 bdp", "duration": "20 s", "warmup": "5 s"}
)
run = fullpipe.run(scenario, seed=1)

# %% [markdown]
# Every table of a run is a polars frame. `flows` has a row per flow, `links_summary` a row per link. The
# unit is the last word of the name of a column.

# %%
[flow] = run.flows.iter_rows(named=True)
[link] = run.links_summary.filter(link="bottleneck").iter_rows(named=True)
print(f"goodput {flow['goodput_bps'] / 1e6:.1f} Mbit/s, RTT {flow['rtt_mean_s'] * 1e3:.0f} ms on average")

# %% [markdown]
# The path alone takes 40 ms. The rest of the round trip is queueing delay, which is a column, too.

# %%
waits_ms = link["sojourn_mean_s"] * 1e3
print(f"Answer: packets wait {waits_ms:.0f} ms on average, with {link['dropped_packets']} packets dropped.")

# %%
run.plot("goodput", "rtt", "queue")
