#!/usr/bin/env bash
# The shared library shows its interface and nothing else: exported_symbols_test.sh LIBRARY
set -euo pipefail
library=${1:?usage: exported_symbols_test.sh LIBRARY}

symbols=$(nm --dynamic --defined-only --format=posix "$library" | cut -d ' ' -f 1)

# expect_some WHAT PATTERN
expect_some() {
  if grep -qE "$2" <<<"$symbols"; then return; fi
  echo "$library does not export $1"
  exit 1
}

# expect_none WHAT PATTERN
expect_none() {
  if ! found=$(grep -E "$2" <<<"$symbols"); then return; fi
  echo "$library exports $1:"
  head -20 <<<"$found" | c++filt
  exit 1
}

expect_some "the C interface" '^sluice_load_model$'
expect_some "the C++ interface" '^_ZN6sluice11LoadedModelC1'
expect_some "the type of its errors, which others catch" '^_ZTIN6sluice5ErrorE$'
others=$(grep -vE '^(sluice_|_ZNK?6sluice|_ZT[ISVT]N6sluice)' <<<"$symbols" || true)
if [[ -n $others ]]; then
  echo "$library exports what is not its own:"
  head -20 <<<"$others" | c++filt
  exit 1
fi
expect_none "kernels of an instruction set" '^_ZNK?6sluice([0-9]+simd_|3amx|10avx512bf16)'
expect_none "what is in an unnamed namespace" '_GLOBAL__N_'
echo "$(wc -l <<<"$symbols") symbols"
