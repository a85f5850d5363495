#include "sluice/kernels/dispatch.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "sluice/base/error.h"
#include "sluice/base/suggest.h"
#include "sluice/kernels/blas/gemm.h"
#include "sluice/kernels/reference/peak.h"
#include "sluice/kernels/reference/register.h"

#if defined(__x86_64__)
#include "sluice/kernels/amx/peak.h"
#include "sluice/kernels/amx/tiles.h"
#include "sluice/kernels/avx512bf16/register.h"
#include "sluice/kernels/simd_sets.h"
#endif

namespace sluice {
namespace {

constexpr std::array kAll = {Isa::Scalar, Isa::Avx2, Isa::Avx512, Isa::Avx512Bf16, Isa::Amx};

// Why a set cannot run here; empty if it can.
std::string obstacle(const CpuFeatures& cpu, Isa isa) {
  switch (isa) {
    case Isa::Scalar:
      return "";
    case Isa::Avx2:
      return cpu.avx2 ? "" : "the CPU or the operating system lacks AVX2 with FMA";
    case Isa::Avx512:
      return cpu.avx512 ? "" : "the CPU or the operating system lacks AVX-512 F, CD, BW, DQ and VL";
    case Isa::Amx:
      if (!cpu.amx_bf16) return cpu.amx_status;
      // Every CPU with tiles has what the set below needs, but what hides CPUs may hide it.
      [[fallthrough]];
    case Isa::Avx512Bf16:
      return cpu.avx512_vnni && cpu.avx512_bf16
                 ? ""
                 : "the CPU or the operating system lacks AVX-512 VNNI and BF16";
  }
  return "unknown";
}

std::vector<std::string> names(const std::vector<Isa>& isas) {
  std::vector<std::string> names;
  for (const Isa isa : isas) names.emplace_back(name_of(isa));
  return names;
}

}  // namespace

std::string_view name_of(Isa isa) {
  switch (isa) {
    case Isa::Scalar:
      return "scalar";
    case Isa::Avx2:
      return "avx2";
    case Isa::Avx512:
      return "avx512";
    case Isa::Avx512Bf16:
      return "avx512bf16";
    case Isa::Amx:
      return "amx";
  }
  return "?";
}

std::vector<std::string> isa_names() {
  return names({kAll.begin(), kAll.end()});
}

std::vector<Isa> available_isas(const CpuFeatures& cpu) {
  std::vector<Isa> isas;
  for (const Isa isa : kAll) {
    if (obstacle(cpu, isa).empty()) isas.push_back(isa);
  }
  return isas;
}

IsaRequest isa_request_from_environment() {
  const char* name = std::getenv("SLUICE_ISA");
  return {.name = name == nullptr ? "" : name, .source = "SLUICE_ISA"};
}

IsaChoice choose_isa(const CpuFeatures& cpu, const IsaRequest& request) {
  const std::vector<Isa> available = available_isas(cpu);
  if (request.name.empty()) {
    const Isa best = available.back();
    if (best == kAll.back()) return {best, cpu.amx_status + "; its f32 kernels are those of avx512"};
    const Isa next = kAll[static_cast<size_t>(best) + 1];
    return {best, fmt::format("the fastest set available; not {}: {}", name_of(next), obstacle(cpu, next))};
  }
  const std::vector<std::string> known = isa_names();
  const auto found = std::find(known.begin(), known.end(), request.name);
  if (found == known.end()) {
    throw usage_error({.where = request.source,
                       .what = "unknown instruction set",
                       .expected = fmt::format("one of {}", fmt::join(known, ", ")),
                       .got = fmt::format("\"{}\"", request.name),
                       .hint = did_you_mean(request.name, known)});
  }
  const Isa isa = kAll[static_cast<size_t>(found - known.begin())];
  if (const std::string reason = obstacle(cpu, isa); !reason.empty()) {
    throw usage_error(
        {.where = request.source,
         .what = fmt::format("instruction set {} is not available here: {}", request.name, reason),
         .hint = fmt::format("available: {}", fmt::join(names(available), ", "))});
  }
  return {isa, fmt::format("asked for by {}", request.source)};
}

Kernels<float> f32_kernels(Isa isa) {
  Kernels<float> table = reference::table<float>();
#if defined(__x86_64__)
  if (isa == Isa::Avx2) simd_avx2::fill(table);
  // The sets above AVX-512 have no f32 arithmetic of their own: their other kernels are its.
  if (isa >= Isa::Avx512) simd_avx512::fill(table);
  if (isa >= Isa::Avx512Bf16) avx512bf16::add_int8(table);
  if (isa == Isa::Avx512Bf16) avx512bf16::add_tiles(table);
  if (isa == Isa::Amx) {
    table.tile_sums = amx::tile_sums;
    table.attention_forward_bf16 = simd_amx::attention_forward;
    table.attention_backward_bf16 = simd_amx::attention_backward;
  }
  if (isa != Isa::Scalar && blas::is_fast_core(blas::core_name())) table.gemm = blas::gemm;
#endif
  return table;
}

Kernels<double> f64_kernels() {
  return reference::table<double>();
}

PeakKernels peak_kernels(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::Avx2) return simd_avx2::peak();
  if (isa >= Isa::Avx512) {
    PeakKernels peak = simd_avx512::peak();
    if (isa == Isa::Avx512Bf16) peak.bf16_products = avx512bf16::bf16_multiply_add;
    if (isa == Isa::Amx) peak.bf16_products = amx::bf16_tiles;
    return peak;
  }
#endif
  return reference::peak();
}

}  // namespace sluice
