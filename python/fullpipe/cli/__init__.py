"""The command line: thin commands over the library."""

from fullpipe.cli import conformance, export, import_tc, list_, paper, plot, run, show
from fullpipe.cli.app import app, main

for _command in (run.run, paper.paper, plot.plot, export.export, conformance.conformance, show.show):
    app.command()(_command)
app.command("list")(list_.list_names)
app.command("import-tc")(import_tc.import_tc)

__all__ = ["app", "main"]
