// What the page shows is what the commands print for the same request: trace, eval --intervene and generate.
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>

#include "tests/browser/explorer_page.h"
#include "tests/cli/run_program.h"

namespace sluice::test {
namespace {

using nlohmann::json;

const std::string kModelPath = std::string(SLUICE_NURSERY) + "/headwise";
// A change, in the words of the page's address and of the command line.
const std::string kChangeInAddress = "1_head_0_0_0_scale_0.25",
                  kChangeInWords = "layers.0.attn.gate scale=0.25 heads=0";

// The f32 values of a tensor of a safetensors file.
std::vector<float> tensor_of(const std::string& path, const std::string& name) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  const json places = json::parse(bytes.substr(8, length))[name]["data_offsets"];
  const size_t begin = places[0], end = places[1];
  std::vector<float> values((end - begin) / sizeof(float));
  std::memcpy(values.data(), bytes.data() + 8 + length + begin, end - begin);
  return values;
}

class ExplorerCommands : public ExplorerPage {
 protected:
  // What a command prints with --json.
  static json printed(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--json", "--quiet"});
    const ProgramRun run = run_sluice(arguments);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return json::parse(run.out);
  }

  // What the tokens are coloured by.
  std::vector<double> shown_values() {
    return browser()
        .run(
            "return [...document.querySelectorAll('.strip button')].map((button) => "
            "Number(button.dataset.shown))")
        .get<std::vector<double>>();
  }

  void open_changed(const std::string& view) {
    open("m=headwise&x=" + kChangeInAddress + "&" + view + "&t=" + kPrompt);
  }

  TemporaryFolder folder_;
};

TEST_F(ExplorerCommands, trace_has_the_gates_and_the_attention_of_the_page) {
  const std::string path = folder_.path("trace.safetensors");
  printed({"trace", kModelPath, "--prompt", kPrompt, "--intervene", kChangeInWords, "--out", path});
  constexpr size_t kTokens = 11, kHeads = 2, kLayer = 1, kHead = 1, kQuery = 7;
  const std::vector<float> gates = tensor_of(path, "gates"), attention = tensor_of(path, "attn");
  ASSERT_EQ(attention.size(), 3 * kHeads * kTokens * kTokens);
  // The same f32 values; what the page adds up it adds up in f64.
  constexpr double kRounding = 1e-7;

  open_changed("l=1&h=1&c=gate");
  const std::vector<double> shown_gates = shown_values();
  ASSERT_EQ(shown_gates.size(), kTokens);
  for (size_t t = 0; t < kTokens; ++t)
    EXPECT_NEAR(shown_gates[t], gates[(kLayer * kTokens + t) * kHeads + kHead], kRounding) << t;

  open_changed("l=1&h=1&c=given&p=7");
  const std::vector<double> shown_row = shown_values();
  for (size_t t = 0; t <= kQuery; ++t)
    EXPECT_NEAR(shown_row[t], attention[((kLayer * kHeads + kHead) * kTokens + kQuery) * kTokens + t],
                kRounding)
        << t;
}

TEST_F(ExplorerCommands, eval_has_the_surprise_of_the_page) {
  const std::string data = folder_.path("text.txt");
  std::ofstream(data) << kPrompt;
  const json evaluated = printed({"eval", kModelPath, "--data", data, "--intervene", kChangeInWords});
  open_changed("v=break");
  browser().wait_until("document.getElementById('fact-surprise')", "the surprise");
  EXPECT_NEAR(std::stod(text_of("#fact-surprise")), evaluated["nll"].get<double>(), 0.0006);
}

// The texts of the mean are the server's; who saves them has all that the command needs.
TEST_F(ExplorerCommands, eval_has_the_mean_over_examples_of_the_page) {
  open("m=headwise&x=1_all_0_0_0_mean_0.5&v=break&t=" + kPrompt);
  browser().wait_until("document.getElementById('fact-surprise')", "the surprise");
  const std::string examples = folder_.path("examples-headwise.jsonl"), data = folder_.path("prompt.txt");
  EXPECT_EQ(text_of("#command"), "sluice eval " + kModelPath +
                                     " --data prompt.txt --intervene \"attn.gate mean\" --calibration "
                                     "examples-headwise.jsonl");
  EXPECT_EQ(browser().run("return document.getElementById('save-examples').download"),
            "examples-headwise.jsonl");
  std::ofstream(examples)
      << browser()
             .run_async("return (await fetch(document.getElementById('save-examples').href)).text()")
             .get<std::string>();
  browser().run(
      "document.addEventListener('sluice:saved', async ({detail}) => { window.prompt = await "
      "detail.blob.text(); }, {once: true});");
  browser().click("#save-prompt");
  browser().wait_until("typeof window.prompt === 'string'", "the prompt as a file");
  std::ofstream(data) << browser().run("return window.prompt").get<std::string>();
  const json evaluated = printed(
      {"eval", kModelPath, "--data", data, "--intervene", "attn.gate mean", "--calibration", examples});
  EXPECT_NEAR(std::stod(text_of("#fact-surprise")), evaluated["nll"].get<double>(), 0.0006);
}

TEST_F(ExplorerCommands, generate_says_what_the_page_says) {
  const json generated = printed({"generate", kModelPath, "--prompt", kPrompt, "--intervene", kChangeInWords,
                                  "--temperature", "0.8", "--seed", "3", "--max-tokens", "12"});
  open_changed("v=next&T=0.8&S=3&L=12");
  browser().click("#generate");
  browser().wait_until(
      "document.getElementById('generate').textContent === 'Generate' && location.hash.includes('g=')",
      "a continuation");
  const json said = browser().run(
      "return [...document.querySelectorAll('#said > :not(.note)')].map((part) => "
      "part.textContent).join('')");
  EXPECT_EQ(said, kPrompt + generated["text"].get<std::string>());
}

}  // namespace
}  // namespace sluice::test
