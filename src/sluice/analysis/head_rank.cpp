#include "sluice/analysis/head_rank.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sluice/base/error.h"
#include "sluice/tensor/bf16.h"

namespace sluice {
namespace {

struct Matrix {
  int64_t rows = 0, columns = 0;
  std::vector<double> values = {};

  double at(int64_t r, int64_t c) const { return values[static_cast<size_t>(r * columns + c)]; }
  double& at(int64_t r, int64_t c) { return values[static_cast<size_t>(r * columns + c)]; }
};

Matrix zero_matrix(int64_t rows, int64_t columns) {
  return {rows, columns, std::vector<double>(static_cast<size_t>(rows * columns))};
}

// a · bᵀ
Matrix product_with_transposed(const Matrix& a, const Matrix& b) {
  Matrix c = zero_matrix(a.rows, b.rows);
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < b.rows; ++j)
      for (int64_t k = 0; k < a.columns; ++k) c.at(i, j) += a.at(i, k) * b.at(j, k);
  return c;
}

Matrix transposed(const Matrix& a) {
  Matrix t = zero_matrix(a.columns, a.rows);
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < a.columns; ++j) t.at(j, i) = a.at(i, j);
  return t;
}

// Turns rows i and j of `m` so that they become orthogonal; false if they were.
bool make_orthogonal(Matrix& m, int64_t i, int64_t j) {
  double ii = 0, jj = 0, ij = 0;
  for (int64_t k = 0; k < m.columns; ++k) {
    ii += m.at(i, k) * m.at(i, k);
    jj += m.at(j, k) * m.at(j, k);
    ij += m.at(i, k) * m.at(j, k);
  }
  if (std::abs(ij) <= 1e-14 * std::sqrt(ii * jj) || ij == 0) return false;
  const double zeta = (jj - ii) / (2 * ij);
  const double t = std::copysign(1.0, zeta) / (std::abs(zeta) + std::sqrt(1 + zeta * zeta));
  const double c = 1 / std::sqrt(1 + t * t), s = c * t;
  for (int64_t k = 0; k < m.columns; ++k) {
    const double x = m.at(i, k), y = m.at(j, k);
    m.at(i, k) = c * x - s * y;
    m.at(j, k) = s * x + c * y;
  }
  return true;
}

// Hestenes' one-sided Jacobi method: exact for small singular values too, which is what a rank is about.
SingularValues singular_values_of(Matrix m) {
  if (m.rows > m.columns) m = transposed(m);
  constexpr int kMaxSweeps = 60;
  bool turned = true;
  for (int sweep = 0; turned && sweep < kMaxSweeps; ++sweep) {
    turned = false;
    for (int64_t i = 0; i < m.rows; ++i)
      for (int64_t j = i + 1; j < m.rows; ++j) turned = make_orthogonal(m, i, j) || turned;
  }
  SingularValues values;
  for (int64_t i = 0; i < m.rows; ++i) {
    double sum = 0;
    for (int64_t k = 0; k < m.columns; ++k) sum += m.at(i, k) * m.at(i, k);
    values.push_back(std::sqrt(sum));
  }
  std::ranges::sort(values, std::greater());
  return values;
}

// L of a · aᵀ = L · Lᵀ is what is left of `a` after a rotation from the right: rows of length a.rows. Gram
// and Schmidt's way, twice for precision.
Matrix reduced_rows(const Matrix& a) {
  if (a.columns <= a.rows) return a;
  std::vector<std::vector<double>> basis;
  Matrix reduced = zero_matrix(a.rows, a.rows);
  for (int64_t i = 0; i < a.rows; ++i) {
    std::vector<double> row(a.values.begin() + i * a.columns, a.values.begin() + (i + 1) * a.columns);
    const auto dot = [](const std::vector<double>& x, const std::vector<double>& y) {
      double sum = 0;
      for (size_t k = 0; k < x.size(); ++k) sum += x[k] * y[k];
      return sum;
    };
    for (int pass = 0; pass < 2; ++pass)
      for (size_t b = 0; b < basis.size(); ++b) {
        const double along = dot(row, basis[b]);
        reduced.at(i, static_cast<int64_t>(b)) += along;
        for (size_t k = 0; k < row.size(); ++k) row[k] -= along * basis[b][k];
      }
    const double length = std::sqrt(dot(row, row));
    reduced.at(i, static_cast<int64_t>(basis.size())) += length;
    for (double& value : row) value = length > 0 ? value / length : 0;
    basis.push_back(std::move(row));
  }
  return reduced;
}

