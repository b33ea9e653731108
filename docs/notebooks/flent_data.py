# %% [markdown]
# # Flent's data
#
# Flent measures an internet line and stores the results in a `.flent.gz`. Read such a file, see the effect
# of load on a ping, and compare it with a simulated twin. The file of this page is of a simulated DSL line
# (`fullpipe flent`), so that the page needs no network. Replace its name with that of your own file.

# %%
import subprocess
import sys
from pathlib import Path

import fullpipe
from fullpipe import plots
from fullpipe.engines.flent import read_run
from fullpipe.engines.flent.run import read_test
from fullpipe.engines.flent.twin import twin_of

file = Path("upload.flent.gz")
test = ["flent", "tcp_1up", "--path", "dsl", "--length", "30 s", "-o", str(file)]
subprocess.run([sys.executable, "-m", "fullpipe", *test], check=True, stdout=subprocess.DEVNULL)

# %% [markdown]
# The imported file is an ordinary run of the engine `flent`: every table, metric and figure works with it.
# Remarks are findings from the file that Flent does not print.

# %%
measured = read_run(file)
print(measured.flows.select("flow", "goodput_bps"))
for remark in measured.meta.remarks:
    print("remark:", remark)

# %% [markdown]
# A file does not contain the path. The twin is a scenario that would give the measured values;
# `guessed` lists its assumptions.

# %%
twin = twin_of(read_test(file, {}), file)
for line in twin.guessed:
    print("guessed:", line)
simulated = fullpipe.run(twin.scenario)

# %%
ping_ms = {
    name: float(run.probes["rtt_s"].median() * 1e3) for name, run in (("file", measured), ("twin", simulated))
}
print(f"Answer: a ping takes {ping_ms['file']:.0f} ms in the file, {ping_ms['twin']:.0f} ms in its twin.")

# %%
figure, _ = plots.overview(
    {"file": plots.presented(measured), "twin": plots.presented(simulated)}, ["goodput", "rtt"]
)
figure
