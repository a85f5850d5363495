#include "sluice/probe/patch_checks.h"

#include <fmt/format.h>

#include "sluice/base/error.h"

namespace sluice {
namespace {

// Below this the shares between two logit differences are made of rounding: bf16 moves logits by hundredths.
constexpr double kLeastDifference = 0.1;

// Tokens as an error message shows them: their text, or their numbers.
std::string shown_tokens(const LoadedModel& model, const std::vector<TokenId>& ids) {
  std::string shown;
  for (const TokenId id : ids) {
    if (!shown.empty()) shown += model.has_tokenizer() ? "|" : ",";
    shown += model.has_tokenizer() ? model.decode({&id, 1}) : std::to_string(id);
  }
  return fmt::format("{} (\"{:.120}\")", ids.size(), shown);
}

}  // namespace

void check_patch_request(const LoadedModel& model, const PatchRequest& request) {
  const auto& [clean, corrupted, answer, wrong, taps, direction, pieces] = request;
  SLUICE_ASSERT(!clean.empty() && !corrupted.empty(), "patch: a prompt without tokens");
  if (clean.size() != corrupted.size()) {
    throw usage_error(
        {.where = "patch",
         .what = "the prompts differ in length, so their tokens cannot be put in each other's place",
         .expected = fmt::format("as many tokens as the clean one has, {}", shown_tokens(model, clean)),
         .got = fmt::format("{} in the corrupted one", shown_tokens(model, corrupted))});
  }
  if (clean.size() > kMaxPatchTokens) {
    throw usage_error({.where = "patch",
                       .what = "the prompts are too long",
                       .expected = fmt::format("at most {} tokens", kMaxPatchTokens),
                       .got = std::to_string(clean.size())});
  }
  if (clean == corrupted)
    throw usage_error({.where = "patch", .what = "the clean and the corrupted prompt are the same"});
  if (answer == wrong)
    throw usage_error({.where = "patch", .what = "the answer and the wrong answer are the same token"});
}

void check_patch_differences(double clean, double corrupted) {
  if (clean >= kLeastDifference && clean - corrupted >= kLeastDifference) return;
  ErrorReport report{
      .where = "patch",
      .expected = fmt::format("a logit difference, answer minus wrong, of {} or more after the clean prompt, "
                              "and at least {} less after the corrupted one",
                              kLeastDifference, kLeastDifference),
      .got = fmt::format("{:.3f} and {:.3f}", clean, corrupted)};
  const bool reversed = corrupted - clean >= kLeastDifference;
  if (clean <= -kLeastDifference) {
    report.what = "the clean prompt prefers the wrong answer";
    if (reversed) report.hint = "the answers are the wrong way round: swap --answer and --wrong";
  } else if (reversed && corrupted >= kLeastDifference) {
    report.what = "the corrupted prompt prefers the answer more than the clean one does";
    report.hint = "the prompts are the wrong way round: swap --clean and --corrupted";
  } else if (clean < kLeastDifference) {
    report.what = "the clean prompt prefers neither answer";
  } else {
    report.what = "the corrupted prompt prefers the answer as much as the clean one does";
  }
  throw usage_error(std::move(report));
}

TokenId single_token(const LoadedModel& model, std::string_view text, const std::string& option) {
  const std::vector<TokenId> ids = model.encode(text);
  if (ids.size() == 1) return ids.front();
  throw usage_error({.where = option,
                     .what = "not a single token",
                     .expected = "one token of the model's tokenizer",
                     .got = shown_tokens(model, ids),
                     .hint = "a space before a word is often part of its token"});
}

}  // namespace sluice
