// f32 kernels through Highway. This folder is compiled once per instruction set, each time with the flags of
// that set and into a namespace of its own, SLUICE_SIMD_NAMESPACE. Nothing with external linkage may be
// defined outside that namespace: the linker could pick an inline function built for AVX-512 and run it on a
// CPU without (tools/check-isa-symbols.sh watches).
#pragma once

#include "sluice/kernels/peak.h"
#include "sluice/kernels/table.h"

namespace sluice::SLUICE_SIMD_NAMESPACE {

void add_attention(Kernels<float>& table);
void add_elementwise(Kernels<float>& table);
void add_embedding(Kernels<float>& table);
void add_few_rows(Kernels<float>& table);
void add_few_rows_tiles(Kernels<float>& table);
void add_gate(Kernels<float>& table);
void add_gemm(Kernels<float>& table);
void add_int8(Kernels<float>& table);
void add_loss(Kernels<float>& table);
void add_norm(Kernels<float>& table);
void add_optimizer(Kernels<float>& table);
void add_pack_tiles(Kernels<float>& table);
void add_softmax(Kernels<float>& table);
void add_store_tiles(Kernels<float>& table);
void add_tiles(Kernels<float>& table);

// Both registered by add_attention; declared for the tile kernels, too, which leave short sequences to them.
void attention_forward(const AttentionForward<float>& args, int64_t unit, float* workspace);
void attention_backward(const AttentionBackward<float>& args, int64_t unit, float* workspace);

// All of the above.
void fill(Kernels<float>& table);

PeakKernels peak();

}  // namespace sluice::SLUICE_SIMD_NAMESPACE
