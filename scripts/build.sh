#!/usr/bin/env bash
# Configures and builds a CMake preset quietly: build.sh PRESET [TARGET...]. Shows the log only on failure.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preset=${1:?usage: build.sh PRESET [TARGET...]}
shift
targets=()
if (($# > 0)); then targets=(--target "$@"); fi

configure_and_build() {
  cmake --preset "$preset" && cmake --build --preset "$preset" --parallel "$(nproc)" "${targets[@]}"
}

log=build/$preset.log
mkdir -p build
echo "Building preset $preset with $(nproc) jobs (log: $log)"
if ! configure_and_build >"$log" 2>&1; then
  tail -n 40 "$log" >&2
  echo "build.sh: building preset $preset failed; the whole log is in $log" >&2
  exit 1
fi
