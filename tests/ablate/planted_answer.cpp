// Channels of the stream: [0, 16) the token, one-hot; [16, 32) the answer; [32, 40) what other heads write.
#include "tests/ablate/planted_answer.h"

#include <algorithm>
#include <cmath>

#include "sluice/base/crc32c.h"
#include "sluice/base/random.h"
#include "tests/model/constructed_model.h"

namespace sluice {
namespace {

constexpr int64_t kTokens = PlantedAnswer::kVocabulary;
constexpr int64_t kHidden = 2 * kTokens + 8;
constexpr int64_t kHeadDim = 16;
constexpr int64_t kMatch = kHeadDim - 1;  // the head's channel, beyond the rotary ones, that finds letters
constexpr double kStrength = 3.0;         // of queries and keys: letters get nearly all attention

ModelConfig answer_config(const PlantedAnswer& planted) {
  ModelConfig config;
  config.vocabulary = kTokens;
  config.hidden = kHidden;
  config.feed_forward = 8;
  config.layers = planted.layers;
  config.heads = config.kv_heads = planted.heads;
  config.head_dim = kHeadDim;
  config.rotary = 2;
  config.positions = 64;
  config.qk_norm = false;
  config.gate_layout = GateLayout::Separate;
  config.gates = {GateSpec{.position = GatePosition::G1, .form = {.granularity = Granularity::Headwise}}};
  return config;
}

// What the norm makes of the 1 in a one-hot row is taken out again; what other heads have added to the row
// makes it a little smaller than that.
double root_of_one_hot() {
  return std::sqrt(1.0 / static_cast<double>(kHidden) + ModelConfig().norm_eps);
}

struct PlantedMatrix {
  std::vector<float> values;
  int64_t columns;

  float& at(int64_t row, int64_t column) { return values[static_cast<size_t>(row * columns + column)]; }
};

// The rows (for o_proj the columns) of the carrying head.
void plant(PlantedMatrix& matrix, std::string_view part, int64_t head) {
  const int64_t first = head * kHeadDim;
  const bool output = part == "o_proj";
  for (int64_t channel = 0; channel < kHeadDim; ++channel) {
    if (output)
      for (int64_t row = 0; row < kHidden; ++row) matrix.at(row, first + channel) = 0;
    else
      std::fill_n(&matrix.at(first + channel, 0), kHidden, 0.0F);
  }
  const auto strength = static_cast<float>(kStrength);
  if (part == "q_proj")
    for (int64_t token = 0; token < kTokens; ++token) matrix.at(first + kMatch, token) = strength;
  for (int64_t letter = 0; letter < PlantedAnswer::kLetters; ++letter) {
    if (part == "k_proj") matrix.at(first + kMatch, letter) = strength;
    if (part == "v_proj") matrix.at(first + letter, letter) = static_cast<float>(root_of_one_hot());
    if (output) matrix.at(kTokens + letter, first + letter) = 1;
  }
}

// Of all other heads: they attend as they like and write where nothing but norms and later heads read.
std::vector<float> random_matrix(const NamedParameter& named, std::string_view part) {
  const Random random = Random(1).child(crc32c(named.parameter->name));
  std::vector<float> values(static_cast<size_t>(named.shape.count()));
  const int64_t columns = named.shape[1];
  for (size_t i = 0; i < values.size(); ++i) {
    const auto row = static_cast<int64_t>(i) / columns;
    const bool output = part == "o_proj";
    if (output && row < 2 * kTokens) continue;
    values[i] = static_cast<float>((output ? 0.01 : 0.2) * random.normal(i));
  }
  return values;
}

std::vector<float> gate_scores(const NamedParameter& named) {
  const double score = std::log(PlantedAnswer::kGate / (1 - PlantedAnswer::kGate)) * root_of_one_hot();
  std::vector<float> values(static_cast<size_t>(named.shape.count()));
  for (size_t i = 0; i < values.size(); ++i) {
    if (static_cast<int64_t>(i) % kHidden < kTokens) values[i] = static_cast<float>(score);
  }
  return values;
}

std::vector<float> answer_values(const NamedParameter& named, const PlantedAnswer& planted) {
  const std::string& name = named.parameter->name;
  PlantedMatrix matrix{std::vector<float>(static_cast<size_t>(named.shape.count())), kHidden};
  if (named.role == ParameterRole::Norm) std::ranges::fill(matrix.values, 1.0F);
  for (int64_t token = 0; token < kTokens; ++token) {
    if (named.use == MatrixUse::Embedding) matrix.at(token, token) = 1;
    if (named.use == MatrixUse::Output) matrix.at(token, kTokens + token) = 1;
  }
  if (named.use == MatrixUse::Gate) return gate_scores(named);
  for (const std::string_view part : {"q_proj", "k_proj", "v_proj", "o_proj"}) {
    if (name.find("self_attn." + std::string(part)) == std::string::npos) continue;
    matrix = {random_matrix(named, part), named.shape[1]};
    if (name.find("layers." + std::to_string(planted.layer) + ".") != std::string::npos)
      plant(matrix, part, planted.head);
  }
  return matrix.values;
}

}  // namespace

void write_planted_answer(const std::filesystem::path& out, const PlantedAnswer& planted) {
  write_constructed_model(out, answer_config(planted),
                          [&](const NamedParameter& named) { return answer_values(named, planted); });
}

std::vector<TokenId> letter_prompt(TokenId letter, int64_t length) {
  std::vector<TokenId> ids = {letter};
  for (int64_t i = 1; i < length; ++i)
    ids.push_back(static_cast<TokenId>(PlantedAnswer::kLetters + i % PlantedAnswer::kLetters));
  return ids;
}

ChunkedText letter_text(int64_t chunks, int64_t length) {
  std::vector<TokenId> tokens;
  for (int64_t chunk = 0; chunk < chunks; ++chunk)
    tokens.insert(tokens.end(), static_cast<size_t>(length),
                  static_cast<TokenId>(chunk % PlantedAnswer::kLetters));
  return cut_into_chunks(tokens, {.length = length}, {});
}

}  // namespace sluice
