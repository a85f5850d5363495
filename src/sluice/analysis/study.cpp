#include "sluice/analysis/study.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "sluice/analysis/first_words.h"
#include "sluice/analysis/model_names.h"
#include "sluice/base/error.h"
#include "sluice/eval/calibration_text.h"
#include "sluice/model/config_reader.h"
#include "sluice/model/count.h"
#include "sluice/model/model_checksum.h"

namespace sluice {
namespace {

constexpr int64_t kContextTokens = 8;  // before a token that is shown; half as many behind it

int64_t standard_inputs(const TextSource& source) {
  const auto* files = std::get_if<DataFiles>(&source);
  return files == nullptr ? 0 : std::ranges::count(files->paths, "-");
}

void check_readable(const StudyRequest& request) {
  if (request.models.empty()) throw usage_error({.where = "MODEL", .what = "no model is given"});
  const int64_t inputs =
      standard_inputs(request.source) + (request.second ? standard_inputs(*request.second) : 0);
  if (inputs > 1 || (inputs == 1 && request.models.size() > 1))
    throw usage_error({.where = "-", .what = "standard input can be read only once, for one model"});
  if (inputs > 0 && request.sharing.joins)
    throw usage_error({.where = "-", .what = "several processes cannot share standard input"});
}

std::string context_of(const LoadedModel& model, const Chunk& chunk, int64_t position) {
  const std::span<const TokenId> ids(chunk.ids);
  const int64_t begin = std::max<int64_t>(0, position - kContextTokens);
  const int64_t end = std::min(std::ssize(ids), position + 1 + kContextTokens / 2);
  const auto part = [&](int64_t from, int64_t to) {
    return model.decode(ids.subspan(static_cast<size_t>(from), static_cast<size_t>(to - from)));
  };
  return part(begin, position) + "[" + part(position, position + 1) + "]" + part(position + 1, end);
}

void add_contexts(Look& look, const LoadedModel& model, const ChunkedText& text) {
  const auto context = [&](const Chunk& chunk, int64_t position) {
    return model.has_tokenizer() ? context_of(model, chunk, position) : std::string();
  };
  for (ActivationMeasure& measure : look.activations) {
    for (ActivationLayer& layer : measure.layers) {
      const Chunk chunk = text.chunk(layer.largest.sequence);
      layer.largest.token = chunk.ids[static_cast<size_t>(layer.largest.position)];
      layer.largest.context = context(chunk, layer.largest.position);
    }
  }
  if (!model.has_tokenizer()) return;
  for (auto& [id, token] : look.by_token) token.text = model.decode(std::span(&id, 1));
  for (GateLayerRelations& layer : look.relations)
    for (GateHeadRelations& head : layer.by_head)
      for (GateExtremes* extremes : {&head.extremes.open, &head.extremes.closed})
        for (GateMoment& moment : extremes->moments())
          moment.context = context(text.chunk(moment.sequence), moment.position);
}

std::vector<TokenId> prompt_ids(const LoadedModel& model, const StudyRequest::Prompt& prompt,
                                const ChunkedText& text) {
  std::vector<TokenId> ids = prompt.text ? model.encode(*prompt.text) : text.chunk(0).ids;
  if (ids.empty()) throw usage_error({.where = "--prompt", .what = "has no token"});
  if (!prompt.text) ids.resize(std::min(ids.size(), static_cast<size_t>(prompt.tokens)));
  return ids;
}

std::vector<int64_t> map_layers(const StudyRequest::Prompt& prompt, int64_t layers) {
  if (!prompt.map_layers) return spread_layers(layers);
  if (prompt.map_layers->largest() >= layers) {
    throw usage_error({.where = "--layers",
                       .what = "the model does not have this layer",
                       .expected = fmt::format("0 to {}", layers - 1),
                       .got = std::to_string(prompt.map_layers->largest())});
  }
  std::vector<int64_t> chosen;
  for (int64_t layer = 0; layer < layers; ++layer)
    if (prompt.map_layers->contains(layer)) chosen.push_back(layer);
  return chosen;
}

bool has_output_gate(const ModelConfig& config) {
  return std::ranges::any_of(config.gates,
                             [](const GateSpec& gate) { return gate.position == GatePosition::G1; });
}

// Everything that a model is asked, read before it runs: what cannot be read must not cost a pass.
struct PreparedStudy {
  LookRequest look;
  std::optional<PromptMapRequest> prompt = {};
  std::vector<LabelledSamples> types = {};
  std::optional<LookRequest> second = {}, first_words = {};
};

std::vector<LabelledSamples> prepare_types(const LoadedModel& model, const StudyRequest& request,
                                           const JobControl& control) {
  std::vector<LabelledSamples> types;
  if (request.types.empty() || !has_output_gate(model.config())) return types;
  if (!model.has_tokenizer()) {
    control.warn("{}: no tokenizer, so types of text are not compared", model.path().string());
    return types;
  }
  for (const LabelledTexts& type : request.types)
    types.push_back(samples_of(model, type, request.type_length));
  return types;
}

// The longest sequence that the model will see.
int64_t longest_sequence(const PreparedStudy& prepared, const StudyRequest& request) {
  int64_t tokens = prepared.look.text.chunk_length - 1;
  if (prepared.second) tokens = std::max(tokens, prepared.second->text.chunk_length - 1);
  if (prepared.prompt) tokens = std::max(tokens, std::ssize(prepared.prompt->ids));
  if (!prepared.types.empty()) tokens = std::max(tokens, request.type_length);
  return tokens;
}

void add_interventions(const LoadedModel& model, const StudyRequest& request, PreparedStudy& prepared,
                       const JobControl& control) {
  const CalibrationText calibration{.files = request.calibration,
                                    .cut = {.tokens = longest_sequence(prepared, request),
                                            .begin_of_text = prepared.look.text.begin_of_text}};
  const std::vector<Intervention> changes =
      calibrated_interventions(model, request.interventions, calibration, control);
  prepared.look.interventions = changes;
  if (prepared.second) prepared.second->interventions = changes;
  if (prepared.first_words) prepared.first_words->interventions = changes;
  if (prepared.prompt) prepared.prompt->interventions = changes;
}

PreparedStudy prepare(const LoadedModel& model, const StudyRequest& request, const JobControl& control) {
  parse_interventions(request.interventions, model.config());  // a mistake costs no reading
  const auto look_at = [&](const TextSource& source, const ChunkOptions& chunks) {
    return LookRequest{.text = read_chunks(model, source, chunks, control), .key = request.key};
  };
  PreparedStudy prepared{.look = look_at(request.source, request.chunks)};
  if (request.second) prepared.second = look_at(*request.second, request.second_chunks);
  if (request.first_words > 0 && !model.config().gates.empty()) {
    prepared.first_words = LookRequest{.text = first_words(prepared.look.text, request.first_words)};
  }
  prepared.types = prepare_types(model, request, control);
  if (request.prompt) {
    prepared.prompt = PromptMapRequest{.ids = prompt_ids(model, *request.prompt, prepared.look.text),
                                       .map_layers = map_layers(*request.prompt, model.decoder().layers()),
                                       .map_heads = request.prompt->map_heads,
                                       .interventions = {},
                                       .packing = Packing::Keep};
  }
  add_interventions(model, request, prepared, control);
  return prepared;
}

// The looks, which take most of the time.
StudiedModel look_at_model(const LoadedModel& model, const PreparedStudy& prepared,
                           const JobControl& control) {
  StudiedModel studied;
  studied.parameters = count_parameters(model.config()).total();
  studied.look = look(model, prepared.look, control);
  if (prepared.second) studied.second = look(model, *prepared.second, control);
  if (prepared.first_words) studied.first_words = look(model, *prepared.first_words, control);
  return studied;
}

// A model, and what it is asked.
struct AskedModel {
  const LoadedModel& model;
  const StudyRequest& request;
  const PreparedStudy& prepared;
};

void add_the_rest(StudiedModel& studied, const AskedModel& asked, const JobControl& control) {
  const auto& [model, request, prepared] = asked;
  add_contexts(studied.look, model, prepared.look.text);
  if (prepared.second) add_contexts(*studied.second, model, prepared.second->text);
  if (prepared.prompt) {
    studied.prompt = map_prompt(model, *prepared.prompt, control);
    if (request.prompt->lens && prepared.prompt->ids.size() > 1)
      studied.lens = logit_lens(model, {prepared.prompt->ids, prepared.prompt->interventions}, control);
  }
  if (!prepared.types.empty())
    studied.types = compare_input_types(model, {prepared.types, prepared.look.interventions}, control);
}

// What processes that share a study must have in common. The instruction set and the version, because results
// are the same to the last digit only for the same.
JobIdentity identity_of(const LoadedModel& model, const StudyRequest& request,
                        const PreparedStudy& prepared) {
  const auto described = [](const std::optional<LookRequest>& look) {
    return look ? fmt::format("{} chunks of {} tokens, crc32c {:08x}", look->text.chunks(),
                              look->text.chunk_length, checksum_of(look->text))
                : std::string("none");
  };
  const auto checksum = [](const std::string& path) {
    const std::optional<uint32_t> known = checksum_of_source(path);
    return known ? fmt::format("crc32 {:08x}", *known) : path;
  };
  std::string calibration;
  for (const std::string& file : request.calibration) calibration += checksum(file) + " ";
  const auto& prompt = request.prompt;
  return {
      build_identity(),
      {"the number of models", std::to_string(request.models.size())},
      {"the type of weights", std::string(weight_type_name(model.dtype()))},
      {"the instruction set", std::string(name_of(model.engine().isa().isa))},
      {"the model", checksum(model.path().string())},
      {"the text", described(prepared.look)},
      {"what is changed", fmt::format("{}", fmt::join(request.interventions, "; "))},
      {"the calibration text", calibration},
      {"the key", std::to_string(request.key)},
      {"the prompt", prepared.prompt ? fmt::format("{}", fmt::join(prepared.prompt->ids, " ")) : "none"},
      {"how the prompt is drawn", prompt ? fmt::format("heads {}, lens {}", prompt->map_heads, prompt->lens)
                                         : std::string("not at all")},
      {"the types of text", fmt::format("{} of {} tokens", prepared.types.size(), request.type_length)},
      {"the second text", described(prepared.second)},
      {"the first words", described(prepared.first_words)}};
}

// Lets other processes do some of it.
void share_looks(PreparedStudy& prepared, const PieceFolder& folder, size_t number,
                 const std::string& fingerprint) {
  const auto share = [&](LookRequest& look, const char* text) {
    look.sharing = {
        .folder = folder, .name = fmt::format("model-{}/{}", number, text), .fingerprint = fingerprint};
  };
  share(prepared.look, "text");
  if (prepared.second) share(*prepared.second, "second");
  if (prepared.first_words) share(*prepared.first_words, "first-words");
}

void check_same_text(const Study& study, const LookRequest& next, const std::string& path) {
  if (study.models.empty() || study.models.front().look.text_checksum == checksum_of(next.text)) return;
  throw bad_input({.where = path,
                   .what = fmt::format("does not see the same tokens as {}", study.models.front().name),
                   .hint = "a paired comparison needs models with the same tokenizer"});
}

// This process's part in a study.
struct StudyPart {
  const PieceFolder* folder = nullptr;  // none: it is alone
  bool collects = true;
};

Study study_all(Engine& engine, const StudyRequest& request, const StudyPart& part,
                const JobControl& control) {
  Study study{.interventions = request.interventions};
  const std::vector<std::string> names = names_of_models(request.models);
  for (size_t i = 0; i < names.size(); ++i) {
    const LoadedModel model(engine, request.models[i], request.options, control);
    PreparedStudy prepared = prepare(model, request, control);
    if (request.text == TextMatch::Same) check_same_text(study, prepared.look, request.models[i]);
    if (part.folder != nullptr) {
      const JobIdentity identity = identity_of(model, request, prepared);
      part.folder->join(fmt::format("model-{}", i), identity);
      share_looks(prepared, *part.folder, i, fingerprint_of(identity));
    }
    study.models.push_back(look_at_model(model, prepared, control));
    study.models.back().name = names[i];
    if (part.collects) add_the_rest(study.models.back(), {model, request, prepared}, control);
  }
  return study;
}

// What cannot be read must not leave a directory that belongs to it.
void check_before_sharing(Engine& engine, const StudyRequest& request, const JobControl& control) {
  for (const std::string& path : request.models) load_model_config(path);
  const LoadedModel model(engine, request.models.front(), request.options, control);
  prepare(model, request, control);
}

}  // namespace

Study study_models(Engine& engine, const StudyRequest& request, const JobControl& control) {
  check_readable(request);
  if (!request.sharing.joins) {
    Study study = study_all(engine, request, {}, control);
    if (request.publish) request.publish(study);
    return study;
  }
  check_before_sharing(engine, request, control);
  const PieceFolder folder =
      open_pieces(request.out, request.sharing.job,
                  {.kind = "a study", .hint = "--join goes on with it", .can_be_joined_anyhow = false});
  const ResultWork<Study> steps{.work =
                                    [&](bool collects) {
                                      return study_all(engine, request,
                                                       {.folder = &folder, .collects = collects}, control);
                                    },
                                .publish = request.publish};
  std::optional<Study> study = collect(folder, request.sharing.job, steps, control);
  return study ? *std::move(study) : Study{.is_elsewhere = true};
}

}  // namespace sluice
