#!/usr/bin/env bash
# Prints "PASSED FAILED SKIPPED", summed over the JUnit files that ctest wrote: count-results.sh FILE...
set -euo pipefail

# ctest marks a test whose program is missing as "notrun", like a skipped one. Only a test that asked to be
# skipped, or was disabled, counts as skipped; everything else that did not run is a failure.
awk '
  function settle() { if (pending) { failed++; pending = 0 } }
  /^[ \t]*<testcase / {
    settle()
    if (/ status="run"/) passed++
    else if (/ status="disabled"/) skipped++
    else if (/ status="notrun"/) pending = 1
    else failed++
  }
  pending && /^[ \t]*<skipped message="SKIP_/ { skipped++; pending = 0 }
  END { settle(); print passed + 0, failed + 0, skipped + 0 }
' "$@" </dev/null
