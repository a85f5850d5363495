#!/usr/bin/env bash
# Installs what the tests need, builds and runs them all; the last line is "N passed, N failed".
#   --slow              also what kills, installs, fills a disk or takes minutes
#   --sanitizers        the unit tests once more with the address and undefined-behaviour sanitizers
#   --thread-sanitizer  those that use threads once more with the thread sanitizer
# Further arguments go to ctest, e.g. ./test.sh -R Tape
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

# Labels that a plain run leaves out. The shards run every unit test; by name (unit) they are there for an argument to
# choose from.
left_out=' unit slow sanitized thread_sanitized ' targets=(all) needed=--tests
while (($# > 0)); do
  case $1 in
    --slow) left_out=${left_out/ slow / } needed=--slow-tests ;;
    --sanitizers) left_out=${left_out/ sanitized / } targets+=(sluice_tests_sanitized) ;;
    --thread-sanitizer) left_out=${left_out/ thread_sanitized / } targets+=(sluice_tests_thread_sanitized) ;;
    *) break ;;
  esac
  shift
done
read -ra left_out <<<"$left_out"
left_out="^($(IFS='|' && echo "${left_out[*]}"))$"

if ! scripts/install-deps.sh "$needed"; then
  fail_step "installing the dependencies"
  finish
fi

if scripts/build.sh dev "${targets[@]}"; then
  if (($# == 0)); then set -- --label-exclude "$left_out"; fi
  run_tests "$@"
else
  fail_step "building preset dev"
fi

finish
