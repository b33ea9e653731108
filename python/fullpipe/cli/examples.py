"""Examples of every command, for its help and the manual page."""

EXAMPLES = (
    ("fullpipe demo -o first", "write the figure to the folder first"),
    ("fullpipe init my.toml", "two flows and a ping"),
    ("fullpipe init my.toml --path dsl", "a DSL line with its usual load"),
    ("fullpipe list scenarios", "all scenarios that `run` takes by name"),
    ("fullpipe show kato2025 > my.toml", "start from a named scenario"),
    ("fullpipe show bbr3", "the parameters of an algorithm"),
    ("fullpipe run single-bbr1", "a named scenario"),
    ("fullpipe run my.toml --seeds 10 --jobs 2", "your own, ten seeds, two runs at a time"),
    ("fullpipe run kato2025 --set tcp.mss='1448 B' --json", "one JSON object per run"),
    ("fullpipe work runs --jobs 4", "four runs at a time, until nothing is left"),
    ("fullpipe sweep status runs", "every unfinished sweep of the folder runs"),
    ("fullpipe metrics runs/*/native-1", "the runs of seed 1"),
    ("fullpipe compare my.toml --over flows.0.cca=cubic,bbr3", "is bbr3 better, and by how much?"),
    ("fullpipe compare my.toml --engines native,linux --seeds 5", "are two engines equivalent?"),
    ("fullpipe test runs --metric goodput --factor cca", "does the algorithm change goodput?"),
    (
        "fullpipe plan my.toml --detect 5% --over flows.0.cca=cubic,bbr3",
        "seeds to detect a difference of 5 %",
    ),
    ("fullpipe check suite.toml --keep base.json", "measure the base"),
    ("fullpipe check suite.toml --against base.json", "compare the change with it"),
    ("fullpipe runs --where seed=1", "the stored runs of seed 1"),
    ("fullpipe query 'select cca, avg(goodput_bps) from flows group by 1'", "mean goodput by algorithm"),
    ("fullpipe plot runs/*/native-1", "runs over time, in the same axes"),
    ("fullpipe plot RUN --var cwnd,bw,state", "internal variables of an algorithm"),
    ("fullpipe plot runs --metric goodput --x size", "means over a sweep, with intervals"),
    (
        "fullpipe table runs --metric goodput --columns cca --format latex",
        "a table for a paper",
    ),
    ("fullpipe report runs -o report.html", "a page that can be sent"),
    ("fullpipe ui", "serve the page to this machine"),
    ("fullpipe pack runs -o study.zip", "the runs, their scenarios and their code"),
    ("fullpipe rerun study.zip --compare", "are all tables equal, byte for byte?"),
    ("fullpipe export RUN -o run.pcapng", "captured packets, for Wireshark"),
    ("fullpipe import rrul.flent.gz --out measured", "store a measurement as a run"),
    ("fullpipe twin rrul.flent.gz -o twin.toml", "rate, RTT, buffer and queue as measured"),
    ("fullpipe fit ping.log iperf3.json -o line.toml", "a scenario of the measured line"),
    ('fullpipe import-tc "tc qdisc add dev eth0 root pie"', "the queue as TOML"),
    ("fullpipe flent rrul --path dsl --cca bbr3", "four uploads, four downloads and pings"),
    ("fullpipe trace info cell.down", "duration and mean rate of a trace"),
    ("fullpipe agree --list", "the cases, without running them"),
    ("fullpipe paper kato2025 --quick", "a short version of a study"),
    ("fullpipe conformance bbr3 preset=draft", "the tests with the draft's parameters"),
    ("fullpipe doctor", "every engine, with what to do"),
    ("fullpipe engines install ns3", "download or build the engine ns3"),
    ("fullpipe schema -o fullpipe.schema.json", "write it for an editor"),
    ("fullpipe completion bash > ~/.local/share/bash-completion/completions/fullpipe", "for bash"),
    ("fullpipe completion zsh > ~/.zsh/completions/_fullpipe", "for zsh, if that folder is in $fpath"),
    ("fullpipe completion fish > ~/.config/fish/completions/fullpipe.fish", "for fish"),
    ("fullpipe man | man -l -", "read it"),
    ("fullpipe man > ~/.local/share/man/man1/fullpipe.1", "install it for `man fullpipe`"),
)
"""Commands that can be typed, each with what it does, in the order of the help."""


def examples_of(command: str) -> list[tuple[str, str]]:
    """The examples of a command, or of all commands of a group of commands.

    >>> examples_of("demo")
    [('fullpipe demo -o first', 'write the figure to the folder first')]
    """
    return [(line, what) for line, what in EXAMPLES if f"{line} ".startswith(f"fullpipe {command} ")]
