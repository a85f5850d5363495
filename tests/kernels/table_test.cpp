#include "sluice/kernels/table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tests/kernels/instruction_sets.h"

namespace sluice::test {
namespace {

using Address = void (*)();

// Every function of a table by name.
template <class T>
std::map<std::string, Address> functions(const Kernels<T>& table) {
#define FUNCTION(name) {#name, reinterpret_cast<Address>(table.name)}
  std::map<std::string, Address> functions = {FUNCTION(gemm),
                                              FUNCTION(few_rows),
                                              FUNCTION(few_rows_bf16),
                                              FUNCTION(quantize_rows),
                                              FUNCTION(int8_rows),
                                              FUNCTION(pack_tiles),
                                              FUNCTION(pack_tiles_bf16),
                                              FUNCTION(tile_sums),
                                              FUNCTION(store_sums),
                                              FUNCTION(store_swiglu),
                                              FUNCTION(few_rows_tiles),
                                              FUNCTION(scaled_add),
                                              FUNCTION(scale),
                                              FUNCTION(swiglu_forward),
                                              FUNCTION(swiglu_backward),
                                              FUNCTION(clip_forward),
                                              FUNCTION(clip_backward),
                                              FUNCTION(block_sum),
                                              FUNCTION(block_square_sum),
                                              FUNCTION(column_sum),
                                              FUNCTION(repeat_row),
                                              FUNCTION(to_bf16),
                                              FUNCTION(from_bf16),
                                              FUNCTION(embedding_forward),
                                              FUNCTION(embedding_backward),
                                              FUNCTION(rms_norm_forward),
                                              FUNCTION(rms_norm_backward),
                                              FUNCTION(norm_rope_forward),
                                              FUNCTION(norm_rope_backward),
                                              FUNCTION(attention_forward),
                                              FUNCTION(attention_backward),
                                              FUNCTION(attention_forward_bf16),
                                              FUNCTION(attention_backward_bf16),
                                              FUNCTION(gate_forward),
                                              FUNCTION(gate_backward),
                                              FUNCTION(gate_values),
                                              FUNCTION(softmax_forward),
                                              FUNCTION(softmax_backward),
                                              FUNCTION(cross_entropy_forward),
                                              FUNCTION(cross_entropy_backward),
                                              FUNCTION(adamw)};
#undef FUNCTION
  EXPECT_EQ(functions.size() * sizeof(Address), sizeof table) << "a kernel is missing in the list above";
  return functions;
}

TEST(KernelTable, has_every_kernel_in_every_set) {
  for (const Isa isa : sets_of_this_machine()) {
    for (const auto& [name, address] : functions(f32_kernels(isa))) {
      EXPECT_NE(address, nullptr) << name_of(isa) << ": " << name;
    }
  }
  for (const auto& [name, address] : functions(f64_kernels())) EXPECT_NE(address, nullptr) << "f64: " << name;
}

TEST(KernelTable, of_a_simd_set_has_no_scalar_kernel_left) {
  if (simd_sets_of_this_machine().empty()) GTEST_SKIP() << "this machine has no SIMD set";
  const auto scalar = functions(f32_kernels(Isa::Scalar));
  for (const Isa isa : simd_sets_of_this_machine()) {
    for (const auto& [name, address] : functions(f32_kernels(isa))) {
      EXPECT_NE(address, scalar.at(name)) << name_of(isa) << ": " << name;
    }
  }
}

TEST(KernelTable, of_avx512_has_no_avx2_kernel_left_but_the_shared_matrix_product) {
  const std::vector<Isa> sets = sets_of_this_machine();
  if (std::ranges::find(sets, Isa::Avx512) == sets.end()) GTEST_SKIP() << "this CPU has no AVX-512";
  const auto avx2 = functions(f32_kernels(Isa::Avx2));
  for (const auto& [name, address] : functions(f32_kernels(Isa::Avx512))) {
    if (name != "gemm") {
      EXPECT_NE(address, avx2.at(name)) << name;
    }
  }
}

TEST(KernelTable, of_the_sets_above_avx512_has_their_own_products) {
  const std::vector<Isa> sets = sets_of_this_machine();
  if (std::ranges::find(sets, Isa::Avx512Bf16) == sets.end()) GTEST_SKIP() << "this CPU has no AVX-512 BF16";
  const Kernels<float> avx512 = f32_kernels(Isa::Avx512), bf16 = f32_kernels(Isa::Avx512Bf16);
  EXPECT_NE(bf16.int8_rows, avx512.int8_rows);
  EXPECT_NE(bf16.tile_sums, avx512.tile_sums);
  if (std::ranges::find(sets, Isa::Amx) == sets.end()) return;
  const Kernels<float> amx = f32_kernels(Isa::Amx);
  EXPECT_EQ(amx.int8_rows, bf16.int8_rows);
  EXPECT_NE(amx.tile_sums, bf16.tile_sums);
}

}  // namespace
}  // namespace sluice::test
