#include "sluice/bench/machine.h"

#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "sluice/base/log.h"
#include "sluice/bench/figures.h"
#include "sluice/data/compression.h"
#include "sluice/kernels/blas/gemm.h"

namespace sluice::bench {
namespace {

std::vector<std::string> feature_names(const CpuFeatures& cpu) {
  std::vector<std::string> names;
  const auto add = [&](bool present, const char* name) {
    if (present) names.emplace_back(name);
  };
  add(cpu.avx2, "avx2");
  add(cpu.avx512, "avx512");
  add(cpu.avx512_vnni, "avx512_vnni");
  add(cpu.avx512_bf16, "avx512_bf16");
  add(cpu.amx_bf16, "amx_bf16");
  add(cpu.amx_int8, "amx_int8");
  return names;
}

std::vector<std::string> set_names(const Machine& machine) {
  std::vector<std::string> names;
  for (const Isa isa : machine.isas) names.emplace_back(name_of(isa));
  return names;
}

// Who computes f32 products.
std::string product_library(const Machine& machine) {
  if (machine.isa.isa == Isa::Scalar) return "scalar twin";
  return blas::is_fast_core(machine.blas_core) ? "OpenBLAS" : "sluice";
}

std::string describe_products(const Machine& machine) {
  const std::string library = product_library(machine);
  if (library == "OpenBLAS") return fmt::format("OpenBLAS, kernels for {}", machine.blas_core);
  if (library == "sluice")
    return fmt::format("sluice's own: OpenBLAS does not know this CPU, its kernels would be those for {}",
                       machine.blas_core);
  return library;
}

std::string gibibytes(int64_t bytes) {
  return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (1 << 30));
}

}  // namespace

Machine describe_machine(Engine& engine, const MachineRequest& request, const JobControl& control) {
  Machine machine{.build = build_info(),
                  .cpu = engine.cpu(),
                  .isa = engine.isa(),
                  .isas = available_isas(engine.cpu()),
                  .blas_core = blas::core_name(),
                  .threads = engine.threads().count(),
                  .cores = usable_cores(),
                  .memory = system_memory()};
  machine.mpi = request.mpi;
  for (const Compression each : built_in_compressions()) machine.compressions.emplace_back(name_of(each));
  if (request.measure) {
    if (control.log != nullptr)
      control.log->info("measuring peaks on 1 and {} threads, a few seconds", machine.threads);
    machine.peaks = measure_peaks(engine, control);
  }
  return machine;
}

nlohmann::ordered_json to_json(const Machine& machine) {
  nlohmann::ordered_json json = {
      {"version", machine.build.version},
      {"build", {{"type", machine.build.type}, {"compiler", machine.build.compiler}}},
      {"cpu", {{"name", machine.cpu.brand}, {"features", feature_names(machine.cpu)}}},
      {"isa",
       {{"chosen", name_of(machine.isa.isa)},
        {"reason", machine.isa.reason},
        {"available", set_names(machine)}}},
      {"amx", {{"usable", machine.cpu.amx_bf16}, {"status", machine.cpu.amx_status}}},
      {"blas", {{"library", product_library(machine)}, {"core", machine.blas_core}}},
      {"threads", {{"used", machine.threads}, {"cores", machine.cores}}},
      {"memory", {{"total_bytes", machine.memory.total}, {"available_bytes", machine.memory.available}}},
      {"unpacks", machine.compressions},
      {"mpi", machine.mpi.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(machine.mpi)}};
  if (machine.peaks) json["measured"] = to_json(*machine.peaks);
  return json;
}

std::string to_text(const Machine& machine) {
  const std::vector<std::string> features = feature_names(machine.cpu);
  const auto& [version, type, compiler] = machine.build;
  std::string text = line("sluice", fmt::format("{} ({}, {})", version, type, compiler));
  text += line("cpu", machine.cpu.brand);
  text += line("cpu features",
               features.empty() ? "none that sluice uses" : fmt::format("{}", fmt::join(features, ", ")));
  text += line("instruction set", fmt::format("{} ({})", name_of(machine.isa.isa), machine.isa.reason));
  text += line("available sets", fmt::format("{}", fmt::join(set_names(machine), ", ")));
  text += line("amx",
               fmt::format("{} ({})", machine.cpu.amx_bf16 ? "usable" : "not used", machine.cpu.amx_status));
  text += line("f32 products", describe_products(machine));
  text += line("threads", fmt::format("{} of {} cores", machine.threads, machine.cores));
  text += line("memory", fmt::format("{}, {} available", gibibytes(machine.memory.total),
                                     gibibytes(machine.memory.available)));
  text += line("unpacks texts", fmt::format("{}", fmt::join(machine.compressions, ", ")));
  text += line("mpi", machine.mpi.empty() ? "not built in: training runs in one process" : machine.mpi);
  return machine.peaks ? text + to_text(*machine.peaks) : text;
}

}  // namespace sluice::bench
