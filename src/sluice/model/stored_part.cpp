#include "sluice/model/stored_part.h"

#include <fmt/format.h>

#include "sluice/model/gate_packing.h"

namespace sluice {
namespace {

constexpr std::string_view kQuery = ".self_attn.q_proj.";

// The gate that packed layouts keep with the queries.
std::string gate_module() {
  return fmt::format(".self_attn.{}.", GatePosition::G1->module);
}

StoredPart stored_part(const ModelConfig& config, const NamedParameter& named) {
  StoredPart part{.tensor = named.parameter->name, .shape = named.shape};
  const std::string module = gate_module();
  const size_t gate = part.tensor.find(module);
  const bool is_query = part.tensor.find(kQuery) != std::string::npos;
  if (!is_packed(config.gate_layout) || (gate == std::string::npos && !is_query)) return part;
  const PackedQuery packed = packed_query(config);
  part.rows = is_query ? packed.query : packed.gate;
  if (!is_query) part.tensor.replace(gate, module.size(), kQuery);
  part.shape = named.shape.rank() == 1 ? Shape{packed.rows} : Shape{packed.rows, named.shape.cols()};
  return part;
}

}  // namespace

std::vector<StoredPart> stored_parts(const Decoder& decoder) {
  std::vector<StoredPart> parts;
  for (const NamedParameter& named : decoder.parameters())
    parts.push_back(stored_part(decoder.config(), named));
  return parts;
}

}  // namespace sluice
