#!/usr/bin/env bash
# Fuzzes the parsers under the sanitizers: fuzz.sh [SECONDS [TARGET...]]; 60 seconds each by default.
# Needs clang++ with libFuzzer (Debian: clang, libclang-rt-dev). A finding is kept in build/fuzz and ends the run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds=${1:-60}
shift || true
targets=("$@")
if ((${#targets[@]} == 0)); then targets=(safetensors config tokenizer shard); fi

compiler=${CXX:-}
for name in clang++ clang++-14; do
  if [[ -z $compiler ]] && command -v "$name" >/dev/null; then compiler=$name; fi
done
if [[ -z $compiler ]]; then
  echo "fuzz.sh: clang++ is needed (Debian: apt-get install clang libclang-rt-dev)" >&2
  exit 1
fi

build=build/fuzz
cmake -S . -B "$build" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=RelWithDebInfo \
  -DSLUICE_BUILD_TESTS=ON -DSLUICE_FUZZ=ON -DSLUICE_SANITIZE=address,undefined >"$build.log" 2>&1 ||
  { cat "$build.log" >&2 && exit 1; }
cmake --build "$build" --target fuzz_targets

for target in "${targets[@]}"; do
  echo "== $target, $seconds s"
  mkdir -p "$build/corpus/$target"
  "$build/tests/fuzz/fuzz_$target" -max_total_time="$seconds" -max_len=4096 -rss_limit_mb=2048 -timeout=10 \
    -print_final_stats=1 -artifact_prefix="$build/" "$build/corpus/$target" "tests/fuzz/corpus/$target" 2>&1 |
    tee "$build/$target.log" | grep -E 'ERROR|SUMMARY|stat::number_of_executed_units|Test unit written'
done
