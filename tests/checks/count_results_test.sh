#!/usr/bin/env bash
# test.sh's counts: a test that could not run is a failure, not a skip: count_results_test.sh SOURCE_DIR
# shellcheck source=tests/checks/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
count=$1/scripts/count-results.sh

# case_xml NAME STATUS [ELEMENT]
case_xml() {
  printf '\t<testcase name="%s" classname="%s" time="1" status="%s">\n' "$1" "$1" "$2"
  if (($# > 2)); then printf '\t\t%s\n' "$3"; fi
  printf '\t\t<system-out>&lt;testcase status="run"</system-out>\n\t</testcase>\n'
}

{
  case_xml good run
  case_xml bad fail '<failure message=""/>'
  case_xml no_program notrun '<skipped message="Unable to find executable"/>'
  case_xml asked notrun '<skipped message="SKIP_RETURN_CODE=77"/>'
  case_xml asked_by_text notrun '<skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>'
  case_xml off disabled
  case_xml no_reason notrun
} >"$work/one.xml"
case_xml good run >"$work/two.xml"
: >"$work/none.xml"

expect_pass "counting" "$count" "$work/one.xml" "$work/two.xml"
expect_output "sums over files" "2 3 3"
expect_pass "no tests" "$count" "$work/none.xml"
expect_output "no tests" "0 0 0"
