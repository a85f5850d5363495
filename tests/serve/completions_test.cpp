#include <gtest/gtest.h>

#include "sluice/serve/completion_text.h"
#include "tests/serve/running_server.h"

namespace sluice::serve {
namespace {

using nlohmann::json;

class Completions : public testing::Test {
 protected:
  static void SetUpTestSuite() { explorer_ = std::make_unique<RunningExplorer>(); }
  static void TearDownTestSuite() { explorer_.reset(); }

  static ClientResponse complete(json changes = json::object()) {
    json body = {{"model", "headwise"}, {"prompt", "^abc"}, {"max_tokens", 6}, {"temperature", 0}};
    body.update(changes);
    return explorer_->client().post("/v1/completions", body);
  }

  static std::unique_ptr<RunningExplorer> explorer_;
};
std::unique_ptr<RunningExplorer> Completions::explorer_;

TEST_F(Completions, list_the_models) {
  const json list = explorer_->client().get("/v1/models").json();
  EXPECT_EQ(list["object"], "list");
  EXPECT_EQ(list["data"][1]["id"], "headwise");
  EXPECT_EQ(list["data"][1]["object"], "model");
}

TEST_F(Completions, have_the_form_that_clients_expect) {
  const json made = complete().json();
  EXPECT_EQ(made["object"], "text_completion");
  EXPECT_EQ(made["model"], "headwise");
  EXPECT_EQ(made["choices"].size(), 1U);
  EXPECT_EQ(made["choices"][0]["index"], 0);
  EXPECT_EQ(made["choices"][0]["text"].get<std::string>().size(), 6U);
  EXPECT_EQ(made["choices"][0]["finish_reason"], "length");
  EXPECT_TRUE(made["choices"][0]["logprobs"].is_null());
  EXPECT_EQ(made["usage"]["prompt_tokens"], 4);
  EXPECT_EQ(made["usage"]["total_tokens"], 10);
}

TEST_F(Completions, repeat_with_the_same_seed) {
  const json sampled = {{"temperature", 1.5}, {"seed", 7}, {"max_tokens", 20}};
  EXPECT_EQ(complete(sampled).json()["choices"], complete(sampled).json()["choices"]);
  json other = sampled;
  other["seed"] = 8;
  EXPECT_NE(complete(sampled).json()["choices"], complete(other).json()["choices"]);
}

TEST_F(Completions, stream_the_same_text_in_pieces) {
  const std::string whole = complete().json()["choices"][0]["text"];
  const std::string stream = complete({{"stream", true}}).body;
  std::string text;
  json reason;
  std::string_view rest = stream;
  while (!rest.starts_with("data: [DONE]")) {
    ASSERT_TRUE(rest.starts_with("data: ")) << rest;
    const size_t end = rest.find("\n\n");
    const json event = json::parse(rest.substr(6, end - 6));
    text += event["choices"][0]["text"];
    reason = event["choices"][0]["finish_reason"];
    rest.remove_prefix(end + 2);
  }
  EXPECT_EQ(text, whole);
  EXPECT_EQ(reason, "length");
  EXPECT_EQ(rest, "data: [DONE]\n\n");
}

TEST_F(Completions, end_before_a_stop_sequence) {
  const std::string whole = complete().json()["choices"][0]["text"];
  const std::string stop = whole.substr(2, 2);
  for (const bool stream : {false, true}) {
    const ClientResponse response =
        complete({{"stop", {"never", stop}}, {"logprobs", 0}, {"stream", stream}});
    if (stream) {
      EXPECT_EQ(response.body.find("\"text\":\"" + stop), std::string::npos);
      continue;
    }
    const json choice = response.json()["choices"][0];
    EXPECT_EQ(choice["text"], whole.substr(0, whole.find(stop)));
    EXPECT_EQ(choice["finish_reason"], "stop");
    EXPECT_EQ(choice["logprobs"]["tokens"].size(), choice["text"].get<std::string>().size());
  }
}

TEST_F(Completions, tell_the_chances_of_the_prompt_and_of_new_tokens) {
  const json choice = complete({{"echo", true}, {"logprobs", 2}}).json()["choices"][0];
  const json& logprobs = choice["logprobs"];
  EXPECT_EQ(choice["text"].get<std::string>().substr(0, 4), "^abc");
  EXPECT_EQ(logprobs["tokens"].size(), 10U);
  EXPECT_TRUE(logprobs["token_logprobs"][0].is_null());
  EXPECT_LT(logprobs["token_logprobs"][1], 0.0);
  EXPECT_EQ(logprobs["top_logprobs"][4].size(), 2U);
  EXPECT_EQ(logprobs["top_logprobs"][4][logprobs["tokens"][4]], logprobs["token_logprobs"][4]) << "greedy";
  EXPECT_EQ(logprobs["text_offset"], json({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  // What a view says of the prompt.
  const json view =
      explorer_->client().post("/api/v1/view", {{"model", "headwise"}, {"prompt", "^abc"}}).json();
  for (size_t i = 1; i < 4; ++i)
    EXPECT_NEAR(logprobs["token_logprobs"][i], -view["surprise"][i].get<double>(), 1e-5);
  EXPECT_EQ(complete({{"echo", true}, {"max_tokens", 0}}).json()["choices"][0]["text"], "^abc");
}

TEST_F(Completions, tell_the_chance_of_a_token_that_was_not_likely) {
  // So hot that the likeliest token is hardly ever taken.
  const json choice =
      complete({{"temperature", 5}, {"seed", 3}, {"max_tokens", 20}, {"logprobs", 1}}).json()["choices"][0];
  const json& logprobs = choice["logprobs"];
  size_t unlikely = 0;
  for (size_t i = 0; i < logprobs["tokens"].size(); ++i) {
    const json& top = logprobs["top_logprobs"][i];
    unlikely += top.size() == 2 ? 1 : 0;
    EXPECT_EQ(top[logprobs["tokens"][i].get<std::string>()], logprobs["token_logprobs"][i]) << i;
  }
  EXPECT_GT(unlikely, 0U);
}

TEST_F(Completions, take_no_more_than_the_page_may_ask_for) {
  const auto blamed = [](const json& changes) {
    const ClientResponse response = complete(changes);
    EXPECT_EQ(response.status, 400) << response.body;
    return response.json()["error"]["message"].get<std::string>();
  };
  const std::string many(70'000, 'a');
  EXPECT_NE(blamed({{"prompt", many}}).find("at most 65536 bytes"), std::string::npos);
  EXPECT_NE(blamed({{"prompt", {many}}}).find("at most 65536 bytes"), std::string::npos);
  EXPECT_NE(blamed({{"prompt", std::vector<int>(1025, 97)}}).find("at most 1024 tokens"), std::string::npos);
  EXPECT_NE(blamed({{"prompt", ""}}).find("at least one token"), std::string::npos);
  EXPECT_NE(blamed({{"prompt", json::array()}}).find("at least one token"), std::string::npos);
  EXPECT_NE(blamed({{"prompt", {"a", "b"}}}).find("one at a time"), std::string::npos);
  EXPECT_NE(blamed({{"prompt", json::array({json::array({"a"})})}}).find("prompt"), std::string::npos)
      << "a list of one, not a list of lists of one";
  const std::vector<std::string> changes(65, "attn.gate scale=1");
  EXPECT_NE(blamed({{"interventions", changes}}).find("at most 64 interventions"), std::string::npos);
}

TEST_F(Completions, take_ids_and_lists_of_one) {
  const json text = complete().json()["choices"];
  EXPECT_EQ(complete({{"prompt", {"^abc"}}}).json()["choices"], text);
  EXPECT_EQ(complete({{"prompt", {94, 97, 98, 99}}}).json()["choices"], text);
  EXPECT_EQ(complete({{"prompt", json::array({{94, 97, 98, 99}})}}).json()["choices"], text);
  EXPECT_EQ(complete({{"prompt", {"a", "b"}}}).status, 400);
  EXPECT_EQ(complete({{"prompt", json::array()}}).status, 400);
}

TEST_F(Completions, refuse_what_would_change_the_answer_and_name_it) {
  for (const json& change : {json{{"n", 2}}, json{{"best_of", 3}}, json{{"presence_penalty", 0.5}},
                             json{{"logit_bias", {{"1", 2}}}}, json{{"suffix", "x"}}}) {
    const ClientResponse response = complete(change);
    EXPECT_EQ(response.status, 400);
    EXPECT_EQ(response.json()["error"]["param"], change.begin().key());
  }
  EXPECT_EQ(complete({{"n", 1}, {"user", "me"}, {"logit_bias", json::object()}}).status, 200);
  EXPECT_EQ(complete({{"model", "gpt"}}).status, 404);
  EXPECT_EQ(complete({{"max_tokens", -1}}).status, 400);
}

TEST_F(Completions, change_with_an_intervention) {
  const json changed = {{"interventions", {"attn.gate set=0"}}, {"logprobs", 0}};
  EXPECT_NE(complete({{"logprobs", 0}}).json()["choices"], complete(changed).json()["choices"]);
}

// A stop sequence that comes in pieces is not told in part.
TEST(CompletionText, holds_back_what_may_begin_a_stop_sequence) {
  Engine engine({.threads = 1});
  const LoadedModel model(engine, nursery_model("headwise"));
  std::vector<std::string> pieces;
  CompletionText text(
      model, {.stops = {"END"}, .alternatives = {}},
      [&](std::string_view piece, const nlohmann::ordered_json&) { pieces.emplace_back(piece); });
  for (const char* piece : {"aE", "N", "xE", "ND", "more"}) text.add(TokenId{1}, piece);
  text.finish();
  EXPECT_TRUE(text.is_stopped());
  EXPECT_EQ(text.text(), "aENx");
  EXPECT_EQ(pieces, (std::vector<std::string>{"a", "ENx"}));
}

}  // namespace
}  // namespace sluice::serve
