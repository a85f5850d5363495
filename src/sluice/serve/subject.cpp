#include "sluice/serve/subject.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "sluice/analysis/prompt_map.h"
#include "sluice/base/sha256.h"
#include "sluice/probe/capture.h"

namespace sluice::serve {
namespace {

constexpr size_t kMaxPromptBytes = size_t{64} << 10;
constexpr size_t kMaxChanges = 64;

std::vector<TokenId> read_ids(const Json& json) {
  const std::vector<Json> values = json.array();
  if (values.size() > kMaxPromptTokens)
    throw json.unexpected(fmt::format("at most {} tokens", kMaxPromptTokens));
  std::vector<TokenId> ids;
  for (const Json& value : values)
    ids.push_back(
        static_cast<TokenId>(value.integer({.min = 0, .max = std::numeric_limits<TokenId>::max()})));
  if (ids.empty()) throw json.unexpected("at least one token");
  return ids;
}

std::string read_prompt_text(const Json& json) {
  std::string text = json.text();
  if (text.empty()) throw json.unexpected("at least one token");
  if (text.size() > kMaxPromptBytes)
    throw HttpError(400, fmt::format("prompt: expected at most {} bytes", kMaxPromptBytes), "prompt");
  return text;
}

void read_prompt(const Json& json, Subject& subject) {
  if (json.contains("prompt") == json.contains("ids"))
    throw HttpError(400, "a prompt or ids are needed, and not both", "prompt");
  if (json.contains("ids")) {
    subject.ids = read_ids(json.at("ids"));
  } else {
    subject.prompt = read_prompt_text(json.at("prompt"));
  }
}

// A text or ids, or a list of one of these.
enum class PromptList { Allowed, Inside };

void read_completion_prompt(const Json& prompt, Subject& subject, PromptList list_of_prompts) {
  if (prompt.is_text()) {
    subject.prompt = read_prompt_text(prompt);
    return;
  }
  const std::vector<Json> list = prompt.array();
  const bool nested = !list.empty() && (list.front().is_text() || list.front().is_array());
  if (!nested || list_of_prompts == PromptList::Inside) {
    subject.ids = read_ids(prompt);
    return;
  }
  if (list.size() > 1) throw HttpError(400, "prompt: one at a time", "prompt");
  read_completion_prompt(list.front(), subject, PromptList::Inside);
}

void read_changes(const Json& json, const SubjectRules& rules, Subject& subject) {
  if (!json.contains("interventions")) return;
  const Json list = json.at("interventions");
  for (const Json& text : list.array()) subject.change_texts.push_back(text.text());
  if (subject.change_texts.empty()) return;
  if (rules.changes == Changes::Refused)
    throw HttpError(403, "this server is read-only: nothing is changed inside a model", "interventions");
  if (subject.change_texts.size() > kMaxChanges)
    throw list.unexpected(fmt::format("at most {} interventions", kMaxChanges));
  subject.interventions = parse_interventions(subject.change_texts, subject.model->known_config());
}

// 16 hexadecimal digits.
std::string digits_of(const nlohmann::json& json) {
  const Sha256 digest = sha256(json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace));
  std::string digits;
  for (size_t i = 0; i < 8; ++i) digits += fmt::format("{:02x}", digest[i]);
  return digits;
}

}  // namespace

Subject read_subject(const Json& json, ModelShelf& shelf, const SubjectRules& rules) {
  Subject subject{.model = &shelf.find(json.text("model"))};
  read_prompt(json, subject);
  read_changes(json, rules, subject);
  return subject;
}

Subject read_completion_subject(const Json& json, ModelShelf& shelf, const SubjectRules& rules) {
  Subject subject{.model = &shelf.find(json.text("model"))};
  read_completion_prompt(json.at("prompt"), subject, PromptList::Allowed);
  read_changes(json, rules, subject);
  return subject;
}

std::vector<TokenId> ids_of(const Subject& subject, const LoadedModel& model) {
  std::vector<TokenId> ids = subject.prompt ? model.encode(*subject.prompt) : subject.ids;
  check_ids(model, ids);
  if (ids.size() > kMaxPromptTokens)
    throw HttpError(400,
                    fmt::format("the prompt is too long: expected at most {} tokens, got {}",
                                kMaxPromptTokens, ids.size()),
                    "prompt");
  return ids;
}

std::string view_name(const Subject& subject, const std::vector<TokenId>& ids) {
  return digits_of({subject.model->id, ids, subject.change_texts});
}

std::string text_name(const Subject& subject) {
  return digits_of({subject.model->id, subject.prompt.value(), subject.change_texts});
}

Json body_of(const HttpRequest& request) {
  const std::string* type = request.header("content-type");
  if (type == nullptr || !type->starts_with("application/json"))
    throw HttpError(415, "the body must be application/json");
  // Deep or crowded JSON takes far more memory than its text.
  const Json json =
      Json::parse(request.body, "request", {.bytes = size_t{1} << 20, .depth = 16, .values = 20'000});
  if (!json.is_object()) throw json.unexpected("an object");
  return json;
}

}  // namespace sluice::serve
