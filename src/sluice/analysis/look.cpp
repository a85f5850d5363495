#include "sluice/analysis/look.h"

#include <fmt/format.h>

#include <algorithm>

#include "sluice/analysis/look_part.h"
#include "sluice/base/crc32c.h"
#include "sluice/base/error.h"
#include "sluice/dist/pieces.h"

namespace sluice {
namespace {

void check_key(const LookRequest& request) {
  if (request.key < request.text.chunk_length - 1) return;
  throw usage_error({.where = "--key",
                     .what = "no chunk of the text has this position",
                     .expected = fmt::format("below {}", request.text.chunk_length - 1),
                     .got = std::to_string(request.key)});
}

std::vector<Piece> pieces_of(const LookRequest& request, uint32_t text_checksum) {
  const std::string looked_at = fmt::format("{} {} {:08x} {} {}", kPartFormat, request.sharing->fingerprint,
                                            text_checksum, request.key, kSequencesOfPart);
  std::vector<Piece> pieces;
  for (int64_t i = 0; i < parts_of(request.text); ++i)
    pieces.push_back({.name = fmt::format("{}/part-{}", request.sharing->name, i),
                      .fingerprint = fmt::format("{:08x}", crc32c(looked_at))});
  return pieces;
}

// Whether what is an index into the text is one, and no measure is without layers.
bool fits_text(const Look& look, const ChunkedText& text) {
  const auto is_token = [&](const auto& place) {
    return place.sequence >= 0 && place.sequence < text.chunks() && place.position >= 0 &&
           place.position < std::ssize(text.chunk(place.sequence).ids);
  };
  const auto is_among = [&](GateExtremes extremes) {
    return std::ranges::all_of(extremes.moments(), is_token);
  };
  bool fits = true;
  for (const GateMeasure& gate : look.gates) fits = fits && !gate.layers.empty();
  for (const ActivationMeasure& measure : look.activations) {
    fits = fits && !measure.layers.empty();
    for (const ActivationLayer& layer : measure.layers) fits = fits && is_token(layer.largest);
  }
  for (const GateLayerRelations& layer : look.relations)
    for (const GateHeadRelations& head : layer.by_head)
      for (const GateHeadRelations::Extremes& half : head.halves)
        fits = fits && is_among(half.open) && is_among(half.closed);
  return fits;
}

// Whether gates have a value for every head and channel that they say they have: what reads them trusts it.
bool fits_itself(const GateMeasure& gate) {
  const GateLayer& first = gate.layers.front();
  return std::ranges::all_of(gate.layers, [&](const GateLayer& layer) {
    const auto heads = static_cast<size_t>(layer.heads), channels = heads * static_cast<size_t>(layer.width);
    return layer.heads == first.heads && layer.width == first.width && layer.by_head.size() == heads &&
           layer.channels[0].size() == channels && layer.channels[1].size() == channels;
  });
}

// Whether the layers and heads are those of the model.
bool fits_model(const Look& look, const ModelConfig& config) {
  const auto is_layer = [&](const auto& layer) { return layer.layer >= 0 && layer.layer < config.layers; };
  const auto has_heads = [&](const auto& layer) { return std::ssize(layer.by_head) == config.heads; };
  const GateMeasure* output_gate = look.output_gate();
  const auto is_gated = [&](const GateLayerRelations& layer) {
    return output_gate != nullptr && std::ranges::find(output_gate->layers, layer.layer, &GateLayer::layer) !=
                                         output_gate->layers.end();
  };
  bool fits =
      std::ranges::all_of(look.attention, is_layer) && std::ranges::all_of(look.attention, has_heads) &&
      std::ranges::all_of(look.relations, has_heads) && std::ranges::all_of(look.relations, is_gated) &&
      std::ranges::all_of(look.sparsity, is_layer) && std::ranges::all_of(look.experts, is_layer);
  for (const GateMeasure& gate : look.gates)
    fits = fits && std::ranges::all_of(gate.layers, is_layer) && fits_itself(gate);
  for (const ActivationMeasure& measure : look.activations)
    fits = fits && std::ranges::all_of(measure.layers, is_layer);
  return fits;
}

// Whether the parts that others left make up the whole.
void check_complete(const LookPart& total, const LookRequest& request, const ModelConfig& config,
                    const Piece& first_piece) {
  const auto chunks = static_cast<size_t>(request.text.chunks());
  const auto has_all = [&](const auto& layer) { return layer.by_sequence.size() == chunks; };
  const Look& look = total.sums;
  bool complete = look.chunks.size() == chunks && total.met.size() == request.interventions.size() &&
                  std::ranges::all_of(look.attention, has_all) && fits_text(look, request.text) &&
                  fits_model(look, config);
  for (const GateMeasure& gate : look.gates) complete = complete && std::ranges::all_of(gate.layers, has_all);
  for (const ActivationMeasure& measure : look.activations)
    complete = complete && std::ranges::all_of(measure.layers, has_all);
  if (!complete)
    throw bad_input({.where = request.sharing->folder.note_file(first_piece).string(),
                     .what = "this part and those after it do not make up the whole",
                     .hint = "delete them: they are done again"});
}

// All parts, by whatever process.
LookPart shared_parts(const LookParts& parts, const LookRequest& request, uint32_t text_checksum,
                      const JobControl& control) {
  const PieceFolder& folder = request.sharing->folder;
  const std::vector<Piece> pieces = pieces_of(request, text_checksum);
  const auto work = [&](size_t i) { return bytes_of(parts.compute(static_cast<int64_t>(i), control)); };
  if (!share_pieces(folder, pieces, work, control)) control.stop_if_cancelled();
  LookPart total;
  for (const Piece& piece : pieces) {
    const std::optional<std::string> note = folder.note_of(piece);
    if (!note)
      throw failure({.where = folder.note_file(piece).string(),
                     .what = "another process has changed it meanwhile",
                     .hint = "let it end, then begin again"});
    const std::string file = folder.note_file(piece).string();
    const LookPart part = part_in(*note, file);
    try {
      add(total, part);
    } catch (const Error& error) {
      throw error.inside(file);
    }
  }
  check_complete(total, request, parts.config(), pieces.front());
  return total;
}

LookPart all_parts(const LookParts& parts, const LookRequest& request, const JobControl& control) {
  LookPart total;
  for (int64_t i = 0; i < parts_of(request.text); ++i) add(total, parts.compute(i, control));
  return total;
}

}  // namespace

uint32_t checksum_of(const ChunkedText& text) {
  const std::string_view tokens(reinterpret_cast<const char*>(text.tokens.data()),
                                text.tokens.size() * sizeof(TokenId));
  return crc32c(fmt::format("{} {} {} ", text.chunk_length, text.stride, text.begin_of_chunk.value_or(-1)) +
                std::string(tokens));
}

Look look(const LoadedModel& model, const LookRequest& request, const JobControl& control) {
  check_key(request);
  // What a run held out shares a token at the ends: predicted in one sequence, fed in the next.
  SLUICE_ASSERT(request.text.stride + 1 >= request.text.room(), "look: sequences overlap");
  const ChunkedText& text = request.text;
  const uint32_t checksum = checksum_of(text);
  const LookParts parts(model, request);
  LookPart all =
      request.sharing ? shared_parts(parts, request, checksum, control) : all_parts(parts, request, control);
  check_effect(request.interventions, all.met);
  Look result = std::move(all.sums);
  result.model = model.path().string();
  result.dtype = model.dtype();
  result.begin_of_text = text.begin_of_text;
  result.key = request.key;
  result.length = text.chunk_length - 1;
  result.text_checksum = checksum;
  std::ranges::sort(result.gates, {}, &GateMeasure::position);
  result.sequences = text.chunks();
  result.key_floor /= static_cast<double>(result.sequences);
  result.late_key_floor /= static_cast<double>(result.sequences);
  result.first_tokens = std::ssize(all.first_tokens);
  result.perplexity = finite_perplexity(model, result.chunks);
  for (GateLayerRelations& layer : result.relations) merge_halves(layer);
  add_estimates(result);
  return result;
}

}  // namespace sluice
