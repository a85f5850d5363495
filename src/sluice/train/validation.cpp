#include "sluice/train/validation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "sluice/dist/pairwise_sum.h"
#include "sluice/eval/perplexity.h"
#include "sluice/infer/generator.h"
#include "sluice/text/utf8.h"

namespace sluice {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr IntegerRange kWhole{.min = 0};

}  // namespace

double Validation::ppl() const {
  return std::exp(loss);
}

nlohmann::ordered_json to_json(const Validation& validation) {
  nlohmann::ordered_json json = {{"step", validation.step},
                                 {"validation_loss", validation.loss},
                                 {"validation_ppl", validation.ppl()},
                                 {"sequences", validation.sequences},
                                 {"length", validation.length}};
  json.update(to_json(validation.pulse));
  if (validation.sample) json["sample"] = *validation.sample;
  return json;
}

Validation read_validation(const Json& line) {
  Validation validation{.step = line.integer("step", kWhole),
                        .loss = line.number_or("validation_loss", kUnknown, kFinite),
                        .sequences = line.integer_or("sequences", 0, kWhole),
                        .length = line.integer_or("length", 0, kWhole),
                        .pulse = read_pulse(line)};
  if (line.contains("sample")) validation.sample = line.text("sample");
  return validation;
}

Validator::Validator(const RunConfig& config, PackedSequences sequences,
                     const std::filesystem::path& tokenizer)
    : sequences_(std::move(sequences)),
      count_(std::min(config.validation.sequences, sequences_.count())),
      precision_(config.trainer.precision),
      sample_(config.sample) {
  if (!sample_.prompt.empty())
    tokenizer_ = tokenizer.empty() ? Tokenizer::bytes() : Tokenizer::load(tokenizer);
}

double Validator::mean_loss(Engine& engine, const Decoder& decoder, Ranks& ranks) const {
  // The weights do not change between the sequences.
  const Context context{.engine = engine, .precision = precision_, .packing = Packing::Keep};
  std::vector<TokenId> ids(static_cast<size_t>(sequences_.length()) + 1);
  const Range own = share_of(count_, ranks.rank(), ranks.size());
  std::vector<double> sums;
  for (int64_t i = own.begin; i < own.end; ++i) {
    sequences_.read(i, ids);
    sums.push_back(chunk_nll(context, decoder, ids).sum);
  }
  decoder.drop_packed_weights();
  // In the order of the sequences, whoever had them.
  sums = all_gather(ranks, sums);
  return std::accumulate(sums.begin(), sums.end(), 0.0) / static_cast<double>(count_ * sequences_.length());
}

std::string Validator::sample(Engine& engine, const Decoder& decoder) const {
  Generator generator({engine}, decoder);
  GenerateOptions options{.max_tokens = sample_.tokens};
  for (const int64_t id : decoder.config().end_of_text) options.stop.insert(static_cast<TokenId>(id));
  std::vector<TokenId> ids = generator.generate(tokenizer_->encode(sample_.prompt), options).ids;
  // A model's vocabulary may be padded beyond its tokenizer's: such ids have no text.
  std::erase_if(ids, [&](TokenId id) { return id >= tokenizer_->size(); });
  // It may end inside a character.
  return with_ill_formed_replaced(sample_.prompt + tokenizer_->decode(ids));
}

Validation Validator::validate(Engine& engine, const Decoder& decoder, int64_t step, Ranks& ranks) const {
  Validation validation{.step = step,
                        .loss = mean_loss(engine, decoder, ranks),
                        .sequences = count_,
                        .length = sequences_.length()};
  if (!std::isfinite(validation.loss) || !ranks.is_first()) return validation;
  validation.pulse = measure_pulse({engine}, decoder, sequences_);
  if (tokenizer_) validation.sample = sample(engine, decoder);
  return validation;
}

}  // namespace sluice
