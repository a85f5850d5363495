#!/usr/bin/env bash
# Installs a finished build into a fresh prefix and builds the sample project against it: run.sh BUILD_DIR SOURCE_DIR
set -euo pipefail

build=${1:?usage: run.sh BUILD_DIR SOURCE_DIR}
source=${2:?usage: run.sh BUILD_DIR SOURCE_DIR}
work=$build/package_test
prefix=$work/prefix

rm -rf "$work"
cmake --install "$build" --prefix "$prefix" >/dev/null
"$prefix/bin/sluice" --version
cmake -G Ninja -S "$source/tests/package" -B "$work/sample" -DCMAKE_PREFIX_PATH="$prefix"
cmake --build "$work/sample"
"$work/sample/sample"
"$work/sample/evaluate_text" "$source/tests/golden/official/tiny_gate_elementwise"
