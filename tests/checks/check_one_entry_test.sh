#!/usr/bin/env bash
# tools/check-one-entry.sh passes on this tree and fails on one that names a position or an activation twice.
set -euo pipefail
root=${1:?usage: check_one_entry_test.sh ROOT}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

check() {
  "$root/tools/check-one-entry.sh" "$work" >"$work/output" 2>&1
}

fail() {
  echo "$*"
  cat "$work/output"
  exit 1
}

mkdir "$work/src"
cp -r "$root/src/sluice" "$work/src/sluice"
check || fail "the tree itself does not pass"

# expect_refusal FILE LINE: with the line at its end
expect_refusal() {
  cp "$work/src/sluice/$1" "$work/saved"
  echo "$2" >>"$work/src/sluice/$1"
  if check; then fail "passed with \"$2\" in $1"; fi
  grep -q "src/sluice/$1" "$work/output" || fail "does not say that $1 names it"
  cp "$work/saved" "$work/src/sluice/$1"
}

expect_refusal model/count.cpp 'bool a = position == GatePosition::G3;'
expect_refusal model/config_reader.cpp 'const char* a = "g5";'
expect_refusal probe/recorder.cpp 'auto a = Activation::TwoSigmoid;'
expect_refusal model/gate_names.h 'const char* a = "softplus";'
check || fail "does not pass any more"
