// What the processor offers, and what the operating system lets this process use of it. Built without any
// architecture flag: it must run on every CPU the program may land on.
#pragma once

#include <string>

namespace sluice {

struct CpuFeatures {
  std::string brand;         // "AMD EPYC …", as the processor calls itself
  bool avx2 = false;         // AVX2, FMA, F16C, BMI1/2 and LZCNT (what -march=haswell may emit)
  bool avx512 = false;       // AVX-512 F, CD, BW, DQ and VL (what -march=skylake-avx512 may emit)
  bool avx512_bf16 = false;  // these two with AVX-512 alone
  bool avx512_vnni = false;
  bool amx_bf16 = false;  // usable: CPUID bits, state granted by the OS, and the self-test passed
  bool amx_int8 = false;
  std::string amx_status;  // why AMX is or is not used, for a person

  bool operator==(const CpuFeatures&) const = default;
};

// CPUID leaf 0x1D is deliberately not asked: hypervisors hide it although the tiles work.
CpuFeatures detect_cpu();

}  // namespace sluice
