#include "sluice/serve/explorer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>

#include "sluice/analysis/logit_lens.h"
#include "sluice/eval/evaluate.h"
#include "sluice/io/f16.h"
#include "sluice/probe/generate_text.h"
#include "sluice/probe/trace.h"
#include "tests/base/temporary_directory.h"
#include "tests/serve/running_server.h"

namespace sluice::serve {
namespace {

using nlohmann::json;

constexpr const char* kPrompt = "^abcdefghABCDEFGH";
constexpr const char* kClosed = "layers.1.attn.gate set=0 heads=1";

// One for all tests of a process: models are loaded once.
class ExplorerApi : public testing::Test {
 protected:
  static void SetUpTestSuite() { explorer_ = std::make_unique<RunningExplorer>(); }
  static void TearDownTestSuite() { explorer_.reset(); }

  static json subject(const std::string& model = "headwise", const std::vector<std::string>& changes = {}) {
    return {{"model", model}, {"prompt", kPrompt}, {"interventions", changes}};
  }
  static json answer(const std::string& path, const json& body) {
    const ClientResponse response = explorer_->client().post("/api/v1/" + path, body);
    EXPECT_EQ(response.status, 200) << response.body;
    return response.json();
  }
  static int status(const std::string& path, const json& body) {
    return explorer_->client().post("/api/v1/" + path, body).status;
  }

  static std::unique_ptr<RunningExplorer> explorer_;
};
std::unique_ptr<RunningExplorer> ExplorerApi::explorer_;

// The same by the library.
class Reference {
 public:
  explicit Reference(const std::string& name) : model(engine, nursery_model(name)) {}

  CapturedTrace traced(const std::vector<std::string>& changes = {}) const {
    return trace(model, {.ids = model.encode(kPrompt), .interventions = parsed(changes)});
  }
  std::vector<Intervention> parsed(const std::vector<std::string>& changes) const {
    return parse_interventions(changes, model.config());
  }

  Engine engine{{.threads = 1}};
  LoadedModel model;
};

struct MapAnswer {
  json header;
  std::string values;

  float half(size_t index) const {
    uint16_t bits = 0;
    std::memcpy(&bits, values.data() + 2 * index, 2);
    return to_float(F16{bits});
  }

