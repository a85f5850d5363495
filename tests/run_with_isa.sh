#!/usr/bin/env bash
# Runs the unit tests with an instruction set forced: run_with_isa.sh ISA PROGRAM TESTS [OPTION...].
# Exit 77 (skipped) if this CPU lacks the set, or would choose it anyway.
set -euo pipefail
isa=${1:?} program=${2:?} tests=${3:?}
shift 3
"$program" doctor --isa "$isa" >/dev/null 2>&1 || exit 77
if "$program" doctor --json | grep -q "\"chosen\": \"$isa\""; then exit 77; fi
SLUICE_ISA=$isa exec "$tests" --gtest_brief=1 "$@"
