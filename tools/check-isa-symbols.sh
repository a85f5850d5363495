#!/usr/bin/env bash
# Fails if an object built for one instruction set shares a function with the rest: check-isa-symbols.sh OBJECT...
# The linker keeps one copy of each inline function. If that copy came from an object built with, say, AVX-512,
# the whole program would need AVX-512. So every such symbol must carry a name that belongs to the set.
# An OBJECT may be @FILE, a list of objects.
set -euo pipefail

if (($# == 0)); then
  echo "usage: check-isa-symbols.sh OBJECT..." >&2
  exit 2
fi

symbols=$(nm --print-file-name --demangle --defined-only "$@")
if [[ -z $symbols ]]; then
  echo "no symbols in the given objects"
  exit 1
fi

# DW.ref.* is the compiler's pointer to the exception handler: data, and the same everywhere.
shared=$(grep -E ':[0-9a-f]+ [WVuC] ' <<<"$symbols" | grep -Ev '(sluice::simd_|hwy::N_)| V DW\.ref\.' || true)
if [[ -n $shared ]]; then
  echo "symbols that the linker may use for code outside their instruction set:"
  echo "$shared"
  exit 1
fi
