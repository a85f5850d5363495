#!/usr/bin/env bash
# What somebody at the explorer's page waits for, each figure beside its limit: server and transfer by `sluice bench explore`,
# drawing and movement in a headless chromium. bench-explorer.sh [BUILD] [MODEL...]; without models a small one of 6.8M
# parameters with random weights and the nursery's. On a quiet machine: about two minutes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build=${1:-build/release}
shift || true
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

# Only in builds with tests.
if cmake --build "$build" --target sluice_browser_bench >/dev/null 2>&1; then
  "$build/tests/browser/sluice_browser_bench"
else
  echo "no drawing: configure $build with -DSLUICE_BUILD_TESTS=ON"
fi
