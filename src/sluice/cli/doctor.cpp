#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "sluice/base/system.h"
#include "sluice/cli/commands.h"
#include "sluice/cli/peaks.h"
#include "sluice/kernels/blas/gemm.h"

namespace sluice::cli {
namespace {

struct Diagnosis {
  CpuFeatures cpu;
  std::vector<std::string> cpu_features;
  IsaChoice isa;
  std::vector<std::string> isas;
  int threads = 0;
  SystemMemory memory;
  std::optional<MachinePeaks> peaks;
};

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

Diagnosis diagnose(const Session& session, bool measure) {
  Engine engine(session.options.engine());
  Diagnosis diagnosis{.cpu = engine.cpu(),
                      .cpu_features = feature_names(engine.cpu()),
                      .isa = engine.isa(),
                      .isas = {},
                      .threads = engine.threads().count(),
                      .memory = system_memory(),
                      .peaks = {}};
  for (const Isa isa : available_isas(engine.cpu())) diagnosis.isas.emplace_back(name_of(isa));
  if (measure) {
    session.log.info("measuring peaks on 1 and {} threads, a few seconds", diagnosis.threads);
    diagnosis.peaks = measure_peaks(peak_kernels(engine.isa().isa), engine.threads(), engine.pool());
  }
  return diagnosis;
}

std::string product_library(const Diagnosis& diagnosis) {
  return diagnosis.isa.isa == Isa::Scalar ? "scalar twin" : "OpenBLAS";
}

nlohmann::ordered_json as_json(const Diagnosis& diagnosis) {
  nlohmann::ordered_json json = {
      {"version", SLUICE_VERSION},
      {"build", {{"type", SLUICE_BUILD_TYPE}, {"compiler", SLUICE_COMPILER}}},
      {"cpu", {{"name", diagnosis.cpu.brand}, {"features", diagnosis.cpu_features}}},
      {"isa",
       {{"chosen", name_of(diagnosis.isa.isa)},
        {"reason", diagnosis.isa.reason},
        {"available", diagnosis.isas}}},
      {"amx", {{"usable", diagnosis.cpu.amx_bf16}, {"status", diagnosis.cpu.amx_status}}},
      {"blas", {{"library", product_library(diagnosis)}, {"core", blas::core_name()}}},
      {"threads", {{"used", diagnosis.threads}, {"cores", usable_cores()}}},
      {"memory", {{"total_bytes", diagnosis.memory.total}, {"available_bytes", diagnosis.memory.available}}}};
  if (const auto& peaks = diagnosis.peaks) {
    json["measured"] = {{"isa", name_of(diagnosis.isa.isa)}};
    json["measured"].update(peaks_json(*peaks));
  }
  return json;
}

std::string as_text(const Diagnosis& diagnosis) {
  constexpr double kGib = 1 << 30;
  std::string text;
  const auto line = [&](const char* name, const std::string& value) {
    text += fmt::format("{:<16}{}\n", name, value);
  };
  line("sluice", fmt::format("{} ({}, {})", SLUICE_VERSION, SLUICE_BUILD_TYPE, SLUICE_COMPILER));
  line("cpu", diagnosis.cpu.brand);
  line("cpu features", diagnosis.cpu_features.empty()
                           ? "none that sluice uses"
                           : fmt::format("{}", fmt::join(diagnosis.cpu_features, ", ")));
  line("instruction set", fmt::format("{} ({})", name_of(diagnosis.isa.isa), diagnosis.isa.reason));
  line("available sets", fmt::format("{}", fmt::join(diagnosis.isas, ", ")));
  line("amx",
       fmt::format("{} ({})", diagnosis.cpu.amx_bf16 ? "usable" : "not used", diagnosis.cpu.amx_status));
  line("f32 products", diagnosis.isa.isa == Isa::Scalar
                           ? product_library(diagnosis)
                           : fmt::format("OpenBLAS, kernels for {}", blas::core_name()));
  line("threads", fmt::format("{} of {} cores", diagnosis.threads, usable_cores()));
  line("memory",
       fmt::format("{:.1f} GiB, {:.1f} GiB available", static_cast<double>(diagnosis.memory.total) / kGib,
                   static_cast<double>(diagnosis.memory.available) / kGib));
  if (const auto& peaks = diagnosis.peaks) text += peaks_text(*peaks, diagnosis.threads);
  return text;
}

Action declare_doctor(Options& options) {
  auto measure = std::make_shared<bool>(false);
  options.flag("--measure", *measure, "Also measure the arithmetic peaks and the memory bandwidth (seconds)");
  return [measure](const Session& session) {
    const Diagnosis diagnosis = diagnose(session, *measure);
    session.out << (session.options.json ? as_json(diagnosis).dump(2) + "\n" : as_text(diagnosis));
  };
}

}  // namespace

Command doctor_command() {
  return {.name = "doctor",
          .summary = "Show what this machine offers and what sluice makes of it",
          .description =
              "Shows the version, the CPU's features, the instruction set that the kernels will use and "
              "why, threads and memory. With --measure also the peaks that benchmark shares refer to: "
              "arithmetic in registers, tiles, reads from memory; medians of nine repetitions.",
          .examples = {"sluice doctor", "sluice doctor --measure --json", "sluice doctor --isa scalar"},
          .declare = declare_doctor};
}

}  // namespace sluice::cli
