#!/usr/bin/env bash
# What somebody at the explorer's page waits for, each figure beside its limit: server and transfer by `sluice bench explore`,
# drawing and movement in a headless chromium. bench-explorer.sh [BUILD] [MODEL...]: BUILD has the program (build/release), which
# also serves the page to the browser; the driver of the browser is of a build with tests, SLUICE_TESTS_BUILD (build/dev).
# Without models a small one of 6.8M parameters with random weights and the nursery's. On a quiet machine: about three minutes.
# Exits with 1 if a limit of drawing is missed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build=${1:-build/release}
shift || true
tests=${SLUICE_TESTS_BUILD:-build/dev}
cmake --build "$build" --target sluice_program >/dev/null
sluice=$build/sluice

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
models=("$@")
if ((${#models[@]} == 0)); then
  "$sluice" init small-elementwise "$scratch/small-elementwise" --quiet >/dev/null
  models=(tests/golden/nursery/headwise "$scratch/small-elementwise")
fi
for model in "${models[@]}"; do
  echo "sluice bench explore $(basename "$model")"
  "$sluice" bench explore "$model" --quiet
  echo
done

if cmake --build "$tests" --target sluice_browser_bench >/dev/null 2>&1; then
  "$tests/tests/browser/sluice_browser_bench" "$sluice"
else
  echo "no drawing: $tests is no build with tests (scripts/build.sh dev); SLUICE_TESTS_BUILD names another"
fi
