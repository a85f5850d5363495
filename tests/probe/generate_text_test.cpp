#include "sluice/probe/generate_text.h"

#include "sluice/probe/calibration.h"

#include <nlohmann/json.hpp>
#include <sstream>

#include "sluice/base/log.h"
#include "sluice/infer/generator.h"
#include "tests/base/expect_error.h"
#include "tests/base/temporary_directory.h"
#include "tests/infer/byte_model.h"

namespace sluice {
namespace {

class TextGeneration : public WithByteModel {
 protected:
  TextGenerationRequest request(const std::string& prompt, int64_t tokens = 6) {
    return {.prompt = model_.encode(prompt), .options = {.max_tokens = tokens}};
  }

  std::vector<Prompt> prompts(const std::string& content) {
    return read_prompts(model_, directory_.file("p.txt", content).string());
  }

  TemporaryDirectory directory_;
};

TEST_F(TextGeneration, hands_over_each_token_and_the_whole) {
  TextGenerationRequest asked = request("ab");
  std::vector<TokenId> ids;
  std::string text;
  asked.arrived = [&](std::optional<TokenId> id, std::string_view piece) {
    if (id) ids.push_back(*id);
    text += piece;
  };
  const GeneratedText generated = generate_text(model_, asked);
  EXPECT_EQ(generated.ids,
            Generator({engine_}, model_.decoder()).generate(asked.prompt, {.max_tokens = 6}).ids);
  EXPECT_EQ(ids, generated.ids);
  EXPECT_EQ(text, *generated.text);
  EXPECT_EQ(text, model_.tokenizer().decode(ids)) << "tokens are bytes below 128";
  EXPECT_EQ(generated.prompt_tokens, 2);
}

TEST_F(TextGeneration, has_rates_that_leave_out_the_first_token) {
  const GeneratedText generated{
      .text = "xyz", .ids = {1, 2, 3}, .prompt_tokens = 10, .prompt_seconds = 2, .decode_seconds = 4};
  EXPECT_EQ(to_json(generated),
            (nlohmann::ordered_json{
                {"text", "xyz"}, {"ids", {1, 2, 3}}, {"prompt_tokens_per_s", 5.0}, {"tokens_per_s", 0.5}}));
  EXPECT_EQ(GeneratedText{}.decode_rate(), 0.0);
}

TEST_F(TextGeneration, of_a_model_without_a_tokenizer_has_ids_and_no_text) {
  const LoadedModel model(engine_, golden("tiny_gate_elementwise"));
  const GeneratedText generated = generate_text(model, request("ab"));
  EXPECT_EQ(generated.ids, generate_text(model_, request("ab")).ids);
  EXPECT_FALSE(generated.text.has_value());
  EXPECT_TRUE(to_json(generated)["text"].is_null());
}

TEST_F(TextGeneration, stops_when_it_is_cancelled) {
  TextGenerationRequest asked = request("ab", 50);
  int arrived = 0;
  asked.arrived = [&](std::optional<TokenId>, std::string_view) { ++arrived; };
  EXPECT_ERROR(generate_text(model_, asked, {.cancelled = [&] { return arrived == 3; }}),
               ErrorKind::Interrupted, "interrupted");
  EXPECT_EQ(arrived, 3);
}

TEST_F(TextGeneration, warns_beyond_the_positions_of_the_model) {
  std::ostringstream said;
  Log log(LogLevel::Normal, said);
  const int64_t positions = model_.config().positions;
  generate_text(model_, {.prompt = {1}, .options = {.sampler = {}, .max_tokens = 1}}, {.log = &log});
  EXPECT_EQ(said.str(), "");
  const std::vector<TokenId> longest(static_cast<size_t>(positions), 1);
  generate_text(model_, {.prompt = longest, .options = {.sampler = {}, .max_tokens = 1}}, {.log = &log});
  EXPECT_NE(said.str().find("max_position_embeddings"), std::string::npos) << said.str();
}

TEST_F(TextGeneration, warns_of_choices_that_greedy_generation_does_not_make) {
  const auto warning = [&](const SamplerOptions& sampler) {
    std::ostringstream said;
    Log log(LogLevel::Normal, said);
    generate_text(model_, {.prompt = {1}, .options = {.sampler = sampler, .max_tokens = 1}}, {.log = &log});
    return said.str();
  };
  EXPECT_EQ(warning({}), "");
  EXPECT_EQ(warning({.temperature = 1, .top_k = 5, .top_p = 0.5, .min_p = 0.1}), "");
  EXPECT_EQ(warning({.top_k = 5, .min_p = 0.1}),
            "sluice: warning: --top-k, --min-p without effect: at temperature 0 the likeliest token is taken "
            "(--temperature 1 samples)\n");
  EXPECT_EQ(warning({.top_p = 0.5}).find("sluice: warning: --top-p without effect"), 0U);
}

TEST_F(TextGeneration, fails_where_logits_are_not_finite) {
  TextGenerationRequest asked = request("ab", 5);
  asked.options.interventions = {
      parse_intervention("layers.2.attn.out set=3e38 positions=3", model_.config())};
  int arrived = 0;
  asked.arrived = [&](std::optional<TokenId>, std::string_view) { ++arrived; };
  EXPECT_ERROR(
      generate_text(model_, asked), ErrorKind::Failed,
      "the logits are not finite (the first value that is not: layers.2.mlp.input, which is nan at token "
      "3)");
  EXPECT_EQ(arrived, 2) << "those before it were";
}

TEST_F(TextGeneration, continues_many_prompts_as_it_would_each) {
  std::vector<std::string> finished;
  const ContinuedPrompts all = continue_prompts(
      model_, {.prompts = prompts("one\n\ntwo\n"),
               .options = {.max_tokens = 6},
               .finished = [&](const ContinuedPrompt& each) { finished.push_back(each.prompt); }});
  ASSERT_EQ(all.results.size(), 2U);
  EXPECT_EQ(finished, (std::vector<std::string>{"one", "two"}));
  EXPECT_FALSE(all.ended_by.has_value());
  EXPECT_EQ(all.results[1].generated.ids, generate_text(model_, request("two")).ids);
  EXPECT_EQ(to_json(all)["results"][0]["prompt"], "one");
}

TEST_F(TextGeneration, of_many_prompts_keeps_what_is_done_when_it_is_cancelled) {
  int done = 0;
  const ContinuedPrompts some = continue_prompts(model_,
                                                 {.prompts = prompts("one\ntwo\nthree\n"),
                                                  .options = {.max_tokens = 6},
                                                  .finished = [&](const ContinuedPrompt&) { ++done; }},
                                                 {.cancelled = [&] { return done == 2; }});
  ASSERT_TRUE(some.ended_by.has_value());
  EXPECT_EQ(some.ended_by->kind(), ErrorKind::Interrupted);
  ASSERT_EQ(some.results.size(), 2U);
  EXPECT_EQ(some.results[1].generated.ids.size(), 6U) << "none that is cut short";
}

TEST_F(TextGeneration, looks_at_all_prompts_before_the_first) {
  const std::string path = directory_.file("e.jsonl", "{\"text\": \"a\"}\n{\"text\": \"\"}\n").string();
  EXPECT_BAD_INPUT(read_prompts(model_, path), path + ": a prompt has no tokens");
  EXPECT_BAD_INPUT(prompts("\n"), (directory_.path() / "p.txt").string() + ": no prompts in it");
}

// An intervention that changes nothing must not pass for one without effect.
TEST_F(TextGeneration, refuses_an_intervention_that_met_no_token) {
  const auto run = [&](const char* change) {
    TextGenerationRequest asked = request("ab");
    asked.options.interventions = {parse_intervention(change, model_.config())};
    generate_text(model_, asked);
  };
  run("attn.gate set=1 positions=6");
  EXPECT_ERROR(run("attn.gate set=1 positions=7"), ErrorKind::Usage,
               "intervention at attn.gate: no token of the text has such a position");
}

TEST_F(TextGeneration, of_many_prompts_ends_with_the_intervention_that_met_no_token) {
  PromptsRequest asked{.prompts = prompts("one\n"), .options = {.max_tokens = 2}};
  asked.options.interventions = {parse_intervention("attn.gate set=1 positions=70", model_.config())};
  const ContinuedPrompts all = continue_prompts(model_, asked);
  EXPECT_EQ(all.results.size(), 1U);
  ASSERT_TRUE(all.ended_by.has_value());
  EXPECT_EQ(all.ended_by->kind(), ErrorKind::Usage);
}

TEST_F(TextGeneration, takes_means_from_calibration_text_and_refuses_to_do_without) {
  TextGenerationRequest asked = request("ab");
  asked.options.interventions = {parse_intervention("attn.gate mean", model_.config())};
  EXPECT_ERROR(generate_text(model_, asked), ErrorKind::Usage,
               "intervention at attn.gate: means and shuffles come from calibration text, and there is none "
               "(--calibration FILE names it: text like the data, but not the data)");
  const std::vector<std::vector<TokenId>> text = {{1, 2, 3, 4}};
  give_calibration(asked.options.interventions,
                   calibrate(model_.context(), model_.decoder(),
                             {.interventions = asked.options.interventions, .sequences = text}));
  EXPECT_FALSE(generate_text(model_, asked).ids.empty());
}

}  // namespace
}  // namespace sluice
