#!/usr/bin/env bash
# tools/check-commands.sh notices a document that the program would not print: check_commands_test.sh SOURCE_DIR
# shellcheck source=tests/checks/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
check=$1/tools/check-commands.sh

printf '#!/bin/sh\nprintf "# Commands\\n%%s\\n" "$*"\n' >"$work/program"
chmod +x "$work/program"
export SLUICE=$work/program
mkdir "$work/docs"

printf '# Commands\nhelp --markdown\n' >"$work/docs/commands.md"
expect_pass "what the program prints" "$check" "$work"

printf '# Commands\nhelp --markdown\nand more\n' >"$work/docs/commands.md"
expect_fail "a line too many" "< and more" "$check" "$work"

rm "$work/docs/commands.md"
expect_fail "no document" "docs/commands.md" "$check" "$work"
