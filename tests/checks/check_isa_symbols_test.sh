#!/usr/bin/env bash
# The symbol check refuses inline functions outside a set's namespace: check_isa_symbols_test.sh SOURCE_DIR
# shellcheck source=tests/checks/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
check=$1/tools/check-isa-symbols.sh

# compile NAME CODE
compile() {
  printf '%s\n' "$2" >"$work/$1.cpp"
  "${CXX:-g++}" -std=c++20 -O0 -c "$work/$1.cpp" -o "$work/$1.o"
}

compile own 'namespace sluice::simd_avx2 { inline int f() { return 1; } } int own() { return sluice::simd_avx2::f(); }'
compile other 'namespace sluice { inline int shared() { return 1; } } int other() { return sluice::shared(); }'

expect_pass "a function of the set's own" "$check" "$work/own.o"
expect_fail "a function of everybody's" "other.o:" "$check" "$work/own.o" "$work/other.o"
expect_fail "it is named" "sluice::shared()" "$check" "$work/other.o"

printf '%s\n' "$work/own.o" "$work/other.o" >"$work/list"
expect_fail "a list of objects" "sluice::shared()" "$check" "@$work/list"

: >"$work/empty"
expect_fail "no object" "" "$check" "@$work/empty"
expect_fail "a missing object" "" "$check" "$work/gone.o"
