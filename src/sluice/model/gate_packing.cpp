#include "sluice/model/gate_packing.h"

#include "sluice/base/assert.h"

namespace sluice {

PackedQuery packed_query(const ModelConfig& config) {
  SLUICE_ASSERT(is_packed(config.gate_layout), "packed_query: the gate is not packed");
  // Both layouts are runs of query rows, each followed by the gate rows of the same heads. They differ in how
  // many heads a run has: those of a key/value group, or one.
  const bool per_head = config.gate_layout == GateLayout::PackedPerHead;
  const int64_t heads_per_run = per_head ? 1 : config.heads / config.kv_heads;
  const int64_t query_rows = heads_per_run * config.head_dim;
  const int64_t gate_rows = heads_per_run * config.sizes().score_count(config.gates.front()) / config.heads;
  PackedQuery packed;
  for (int64_t run = 0; run < config.heads / heads_per_run; ++run) {
    packed.query.push_back({.first = packed.rows, .count = query_rows});
    packed.gate.push_back({.first = packed.rows + query_rows, .count = gate_rows});
    packed.rows += query_rows + gate_rows;
  }
  return packed;
}

}  // namespace sluice
