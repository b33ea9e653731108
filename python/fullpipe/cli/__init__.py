"""The command line: thin commands over the library."""

from fullpipe.cli import (
    agree,
    compare,
    conformance,
    doctor,
    engines,
    export,
    import_tc,
    list_,
    metrics,
    paper,
    plot,
    run,
    show,
    trace,
)
from fullpipe.cli.app import app, main

for _command in (
    run.run,
    metrics.metrics,
    compare.compare,
    agree.agree,
    paper.paper,
    plot.plot,
    export.export,
    conformance.conformance,
    show.show,
    doctor.doctor,
):
    app.command()(_command)
app.command("list")(list_.list_names)
app.add_typer(engines.app, name="engines")
app.command("import-tc")(import_tc.import_tc)
app.add_typer(trace.trace, name="trace")

__all__ = ["app", "main"]
