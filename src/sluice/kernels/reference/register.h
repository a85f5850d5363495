// The scalar twins: plain loops that say what each kernel means. f32 runs on any CPU and is what fast kernels
// are tested against; f64 is what gradients are checked with. Each family adds itself to a table.
#pragma once

#include "sluice/kernels/table.h"

namespace sluice::reference {

template <class T>
void add_attention(Kernels<T>& table);
template <class T>
void add_elementwise(Kernels<T>& table);
template <class T>
void add_embedding(Kernels<T>& table);
template <class T>
void add_few_rows(Kernels<T>& table);
template <class T>
void add_gate(Kernels<T>& table);
template <class T>
void add_gemm(Kernels<T>& table);
template <class T>
void add_int8(Kernels<T>& table);
template <class T>
void add_loss(Kernels<T>& table);
template <class T>
void add_norm(Kernels<T>& table);

template <class T>
void add_optimizer(Kernels<T>& table);
template <class T>
void add_softmax(Kernels<T>& table);
template <class T>
void add_tiles(Kernels<T>& table);

template <class T>
Kernels<T> table();

}  // namespace sluice::reference
