// Shapes: N tokens, H heads, C channels of each. A value without heads has one. Where a value has experts,
// they stand in the place of heads, or of channels if there is one value for each; elsewhere all are meant.
#include "sluice/probe/intervention.h"

#include <algorithm>
#include <numeric>

#include "sluice/base/error.h"
#include "sluice/base/random.h"

namespace sluice {
namespace {

std::vector<int64_t> chosen(const IndexSet& set, int64_t count) {
  std::vector<int64_t> indices;
  for (int64_t i = 0; i < count; ++i) {
    if (set.contains(i)) indices.push_back(i);
  }
  return indices;
}

// The elements of one token that an intervention touches, as offsets into its row.
std::vector<int64_t> chosen_elements(const Intervention& intervention, const Shape& shape) {
  const int64_t heads = shape.rank() == 3 ? shape[1] : 1;
  const int64_t channels = shape[shape.rank() - 1];
  const std::vector<int64_t> picked = chosen(intervention.channels, channels);
  std::vector<int64_t> offsets;
  for (const int64_t head : chosen(intervention.heads, heads)) {
    for (const int64_t channel : picked) {
      const int64_t expert = shape.rank() == 3 ? head : channel;
      if (intervention.experts.contains(expert)) offsets.push_back(head * channels + channel);
    }
  }
  return offsets;
}

// One sequence of a tensor, and the rows of it that an intervention touches.
struct Part {
  float* first;    // of the sequence's first row
  int64_t length;  // rows
  int64_t width;   // elements of a row
  std::vector<int64_t> rows;

  float& at(int64_t row, int64_t offset) const { return first[row * width + offset]; }
};

template <class Turn>
void change_each(const Part& part, const std::vector<int64_t>& offsets, const Turn& turn) {
  for (const int64_t row : part.rows) {
    for (const int64_t offset : offsets) part.at(row, offset) = turn(part.at(row, offset));
  }
}

void replace_by_mean(const Part& part, const std::vector<int64_t>& offsets) {
  for (const int64_t offset : offsets) {
    double sum = 0.0;
    for (int64_t row = 0; row < part.length; ++row) sum += part.at(row, offset);
    const auto mean = static_cast<float>(sum / static_cast<double>(part.length));
    for (const int64_t row : part.rows) part.at(row, offset) = mean;
  }
}

std::vector<size_t> permutation(size_t count, const Random& random) {
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  for (size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random.below(i, i)]);
  return order;
}

// All chosen elements of a token move together.
void shuffle(const Part& part, const std::vector<int64_t>& offsets, const Random& random) {
  const std::vector<size_t> order = permutation(part.rows.size(), random);
  std::vector<float> column(part.rows.size());
  for (const int64_t offset : offsets) {
    for (size_t i = 0; i < order.size(); ++i) column[i] = part.at(part.rows[order[i]], offset);
    for (size_t i = 0; i < order.size(); ++i) part.at(part.rows[i], offset) = column[i];
  }
}

void change(const Intervention& intervention, const Part& part, const std::vector<int64_t>& offsets,
            const Random& random) {
  const auto amount = static_cast<float>(intervention.amount);
  switch (intervention.change) {
    case Change::Set:
      return change_each(part, offsets, [&](float) { return amount; });
    case Change::Scale:
      return change_each(part, offsets, [&](float x) { return x * amount; });
    case Change::Shift:
      return change_each(part, offsets, [&](float x) { return x + amount; });
    case Change::Invert:
      return change_each(part, offsets, [](float x) { return 1.0F - x; });
    case Change::Mean:
      return replace_by_mean(part, offsets);
    case Change::Shuffle:
      return shuffle(part, offsets, random);
  }
}

}  // namespace

void Intervener::begin_pass(const PassTokens& tokens) {
  sequences_ = tokens.sequences;
  past_ = tokens.past;
}

bool Intervener::wants(const TapName& name) const {
  return std::ranges::any_of(interventions_,
                             [&](const Intervention& each) { return each.tap.matches(name); });
}

void Intervener::check_needs_no_later_tokens() const {
  if (!needs_all_tokens()) return;
  throw usage_error({.where = "generate",
                     .what = "mean and shuffle are over all tokens of a text",
                     .hint = "here they come one by one; eval and trace take them"});
}

void Intervener::check_effect() const {
  for (size_t i = 0; i < interventions_.size(); ++i) {
    if (met_[i]) continue;
    throw usage_error({.where = fmt::format("intervention at {}", interventions_[i].tap.text()),
                       .what = "no token of the text has such a position"});
  }
}

Tensor Intervener::visit(const Context& context, const TapName& name, const Tensor& value) {
  SLUICE_ASSERT(value.shape()[0] == sequences_.tokens(), "intervene: {} has {} rows in a pass of {} tokens",
                name.text(), value.shape()[0], sequences_.tokens());
  const Tensor changed = value.copy(context.engine.pool());
  const int64_t width = changed.count() / std::max<int64_t>(changed.shape()[0], 1);
  for (size_t i = 0; i < interventions_.size(); ++i) {
    const Intervention& intervention = interventions_[i];
    if (!intervention.tap.matches(name)) continue;
    const std::vector<int64_t> offsets = chosen_elements(intervention, changed.shape());
    const Random random = Random(intervention.seed).child(static_cast<uint64_t>(name.layer + 1));
    for (int64_t s = 0; s < sequences_.count(); ++s) {
      const int64_t start = sequences_.starts()[static_cast<size_t>(s)];
      Part part{changed.data<float>() + start * width, sequences_.length(s), width, {}};
      for (int64_t row = 0; row < part.length; ++row) {
        if (intervention.positions.contains(past_ + row)) part.rows.push_back(row);
      }
      if (!part.rows.empty()) met_[i] = true;
      change(intervention, part, offsets, random.child(static_cast<uint64_t>(s)));
    }
  }
  return changed;
}

}  // namespace sluice
