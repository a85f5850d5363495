// The dispatch table: every operation the engine needs, as one function per instruction set.
// A kernel works on the part of its output that a Range or a unit number names and touches nothing else; who
// runs which part on which thread is decided in ops/.
#pragma once

#include "sluice/base/threads.h"
#include "sluice/kernels/attention_bf16.h"
#include "sluice/kernels/elementwise.h"
#include "sluice/kernels/embedding.h"
#include "sluice/kernels/few_rows.h"
#include "sluice/kernels/gate.h"
#include "sluice/kernels/gemm.h"
#include "sluice/kernels/int8.h"
#include "sluice/kernels/loss.h"
#include "sluice/kernels/norm.h"
#include "sluice/kernels/optimizer.h"
#include "sluice/kernels/softmax.h"
#include "sluice/kernels/tiles.h"

namespace sluice {

template <class Args>
using RangeKernel = void (*)(const Args&, Range);

template <class T>
struct Kernels {
  void (*gemm)(const Gemm<T>&) = nullptr;
  RangeKernel<FewRowsProduct<T, T>> few_rows = nullptr;
  RangeKernel<FewRowsProduct<T, Bf16>> few_rows_bf16 = nullptr;

  RangeKernel<QuantizeRows<T>> quantize_rows = nullptr;
  RangeKernel<Int8Product<T>> int8_rows = nullptr;

  RangeKernel<PackTiles<T>> pack_tiles = nullptr;
  RangeKernel<PackTiles<Bf16>> pack_tiles_bf16 = nullptr;
  // The last argument is a workspace of kTileWorkspace elements, aligned to 64 bytes, with the sums at its
  // beginning.
  void (*tile_sums)(const TileOperands&, const TileUnit&, T* workspace) = nullptr;
  void (*store_sums)(const StoreSums<T>&, const TileUnit&, const T* sums) = nullptr;
  void (*store_swiglu)(const StoreSwiglu&, const TileUnit&, const T* gate_sums, const T* up_sums) = nullptr;
  RangeKernel<FewRowsTiles<T>> few_rows_tiles = nullptr;

  RangeKernel<ScaledAdd<T>> scaled_add = nullptr;
  RangeKernel<Scale<T>> scale = nullptr;
  RangeKernel<SwigluForward<T>> swiglu_forward = nullptr;
  RangeKernel<SwigluBackward<T>> swiglu_backward = nullptr;
  RangeKernel<ClipForward<T>> clip_forward = nullptr;
  RangeKernel<ClipBackward<T>> clip_backward = nullptr;
  RangeKernel<BlockSum<T>> block_sum = nullptr;
  RangeKernel<BlockSum<T>> block_square_sum = nullptr;
  RangeKernel<ColumnSum<T>> column_sum = nullptr;
  RangeKernel<RepeatRow<T>> repeat_row = nullptr;
  RangeKernel<ToBf16<T>> to_bf16 = nullptr;
  RangeKernel<FromBf16<T>> from_bf16 = nullptr;

  RangeKernel<EmbeddingForward<T>> embedding_forward = nullptr;
  RangeKernel<EmbeddingBackward<T>> embedding_backward = nullptr;

  RangeKernel<RmsNormForward<T>> rms_norm_forward = nullptr;
  RangeKernel<RmsNormBackward<T>> rms_norm_backward = nullptr;
  RangeKernel<NormRopeForward<T>> norm_rope_forward = nullptr;
  RangeKernel<NormRopeBackward<T>> norm_rope_backward = nullptr;

  // The last argument is a workspace of attention_forward_workspace(shape) or
  // attention_backward_workspace(shape) elements, aligned to 64 bytes.
  void (*attention_forward)(const AttentionForward<T>&, int64_t unit, T* workspace) = nullptr;
  void (*attention_backward)(const AttentionBackward<T>&, int64_t unit, T* workspace) = nullptr;
  // With operands rounded to bf16, or the same as above where that is not faster. Workspaces likewise:
  // attention_forward_bf16_workspace and attention_backward_bf16_workspace.
  void (*attention_forward_bf16)(const AttentionForward<T>&, int64_t unit, T* workspace) = nullptr;
  void (*attention_backward_bf16)(const AttentionBackward<T>&, int64_t unit, T* workspace) = nullptr;

  RangeKernel<GateForward<T>> gate_forward = nullptr;
  RangeKernel<GateBackward<T>> gate_backward = nullptr;
  RangeKernel<GateValues<T>> gate_values = nullptr;

  RangeKernel<SoftmaxForward<T>> softmax_forward = nullptr;
  RangeKernel<SoftmaxBackward<T>> softmax_backward = nullptr;

  RangeKernel<CrossEntropyForward<T>> cross_entropy_forward = nullptr;
  RangeKernel<CrossEntropyBackward<T>> cross_entropy_backward = nullptr;

  RangeKernel<AdamWStep<T>> adamw = nullptr;
};

}  // namespace sluice
