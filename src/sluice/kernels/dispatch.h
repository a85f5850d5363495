// Chooses the instruction set that the kernels use, and hands out its functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sluice/base/cpu.h"
#include "sluice/kernels/peak.h"
#include "sluice/kernels/table.h"

namespace sluice {

// Slowest first. Scalar runs on every CPU.
enum class Isa { Scalar, Avx2, Avx512, Avx512Bf16, Amx };

std::string_view name_of(Isa isa);
std::vector<std::string> isa_names();

struct IsaChoice {
  Isa isa = Isa::Scalar;
  std::string reason;  // why this one, for a person
};

// Sets that this build contains and this CPU can run, slowest first.
std::vector<Isa> available_isas(const CpuFeatures& cpu);

// Who asked for a set by name; the source is named in errors.
struct IsaRequest {
  std::string name = {};  // empty: the best available
  std::string source = {};
};

// What SLUICE_ISA asks for; an empty request if it is not set.
IsaRequest isa_request_from_environment();

// Throws a usage error if the request names no set, or one that cannot run here: a forced set is never
// replaced.
IsaChoice choose_isa(const CpuFeatures& cpu, const IsaRequest& request);

Kernels<float> f32_kernels(Isa isa);
Kernels<double> f64_kernels();
PeakKernels peak_kernels(Isa isa);

}  // namespace sluice
