#include "sluice/base/cpu.h"

#include "sluice/base/tile_self_test.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>

namespace sluice {
namespace {

struct Registers {
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};

Registers cpuid(uint32_t leaf, uint32_t subleaf = 0) {
  Registers r;
  if (__get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx) == 0) return {};
  return r;
}

constexpr bool bit(uint64_t word, int index) {
  return (word >> index & 1) != 0;
}

constexpr bool all(uint64_t word, uint64_t mask) {
  return (word & mask) == mask;
}

// Register states that the OS saves on a context switch (XCR0); 0 if it saves none.
uint64_t saved_states() {
  constexpr int kOsxsave = 27;
  if (!bit(cpuid(1).ecx, kOsxsave)) return 0;
  uint32_t low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t{high} << 32 | low;
}

constexpr uint64_t kAvxState = 0b110;           // XMM, YMM
constexpr uint64_t kAvx512State = 0b1110'0110;  // and opmask, ZMM low and high
constexpr uint64_t kTileState = 0b11 << 17;     // TILECFG, TILEDATA

std::string brand() {
  if (cpuid(0x8000'0000).eax < 0x8000'0004) return "unknown x86-64";
  std::array<char, 49> text{};
  for (uint32_t i = 0; i < 3; ++i) {
    const Registers r = cpuid(0x8000'0002 + i);
    std::memcpy(text.data() + size_t{16} * i, &r, 16);
  }
  std::string name = text.data();
  name.erase(0, name.find_first_not_of(' '));
  name.erase(name.find_last_not_of(' ') + 1);
  return name.empty() ? "unknown x86-64" : name;
}

// Linux grants the large tile state only to processes that ask (arch_prctl ARCH_REQ_XCOMP_PERM, TILEDATA).
bool request_tiles() {
  constexpr long kRequestPermission = 0x1023;
  constexpr long kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

void detect_amx(CpuFeatures& cpu, uint32_t leaf7_edx, uint64_t states) {
  constexpr int kAmxBf16 = 22, kAmxTile = 24, kAmxInt8 = 25;
  if (!bit(leaf7_edx, kAmxTile) || !bit(leaf7_edx, kAmxBf16)) {
    cpu.amx_status = "the CPU does not report AMX-BF16";
  } else if (!cpu.avx512_bf16) {
    cpu.amx_status = "the CPU reports AMX-BF16 but not AVX512-BF16";  // none is known
  } else if (!all(states, kTileState)) {
    cpu.amx_status = "the operating system does not save the tile registers";
  } else if (!request_tiles()) {
    cpu.amx_status = "the kernel refused the tile registers to this process";
  } else if (!tiles_multiply_correctly()) {
    cpu.amx_status = "the self-test failed although the CPU reports AMX-BF16";
  } else {
    cpu.amx_bf16 = true;
    cpu.amx_int8 = bit(leaf7_edx, kAmxInt8);
    cpu.amx_status = "the self-test passed";
  }
}

}  // namespace

CpuFeatures detect_cpu() {
  const Registers basic = cpuid(1);
  const Registers extended = cpuid(7);
  const uint64_t states = saved_states();

  constexpr uint32_t kFmaMovbeAvxF16c = 1U << 12 | 1U << 22 | 1U << 28 | 1U << 29;    // leaf 1 ECX
  constexpr uint32_t kBmi1Avx2Bmi2 = 1U << 3 | 1U << 5 | 1U << 8;                     // leaf 7 EBX
  constexpr uint32_t kAvx512 = 1U << 16 | 1U << 17 | 1U << 28 | 1U << 30 | 1U << 31;  // F DQ CD BW VL
  constexpr int kLzcnt = 5;                                                           // leaf 8000'0001 ECX

  CpuFeatures cpu;
  cpu.brand = brand();
  cpu.avx2 = all(states, kAvxState) && all(basic.ecx, kFmaMovbeAvxF16c) && all(extended.ebx, kBmi1Avx2Bmi2) &&
             bit(cpuid(0x8000'0001).ecx, kLzcnt);
  cpu.avx512 = cpu.avx2 && all(states, kAvx512State) && all(extended.ebx, kAvx512);
  cpu.avx512_vnni = cpu.avx512 && bit(extended.ecx, 11);
  cpu.avx512_bf16 = cpu.avx512 && bit(cpuid(7, 1).eax, 5);
  if (cpu.avx512) {
    detect_amx(cpu, extended.edx, states);
  } else {
    cpu.amx_status = "the CPU or the operating system lacks AVX-512";
  }
  return cpu;
}

}  // namespace sluice

#else  // not x86-64: the scalar kernels run everywhere

namespace sluice {

CpuFeatures detect_cpu() {
  CpuFeatures cpu;
  cpu.brand = "not x86-64";
  cpu.amx_status = "AMX exists on x86-64 only";
  return cpu;
}

}  // namespace sluice

#endif
