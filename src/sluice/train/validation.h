// A validation: what is measured of a model while it trains. The loss is that of eval/, the pulse that of
// analysis/.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "sluice/analysis/pulse.h"
#include "sluice/base/json.h"
#include "sluice/dist/ranks.h"
#include "sluice/text/tokenizer.h"
#include "sluice/train/run_config.h"

namespace sluice {

struct Validation {
  int64_t step = 0;
  double loss = 0;                    // mean over all predicted tokens
  int64_t sequences = 0, length = 0;  // what it was measured on: so many sequences of so many tokens
  Pulse pulse = {};                   // of the first few of them
  std::optional<std::string> sample =
      {};  // prompt and continuation, valid UTF-8; none if no prompt was given

  double ppl() const;
};

// A line of metrics.jsonl.
nlohmann::ordered_json to_json(const Validation& validation);

// Of such a line. Numbers that it does not have are NaN: older versions wrote fewer.
Validation read_validation(const Json& line);

class Validator {
 public:
  // The tokenizer is for the sample alone; an empty path: tokens are bytes.
  Validator(const RunConfig& config, PackedSequences sequences, const std::filesystem::path& tokenizer);

  // The loss is computed in the precision of training, pulse and sample in f32. If the loss is not finite,
  // nothing else is measured. Several ranks share the sequences, and have the same loss; pulse and sample are
  // those of the first rank.
  Validation validate(Engine& engine, const Decoder& decoder, int64_t step, Ranks& ranks = alone()) const;

 private:
  double mean_loss(Engine& engine, const Decoder& decoder, Ranks& ranks) const;
  std::string sample(Engine& engine, const Decoder& decoder) const;

  PackedSequences sequences_;
  int64_t count_;  // of the sequences that are evaluated
  Precision precision_;
  RunConfig::Sample sample_;
  std::optional<Tokenizer> tokenizer_;  // none: no sample is wanted
};

}  // namespace sluice
