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

const std::string kModel = std::string(SLUICE_GOLDENS) + "/tiny_gate_elementwise";
const std::string kBaseline = std::string(SLUICE_GOLDENS) + "/tiny_baseline";
const std::string kText = kModel + "/expected.json";  // any text will do

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

    {"nothing_to_measure", {"bench"}, 2, "bench: WHAT is required"},
    {"unknown_benchmark", {"bench", "gem"}, 2, "got \"gem\" (did you mean \"gemm\"?)"},
    {"benchmark_without_its_model", {"bench", "decode"}, 2, "bench decode: a model is missing"},
    {"model_for_a_benchmark_without", {"bench", "gemm", "x"}, 2, "bench gemm: takes no model"},
    {"repetitions_of_peaks", {"bench", "peak", "--repeat", "3"}, 2, "bench peak: takes no --repeat"},
    {"tokens_of_a_product", {"bench", "gemm", "--tokens", "4"}, 2, "bench gemm: takes no --tokens"},
    {"int8_where_nothing_is_loaded",
     {"bench", "gemm", "--dtype", "int8"},
     2,
     "bench gemm: takes no --dtype int8"},
    {"int8_to_train",
     {"train", "x.json", "--dtype", "int8"},
     2,
     "--dtype: expected one of f32, bf16, got \"int8\""},
    {"text_for_ops", {"bench", "ops", "--data", "x"}, 2, "bench ops: takes no --data"},
    {"shape_of_a_model", {"bench", "prefill", "x", "--shape", "1x1x1"}, 2, "bench prefill: takes no --shape"},
    {"shape_of_two_sizes",
     {"bench", "gemm", "--shape", "1x2"},
     2,
     "--shape: expected MxNxK, each from 1 to "},
    {"shape_that_nothing_holds",
     {"bench", "attention", "--shape", "1048576x1048576x1048576"},
     2,
     "and not all so large, got \"1048576x1048576x1048576\""},
    {"shape_of_four_sizes", {"bench", "gemm", "--shape", "1x2x3x4"}, 2, "expected MxNxK"},
    {"shape_without_a_row", {"bench", "gemm", "--shape", "0x2x3"}, 2, "got \"0x2x3\""},
    {"shape_beyond_any_integer",
     {"bench", "gemm", "--shape", "1x2x99999999999999999999"},
     2,
     "expected MxNxK"},
    {"odd_channels_to_turn", {"bench", "ops", "--shape", "4x3x5"}, 2, "expected an even hidden size, got 3"},
    {"tokenizer_without_text", {"bench", "tokenizer", "x"}, 2, "bench tokenizer: --data is required"},

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
    {"trace_of_nothing", {"trace", kModel, "--out", "x"}, 2, "trace: give either --prompt or --ids"},
    {"trace_of_a_prompt_and_ids",
     {"trace", kModel, "--prompt", "a", "--ids", "1", "--out", "x"},
     2,
     "trace: give either --prompt or --ids"},
    {"trace_of_an_unknown_id",
     {"trace", kModel, "--ids", "1,128", "--out", "x"},
     2,
     "--ids: bad token id: expected integer from 0 to 127, got \"128\""},
    {"capture_of_what_is_not_there",
     {"trace", kModel, "--ids", "1", "--out", "x", "--capture", "attn.gate_g5"},
     2,
     "--capture: the model has no \"attn.gate_g5\""},
    {"out_that_is_an_input",
     {"trace", kModel, "--ids", "1", "--out", kModel + "/model.safetensors"},
     2,
     "--out: " + kModel + "/model.safetensors is an input; writing would destroy it"},
    {"intervention_beyond_the_text",
     {"trace", kModel, "--ids", "1,2", "--out", "x", "--intervene", "attn.gate set=1 positions=5-"},
     2,
     "intervention at attn.gate: no token of the text has such a position"},
    {"mistyped_capture",
     {"trace", kModel, "--ids", "1", "--out", "x", "--capture", "atn.q"},
     2,
     "no tap fits \"atn.q\" (did you mean \"attn.q\"?)"},
    {"mistyped_intervention",
     {"trace", kModel, "--ids", "1", "--out", "x", "--intervene", "attn.gate sett=1"},
     2,
     "intervention \"attn.gate sett=1\": unknown change \"sett\""},

    {"no_data_to_evaluate", {"eval", kModel}, 2, "eval: give either --data or --ids-file"},
    {"data_and_ids_to_evaluate",
     {"eval", kModel, "--data", "a", "--ids-file", "b"},
     2,
     "eval: give either --data or --ids-file"},
    {"a_chunk_of_one",
     {"eval", kModel, "--data", "a", "--chunk", "1"},
     2,
     "--chunk: expected integer from 2"},
    {"intervention_in_a_missing_layer",
     {"eval", kModel, "--tokenizer", "bytes", "--data", kText, "--intervene", "layers.3.attn.gate set=1"},
     2,
     "no such layer: expected 0 to 2, got 3"},
    {"intervention_on_a_gate_that_is_not_there",
     {"eval", kBaseline, "--tokenizer", "bytes", "--data", kText, "--intervene", "attn.gate set=1"},
     2,
     "the model has no gate there"},

    {"nothing_to_generate_from", {"generate", kModel}, 2, "generate: give either --prompt or --ids"},
    {"a_prompt_and_prompts",
     {"generate", kModel, "--prompt", "a", "--prompts", kText},
     2,
     "generate: give only one of --prompt, --ids and --prompts"},
    {"intervention_over_all_tokens_of_a_text_to_come",
     {"generate", kModel, "--ids", "1", "--intervene", "attn.gate mean"},
     2,
     "generate: mean and shuffle are over all tokens of a text"},
    {"text_for_a_model_without_a_tokenizer",
     {"generate", kModel, "--prompt", "a"},
     3,
     "the model has no tokenizer.json (--tokenizer FILE names one, --tokenizer bytes says"},
    {"intervention_beyond_the_text_to_come",
     {"generate", kModel, "--ids", "1,2", "--json", "--intervene", "attn.gate set=1 positions=5000"},
     2,
     "intervention at attn.gate: no token of the text has such a position"},
    {"intervention_on_probabilities",
     {"generate", kModel, "--ids", "1", "--intervene", "attn.probs set=0"},
     2,
     "attn.probs can only be watched (attn.mixed is what attention makes)"},
    {"negative_seed",
     {"generate", kModel, "--ids", "1", "--seed", "-1"},
     2,
     "--seed: expected integer from 0"},

    {"no_config_to_init", {"init"}, 2, "init: CONFIG is required"},
    {"nowhere_to_init", {"init", kModel}, 2, "init: OUT is required"},
    {"a_name_of_nothing_to_init", {"init", kModel, ""}, 1, "the directory to write has no name"},
    {"missing_config_to_init", {"init", "no-such.json", "x"}, 3, "no-such.json: cannot open"},
    {"init_of_what_is_no_config", {"init", kText, "x"}, 3, "expected.json: "},
    {"init_over_a_model", {"init", kModel, kModel}, 1, "is not empty (give a name that does not exist yet)"},
    {"init_in_f16",
     {"init", kModel, "x", "--dtype", "f16"},
     2,
     "--dtype: expected one of f32, bf16, got \"f16\""},
    {"init_in_int8",
     {"init", kModel, "x", "--dtype", "int8"},
     2,
     "--dtype: expected one of f32, bf16, got \"int8\""},

    {"nothing_to_convert", {"convert"}, 2, "convert: IN is required"},
    {"nowhere_to_convert", {"convert", kModel}, 2, "convert: OUT is required"},
    {"missing_model_to_convert", {"convert", "no-such", "x"}, 3, "no-such: not a model directory"},
    {"convert_over_a_model", {"convert", kModel, kModel}, 1, "is not empty"},
    {"unknown_layout",
     {"convert", kModel, "x", "--layout", "oficial"},
     2,
     "--layout: expected one of official, qwen3-next, separate, got \"oficial\" (did you mean "
     "\"official\"?)"},
    {"unknown_type_to_convert_to",
     {"convert", kModel, "x", "--dtype", "fp8"},
     2,
     "--dtype: expected one of f32, bf16, f16, got \"fp8\""},
    {"convert_to_int8",
     {"convert", kModel, "x", "--dtype", "int8"},
     2,
     "--dtype: expected one of f32, bf16, f16, got \"int8\""},

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