const Parameter& weight_named(const Decoder& decoder, const std::string& name) {
  const auto found = std::ranges::find_if(
      decoder.parameters(), [&](const NamedParameter& each) { return each.parameter->name == name; });
  if (found == decoder.parameters().end())
    throw usage_error({.what = fmt::format("the model has no {}", name)});
  if (!found->parameter->value.defined())
    throw bad_input(
        {.where = name, .what = "kept in int8 alone", .hint = "--dtype f32 shows the model's own"});
  return *found->parameter;
}

// Some rows and columns of a parameter.
Matrix part_of_weight(const Tensor& weight, Range rows, Range columns) {
  Matrix part = zero_matrix(rows.size(), columns.size());
  for (int64_t r = 0; r < rows.size(); ++r)
    for (int64_t c = 0; c < columns.size(); ++c) {
      const int64_t index = (rows.begin + r) * weight.cols() + columns.begin + c;
      part.at(r, c) =
          weight.dtype() == DType::BF16 ? to_float(weight.data<Bf16>()[index]) : weight.data<float>()[index];
    }
  return part;
}

Matrix gate_matrix(const Tensor& gates, int64_t head) {
  const Shape& shape = gates.shape();
  Matrix matrix = zero_matrix(shape[0], shape[2]);
  for (int64_t token = 0; token < shape[0]; ++token)
    for (int64_t channel = 0; channel < shape[2]; ++channel)
      matrix.at(token, channel) = gates.data<float>()[(token * shape[1] + head) * shape[2] + channel];
  return matrix;
}

}  // namespace

int64_t rank_of(const SingularValues& values) {
  return std::ranges::count_if(
      values, [&](double value) { return value > kRankTolerance * values.front() && value > 0; });
}

SingularValues singular_values(const std::vector<double>& matrix, int64_t columns) {
  return singular_values_of({std::ssize(matrix) / columns, columns, matrix});
}

HeadRank head_rank(const LoadedModel& model, const LayerDetail& detail, const HeadRankRequest& request) {
  const ModelConfig& config = model.config();
  if (request.head < 0 || request.head >= config.heads)
    throw usage_error({.where = "head",
                       .expected = fmt::format("0 to {}", config.heads - 1),
                       .got = std::to_string(request.head)});
  const std::string attention = fmt::format("model.layers.{}.self_attn.", request.layer);
  const Tensor values = weight_named(model.decoder(), attention + "v_proj.weight").value;
  const Tensor outputs = weight_named(model.decoder(), attention + "o_proj.weight").value;
  const int64_t width = config.head_dim, shared = request.head / (config.heads / config.kv_heads);
  // v = value · x and y = output · v, so that the two in a row are output · value, [D, D] of rank at most hd.
  const Matrix value =
      part_of_weight(values, {shared * width, (shared + 1) * width}, {0, values.cols()});  // [hd, D]
  const Matrix output = part_of_weight(outputs, {0, outputs.rows()},
                                       {request.head * width, (request.head + 1) * width});  // [D, hd]
  // Rotations change no singular value: [hd, hd] matrices stand for both.
  const Matrix small_value = reduced_rows(value), small_output = reduced_rows(transposed(output));
  HeadRank rank{.value = singular_values_of(small_value),
                .output = singular_values_of(small_output),
                .product = singular_values_of(
                    product_with_transposed(transposed(small_output), transposed(small_value)))};
  const auto gate = std::ranges::find(detail.gates, request.position, &LayerDetail::Gate::position);
  if (gate != detail.gates.end() && request.head < gate->values.shape()[1])
    rank.gates = singular_values_of(reduced_rows(transposed(gate_matrix(gate->values, request.head))));
  return rank;
}

}  // namespace sluice
