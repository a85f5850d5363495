#include "sluice/model/stored_part.h"

#include "sluice/model/gate_packing.h"

namespace sluice {
namespace {

constexpr std::string_view kGate = ".self_attn.gate_proj.";
constexpr std::string_view kQuery = ".self_attn.q_proj.";

StoredPart stored_part(const ModelConfig& config, const NamedParameter& named) {
  StoredPart part{.tensor = named.parameter->name, .shape = named.shape};
  const size_t gate = part.tensor.find(kGate);
  const bool is_query = part.tensor.find(kQuery) != std::string::npos;
  if (!is_packed(config.gate_layout) || (gate == std::string::npos && !is_query)) return part;
  const PackedQuery packed = packed_query(config);
  part.rows = is_query ? packed.query : packed.gate;
  if (!is_query) part.tensor.replace(gate, kGate.size(), kQuery);
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
