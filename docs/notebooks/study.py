# %% [markdown]
# # A published number, run again
#
# Kato et al. let sixteen BBRv1 flows share 1 Gbit/s (AFIN 2025, Table II) and print goodputs from ns-3
# 3.40. Can we reproduce them? `fullpipe paper kato2025` runs the whole study with ten seeds; this page runs
# two of its buffers, shortened.

# %%
import fullpipe
from fullpipe import plots, studies

BUFFERS = (500, 5000)
printed = {
    buffer: next(claim for claim in studies.printed("kato2025") if claim.id == f"Table II, {buffer}: mean")
    for buffer in BUFFERS
}
for claim in printed.values():
    print(claim.id, "is printed as", claim.says)

# %% [markdown]
# The scenario has the settings of the paper, and its comments list what the paper leaves open: `fullpipe show
# kato2025`. Its sweep is over buffers and sockets; a value for each chooses one run.

# %%
base = fullpipe.Scenario.named("kato2025").with_values(
    {
        "sweep": {},
        "duration": "20 s",
        "warmup": "10 s",
        "record.interval": "off",
        "tcp.send_buffer": "64 MiB",
        "tcp.receive_buffer": "64 MiB",
    }
)
measured = {
    buffer: fullpipe.run(base.with_values({"topology.bottleneck.queue": {"packets": buffer}})).flows
    for buffer in BUFFERS
}
means = {buffer: flows["goodput_bps"].mean() / 1e6 for buffer, flows in measured.items()}
starved = sum(int((flows["goodput_bps"] < 1e6).sum()) for flows in measured.values())

# %%
told = [f"{means[buffer]:.1f} at {buffer} packets (printed {printed[buffer].says})" for buffer in BUFFERS]
print(f"Answer: the mean per flow is {' and '.join(told)}; {starved} flows are below 1 Mbit/s.")

# %%
figure, [axes] = plots.new_figure(width="column")
rates = {f"{buffer} packets": (flows["goodput_bps"] / 1e6).to_list() for buffer, flows in measured.items()}
plots.sorted_bars(axes, rates, label="goodput (Mbit/s)")
figure
