#include "sluice/ops/weight.h"

#include "sluice/ops/weight_forms.h"

namespace sluice {
namespace {

// Rows of a file leave memory as soon as they are packed, or all weights would be there twice.
PackedMatrix packed_to_keep(const Context& context, const WeightOperand& operand) {
  const PackedMatrix whole{
      .tiles = context.empty({packed_count(operand.outer(), operand.depth())}, DType::BF16),
      .outer = operand.outer(),
      .depth = operand.depth()};
  operand.each_part([&](Range range) {
    pack_into(context, operand.part(range),
              whole.tiles.data<Bf16>() + packed_count(range.begin, operand.depth()));
    if (operand.by_rows()) operand.weight.forget_rows(range.begin, range.end);
  });
  return whole;
}

}  // namespace

std::shared_ptr<WeightForms> new_weight_forms() {
  return std::make_shared<WeightForms>();
}

void Parameter::drop_packed() const {
  const std::lock_guard lock(forms->mutex);
  forms->transposed = {};
  forms->plain = {};
}

Weight::Weight(Var dense) : dense_(std::move(dense)), forms_(new_weight_forms()) {}

Weight::Weight(Int8Matrix quantized) : forms_(new_weight_forms()) {
  forms_->int8 = std::move(quantized);
}

bool Weight::is_int8() const {
  return forms_->int8.defined();
}

const Int8Matrix& Weight::int8() const {
  return forms_->int8;
}

int64_t Weight::outputs() const {
  return is_int8() ? int8().rows : dense_.rows();
}

int64_t Weight::inputs() const {
  return is_int8() ? int8().cols : dense_.cols();
}

bool Weight::is_narrow() const {
  return is_int8() || dense_.dtype() == DType::BF16;
}

PackedMatrix Weight::packed(const Context& context, Transpose transpose) const {
  const WeightOperand operand{dense_.value(), transpose};
  if (context.packing == Packing::Once) return pack(context, operand.part({0, operand.outer()}));
  const std::lock_guard lock(forms_->mutex);
  WeightForms::Packed& kept = forms_->packed(transpose);
  if (!kept.matrix.tiles.defined() || !kept.source.shares_elements(dense_.value()))
    kept = {.source = dense_.value(), .matrix = packed_to_keep(context, operand)};
  return kept.matrix;
}

PackedMatrix Weight::packed_if_kept(Transpose transpose) const {
  const std::lock_guard lock(forms_->mutex);
  const WeightForms::Packed& kept = forms_->packed(transpose);
  return kept.source.shares_elements(dense_.value()) ? kept.matrix : PackedMatrix();
}

Weight weight_of(const Context& context, const Parameter& parameter) {
  return {use(context, parameter), parameter.forms};
}

bool is_narrow(const Parameter& parameter) {
  return Weight(Var(parameter.value), parameter.forms).is_narrow();
}

size_t bytes_of(const Parameter& parameter) {
  return parameter.forms->int8.defined() ? parameter.forms->int8.bytes() : parameter.value.bytes();
}

void set_int8(Parameter& parameter, Int8Matrix quantized) {
  parameter.forms->int8 = std::move(quantized);
}

}  // namespace sluice
