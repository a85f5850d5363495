#!/usr/bin/env bash
# Installs a finished build into a fresh prefix, builds the examples against it with find_package and with pkg-config,
# and runs them: run.sh BUILD_DIR SOURCE_DIR
set -euo pipefail

build=${1:?usage: run.sh BUILD_DIR SOURCE_DIR}
source=${2:?usage: run.sh BUILD_DIR SOURCE_DIR}
work=$build/package_test
prefix=$work/prefix

if ! command -v pkg-config >/dev/null; then
  echo "pkg-config is not installed (scripts/install-deps.sh --slow-tests): the installed library is not tested"
  exit 77
fi

rm -rf "$work"
cmake --install "$build" --prefix "$prefix" >/dev/null
"$prefix/bin/sluice" --version

cmake -G Ninja -S "$source/tests/package" -B "$work/sample" -DCMAKE_PREFIX_PATH="$prefix"
cmake --build "$work/sample"
"$work/sample/sample"
"$work/sample/sample_static"
if ldd "$work/sample/sample_static" | grep libsluice; then
  echo "sluice::static is linked with the shared library"
  exit 1
fi

# The model that the first example trains is the one that the others look at.
"$work/sample/train" "$work/trained"
model=$work/trained/run/latest
for example in load evaluate intervene; do "$work/sample/$example" "$model"; done
"$work/sample/generate" "$model" "Petra was"
"$work/sample/generate_c" "$model" "Petra was"
"$work/sample/capture" "$model" "Petra was" | grep -F 'layers.1.attn.gate [9, 4, 16] mean 0.'

status=0
"$work/sample/evaluate" "$work/gone" 2>"$work/error" || status=$?
if ((status != 3)) || ! grep -q 'gone: not a model directory' "$work/error"; then
  echo "a missing model: exit code $status, $(cat "$work/error")"
  exit 1
fi

export PKG_CONFIG_PATH
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name sluice.pc)")
pkg-config --atleast-version=0.1 sluice
read -ra flags <<<"$(pkg-config --cflags --libs sluice)"
library=$(pkg-config --variable=libdir sluice)
"${CXX:-c++}" -std=c++20 "$source/examples/load.cpp" -o "$work/load" "${flags[@]}" -Wl,-rpath,"$library"
"$work/load" "$model" | tail -1
read -ra flags <<<"$(pkg-config --static --cflags --libs sluice)"
"${CXX:-c++}" -std=c++20 "$source/examples/load.cpp" -o "$work/load_static" "${flags[@]/#-lsluice/-l:libsluice.a}"
"$work/load_static" "$model" | tail -1
