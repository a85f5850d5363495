#include "sluice/eval/backcopy_score.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sluice/base/error.h"
#include "sluice/data/backcopy.h"
#include "sluice/infer/nonfinite_tap.h"

namespace sluice {
namespace {

// No corpus is this long: what is scored was not trained on.
constexpr uint64_t kFirstDocument = uint64_t{1} << 40;

// Sums over all documents so far; the score has their means.
class Scorer {
 public:
  Scorer(const BackcopyChain& chain, BackcopyScore& score) : chain_(chain), score_(score) {}

  // `text` begins with the start symbol, `ids` with what the model sees of it. `logits` [ids - 1, V]: what it
  // says after every sign but the last.
  void add(const std::string& text, std::span<const TokenId> ids, const Tensor& logits) {
    const size_t unseen = text.size() - ids.size();
    for (size_t i = 1; i < ids.size(); ++i) {
      const auto row = logits.values<float>().subspan((i - 1) * static_cast<size_t>(logits.cols()),
                                                      static_cast<size_t>(logits.cols()));
      const std::string_view before = std::string_view(text).substr(0, unseen + i);
      if (chain_.is_copied(before)) {
        const auto likeliest = std::ranges::max_element(row) - row.begin();
        score_.copies += 1;
        score_.copy_accuracy += likeliest == ids[i] ? 1 : 0;
        score_.copy_nll += nll_of(row, ids[i]);
      } else {
        score_.others += 1;
        score_.other_nll += nll_of(row, ids[i]);
        score_.chain_nll -= std::log(chain_.probability(before, text[unseen + i]));
      }
    }
    score_.documents += 1;
  }

  void finish() {
    // Where there is nothing to count, the sums are 0 and stay so.
    const auto copies = static_cast<double>(std::max<int64_t>(score_.copies, 1));
    const auto others = static_cast<double>(std::max<int64_t>(score_.others, 1));
    score_.copy_accuracy /= copies;
    score_.copy_nll /= copies;
    score_.other_nll /= others;
    score_.chain_nll /= others;
  }

 private:
  static double nll_of(std::span<const float> logits, TokenId id) {
    const double largest = *std::ranges::max_element(logits);
    double sum = 0;
    for (const float logit : logits) sum += std::exp(logit - largest);
    return largest + std::log(sum) - logits[static_cast<size_t>(id)];
  }

  const BackcopyChain& chain_;
  BackcopyScore& score_;
};

std::vector<TokenId> letters_of(const LoadedModel& model, const std::string& text) {
  std::vector<TokenId> ids = model.encode(text);
  if (ids.size() == text.size()) return ids;
  throw bad_input({.where = model.path().string(),
                   .what = "its tokens are not single letters",
                   .hint = "backcopy models are trained on tokens of \"bytes\""});
}

}  // namespace

BackcopyScore score_backcopy(const LoadedModel& model, const BackcopyRequest& request,
                             const JobControl& control) {
  const BackcopyChain chain(request.seed);
  Intervener intervener(request.interventions);
  const Context context = model.context(request.interventions.empty() ? nullptr : &intervener, Packing::Keep);
  const auto letters = static_cast<size_t>(request.letters_of_each());
  BackcopyScore score;
  Scorer scorer(chain, score);
  for (int64_t i = 0; i < request.documents; ++i) {
    control.stop_if_cancelled();
    const std::string text = chain.document(kFirstDocument + static_cast<uint64_t>(i), letters);
    const std::vector<TokenId> ids = letters_of(model, text.substr(unseen_signs(request.start)));
    intervener.begin_at(i);
    const Var hidden = model.decoder().forward(context, std::span(ids).first(ids.size() - 1)).y;
    const Tensor logits = model.decoder().logits(context, hidden).value();
    if (!is_finite(logits))
      throw not_finite("what the model says of a document is", context, model.decoder(), ids)
          .inside(model.path().string());
    scorer.add(text, ids, logits);
    control.report("documents", i + 1, request.documents);
  }
  intervener.check_effect();
  scorer.finish();
  return score;
}

nlohmann::ordered_json to_json(const BackcopyScore& score) {
  return {{"task", "backcopy"},         {"documents", score.documents},
          {"copies", score.copies},     {"copy_accuracy", score.copy_accuracy},
          {"copy_nll", score.copy_nll}, {"others", score.others},
          {"nll", score.other_nll},     {"chain_nll", score.chain_nll},
          {"excess", score.excess()}};
}

std::string to_text(const BackcopyScore& score) {
  constexpr double kHardlyAny = 0.1;
  const std::string hint = score.copy_accuracy < kHardlyAny
                               ? "hardly any: was the model trained on the chain of this --seed? The demo's "
                                 "and the nursery's have 1\n"
                               : "";
  return hint + fmt::format(
                    "after triggers    {:.4f} of {} copies right, {:.4f} nats per letter\n"
                    "elsewhere         {:.4f} nats per letter, {:+.4f} above the chain's own {:.4f}\n"
                    "{} documents\n",
                    score.copy_accuracy, score.copies, score.copy_nll, score.other_nll, score.excess(),
                    score.chain_nll, score.documents);
}

}  // namespace sluice
