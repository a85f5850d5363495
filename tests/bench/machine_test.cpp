#include "sluice/bench/machine.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace sluice::bench {
namespace {

using Json = nlohmann::ordered_json;

Machine machine() {
  return {.build = {.version = "1.2.3", .type = "Release", .compiler = "GNU 12"},
          .cpu = {.brand = "A processor", .avx2 = true, .amx_status = "no tiles"},
          .isa = {.isa = Isa::Avx2, .reason = "the best"},
          .isas = {Isa::Scalar, Isa::Avx2},
          .blas_core = "Haswell",
          .threads = 2,
          .cores = 4,
          .memory = {.total = int64_t{8} << 30, .available = int64_t{6} << 30},
          .compressions = {"gzip", "xz"}};
}

TEST(MachineReport, is_one_json_object) {
  EXPECT_EQ(to_json(machine()), Json::parse(R"({
    "version": "1.2.3", "build": {"type": "Release", "compiler": "GNU 12"},
    "cpu": {"name": "A processor", "features": ["avx2"]},
    "isa": {"chosen": "avx2", "reason": "the best", "available": ["scalar", "avx2"]},
    "amx": {"usable": false, "status": "no tiles"}, "blas": {"library": "OpenBLAS", "core": "Haswell"},
    "threads": {"used": 2, "cores": 4}, "memory": {"total_bytes": 8589934592, "available_bytes": 6442450944},
    "unpacks": ["gzip", "xz"], "mpi": null})"));
}

TEST(MachineReport, says_who_multiplies_where_openblas_does_not_know_the_cpu) {
  Machine unknown = machine();
  unknown.blas_core = "Prescott";
  EXPECT_EQ(to_json(unknown)["blas"]["library"], "sluice");
  EXPECT_NE(to_text(unknown).find("sluice's own: OpenBLAS does not know this CPU"), std::string::npos);
}

TEST(MachineReport, has_the_peaks_if_they_were_measured) {
  Machine measured = machine();
  measured.peaks = {.isa = Isa::Avx2,
                    .threads = 2,
                    .measured = {.f32_flops = {.one_core = 5e10, .all_threads = 1e11},
                                 .bf16_flops = {},
                                 .read_bandwidth = {.one_core = 8e9, .all_threads = 1.5e10}}};
  EXPECT_EQ(to_json(measured)["measured"], Json::parse(R"({
    "isa": "avx2", "threads": 2, "f32_gflops": {"one_core": 50.0, "all_threads": 100.0},
    "bf16_gflops": null, "read_gb_per_s": {"one_core": 8.0, "all_threads": 15.0}})"));
  EXPECT_NE(to_text(measured).find("f32 peak        50.0 GFLOP/s on one core, 100.0 on 2 threads\n"),
            std::string::npos);
}

TEST(MachineReport, describes_the_engine) {
  Engine engine({.threads = 1, .isa = {.name = "scalar", .source = "test"}});
  const Machine here = describe_machine(engine);
  EXPECT_EQ(here.isa.isa, Isa::Scalar);
  EXPECT_EQ(here.threads, 1);
  EXPECT_GE(here.cores, 1);
  EXPECT_NE(here.build.version, "");
  EXPECT_FALSE(here.peaks);
}

}  // namespace
}  // namespace sluice::bench
