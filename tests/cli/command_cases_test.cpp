// The runner of tests/commands itself: every kind of check can fail and then says what it expected and got; a
// malformed file is told by file and line.
#include <gtest/gtest.h>

#include "tests/commands/runner/read_cases.h"
#include "tests/commands/runner/run_case.h"

namespace sluice::test {
namespace {

std::vector<Failure> run(const std::string& steps, const CaseOptions& options = {}) {
  const std::vector<Case> cases = parse_cases("=== the case\n" + steps, "x.test");
  return run_case(cases.at(0), options);
}

std::string malformed(const std::string& text) {
  try {
    parse_cases(text, "x.test");
  } catch (const MalformedCases& error) {
    return error.what();
  }
  return "(read without complaint)";
}

struct Failing {
  std::string steps;
  int line;  // of the failure; the title is line 1
  std::string expected, got;
};

const std::vector<Failing> kFailing = {
    {"$ exit 3", 2, "exit 0", "exit 3"},
    {"$ true\nexit 2", 3, "exit 2", "exit 0"},
    {"$ false | true", 2, "exit 0", "exit 1"},
    {"$ kill -9 $$", 2, "exit 0", "exit 137"},
    {"$ echo oh >&2", 2, "stderr empty", "something"},
    {"$ echo a\n> b", 3, "> b", "line 1 \"a\""},
    {"$ printf 'a\\nb\\n'\n> a", 3, "> a", "line 2 \"b\", which is one too many"},
    {"$ echo a\n> a\n> b", 3, "> a", "the end, instead of line 2 \"b\""},
    {"$ printf a\n> a", 3, "> a", "no end of line at the end"},
    {"$ echo a >&2\n2> b", 3, "2> b", "line 1 \"a\""},
    {"$ echo hello\nstdout has hallo", 3, "stdout has hallo", "no such text"},
    {"$ echo hello\nstdout lacks ell", 3, "stdout lacks ell", "the text is there"},
    {"$ echo hello\nstdout line hell", 3, "stdout line hell", "no such line"},
    {"$ echo hello\nstdout matches ^ello", 3, "stdout matches ^ello", "no line that matches"},
    {"$ echo hello\nstdout lines 2", 3, "stdout lines 2", "1 lines"},
    {"$ echo hello\nstdout empty", 3, "stdout empty", "something"},
    {"$ echo hello >&2\nstderr has hallo", 3, "stderr has hallo", "no such text"},
    {"$ echo 'sluice: error: no' >&2; exit 2\nrefused 3: no", 3, "refused 3: no", "exit 2"},
    {"$ echo 'sluice: error: no' >&2; exit 2\nrefused 2: yes", 3, "refused 2: yes", "another message"},
    {"$ echo 'sluice: error: no' >&2; echo; exit 2\nrefused 2: no", 3, "refused 2: no",
     "something on stdout"},
    {"$ echo no >&2; exit 2\nrefused 2: no", 3, "refused 2: no",
     "on stderr something else than one line \"sluice: error: …\""},
    {"$ printf 'sluice: error: no\\nmore\\n' >&2; exit 2\nrefused 2: no", 3, "refused 2: no",
     "on stderr something else than one line \"sluice: error: …\""},
    {"$ touch a\nexists a b", 3, "exists a b", "no b"},
    {"$ touch a\nmissing b a", 3, "missing b a", "a is there"},
    {"$ echo no\njson a = 1", 3, "json a = 1", "no JSON on stdout"},
    {"$ echo '{\"a\": 2}'\njson a = 1", 3, "json a = 1", "a = 2"},
    {"$ echo '{\"a\": 1}'\njson a != 1", 3, "json a != 1", "a = 1"},
    {"$ echo '{\"a\": 1}'\njson b = 1", 3, "json b = 1", "no b"},
    {"$ echo '{\"a\": 1}'\njson b != 1", 3, "json b != 1", "no b"},
    {"$ echo '{\"a\": 1}'\njson b = null", 3, "json b = null", "no b"},
    {"$ echo '{\"a\": 1}'\njson a = null", 3, "json a = null", "a = 1"},
    {"$ echo '{\"a\": 1}'\njson a missing", 3, "json a missing", "a = 1"},
    {"$ echo '{\"a\": 1}'\njson b exists", 3, "json b exists", "no b"},
    {"$ echo '{\"a\": 1}'\njson a ~ 1.2 +- 0.1", 3, "json a ~ 1.2 +- 0.1", "a = 1"},
    {"$ echo '{\"a\": \"1\"}'\njson a ~ 1 +- 0.1", 3, "json a ~ 1 +- 0.1", "a = \"1\""},
    {"$ echo '{\"a\": 1}'\njson a ~ 1", 3, "json a ~ 1", "expected \"~ NUMBER +- TOLERANCE\""},
    {"$ echo '{\"a\": 1}'\njson a < 1", 3, "json a < 1", "a = 1"},
    {"$ echo '{\"a\": 1}'\njson a > 1", 3, "json a > 1", "a = 1"},
    {"$ echo '{\"a\": 2}'\njson a <= 1", 3, "json a <= 1", "a = 2"},
    {"$ echo '{\"a\": 0}'\njson a >= 1", 3, "json a >= 1", "a = 0"},
    {"$ echo '{\"a\": null}'\njson a < 1", 3, "json a < 1", "a = null"},
    {"$ echo '{\"a\": [1, 2]}'\njson a size 3", 3, "json a size 3", "a = [1,2]"},
    {"$ echo '{\"b\": 1, \"a\": 2}'\njson . keys a b", 3, "json . keys a b", ". = {\"b\":1,\"a\":2}"},
    {"$ echo '{\"a\": \"text\"}'\njson a matches ^ext", 3, "json a matches ^ext", "a = \"text\""},
    {"$ echo '[{\"a\": 1}, {\"a\": 2}]'\njson [*].a = 1", 3, "json [*].a = 1", "[1].a = 2"},
    {"$ echo '[{\"a\": 1}, {}]'\njson [*].a > 0", 3, "json [*].a > 0", "no [1].a"},
    {"$ echo '[]'\njson [*].a > 0", 3, "json [*].a > 0", "no [*].a"},
    {"$ echo '[1, 2]'\njson [-1] = 1", 3, "json [-1] = 1", "[-1] = 2"},
    {"$ echo '{\"a.b\": {\"c\": 1}}'\njson \"a.b\".c = 2", 3, "json \"a.b\".c = 2", "a.b.c = 1"},
    {"$ echo '{\"a\": 1}'\njson a = one", 3, "json a = one", "not a JSON value: one"},
    {"$ printf '1\\n2\\n'\njsonl [1] = 1", 3, "jsonl [1] = 1", "[1] = 2"},
    {"$ printf '1\\nx\\n'\njsonl [0] = 1", 3, "jsonl [0] = 1", "no JSON on stdout"},
    {"$ echo '{\"a\": 1}'\nsave B b", 3, "save B b", "no b"},
    {"$ echo '{\"a\": 1}'\nsave A a\njson a != $A", 4, "json a != 1", "a = 1"},
    {"$ echo\nstdout has $NOBODY", 3, "stdout has $NOBODY", "there is no variable $NOBODY"},
    {"$ echo a \\\n  b\n> a c", 4, "> a c", "line 1 \"a b\""},
    {"file a\n| one\n|  two\n$ cat a\n> one\n> two", 6, "> one", "line 2 \" two\""},
};

TEST(CommandCases, that_fail_say_where_and_what_was_expected_and_got) {
  for (const Failing& failing : kFailing) {
    SCOPED_TRACE(failing.steps);
    const std::vector<Failure> failures = run(failing.steps + "\n");
    ASSERT_EQ(failures.size(), 1U);
    EXPECT_EQ(failures[0].line, failing.line);
    const std::string part = "\nexpected: " + failing.expected + "\ngot:      " + failing.got + "\n";
    EXPECT_NE(failures[0].message.find(part), std::string::npos) << "no" << part << "in:\n"
                                                                 << failures[0].message;
  }
}

TEST(CommandCases, hold_when_all_is_as_expected) {
  const std::string steps = R"(
# A comment.
file folder/in
| {"a": [1, 2.5, null], "b.c": "text", "d": {"y": 1, "x": 2}}
$ cat folder/in
json a[1] ~ 2.49 +- 0.02
json a[-1] = null
json a size 3
json a[3] missing
json "b.c" matches ^te
json d = {"x": 2, "y": 1}
json . keys a b.c d
save LAST a[1]
exists folder/in $TMP/folder
missing in
$ echo $LAST; echo note >&2; exit 4
exit 4
> 2.5
2> note
$ echo "sluice: error: wrong: $LAST" >&2; exit 2
refused 2: wrong: $LAST
$ pwd
> $TMP
$ grep ell <<< hello && cat
stdout has ell
stdout lacks hallo
stdout matches ^h.*o$
)";
  for (const Failure& failure : run(steps)) ADD_FAILURE() << failure.message;
}

TEST(CommandCases, tell_the_command_and_all_that_it_printed) {
  const std::vector<Failure> failures =
      run("$ echo one; echo two >&2\nexit 7\nstdout has three\nstderr any\n");
  ASSERT_EQ(failures.size(), 2U) << "every check of the command";
  EXPECT_EQ(failures[0].message,
            "$ echo one; echo two >&2\nexpected: exit 7\ngot:      exit 0\nstdout:\n| one\nstderr:\n| two\n");
}

TEST(CommandCases, end_at_the_first_command_that_is_wrong) {
  EXPECT_EQ(run("$ false\n$ false\n").size(), 1U);
}

TEST(CommandCases, run_the_setup_before_each_in_a_directory_of_its_own) {
  const std::vector<Case> cases = parse_cases(
      "=== setup\nfile a\n| text\n=== one\n$ cat a; rm a; touch b\n> text\n=== two\n$ ls\n> a\n", "x.test");
  ASSERT_EQ(cases.size(), 2U);
  for (const Case& test : cases) EXPECT_TRUE(run_case(test, {}).empty()) << test.title;
}

TEST(CommandCases, kill_what_takes_too_long_and_what_it_started) {
  const auto start = std::chrono::steady_clock::now();
  const std::vector<Failure> failures =
      run("$ echo begun; sleep 100 | cat\n", {.time_limit = std::chrono::milliseconds(200)});
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_NE(
      failures[0].message.find("expected: the case to end within 0.2 s\ngot:      killed\nstdout:\n| begun"),
      std::string::npos)
      << failures[0].message;
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(50));
}

