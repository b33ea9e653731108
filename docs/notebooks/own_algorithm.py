# %% [markdown]
# # An algorithm of your own
#
# Reno fills any buffer. What does it cost to stop at a standing queue? A congestion control
# is a class with a few methods; nothing is compiled.

# %%
import fullpipe
from fullpipe import algorithms, plots
from fullpipe.algorithms import Ack, Controller, Episode, Path


class Patient(Controller):
    """Reno that takes a standing queue for congestion."""

    slow_start = 1.0  # packets per packet acknowledged, below ssthresh
    increase = 1.0  # packets per window, from ssthresh on
    target_s: float = 0.02  # an annotated attribute is a parameter

    def on_ack(self, ack: Ack, path: Path) -> None:  # once per round trip
        if ack.rtt_min_s is not None and path.min_rtt_s is not None:
            self.reduce = ack.rtt_min_s - path.min_rtt_s > self.target_s

    def on_congestion(self, episode: Episode, path: Path) -> None:
        self.reduce = False
        if episode.first:
            self.ssthresh = self.cwnd / 2


# %% [markdown]
# The kit checks the invariants of every algorithm, for any events: no panic, a window of at least its
# minimum, undo restores. An empty list means that all hold.

# %%
assert not algorithms.judge(Patient)

# %%
base = fullpipe.Scenario.named("single-reno").with_values({"duration": "15 s", "warmup": "3 s"})
choices = {"Reno": "reno", "Patient, 20 ms": Patient, "Patient, 5 ms": {"kind": Patient, "target_s": 0.005}}
runs = {name: fullpipe.run(base.with_values({"flows.0.cca": cca})) for name, cca in choices.items()}
measured = {
    name: (run.flows["goodput_bps"][0] / 1e6, run.flows["rtt_mean_s"][0] * 1e3) for name, run in runs.items()
}
for name, (mbps, rtt_ms) in measured.items():
    print(f"{name:15} {mbps:5.1f} Mbit/s {rtt_ms:5.1f} ms")

# %%
lost = 1 - measured["Patient, 20 ms"][0] / measured["Reno"][0]
saved_ms = measured["Reno"][1] - measured["Patient, 20 ms"][1]
print(f"Answer: a target of 20 ms saves {saved_ms:.0f} ms per round trip and costs {lost:.1%} of goodput.")

# %%
figure, _ = plots.overview({name: plots.presented(run) for name, run in runs.items()}, ["cwnd", "rtt"])
figure