  float single(size_t index) const {
    float value = 0;
    std::memcpy(&value, values.data() + sizeof value * index, sizeof value);
    return value;
  }
};

MapAnswer parse_map(const ClientResponse& response) {
  EXPECT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(response.headers.at("content-type"), "application/octet-stream");
  EXPECT_EQ(response.body.substr(0, 4), "SLM1");
  uint32_t length = 0;
  std::memcpy(&length, response.body.data() + 4, 4);
  EXPECT_EQ((8 + length) % 8, 0U);
  return {json::parse(response.body.substr(8, length)), response.body.substr(8 + length)};
}

TEST_F(ExplorerApi, lists_its_models) {
  const json models = explorer_->client().get("/api/v1/models").json()["models"];
  ASSERT_EQ(models.size(), 2U);
  EXPECT_EQ(models[0]["id"], "baseline");
  EXPECT_EQ(models[0]["gates"], json::array());
  EXPECT_EQ(models[1]["id"], "headwise");
  EXPECT_EQ(models[1]["layers"], 3);
  EXPECT_EQ(models[1]["nursery"], true);
  EXPECT_EQ(models[1]["tokenizer"], true);
  EXPECT_EQ(models[1]["gates"][0]["position"], "g1");
  EXPECT_EQ(models[1]["gates"][0]["width"], 1);
}

TEST_F(ExplorerApi, says_how_it_is) {
  EXPECT_EQ(explorer_->client().get("/health").json()["status"], "ok");
  EXPECT_EQ(explorer_->client().get("/api/v1/about").json()["limits"]["tokens"], 1024);
  EXPECT_NE(explorer_->client().get("/metrics").body.find("sluice_responses_total{status=\"2xx\"}"),
            std::string::npos);
  EXPECT_EQ(explorer_->client().get("/api/v1/queue").json()["waiting"], 0);
}

TEST_F(ExplorerApi, leads_from_a_page_with_a_slash_to_the_page) {
  EXPECT_EQ(explorer_->client().get("/story").status, 200);
  const ClientResponse response = explorer_->client().get("/story/");
  EXPECT_EQ(response.status, 303);
  EXPECT_EQ(response.headers.at("location"), "/story");
}

TEST_F(ExplorerApi, makes_prompts_and_sequences_of_the_nursery) {
  const json prompts = explorer_->client().get("/api/v1/prompts?bytes=100").json()["prompts"];
  ASSERT_EQ(prompts.size(), 5U);
  EXPECT_LE(prompts[0]["text"].get<std::string>().size(), 100U);
  const json made = explorer_->client().get("/api/v1/backcopy?letters=40&index=3").json();
  const std::string text = made["text"];
  EXPECT_EQ(text.size(), 41U);
  EXPECT_EQ(made["triggers"].size(), 6U);
  for (const size_t copy : made["copies"])
    EXPECT_EQ(text[copy], text[copy - 2]) << "the letter before the trigger";
  EXPECT_EQ(explorer_->client().get("/api/v1/backcopy?letters=x").status, 400);
}

TEST_F(ExplorerApi, shows_what_a_trace_shows) {
  const Reference reference("headwise");
  for (const std::vector<std::string>& changes : {std::vector<std::string>{}, {kClosed}}) {
    const CapturedTrace traced = reference.traced(changes);
    const Trace& values = traced.trace;
    const json view = answer("view", subject("headwise", changes));
    EXPECT_EQ(view["ids"].get<std::vector<TokenId>>(), traced.ids);
    const int64_t tokens = std::ssize(traced.ids), vocabulary = values.logits.cols();
    // The surprise of each token and the probabilities of the next, from the logits.
    const auto log_probability = [&](int64_t row, TokenId id) {
      const float* logits = values.logits.data<float>() + row * vocabulary;
      double sum = 0;
      for (int64_t v = 0; v < vocabulary; ++v) sum += std::exp(static_cast<double>(logits[v]));
      return logits[id] - std::log(sum);
    };
    EXPECT_TRUE(view["surprise"][0].is_null());
    for (int64_t i = 1; i < tokens; ++i)
      EXPECT_NEAR(view["surprise"][static_cast<size_t>(i)],
                  -log_probability(i - 1, traced.ids[static_cast<size_t>(i)]), 1e-5);
    for (const json& row : view["next"]["top"])
      EXPECT_NEAR(row["probability"], std::exp(log_probability(tokens - 1, row["id"])), 1e-6);
    // Attention of a head, and the sink that is its first column.
    json wanted = subject("headwise", changes);
    wanted.update({{"kind", "attention"}, {"layer", 1}, {"head", 1}});
    const MapAnswer map = parse_map(explorer_->client().post("/api/v1/map", wanted));
    EXPECT_EQ(map.header["view"], view["view"]);
    double sink = 0;
    const float* probabilities = values.attn.data<float>() + (1 * 2 + 1) * tokens * tokens;
    for (int64_t i = 0; i < tokens * tokens; ++i)
      ASSERT_NEAR(map.half(static_cast<size_t>(i)), probabilities[i], 1e-3);
    wanted["type"] = "f32";
    const MapAnswer exact = parse_map(explorer_->client().post("/api/v1/map", wanted));
    EXPECT_EQ(exact.header["type"], "f32");
    ASSERT_EQ(exact.values.size(), static_cast<size_t>(tokens * tokens) * sizeof(float));
    for (int64_t i = 0; i < tokens * tokens; ++i)
      ASSERT_EQ(exact.single(static_cast<size_t>(i)), probabilities[i]) << "all digits";
    for (int64_t i = 0; i < tokens; ++i) sink += probabilities[i * tokens] / static_cast<double>(tokens);
    EXPECT_NEAR(view["layers"][1]["attention"]["sink"][1], sink, 1e-6);
    // Gates, which a trace has after the intervention as well.
    wanted = subject("headwise", changes);
    wanted.update({{"kind", "gates"}, {"layer", 1}});
    const MapAnswer gates = parse_map(explorer_->client().post("/api/v1/map", wanted));
    EXPECT_EQ(gates.header["rows"], tokens);
    EXPECT_EQ(gates.header["columns"], 2);
    for (int64_t i = 0; i < tokens * 2; ++i)
      EXPECT_NEAR(gates.half(static_cast<size_t>(i)), values.gates.data<float>()[1 * tokens * 2 + i], 1e-3);
    // The largest activation of the last layer.
    const float* stream = values.hidden.data<float>() + 3 * tokens * values.hidden.shape()[2];
    float largest = 0;
    for (int64_t i = 0; i < tokens * values.hidden.shape()[2]; ++i)
      largest = std::max(largest, std::abs(stream[i]));
    EXPECT_FLOAT_EQ(view["layers"][2]["activation"]["largest"], largest);
  }
}

TEST_F(ExplorerApi, finds_a_prompt_as_likely_as_an_evaluation_does) {
  const Reference reference("headwise");
  for (const std::vector<std::string>& changes : {std::vector<std::string>{}, {kClosed}}) {
    EvaluationRequest request{.text = cut_into_chunks(reference.model.encode(kPrompt), {.length = 512}, {})};
    request.interventions = reference.parsed(changes);
    EXPECT_NEAR(answer("view", subject("headwise", changes))["nll"],
                evaluate(reference.model, request).perplexity.nll, 1e-5);
  }
}

TEST_F(ExplorerApi, has_examples_whose_means_an_evaluation_finds_too) {
  const ClientResponse examples = explorer_->client().get("/api/v1/examples?model=headwise");
  ASSERT_EQ(examples.status, 200);
  EXPECT_EQ(explorer_->client().get("/api/v1/examples").status, 400);
  EXPECT_EQ(explorer_->client().get("/api/v1/examples?model=nobody").status, 404);
  const TemporaryDirectory folder;
  const std::string file = (folder.path() / "examples.jsonl").string();
  std::ofstream(file) << examples.body;
  Engine engine({.threads = 1});
  for (const char* change : {"attn.gate mean", "layers.1.attn.gate mean heads=0"}) {
    const ModelEvaluationRequest request{.model = nursery_model("headwise"),
                                         .source = std::string(kPrompt),
                                         .interventions = {change},
                                         .calibration = {file}};
    EXPECT_NEAR(answer("view", subject("headwise", {change}))["nll"],
                evaluate_model(engine, request).perplexity.nll, 1e-5)
        << change;
  }
}

TEST_F(ExplorerApi, counts_the_tokens_of_a_continuation_in_the_queue) {
  json body = subject();
  body.update({{"max_tokens", 1024}, {"temperature", 1}});
  HttpClient talking = explorer_->client();
  const std::string text = body.dump();
  talking.send("POST /api/v1/generate HTTP/1.1\r\nHost: localhost:" + std::to_string(explorer_->port()) +
               "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(text.size()) +
               "\r\n\r\n" + text);
  bool counted = false;
  HttpClient asking = explorer_->client();
  for (int i = 0; i < 2000 && !counted; ++i) {
    const json running = asking.get("/api/v1/queue").json()["running"];
    counted = running.is_object() && running["kind"] == "generate" && running["done"] > 0 &&
              running["total"] == 1024;
  }
  EXPECT_TRUE(counted);
}

TEST_F(ExplorerApi, generates_what_the_library_generates) {
  const Reference reference("headwise");
  TextGenerationRequest request{.prompt = reference.model.encode(kPrompt)};
  request.options = {.sampler = {.temperature = 0.8, .top_k = 20, .seed = 5}, .max_tokens = 12};
  request.options.interventions = reference.parsed({kClosed});
  const GeneratedText expected = generate_text(reference.model, request);
  json body = subject("headwise", {kClosed});
  body.update({{"max_tokens", 12}, {"temperature", 0.8}, {"top_k", 20}, {"seed", 5}, {"count", 3}});
  const ClientResponse response = explorer_->client().post("/api/v1/generate", body);
  std::vector<json> tokens;
  json done;
  std::string_view rest = response.body;
  while (!rest.empty()) {
    const size_t end = rest.find("\n\n");
    const std::string_view event = rest.substr(0, end);
    const json data = json::parse(event.substr(event.find("data: ") + 6));
    if (event.starts_with("event: token")) tokens.push_back(data);
    if (event.starts_with("event: done")) done = data;
    rest.remove_prefix(end + 2);
  }
  EXPECT_EQ(done["ids"].get<std::vector<TokenId>>(), expected.ids);
  EXPECT_EQ(done["text"], *expected.text);
  EXPECT_EQ(tokens.size(), expected.ids.size());
  EXPECT_EQ(tokens[0]["top"].size(), 3U);
  EXPECT_EQ(tokens[0]["token"], tokens[0]["text"]);
  // The first token is chosen from what the view's table says.
  json next = subject("headwise", {kClosed});
  next["count"] = 200;
  for (const json& row : answer("next", next)["top"]) {
    if (row["id"] != tokens[0]["id"]) continue;
    EXPECT_NEAR(row["probability"], tokens[0]["probability"], 1e-5);
  }
}

TEST_F(ExplorerApi, tells_what_an_ablation_changes) {
  const json compared = answer("compare", {{"a", subject()}, {"b", subject("headwise", {kClosed})}});
  const json& difference = compared["difference"];
  const json a = answer("view", subject()), b = answer("view", subject("headwise", {kClosed}));
  EXPECT_TRUE(difference["why_not"].is_null());
  EXPECT_EQ(compared["a"]["surprise"], a["surprise"]);
  EXPECT_NEAR(difference["nll"], b["nll"].get<double>() - a["nll"].get<double>(), 1e-6);
  EXPECT_GT(difference["kl_mean"], 0.0);
  ASSERT_EQ(difference["kl"].size(), a["ids"].size());
  // The divergence behind the last token, from the logits of both.
  const Reference reference("headwise");
  const CapturedTrace sound = reference.traced(), broken = reference.traced({kClosed});
  const Trace &first = sound.trace, &second = broken.trace;
  const int64_t vocabulary = first.logits.cols(), last = (first.logits.rows() - 1) * vocabulary;
  double p_sum = 0, q_sum = 0, kl = 0;
  for (int64_t v = 0; v < vocabulary; ++v) {
    p_sum += std::exp(static_cast<double>(first.logits.data<float>()[last + v]));
    q_sum += std::exp(static_cast<double>(second.logits.data<float>()[last + v]));
  }
  for (int64_t v = 0; v < vocabulary; ++v) {
    const double p = first.logits.data<float>()[last + v] - std::log(p_sum);
    const double q = second.logits.data<float>()[last + v] - std::log(q_sum);
    kl += std::exp(p) * (p - q);
  }
  EXPECT_NEAR(difference["kl_last"], kl, 1e-5);
  const json& row = difference["next"][0];
  EXPECT_NEAR(row["change"], row["b"].get<double>() - row["a"].get<double>(), 1e-6);
}

TEST_F(ExplorerApi, finds_no_difference_of_a_view_to_itself) {
  const json difference = answer("compare", {{"a", subject()}, {"b", subject()}})["difference"];
  EXPECT_EQ(difference["kl_mean"], 0.0);
  EXPECT_EQ(difference["agreement"], 1.0);
  EXPECT_EQ(difference["changed"], json::array());
  EXPECT_EQ(difference["sinks"][0]["by_head"], json({0.0, 0.0}));
}

TEST_F(ExplorerApi, compares_two_models_and_says_why_it_cannot) {
  EXPECT_GT(answer("compare", {{"a", subject("baseline")}, {"b", subject()}})["difference"]["kl_mean"], 0.0);
  json other = subject();
  other["prompt"] = "^other";
  const json difference = answer("compare", {{"a", subject()}, {"b", other}})["difference"];
  EXPECT_EQ(difference["why_not"], "the prompts have different tokens");
  EXPECT_TRUE(difference["kl"].is_null());
  EXPECT_TRUE(difference["sink"].is_number());
}

TEST_F(ExplorerApi, looks_through_the_lens_as_the_library_does) {
  const Reference reference("headwise");
  const LogitLens expected = logit_lens(reference.model, {.ids = reference.model.encode(kPrompt)});
  json body = subject();
  body["count"] = 2;
  const json lens = answer("lens", body);
  ASSERT_EQ(lens["layers"].size(), expected.layers.size());
  for (size_t l = 0; l < expected.layers.size(); ++l) {
    const json& layer = lens["layers"][l];
    for (size_t i = 0; i < expected.layers[l].likeliest.size(); ++i)
      EXPECT_EQ(layer["top"][i][0]["id"], expected.layers[l].likeliest[i]);
    for (size_t i = 0; i < expected.layers[l].surprise.size(); ++i)
      EXPECT_NEAR(layer["surprise"][i], expected.layers[l].surprise[i], 1e-4);
    EXPECT_NEAR(layer["agreement"], expected.layers[l].agreement, 1e-9);
  }
  body["first"] = 99;
  EXPECT_EQ(status("lens", body), 400);
}

TEST_F(ExplorerApi, cuts_small_maps_of_every_head) {
  json body = subject();
  body["kind"] = "attention";
  const MapAnswer grid = parse_map(explorer_->client().post("/api/v1/grid", body));
  const size_t tokens = std::string(kPrompt).size();
  EXPECT_EQ(grid.header["type"], "u8");
  EXPECT_EQ(grid.header["maps"].size(), 6U);
  EXPECT_EQ(grid.values.size(), 6 * tokens * tokens);
  // The first query sees itself alone.
  EXPECT_EQ(static_cast<unsigned char>(grid.values[0]), 255);
  EXPECT_EQ(grid.values[1], 0);
  body["layers"] = "1-2";
  EXPECT_EQ(parse_map(explorer_->client().post("/api/v1/grid", body)).header["maps"].size(), 4U);
  body["kind"] = "gates";
  EXPECT_EQ(parse_map(explorer_->client().post("/api/v1/grid", body)).header["columns"], 1);
}

TEST_F(ExplorerApi, answers_from_what_it_has_kept) {
  json body = subject();
  body["prompt"] = "^kept";
  EXPECT_EQ(answer("view", body)["timing"]["cached"], false);
  json first = answer("view", body);
  EXPECT_EQ(first["timing"]["cached"], true);
  body.erase("prompt");
  body["ids"] = first["ids"];
  EXPECT_EQ(answer("view", body)["view"], first["view"]) << "the same tokens are the same subject";
}

TEST_F(ExplorerApi, samples_as_the_table_says) {
  json body = subject();
  body.update({{"temperature", 0.5}, {"top_k", 2}, {"count", 3}});
  const json top = answer("next", body)["top"];
  const double a = std::pow(top[0]["probability"].get<double>(), 2),
               b = std::pow(top[1]["probability"].get<double>(), 2);
  EXPECT_NEAR(top[0]["sampled"], a / (a + b), 1e-5);
  EXPECT_EQ(top[2]["sampled"], 0.0);
  body["position"] = 17;
  EXPECT_EQ(status("next", body), 400) << "there are tokens 0 to 16";
}

TEST_F(ExplorerApi, tells_the_ranks_of_a_heads_maps) {
  json body = subject();
  body.update({{"layer", 0}, {"head", 1}});
  const json rank = answer("rank", body);
  EXPECT_EQ(rank["ranks"]["product"], 32) << "of 64 × 64";
  EXPECT_EQ(rank["ranks"]["gates"], 1);
  body["model"] = "baseline";
  EXPECT_EQ(answer("rank", body)["ranks"]["gates"], 0);
}

TEST_F(ExplorerApi, differs_most_between_the_pair_in_the_head_of_the_picture) {
  // docs/explorer.png shows layer 0, head 0 on this text.
  const json text = {{"prompt", "^lItYRxkkDeXqYzXXqTaRRpGNkHFeDCDGoFonqutdtdtmguk"}};
  json a = text, b = text;
  a["model"] = "headwise";
  b["model"] = "baseline";
  const json sinks = answer("compare", {{"a", a}, {"b", b}})["difference"]["sinks"];
  const double pictured = std::abs(sinks[0]["by_head"][0].get<double>());
  for (const json& layer : sinks)
    for (const json& difference : layer["by_head"]) EXPECT_LE(std::abs(difference.get<double>()), pictured);
  EXPECT_GT(pictured, 0.5);
}

TEST_F(ExplorerApi, refuses_requests_that_make_no_sense) {
  json body = subject();
  body["model"] = "other";
  EXPECT_EQ(status("view", body), 404);
  body = subject();
  body["typo"] = 1;
  EXPECT_EQ(status("view", body), 400);
  body = subject("headwise", {"layers.9.attn.gate set=0"});
  EXPECT_EQ(status("view", body), 400);
  body = subject("baseline", {kClosed});
  EXPECT_EQ(status("view", body), 400) << "the baseline has no gate";
  body = subject("headwise", {"attn.gate set=0 positions=500"});
  EXPECT_EQ(status("view", body), 400) << "an intervention that meets no token";
  body = subject("headwise", {"attn.gate shuffle"});
  EXPECT_EQ(status("generate", body), 400) << "it needs sequences of its own";
  EXPECT_EQ(status("view", body), 400);
  body = subject();
  body["ids"] = {1};
  EXPECT_EQ(status("view", body), 400) << "a prompt and ids";
  EXPECT_EQ(status("view", {{"model", "headwise"}, {"ids", {256}}}), 400);
  EXPECT_EQ(status("view", {{"model", "headwise"}, {"ids", {-1}}}), 400);
  EXPECT_EQ(status("view", {{"model", "headwise"}, {"ids", json::array()}}), 400);
  EXPECT_EQ(status("view", {{"model", "headwise"}, {"prompt", std::string(1025, 'a')}}), 400);
  body = subject();
  body.update({{"kind", "attention"}, {"layer", 0}, {"head", 2}});
  EXPECT_EQ(status("map", body), 400);
  body["model"] = "baseline";
  body.update({{"kind", "gates"}, {"head", nullptr}});
  EXPECT_EQ(status("map", body), 400) << "no gate";
}

TEST_F(ExplorerApi, refuses_bodies_that_are_not_plain_json) {
  HttpClient client = explorer_->client();
  for (const char* body : {"", "{", "[]", "{\"model\": NaN}", "{\"a\": 1, \"a\": 2}", "\xff", "null"})
    EXPECT_EQ(client.post_text("/api/v1/view", body).status, 400) << body;
  const std::string deep = std::string(1000, '[') + std::string(1000, ']');
  EXPECT_EQ(client.post_text("/api/v1/view", "{\"model\": " + deep + "}").status, 400);
  client.send("POST /api/v1/view HTTP/1.1\r\nHost: localhost:" + std::to_string(explorer_->port()) +
              "\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}");
  EXPECT_EQ(client.receive().status, 415) << "what a foreign form could send";
}

TEST_F(ExplorerApi, has_nothing_but_its_paths) {
  HttpClient client = explorer_->client();
  for (const char* path : {"/../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/..", "//etc/passwd",
                           "/index.html/..", "/api/v1/", "/api/v2/view", "/tests/golden", "/web/index.html"})
    EXPECT_EQ(client.get(path).status, 404) << path;
  EXPECT_EQ(client.get("/api/v1/view").status, 405);
  EXPECT_EQ(client.post("/api/v1/models", json::object()).status, 405);
}

TEST_F(ExplorerApi, serves_its_page_and_knows_when_it_is_known) {
  HttpClient client = explorer_->client();
  const ClientResponse page = client.get("/");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.headers.at("content-type"), "text/html; charset=utf-8");
  EXPECT_EQ(client.get("/", "If-None-Match: " + page.headers.at("etag") + "\r\n").status, 304);
}

TEST_F(ExplorerApi, refuses_foreign_hosts_and_origins) {
  HttpClient client = explorer_->client();
  client.send("GET /api/v1/models HTTP/1.1\r\nHost: evil.example\r\n\r\n");
  EXPECT_EQ(client.receive().status, 403);
  EXPECT_EQ(client.get("/api/v1/models", "Origin: http://evil.example\r\n").status, 403);
  EXPECT_EQ(client.post("/api/v1/view", subject(), "Origin: null\r\n").status, 403);
}

}  // namespace
}  // namespace sluice::serve
