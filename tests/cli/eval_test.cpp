// sluice eval as a black box.
#include <cmath>
#include <numbers>

#include "tests/cli/model_commands.h"
#include "tests/data/gzip_bytes.h"

namespace sluice::test {
namespace {

TEST_F(ModelCommands, eval_gives_the_likelihood_of_the_official_code) {
  for (const std::string& name : kGoldens) {
    std::ifstream expected(golden(name) + "/expected.json");
    const Json result = json({"eval", golden(name), "--ids-file", file("ids.txt", golden_ids(name, "\n"))});
    EXPECT_NEAR(result["nll"].get<double>(), Json::parse(expected)["nll"].get<double>(), 1e-4) << name;
    EXPECT_EQ(result["tokens"], 23);
    EXPECT_EQ(result["chunks"], 1);
    EXPECT_TRUE(result["bits_per_byte"].is_null()) << "ids have no bytes";
    EXPECT_TRUE(result["ci95"].is_null()) << "of one chunk";
  }
}

TEST_F(ModelCommands, eval_reads_the_same_text_from_every_kind_of_file) {
  const std::string text = "the cat\nand the hat\n";
  const Json expected = json({"eval", kModel, "--tokenizer", "bytes", "--data", file("a.txt", text)});
  EXPECT_EQ(expected["tokens"], text.size() - 1);
  const std::string lines = "{\"text\": \"the cat\"}\n\n{\"text\": \"and the hat\"}\n";
  EXPECT_EQ(json({"eval", kModel, "--tokenizer", "bytes", "--data", file("a.jsonl", lines)}), expected);
  EXPECT_EQ(json({"eval", kModel, "--tokenizer", "bytes", "--data", file("a.txt.gz", gzipped(text))}),
            expected);
  EXPECT_EQ(json({"eval", kModel, "--tokenizer", "bytes", "--data", file("a.jsonl.gz", gzipped(lines))}),
            expected);
  EXPECT_EQ(json({"eval", kModel, "--tokenizer", "bytes", "--data", "-"}, {.input_file = path("a.txt")}),
            expected);
  EXPECT_EQ(json({"eval", kModel, "--tokenizer", "bytes", "--data", "-"}, {.input_file = path("a.txt.gz")}),
            expected);
  EXPECT_EQ(json({"eval", kModel, "--tokenizer", "bytes", "--data", file("b.txt", "the cat\n"),
                  file("c.txt", "and the hat\n")}),
            expected);
}

TEST_F(ModelCommands, eval_tells_bits_per_byte) {
  const Json result =
      json({"eval", kModel, "--tokenizer", "bytes", "--data", file("a.txt", "bytes are tokens here")});
  EXPECT_NEAR(result["bits_per_byte"].get<double>(), result["nll"].get<double>() / std::numbers::ln2, 1e-9);
  EXPECT_NEAR(result["ppl"].get<double>(), std::exp(result["nll"].get<double>()), 1e-6);
  const std::string text = printed({"eval", kModel, "--tokenizer", "bytes", "--data", path("a.txt")});
  for (const char* part : {"perplexity ", "nll ", "bits per byte ", "(one chunk: no interval)",
                           "weights         f32", "20 predicted tokens, 1 chunk of 21"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in:\n" << text;
}

TEST_F(ModelCommands, eval_cuts_into_chunks) {
  const std::string text = file("a.txt", std::string(95, 'x'));
  const Json all = json({"eval", kModel, "--tokenizer", "bytes", "--data", text, "--chunk", "10"});
  EXPECT_EQ(all["chunks"], 9) << "whole ones";
  EXPECT_EQ(all["tokens"], 9 * 9) << "the first of each is not predicted";
  EXPECT_EQ(json({"eval", kModel, "--tokenizer", "bytes", "--data", text, "--chunk", "10", "--chunks",
                  "3"})["chunks"],
            3);
  EXPECT_LE(all["ci95"][0], all["ppl"]);
  EXPECT_GE(all["ci95"][1], all["ppl"]);
}

TEST_F(ModelCommands, eval_measures_interventions) {
  const std::string text = file("a.txt", std::string(100, 'x') + "some more text that is no repetition");
  const auto nll = [&](const Words& more) {
    Words arguments = {"eval", kModel, "--tokenizer", "bytes", "--data", text};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return json(arguments)["nll"].get<double>();
  };
  const double clean = nll({});
  EXPECT_NEAR(nll({"--intervene", "attn.gate scale=1"}), clean, 1e-6);
  for (const std::string change : {"set=0", "mean", "shuffle", "invert"})
    EXPECT_NE(nll({"--intervene", "attn.gate " + change}), clean) << change;
  EXPECT_EQ(nll({"--intervene", "attn.gate shuffle=3"}), nll({"--intervene", "attn.gate shuffle=3"}));
  EXPECT_NEAR(nll({"--intervene", "logits set=0"}), std::log(128), 1e-5) << "every token as likely as any";
}

TEST_F(ModelCommands, eval_in_bf16_is_close) {
  const std::string ids = file("ids.txt", golden_ids("tiny_gate_elementwise", " "));
  const double f32 = json({"eval", kModel, "--ids-file", ids})["nll"].get<double>();
  const double bf16 = json({"eval", kModel, "--ids-file", ids, "--dtype", "bf16"})["nll"].get<double>();
  EXPECT_NEAR(bf16, f32, 0.05);
  EXPECT_NE(bf16, f32);
}

TEST_F(ModelCommands, eval_in_int8_is_close) {
  for (const std::string& name : kGoldens) {
    const std::string ids = file("ids.txt", golden_ids(name, " "));
    const double f32 = json({"eval", golden(name), "--ids-file", ids})["nll"].get<double>();
    const double int8 =
        json({"eval", golden(name), "--ids-file", ids, "--dtype", "int8"})["nll"].get<double>();
    EXPECT_NEAR(int8, f32, 0.05) << name;
    EXPECT_NE(int8, f32) << name;
  }
}

TEST_F(ModelCommands, eval_compares_types_of_weights_on_the_same_chunks) {
  const std::string text = file("a.txt", "some text that is no repetition of what was there before");
  const auto eval = [&](const Words& more) {
    Words arguments = {"eval", kModel, "--tokenizer", "bytes", "--data", text, "--chunk", "10"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return json(arguments);
  };
  const Json int8 = eval({"--dtype", "int8"}), f32 = eval({});
  Json both = eval({"--dtype", "int8", "--against", "f32"});
  const Json difference = both["difference"];
  EXPECT_EQ(both["against"],
            (Json{{"dtype", "f32"}, {"nll", f32["nll"]}, {"ppl", f32["ppl"]}, {"ci95", f32["ci95"]}}));
  EXPECT_NEAR(difference["ppl"].get<double>(), int8["ppl"].get<double>() - f32["ppl"].get<double>(), 1e-9);
  EXPECT_NEAR(difference["nll"].get<double>(), int8["nll"].get<double>() - f32["nll"].get<double>(), 1e-12);
  EXPECT_LE(difference["ci95"][0], difference["ppl"]);
  EXPECT_GE(difference["ci95"][1], difference["ppl"]);
  both.erase("against");
  both.erase("difference");
  EXPECT_EQ(both, int8) << "the rest is as without the comparison";
  // Chunks differ by far more than types: only drawn in pairs do they say something about the types.
  const auto width = [](const Json& interval) {
    return interval[1].get<double>() - interval[0].get<double>();
  };
  EXPECT_LT(width(difference["ci95"]), 0.5 * width(int8["ci95"]));
}

TEST_F(ModelCommands, eval_tells_a_person_the_difference) {
  const std::string text =
      printed({"eval", kModel, "--tokenizer", "bytes", "--data", file("a.txt", "some text"), "--chunk", "4",
               "--dtype", "int8", "--against", "bf16", "--quiet"});
  for (const char* part :
       {"perplexity ", "with bf16 ", "difference ", "the same chunks in both", "weights         int8"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in:\n" << text;
}

TEST_F(ModelCommands, eval_refuses_to_compare_a_type_with_itself) {
  const std::string text = file("a.txt", "some text");
  EXPECT_REFUSAL(run_sluice({"eval", kModel, "--tokenizer", "bytes", "--data", text, "--against", "f32"}), 2,
                 "eval: --against f32 is what is evaluated already");
  EXPECT_REFUSAL(run_sluice({"eval", kModel, "--tokenizer", "bytes", "--data", text, "--dtype", "int8",
                             "--against", "int8"}),
                 2, "--against int8 is what is evaluated already");
}

// generate

TEST_F(ModelCommands, eval_refuses_bad_text) {
  const auto run = [&](const std::string& data) {
    return run_sluice({"eval", kModel, "--tokenizer", "bytes", "--data", data});
  };
  EXPECT_REFUSAL(run(path("gone.txt")), 3, "gone.txt: cannot open");
  EXPECT_REFUSAL(run(file("empty.txt", "")), 3, "nothing to predict: expected at least 2 tokens, got 0");
  EXPECT_REFUSAL(run(file("one.txt", "x")), 3, "at least 2 tokens, got 1");
  EXPECT_REFUSAL(run(file("plain.gz", "text")), 3, "plain.gz: not a gzip file");
  EXPECT_REFUSAL(run(file("cut.gz", gzipped("some text").substr(0, 20))), 3, "the gzip file is cut off");
  EXPECT_REFUSAL(run(file("bad.jsonl", "{\"text\": \"a\"}\n{\"text\": 1}\n")), 3,
                 "bad.jsonl: line 2: text: expected string, got 1");
  EXPECT_REFUSAL(run(file("latin.txt", "caf\xc3\xa9")), 3,
                 "the tokenizer does not fit the model: expected token ids below 128, got 195");
  EXPECT_REFUSAL(run("-"), 3, "nothing to predict");
}

TEST_F(ModelCommands, eval_refuses_bad_ids) {
  const auto run = [&](const std::string& ids) {
    return run_sluice({"eval", kModel, "--ids-file", file("ids.txt", ids)});
  };
  EXPECT_REFUSAL(run("1 2 128"), 3, "ids.txt: bad token id: expected integer from 0 to 127, got \"128\"");
  EXPECT_REFUSAL(run("1 two"), 3, "got \"two\"");
  EXPECT_REFUSAL(run(""), 3, "nothing to predict");
}

}  // namespace
}  // namespace sluice::test
