#!/usr/bin/env bash
# Stands for Python in "python -m ziglang cc ..." of `make wheel`: zig does not know "-u NAME", which the compiler writes
# for code that counts, but "-uNAME".
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
