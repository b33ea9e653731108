"""`python -m fullpipe`: the command line."""

from fullpipe.cli import main

main()
