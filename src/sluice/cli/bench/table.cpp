#include "sluice/cli/bench/table.h"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>

#include "sluice/base/error.h"
#include "sluice/base/interrupt.h"
#include "sluice/base/random.h"
#include "sluice/cli/peaks.h"
#include "sluice/kernels/blas/gemm.h"

namespace sluice::cli {
namespace {

const char* name_of(Precision precision) {
  return precision == Precision::F32 ? "f32" : "bf16";
}

double operations(const std::vector<Gemm<float>>& products) {
  double total = 0;
  for (const Gemm<float>& product : products) {
    total += 2.0 * static_cast<double>(product.m) * static_cast<double>(product.n) *
             static_cast<double>(product.k);
  }
  return total;
}

// Reads "AxB…" from the front of text; nothing if there is no such number.
std::optional<int64_t> take_size(std::string_view& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < 1 || value > 1 << 20) return {};
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return value;
}

std::optional<BenchShape> parse_shape(std::string_view text) {
  BenchShape shape;
  for (int64_t* size : {&shape.a, &shape.b, &shape.c}) {
    if (size != &shape.a) {
      if (!text.starts_with('x')) return {};
      text.remove_prefix(1);
    }
    const std::optional<int64_t> value = take_size(text);
    if (!value) return {};
    *size = *value;
  }
  // A quadrillion elements: no machine holds them, and a tensor could not count many more.
  constexpr int64_t kMost = int64_t{1} << 50;
  if (!text.empty() || shape.a * shape.b > kMost / shape.c) return {};
  return shape;
}

}  // namespace

std::string BenchShape::text() const {
  return fmt::format("{}x{}x{}", a, b, c);
}

std::vector<BenchShape> shapes_of(const BenchRequest& request, const char* names,
                                  const std::vector<BenchShape>& defaults) {
  if (request.shapes.empty()) return defaults;
  std::vector<BenchShape> shapes;
  for (const std::string& text : request.shapes) {
    const std::optional<BenchShape> shape = parse_shape(text);
    if (!shape) {
      throw usage_error(
          {.where = fmt::format("bench {}: --shape", request.what),
           .expected = fmt::format("{}, each from 1 to {} and not all so large", names, 1 << 20),
           .got = fmt::format("\"{}\"", text)});
    }
    shapes.push_back(*shape);
  }
  return shapes;
}

Tensor random_matrix(const Context& context, int64_t rows, int64_t cols) {
  const Tensor matrix = context.empty({rows, cols}, DType::F32);
  const Random random(1);
  context.threads().split(matrix.count(), 1, [&](Range range) {
    const auto part =
        matrix.values<float>().subspan(static_cast<size_t>(range.begin), static_cast<size_t>(range.size()));
    random.fill_uniform(part, static_cast<uint64_t>(range.begin), -1.0F, 1.0F);
  });
  return matrix;
}

BenchTable::BenchTable(const BenchRequest& request, const Session& session)
    : request_(request),
      session_(session),
      engine_(session.options.engine()),
      precision_(session.options.dtype == "f32" ? Precision::F32 : Precision::Bf16),
      meter_(peak_meter(engine_)) {}

void BenchTable::add(const BenchCase& bench_case) {
  session_.log.info("{} {}", bench_case.name, bench_case.shape);
  bench_case.work.seconds();
  const Measured measured = measure(meter_, bench_case.work, request_.repetitions());
  rows_.push_back({.name = bench_case.name,
                   .shape = bench_case.shape,
                   .rate = bench_case.work.amount / measured.seconds,
                   .bound = bench_case.work.bound,
                   .compute = compute_of(bench_case),
                   .measured = measured,
                   .openblas = openblas_rate(bench_case.openblas)});
}

Precision BenchTable::compute_of(const BenchCase& bench_case) const {
  const bool arithmetic = bench_case.work.bound.peak != Peak::ReadBandwidth;
  return bench_case.compute.value_or(arithmetic ? precision_ : Precision::F32);
}

// After the case itself: threads of OpenBLAS spin for a while before they sleep.
std::optional<double> BenchTable::openblas_rate(const std::vector<Gemm<float>>& products) const {
  if (products.empty()) return {};
  const blas::OwnThreads own(engine_.threads().count());
  const auto all = [&] {
    for (const Gemm<float>& product : products) blas::gemm(product);
  };
  all();
  std::vector<double> seconds;
  for (int i = 0; i < request_.repetitions(); ++i) {
    throw_if_interrupted();
    seconds.push_back(seconds_of(all));
  }
  return operations(products) / median(seconds);
}

// The median over the rows that share a bound.
std::string BenchTable::peaks_text() const {
  std::map<std::string, std::vector<double>> by_unit;
  for (const Row& row : rows_) by_unit[row.bound.unit].push_back(row.measured.peak);
  std::string text;
  for (const auto& [unit, peaks] : by_unit)
    text += fmt::format("{}{:.1f} {}", text.empty() ? "" : ", ", median(peaks) / 1e9, unit);
  return text;
}

std::string BenchTable::text(const std::string& counted) const {
  std::string text = fmt::format("{:<30}{:>16}{:>6}{:>10}{:>18}{:>7}{:>10}{:>7}\n", "", "shape", "type", "ms",
                                 "rate", "share", "OpenBLAS", "ratio");
  for (const Row& row : rows_) {
    text += fmt::format("{:<30}{:>16}{:>6}{:>10.3f}{:>10.1f} {:<7}{:>7.2f}", row.name, row.shape,
                        name_of(row.compute), row.measured.seconds * 1e3, row.rate / 1e9, row.bound.unit,
                        row.measured.share);
    if (row.openblas) text += fmt::format("{:>10.1f}{:>7.2f}", *row.openblas / 1e9, row.rate / *row.openblas);
    text += '\n';
  }
  const int threads = engine_.threads().count();
  return text +
         fmt::format("\n{}\nMedians of {} on {} thread{}, {}. Shares are of the peaks measured beside: {}.\n",
                     counted, request_.repetitions(), threads, threads == 1 ? "" : "s",
                     name_of(engine_.isa().isa), peaks_text());
}

std::string BenchTable::json(const std::string& counted) const {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Row& row : rows_) {
    nlohmann::ordered_json json = {{"name", row.name},
                                   {"shape", row.shape},
                                   {"compute", name_of(row.compute)},
                                   {"ms", rounded(row.measured.seconds * 1e3)},
                                   {"rate", rounded(row.rate / 1e9)},
                                   {"unit", row.bound.unit},
                                   {"share", rounded(row.measured.share)},
                                   {"share_of", row.bound.name},
                                   {"peak", rounded(row.measured.peak / 1e9)},
                                   {"openblas_f32_gflops", nullptr},
                                   {"ratio", nullptr}};
    if (row.openblas) {
      json["openblas_f32_gflops"] = rounded(*row.openblas / 1e9);
      json["ratio"] = rounded(row.rate / *row.openblas);
    }
    rows.push_back(std::move(json));
  }
  const nlohmann::ordered_json json = {{"what", request_.what},
                                       {"dtype", name_of(precision_)},
                                       {"isa", name_of(engine_.isa().isa)},
                                       {"threads", engine_.threads().count()},
                                       {"repetitions", request_.repetitions()},
                                       {"counted", counted},
                                       {"rows", std::move(rows)}};
  return json.dump(2) + '\n';
}

void BenchTable::print(const std::string& counted) const {
  session_.out << (session_.options.json ? json(counted) : text(counted));
}

}  // namespace sluice::cli
