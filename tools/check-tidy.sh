#!/usr/bin/env bash
# Runs clang-tidy over the library: check-tidy.sh [FILE_REGEX]. Takes minutes, so it is not part of test.sh.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! command -v run-clang-tidy >/dev/null; then
  echo "check-tidy.sh: run-clang-tidy is missing; install the package clang-tidy" >&2
  exit 1
fi
if [[ ! -f build/dev/compile_commands.json ]]; then
  echo "check-tidy.sh: build/dev/compile_commands.json is missing; run: cmake --preset dev" >&2
  exit 1
fi

echo "clang-tidy over ${1:-src/sluice} (minutes on a small machine)"
# The commands are for g++, and clang need not know every warning of g++'s.
run-clang-tidy -p build/dev -quiet -j "$(nproc)" \
  -extra-arg=-Wno-unknown-warning-option \
  "${1:-/src/sluice/}"
