#!/usr/bin/env bash
# The check of views passes on a tree without them and names each place that has one: check_views_test.sh SOURCE_DIR
# shellcheck source=tests/checks/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
check=$1/tools/check-views.sh

mkdir -p "$work"/{src,tests,bench,examples}
printf 'for (int i : std::span(all).subspan(1)) {}\nint previews;\n' >"$work/src/a.cpp"
expect_pass "a tree without views" "$check" "$work"
printf '\nfor (int i : all | std::views::drop(1)) {}\n' >"$work/tests/b.h"
expect_fail "a view" "tests/b.h:2:" "$check" "$work"
printf 'auto rest = std::ranges::unique(all);\n' >"$work/tests/b.h"
expect_fail "an algorithm that returns one" "tests/b.h:1:" "$check" "$work"
