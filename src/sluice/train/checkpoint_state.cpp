#include "sluice/train/checkpoint_state.h"

#include <nlohmann/json.hpp>

#include "sluice/base/atomic_directory.h"
#include "sluice/base/atomic_file.h"
#include "sluice/base/crc32c.h"
#include "sluice/base/error.h"
#include "sluice/base/file.h"
#include "sluice/base/file_system.h"
#include "sluice/base/json.h"
#include "sluice/dist/moment_exchange.h"
#include "sluice/model/checkpoint.h"
#include "sluice/model/checkpoint_writer.h"

namespace sluice {
namespace {

constexpr const char* kOptimizerStem = "optimizer";
constexpr const char* kState = "state.json";
constexpr const char* kOwnChecksum = "own_checksum";

std::string moment_name(Moment which, const NamedParameter& named) {
  return (which == Moment::First ? "first." : "second.") + named.parameter->name;
}

// Every tensor of the optimiser in the order of its file, and how to get hold of it: on all ranks in the same
// order.
std::vector<TensorOutput> optimizer_tensors(Trainer& trainer) {
  const auto exchange =
      std::make_shared<MomentExchange>(trainer.context(), trainer.ranks(), trainer.layout());
  std::vector<TensorOutput> outputs;
  const auto& parameters = trainer.decoder().parameters();
  for (size_t i = 0; i < parameters.size(); ++i) {
    for (const Moment which : {Moment::First, Moment::Second}) {
      outputs.push_back({moment_name(which, parameters[i]),
                         {StoredType::F32, parameters[i].shape},
                         [exchange, &trainer, i, which] {
                           return exchange->gather(trainer.optimizer(), trainer.decoder().parameters()[i], i,
                                                   which);
                         }});
    }
  }
  return outputs;
}

LossHistory read_losses(const Json& json) {
  const IntegerRange counts{.min = 0};
  LossHistory losses;
  for (const Json& loss : json.at("recent_losses").array()) losses.recent.push_back(loss.number());
  losses.spikes = json.integer("spikes", counts);
  // Checkpoints of version 0.1.0 do not have the others.
  losses.first = json.number_or("first_loss", 0);
  losses.in_spike = json.boolean_or("in_spike", false);
  losses.far_steps = json.integer_or("far_steps", 0, counts);
  return losses;
}

std::shared_ptr<const TensorStore> open_optimizer(const std::filesystem::path& directory,
                                                  const Decoder& decoder) {
  auto store = std::make_shared<TensorStore>(directory, kOptimizerStem);
  for (const NamedParameter& named : decoder.parameters()) {
    for (const Moment which : {Moment::First, Moment::Second}) {
      const std::string name = moment_name(which, named);
      const TensorInfo& info = store->info(name);
      if (info.dtype == StoredType::F32 && info.shape == named.shape) continue;
      throw bad_input({.where = store->file_name(name) + ": " + name,
                       .expected = fmt::format("F32 {}", named.shape.text()),
                       .got = fmt::format("{} {}", name_of(info.dtype), info.shape.text())});
    }
  }
  return store;
}

uint32_t checksum_of(const std::filesystem::path& file) {
  const MappedFile mapped(file);
  return crc32c({reinterpret_cast<const char*>(mapped.bytes().data()), mapped.bytes().size()});
}

// Of everything but state.json, which holds them.
nlohmann::ordered_json checksums_of(const std::filesystem::path& directory) {
  std::map<std::string, uint32_t> sums;  // sorted: the same files give the same text
  std::error_code error;
  for (const std::string& name : names_in(directory, error)) sums[name] = checksum_of(directory / name);
  if (error) throw system_failure(directory, "cannot read", error);
  return sums;
}

// Of state.json itself, whatever the order of its keys. A number that changed there is as bad as a weight.
uint32_t state_checksum(nlohmann::json state) {
  state.erase(kOwnChecksum);
  return crc32c(state.dump());
}

// Checkpoints of version 0.1.0 have none.
void check_checksums(const std::filesystem::path& directory, const Json& state) {
  if (state.contains(kOwnChecksum) && state.integer(kOwnChecksum) != state_checksum(state.node()))
    throw bad_input({.where = (directory / kState).string(), .what = "damaged: not what was written"});
  if (!state.contains("checksums")) return;
  const Json checksums = state.at("checksums");
  for (const auto& [name, sum] : checksums.node().items()) {
    const std::filesystem::path file = directory / std::filesystem::path(name).filename();
    if (!sum.is_number_unsigned() || checksum_of(file) != sum.get<uint64_t>())
      throw bad_input({.where = file.string(), .what = "damaged: not what was written"});
  }
}

}  // namespace

nlohmann::ordered_json state_json(const RunState& state) {
  return {{"step", state.step},
          {"tokens", state.tokens},
          {"epoch", state.epoch},
          {"position", state.position},
          {"seconds", state.seconds},
          {"best_loss", state.best_loss},
          {"best_step", state.best_step},
          {"first_loss", state.losses.first},
          {"recent_losses", state.losses.recent},
          {"spikes", state.losses.spikes},
          {"in_spike", state.losses.in_spike},
          {"far_steps", state.losses.far_steps},
          {"stale_validations", state.stale_validations},
          {"data", state.data}};
}

RunState read_state(const Json& json) {
  RunState state;
  const IntegerRange counts{.min = 0};
  state.step = json.integer("step", {.min = 0, .max = int64_t{1} << 30});  // as configurations have it
  state.tokens = json.integer("tokens", counts);
  state.epoch = json.integer("epoch", counts);
  state.position = json.integer("position", counts);
  state.seconds = json.number("seconds", {.min = 0});
  state.best_loss = json.number("best_loss");
  state.best_step = json.integer("best_step", {.min = -1});
  state.losses = read_losses(json);
  // Checkpoints of version 0.1.0 do not have it.
  state.stale_validations = json.integer_or("stale_validations", 0, counts);
  if (json.contains("data")) {
    for (const Json& checksum : json.at("data").array()) state.data.push_back(checksum.integer(counts));
  }
  return state;
}

void write_checkpoint(const std::filesystem::path& directory, Trainer& trainer, const RunState& state,
                      const HubFiles& files, size_t file_bytes) {
  const std::vector<TensorOutput> optimizer = optimizer_tensors(trainer);
  if (!trainer.ranks().is_first()) {
    for (const TensorOutput& each : optimizer) each.values();
    return;
  }
  const Decoder& decoder = trainer.decoder();
  const ParameterSource source{.values = [&](size_t i) { return decoder.parameters()[i].parameter->value; },
                               .stored_type = [](size_t) { return StoredType::F32; }};
  MemoryPool pool;
  AtomicDirectory checkpoint(directory);
  for (const auto& [name, text] : files) write_file_atomically(checkpoint.path() / name, text);
  write_model_tensors(checkpoint.path(), checkpoint_tensors(decoder, pool, source),
                      {.max_bytes = file_bytes});
  write_model_tensors(checkpoint.path(), optimizer, {.max_bytes = file_bytes, .stem = kOptimizerStem});
  nlohmann::ordered_json json = state_json(state);
  json["checksums"] = checksums_of(checkpoint.path());
  json[kOwnChecksum] = state_checksum(nlohmann::json::parse(json.dump()));
  write_file_atomically(checkpoint.path() / kState, json.dump(2) + "\n");
  checkpoint.commit();
}

StoredCheckpoint read_checkpoint(const std::filesystem::path& directory, Engine& engine,
                                 const Decoder& decoder) {
  const Json json = Json::load(directory / kState);
  StoredCheckpoint read{.state = read_state(json), .values = {}, .optimizer = {}};
  // Before the comparison: a damaged config.json is not that of another model.
  check_checksums(directory, json);
  const Checkpoint stored(directory);
  if (stored.config() != decoder.config()) {
    throw failure({.where = directory.string(),
                   .what = "the checkpoint is of another model than the run's configuration describes"});
  }
  read.optimizer = open_optimizer(directory, decoder);
  for (size_t i = 0; i < decoder.parameters().size(); ++i) {
    // Copied: training writes to them, and the mapping is read-only.
    read.values.push_back(stored.read(engine.pool(), i, DType::F32).copy(engine.pool()));
  }
  return read;
}

RunState restore_checkpoint(Engine& engine, Trainer& trainer, std::optional<StoredCheckpoint> stored) {
  Ranks& ranks = trainer.ranks();
  const std::string text = broadcast(ranks, stored ? state_json(stored->state).dump() : "");
  const RunState state = stored ? stored->state : read_state(Json::parse(text, "the run's state"));
  const auto& parameters = trainer.decoder().parameters();
  const MomentExchange exchange(trainer.context(), ranks, trainer.layout());
  // By parameter, in the order of the pieces.
  std::vector<std::vector<Tensor>> first, second;
  for (size_t i = 0; i < parameters.size(); ++i) {
    Parameter& parameter = *parameters[i].parameter;
    parameter.value =
        stored ? stored->values[i] : Tensor::empty(engine.pool(), parameters[i].shape, DType::F32);
    broadcast(ranks, std::as_writable_bytes(parameter.value.values<float>()));
    parameter.drop_packed();
    const auto whole = [&](Moment which) {
      return stored ? stored->optimizer->read(engine.pool(), moment_name(which, parameters[i]),
                                              parameters[i].shape, DType::F32)
                    : Tensor();
    };
    first.push_back(exchange.scatter(whole(Moment::First), parameters[i], i));
    second.push_back(exchange.scatter(whole(Moment::Second), parameters[i], i));
  }
  std::vector<AdamW::Moments> moments;
  std::vector<size_t> next(parameters.size());
  for (const ParameterPiece& piece : trainer.optimizer().pieces()) {
    const size_t i = next[piece.parameter]++;
    moments.push_back({.first = first[piece.parameter][i], .second = second[piece.parameter][i]});
  }
  trainer.optimizer().restore(state.step, std::move(moments));
  return state;
}

}  // namespace sluice
