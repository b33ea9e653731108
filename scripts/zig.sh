#!/usr/bin/env bash
# Replaces Python in "python -m ziglang cc ..." of `make wheel`. For profiled code the compiler passes "-u NAME", and zig
# accepts only "-uNAME".
set -euo pipefail
words=()
while (($#)); do
  if [ "$1" = -u ]; then
    shift
    words+=("-u$1")
  else
    words+=("$1")
  fi
  shift
done
exec python "${words[@]}"