TEST(CommandCases, can_be_slow_and_can_need_programs) {
  const std::vector<Case> cases =
      parse_cases("=== one\nslow\nneeds groff man\n$ true\n=== two\n$ true\n", "x.test");
  EXPECT_TRUE(cases.at(0).slow);
  EXPECT_EQ(cases.at(0).needed, (std::vector<std::string>{"groff", "man"}));
  EXPECT_FALSE(cases.at(1).slow);
}

TEST(CommandCases, that_are_malformed_are_told_by_file_and_line) {
  const std::vector<std::pair<std::string, std::string>> files = {
      {"", "x.test:0: no case in this file"},
      {"$ true\n", "x.test:1: expected \"=== title\" before anything else"},
      {"===\n$ true\n", "x.test:1: the case has no title"},
      {"=== a\n$ true\n=== a\n$ true\n", "x.test:3: there is a case \"a\" already"},
      {"=== a\n$ true\n\n=== setup\n$ true\n", "x.test:4: setup comes first, and once"},
      {"=== a\n\n=== b\n$ true\n", "x.test:3: the case \"a\" has no command"},
      {"=== setup\n$ true\n=== a\n", "x.test:3: the case \"a\" has no command"},
      {"=== a\n$\n", "x.test:2: no command behind \"$\""},
      {"=== a\n$ true \\\n", "x.test:2: the file ends within a command"},
      {"=== a\n$ true\nexpect 0\n", "x.test:3: unknown word \"expect\": expected one of ===, slow, "},
      {"=== a\n| text\n", "x.test:2: unknown word \"|\""},
      {"=== a\nexit 0\n", "x.test:2: \"exit\" is about a command: expected \"$ …\" before it"},
      {"=== a\nfile b\nexit 0\n", "x.test:3: \"exit\" is about a command"},
      {"=== a\nfile b\n|text\n", "x.test:3: expected a space behind \"|\""},
      {"=== a\nfile\n", "x.test:2: the file has no name"},
      {"=== a\n$ true\nslow\n", "x.test:3: \"slow\" belongs to the title"},
      {"=== a\nneeds\n", "x.test:2: needs what?"},
      {"=== a\n$ true\nexit zero\n", "x.test:3: expected a number, got \"zero\""},
      {"=== a\n$ true\nrefused 2\n", "x.test:3: expected \"refused CODE: part of the message\""},
      {"=== a\n$ true\nstdout contains a\n", "x.test:3: expected has, lacks, line, "},
      {"=== a\n$ true\nstdout has\n", "x.test:3: which text?"},
      {"=== a\n$ true\nstdout matches (\n", "x.test:3: not a regular expression: ("},
      {"=== a\n$ true\njson a\n", "x.test:3: expected =, !=, ~, "},
      {"=== a\n$ true\njson a == 1\n", "x.test:3: expected =, !=, ~, "},
      {"=== a\n$ true\njson a[b] = 1\n", "x.test:3: expected a number or * between [ and ]"},
      {"=== a\n$ true\njson a..b = 1\n", "x.test:3: an empty name in the path"},
      {"=== a\n$ true\nexists\n", "x.test:3: which file?"},
      {"=== a\n$ true\nsave a b\n", "x.test:3: expected a name of capital letters"},
  };
  for (const auto& [text, message] : files) {
    const std::string got = malformed(text);
    EXPECT_TRUE(got.starts_with(message)) << "expected: " << message << "\ngot: " << got << "\nof:\n" << text;
  }
}

}  // namespace
}  // namespace sluice::test
