#!/bin/sh
# Print the first Python 3.11 or newer on the path.
for candidate in python3 python3.14 python3.13 python3.12 python3.11 python; do
    if command -v "$candidate" >/dev/null 2>&1 &&
        "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
        command -v "$candidate"
        exit 0
    fi
done
echo "fullpipe needs Python 3.11 or newer; none was found on the path (or: make PYTHON=/path/to/python)" >&2
exit 1
