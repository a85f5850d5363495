#!/usr/bin/env bash
# Installs what the tests need, builds and runs them all; the last line is "N passed, N failed".
# --sanitizers runs the unit tests once more, linked with a library that has the address and undefined-behaviour
# sanitizers (CI does). Further arguments go to ctest, e.g. ./test.sh -R Tape
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

passed=0 failed=0 skipped=0

finish() {
  if ((skipped > 0)); then echo "$skipped skipped"; fi
  if ((passed + failed == 0)); then echo "no test ran"; fi
  echo "$passed passed, $failed failed"
  ((failed == 0 && passed > 0)) && exit 0
  exit 1
}

fail_step() {
  echo "$1 failed"
  failed=$((failed + 1))
}

# run_tests CTEST_ARGUMENT...
run_tests() {
  local status=0 junit=$PWD/build/dev.junit.xml counts
  rm -f "$junit"
  # Only what failed or was skipped is worth reading; ctest keeps the rest in its own log.
  ctest --preset dev --parallel "$(nproc)" --output-junit "$junit" "$@" 2>&1 |
    { grep -Ev '^ +Start +[0-9]+: |   Passed +[0-9.]+ sec$' || true; } || status=$?
  if [[ ! -f $junit ]]; then
    fail_step "ctest"
    return
  fi
  read -ra counts < <(scripts/count-results.sh "$junit")
  passed=$((passed + counts[0]))
  failed=$((failed + counts[1]))
  skipped=$((skipped + counts[2]))
  # ctest knows more ways to fail than its report has words for.
  if ((status != 0 && counts[1] == 0)); then fail_step "ctest (exit status $status)"; fi
}

if ! scripts/install-deps.sh --tests; then
  fail_step "installing the dependencies"
  finish
fi

# The shards run every unit test; by name they are there for an argument to choose from.
left_out='^(unit|sanitized)$' targets=(all)
if [[ ${1:-} == --sanitizers ]]; then
  shift
  left_out='^unit$' targets+=(sluice_tests_sanitized)
fi

if scripts/build.sh dev "${targets[@]}"; then
  if (($# == 0)); then set -- --label-exclude "$left_out"; fi
  run_tests "$@"
else
  fail_step "building preset dev"
fi

finish
