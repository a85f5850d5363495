// All on made-up CPUs: what is chosen must not depend on the machine that runs the test.
#include "sluice/kernels/dispatch.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>

#include "tests/base/expect_error.h"

namespace sluice {
namespace {

CpuFeatures cpu_with(Isa best) {
  CpuFeatures cpu{.brand = "made up", .amx_status = "the tiles are out"};
  cpu.avx2 = best >= Isa::Avx2;
  cpu.avx512 = best >= Isa::Avx512;
  cpu.avx512_vnni = cpu.avx512_bf16 = best >= Isa::Avx512Bf16;
  cpu.amx_bf16 = best >= Isa::Amx;
  if (cpu.amx_bf16) cpu.amx_status = "the tiles are in";
  return cpu;
}

const std::vector<Isa> kAll = {Isa::Scalar, Isa::Avx2, Isa::Avx512, Isa::Avx512Bf16, Isa::Amx};

// Sets a variable of the environment, or removes it, until the end of the test.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    assign(value);
  }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;
  ~ScopedVariable() { assign(before_ ? before_->c_str() : nullptr); }

 private:
  void assign(const char* value) const { value == nullptr ? unsetenv(name_) : setenv(name_, value, 1); }

  const char* name_;
  std::optional<std::string> before_;
};

TEST(AvailableIsas, are_those_up_to_the_best_slowest_first) {
  EXPECT_EQ(available_isas(cpu_with(Isa::Scalar)), (std::vector<Isa>{Isa::Scalar}));
  EXPECT_EQ(available_isas(cpu_with(Isa::Avx2)), (std::vector<Isa>{Isa::Scalar, Isa::Avx2}));
  EXPECT_EQ(available_isas(cpu_with(Isa::Avx512)), (std::vector<Isa>{Isa::Scalar, Isa::Avx2, Isa::Avx512}));
  EXPECT_EQ(available_isas(cpu_with(Isa::Avx512Bf16)),
            (std::vector<Isa>{Isa::Scalar, Isa::Avx2, Isa::Avx512, Isa::Avx512Bf16}));
  EXPECT_EQ(available_isas(cpu_with(Isa::Amx)), kAll);
}

TEST(AvailableIsas, have_the_names_that_options_take) {
  EXPECT_EQ(isa_names(), (std::vector<std::string>{"scalar", "avx2", "avx512", "avx512bf16", "amx"}));
  for (size_t i = 0; i < kAll.size(); ++i) EXPECT_EQ(name_of(kAll[i]), isa_names()[i]);
}

TEST(ChooseIsa, takes_the_best_when_nobody_asks) {
  for (const Isa best : kAll) EXPECT_EQ(choose_isa(cpu_with(best), {}).isa, best);
}

TEST(ChooseIsa, says_why_it_takes_no_better_one) {
  EXPECT_EQ(choose_isa(cpu_with(Isa::Scalar), {}).reason,
            "the fastest set available; not avx2: the CPU or the operating system lacks AVX2 with FMA");
  EXPECT_EQ(choose_isa(cpu_with(Isa::Avx2), {}).reason,
            "the fastest set available; not avx512: "
            "the CPU or the operating system lacks AVX-512 F, CD, BW, DQ and VL");
  EXPECT_EQ(choose_isa(cpu_with(Isa::Avx512), {}).reason,
            "the fastest set available; not avx512bf16: "
            "the CPU or the operating system lacks AVX-512 VNNI and BF16");
  EXPECT_EQ(choose_isa(cpu_with(Isa::Avx512Bf16), {}).reason,
            "the fastest set available; not amx: the tiles are out");
  EXPECT_EQ(choose_isa(cpu_with(Isa::Amx), {}).reason,
            "the tiles are in; its f32 kernels are those of avx512");
}

TEST(ChooseIsa, takes_only_sets_that_have_all_they_need) {
  CpuFeatures half = cpu_with(Isa::Avx512Bf16);
  half.avx512_bf16 = false;
  EXPECT_EQ(choose_isa(half, {}).isa, Isa::Avx512);
  CpuFeatures hidden = cpu_with(Isa::Amx);
  hidden.avx512_vnni = false;
  EXPECT_EQ(choose_isa(hidden, {}).isa, Isa::Avx512);
}

TEST(ChooseIsa, obeys_a_request_and_names_who_asked) {
  for (const Isa isa : kAll) {
    const IsaChoice choice = choose_isa(cpu_with(Isa::Amx), {std::string(name_of(isa)), "--isa"});
    EXPECT_EQ(choice.isa, isa);
    EXPECT_EQ(choice.reason, "asked for by --isa");
  }
}

TEST(ChooseIsa, refuses_a_set_that_cannot_run_and_lists_those_that_can) {
  EXPECT_ERROR(choose_isa(cpu_with(Isa::Scalar), {"avx2", "SLUICE_ISA"}), ErrorKind::Usage,
               "SLUICE_ISA: instruction set avx2 is not available here: the CPU or the operating system "
               "lacks AVX2 with FMA (available: scalar)");
  EXPECT_ERROR(choose_isa(cpu_with(Isa::Avx2), {"avx512", "--isa"}), ErrorKind::Usage,
               "--isa: instruction set avx512 is not available here: the CPU or the operating system lacks "
               "AVX-512 F, CD, BW, DQ and VL (available: scalar, avx2)");
  EXPECT_ERROR(choose_isa(cpu_with(Isa::Avx512), {"amx", "--isa"}), ErrorKind::Usage,
               "--isa: instruction set amx is not available here: the tiles are out "
               "(available: scalar, avx2, avx512)");
}

TEST(ChooseIsa, refuses_an_unknown_set_with_the_nearest_known_one) {
  EXPECT_ERROR(
      choose_isa(cpu_with(Isa::Amx), {"axv2", "--isa"}), ErrorKind::Usage,
      "--isa: unknown instruction set: expected one of scalar, avx2, avx512, avx512bf16, amx, got \"axv2\" "
      "(did you mean \"avx2\"?)");
  EXPECT_ERROR(
      choose_isa(cpu_with(Isa::Amx), {"neon-of-old", "SLUICE_ISA"}), ErrorKind::Usage,
      "SLUICE_ISA: unknown instruction set: expected one of scalar, avx2, avx512, avx512bf16, amx, got "
      "\"neon-of-old\"");
}

TEST(IsaRequest, comes_from_the_environment) {
  const ScopedVariable variable("SLUICE_ISA", "avx2");
  const IsaRequest request = isa_request_from_environment();
  EXPECT_EQ(request.name, "avx2");
  EXPECT_EQ(request.source, "SLUICE_ISA");
}

TEST(IsaRequest, is_empty_when_the_environment_does_not_ask) {
  for (const char* value : {static_cast<const char*>(nullptr), ""}) {
    const ScopedVariable variable("SLUICE_ISA", value);
    EXPECT_EQ(isa_request_from_environment().name, "");
  }
}

}  // namespace
}  // namespace sluice
