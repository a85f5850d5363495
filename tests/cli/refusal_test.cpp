// What the program does not take. A new command adds its own rows to the table.
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "tests/cli/expect_refusal.h"
#include "tests/cli/help_page.h"

namespace sluice::test {
namespace {

struct Refusal {
  std::string name;
  std::vector<std::string> arguments;
  int exit_code;
  std::string part;  // of the line on stderr
};

void PrintTo(const Refusal& refusal, std::ostream* out) {
  *out << refusal.name;
}

const std::vector<Refusal> kRefusals = {
    {"no_command", {}, 2, "no command given (sluice help lists the commands)"},
    {"empty_command", {""}, 2, "unknown command \"\" (try one of "},
    {"unknown_command", {"frobnicate"}, 2, "unknown command \"frobnicate\" (try one of "},
    {"mistyped_command", {"docter"}, 2, "unknown command \"docter\" (did you mean \"doctor\"?)"},
    {"mistyped_option_instead_of_a_command", {"--versoin"}, 2, "did you mean \"--version\"?"},
    {"more_after_the_version", {"--version", "--jsno"}, 2, "--jsno"},
    {"help_of_an_unknown_command", {"help", "frobnicate"}, 2, "unknown command \"frobnicate\""},
    {"help_of_a_mistyped_command", {"help", "docter"}, 2, "did you mean \"doctor\"?"},
    {"help_of_two_commands", {"help", "doctor", "help"}, 2, "help: unexpected argument \"help\""},

    {"mistyped_option",
     {"doctor", "--jsno"},
     2,
     "doctor: unknown option \"--jsno\" (did you mean \"--json\"?)"},
    {"mistyped_option_with_value", {"doctor", "--thread=2"}, 2, "\"--thread\" (did you mean \"--threads\"?)"},
    {"mistyped_option_when_quiet", {"doctor", "--quiet", "--jsno"}, 2, "did you mean \"--json\"?"},
    {"unknown_option",
     {"doctor", "--frobnicate"},
     2,
     "\"--frobnicate\" (sluice help doctor lists what it takes)"},
    {"unknown_letter", {"doctor", "-x"}, 2, "doctor: unknown option \"-x\""},
    {"unexpected_argument", {"doctor", "now"}, 2, "doctor: unexpected argument \"now\""},
    {"empty_argument", {"doctor", ""}, 2, "doctor: unexpected argument \"\""},
    {"control_characters", {"doctor", "a\nb\x1b[31m"}, 2, "unexpected argument \"a b [31m\""},

    {"no_threads", {"doctor", "--threads", "0"}, 2, "--threads: expected integer from 1 to 1024, got \"0\""},
    {"negative_threads", {"doctor", "--threads", "-1"}, 2, "expected integer from 1 to 1024, got \"-1\""},
    {"threads_in_letters", {"doctor", "--threads", "abc"}, 2, "expected integer from 1 to 1024, got \"abc\""},
    {"threads_with_a_unit", {"doctor", "--threads", "2x"}, 2, "expected integer from 1 to 1024, got \"2x\""},
    {"too_many_threads", {"doctor", "--threads", "99999"}, 2, "from 1 to 1024, got \"99999\""},
    {"threads_beyond_any_integer",
     {"doctor", "--threads", "99999999999999999999"},
     2,
     "from 1 to 1024, got \"99999999999999999999\""},
    {"threads_without_a_value", {"doctor", "--threads"}, 2, "doctor: --threads: expected one value"},
    {"threads_twice", {"doctor", "--threads", "1", "--threads", "2"}, 2, "doctor: --threads: "},
    {"unknown_dtype", {"doctor", "--dtype", "fp8"}, 2, "--dtype: expected one of f32, bf16, got \"fp8\""},
    {"unknown_isa", {"doctor", "--isa", "avx3"}, 2, "got \"avx3\" (did you mean \"avx2\"?)"},
    {"isa_without_a_value", {"doctor", "--isa"}, 2, "doctor: --isa: "},
    {"flag_with_nonsense", {"doctor", "--measure=maybe"}, 2, "--measure"},

    {"no_config", {"params"}, 2, "params: CONFIG|MODEL is required"},
    {"missing_config", {"params", "no-such-file.json"}, 3, "no-such-file.json: cannot open"},
    {"two_configs", {"params", "a.json", "b.json"}, 2, "params: unexpected argument \"b.json\""},

    {"no_model_to_trace", {"trace"}, 2, "trace: MODEL is required"},
    {"missing_model_to_trace",
     {"trace", "no-such", "--ids", "1", "--out", "x"},
     3,
     "no-such: not a model directory"},
    {"missing_model_to_evaluate", {"eval", "no-such", "--data", "x"}, 3, "no-such: not a model directory"},
    {"missing_model_to_generate", {"generate", "no-such", "--ids", "1"}, 3, "no-such: not a model directory"},
    {"bad_temperature",
     {"generate", "m", "--temperature", "hot"},
     2,
     "--temperature: expected number from 0 to 100"},
    {"trace_without_out", {"trace", "no-such", "--ids", "1"}, 2, "trace: --out is required"},

    {"no_shell", {"completion"}, 2, "completion: SHELL is required"},
    {"unknown_shell", {"completion", "fish"}, 2, "SHELL: expected one of bash, got \"fish\""},
};

class Refuses : public testing::TestWithParam<Refusal> {};

TEST_P(Refuses, with_one_line_that_helps) {
  EXPECT_REFUSAL(run_sluice(GetParam().arguments), GetParam().exit_code, GetParam().part);
}

INSTANTIATE_TEST_SUITE_P(Program, Refuses, testing::ValuesIn(kRefusals),
                         [](const auto& test) { return test.param.name; });

TEST(Program, refuses_a_mistyped_option_of_every_command) {
  for (const std::string& command : commands_in_help()) {
    SCOPED_TRACE(command);
    EXPECT_REFUSAL(run_sluice({command, "--quite"}), 2, "did you mean \"--quiet\"?");
  }
}

}  // namespace
}  // namespace sluice::test
