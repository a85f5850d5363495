# shellcheck shell=bash
# What the tests of the checks share: a temporary folder, and statements about a command's output.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# expect_pass WHAT COMMAND...
expect_pass() {
  local what=$1
  shift
  if ! output=$("$@" 2>&1); then
    printf 'not ok: %s: the command failed:\n%s\n' "$what" "$output"
    exit 1
  fi
}

# expect_fail WHAT TEXT COMMAND...: the command fails, and its output contains TEXT.
expect_fail() {
  local what=$1 text=$2
  shift 2
  if output=$("$@" 2>&1); then
    printf 'not ok: %s: the command passed\n' "$what"
    exit 1
  fi
  if [[ $output != *"$text"* ]]; then
    printf 'not ok: %s: no "%s" in the output:\n%s\n' "$what" "$text" "$output"
    exit 1
  fi
}

# expect_output WHAT TEXT: the whole output of the last command.
expect_output() {
  if [[ $output != "$2" ]]; then
    printf 'not ok: %s: expected:\n%s\ngot:\n%s\n' "$1" "$2" "$output"
    exit 1
  fi
}
