// An explorer by how it was started: read-only, where others can connect, with a model that cannot be read.
// What it answers is in explorer_test.cpp.
#include "sluice/serve/explorer.h"

#include <gtest/gtest.h>

#include "tests/serve/running_server.h"

namespace sluice::serve {
namespace {

using nlohmann::json;

TEST(Explorer, changes_nothing_and_says_nothing_when_read_only) {
  const RunningExplorer explorer({.models = {}, .read_only = true});
  HttpClient client = explorer.client();
  const json plain = {{"model", "headwise"}, {"prompt", "^ab"}};
  json changed = plain;
  changed["interventions"] = {"attn.gate set=0"};
  EXPECT_EQ(client.post("/api/v1/view", plain).status, 200);
  EXPECT_EQ(client.post("/api/v1/view", changed).status, 403);
  EXPECT_EQ(client.post("/api/v1/compare", {{"a", plain}, {"b", changed}}).status, 403);
  EXPECT_EQ(client.post("/api/v1/generate", plain).status, 403);
  EXPECT_EQ(client.post("/v1/completions", plain).status, 403);
}

TEST(Explorer, asks_for_the_token_wherever_others_can_connect) {
  ExplorerOptions options;
  options.server.host = "0.0.0.0";
  const RunningExplorer explorer(options);
  const std::string address = explorer.address();
  const std::string token = address.substr(address.find("?token=") + 7);
  EXPECT_EQ(token.size(), 32U);
  HttpClient client = explorer.client();
  EXPECT_EQ(client.get("/").status, 401);
  EXPECT_EQ(client.get("/api/v1/models").status, 401);
  EXPECT_EQ(client.get("/api/v1/models?token=" + token).status, 401) << "only the page takes it so";
  EXPECT_EQ(client.get("/?token=" + token).status, 303);
  EXPECT_EQ(client.get("/api/v1/models", "Authorization: Bearer " + token + "\r\n").status, 200);
  EXPECT_EQ(client.get("/api/v1/models", "Cookie: sluice_token=" + token + "\r\n").status, 200);
}

TEST(Explorer, has_an_address_that_can_be_opened_whatever_the_token) {
  ExplorerOptions options;
  options.token = "a b&c#d+e";
  const RunningExplorer explorer(options);
  const std::string address = explorer.address();
  const std::string target = address.substr(address.find("/?"));
  EXPECT_EQ(target, "/?token=a%20b%26c%23d%2Be");
  const ClientResponse exchanged = explorer.client().get(target);
  ASSERT_EQ(exchanged.status, 303);
  const std::string cookie = exchanged.headers.at("set-cookie");
  EXPECT_EQ(explorer.client().get("/", "Cookie: " + cookie.substr(0, cookie.find(';')) + "\r\n").status, 200);
}

TEST(Explorer, says_what_is_wrong_with_a_model_and_shows_the_others) {
  const RunningExplorer explorer({.models = {nursery_model("headwise"), "/nonexistent/model"}});
  HttpClient client = explorer.client();
  const json models = client.get("/api/v1/models").json()["models"];
  EXPECT_TRUE(models[0]["error"].is_null());
  EXPECT_TRUE(models[1]["error"].is_string());
  EXPECT_EQ(client.post("/api/v1/view", {{"model", "model"}, {"prompt", "a"}}).status, 500);
  EXPECT_EQ(client.post("/api/v1/view", {{"model", "headwise"}, {"prompt", "a"}}).status, 200);
}

}  // namespace
}  // namespace sluice::serve
