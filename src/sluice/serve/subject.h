// What a request looks into: a model, a prompt, and changes on the way.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sluice/base/json.h"
#include "sluice/probe/intervention.h"
#include "sluice/serve/http_message.h"
#include "sluice/serve/model_shelf.h"

namespace sluice::serve {

// Whether what a model computes may be changed.
enum class Changes { Allowed, Refused };

struct SubjectRules {
  Changes changes = Changes::Allowed;
};

struct Subject {
  ShelvedModel* model = nullptr;
  std::optional<std::string> prompt = {};  // none: the ids
  std::vector<TokenId> ids = {};
  std::vector<std::string> change_texts = {};
  std::vector<Intervention> interventions = {};
};

// HttpError or Error for what is not there or not allowed. Other keys of the object are the caller's.
Subject read_subject(const Json& json, ModelShelf& shelf, const SubjectRules& rules);

// The same as clients of OpenAI's interface write it: `prompt` is a text, a list of one, or ids.
Subject read_completion_subject(const Json& json, ModelShelf& shelf, const SubjectRules& rules);

// Bad input or a usage error if the model does not know them, or if they are too many.
std::vector<TokenId> ids_of(const Subject& subject, const LoadedModel& model);

// 16 hexadecimal digits: the same for the same model, tokens and changes.
std::string view_name(const Subject& subject, const std::vector<TokenId>& ids);

// Likewise of a prompt that is a text, for who does not know its tokens.
std::string text_name(const Subject& subject);

// A body of JSON. HttpError if it is none.
Json body_of(const HttpRequest& request);

}  // namespace sluice::serve
