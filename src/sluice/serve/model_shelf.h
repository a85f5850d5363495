// The models that a server shows. Each is loaded when it is first needed, by the thread that computes, and
// stays; anybody may look at those that are there.
#pragma once

#include <atomic>
#include <filesystem>
#include <list>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "sluice/infer/loaded_model.h"
#include "sluice/probe/calibration.h"
#include "sluice/serve/byte_cache.h"

namespace sluice::serve {

class ShelvedModel {
 public:
  // The page asks for those of one point. Of a gate with a value per channel they take 0.5 MB in a 1.7B
  // model.
  static constexpr size_t kMostMeans = 8;

  std::string id;
  std::filesystem::path path;
  std::optional<ModelConfig> config = {};  // none: it cannot be read, and `error` says why
  std::string error = {};

  // Null before load().
  const LoadedModel* loaded() const { return loaded_; }

  // The error of a configuration that cannot be read, if so.
  const ModelConfig& known_config() const;

  // Means over example texts, by the points of their taps, each counted as one (example_calibration.h).
  ByteCache<Calibration> example_means{kMostMeans};

  // Weights of models of a usual size stay packed; those of large ones would be in memory twice.
  Packing packing() const;

 private:
  friend class ModelShelf;
  std::unique_ptr<const LoadedModel> owned_;
  std::atomic<const LoadedModel*> loaded_ = nullptr;
};

class ModelShelf {
 public:
  // The engine must outlive it.
  ModelShelf(Engine& engine, const std::vector<std::filesystem::path>& paths, const ModelOptions& options);

  const std::list<ShelvedModel>& models() const { return models_; }
  const ModelOptions& options() const { return options_; }

  // An HttpError of status 404 if there is none.
  ShelvedModel& find(const std::string& id);

  // For the thread that computes. What it throws if it cannot be loaded is thrown at every try.
  const LoadedModel& load(ShelvedModel& model, const JobControl& control = {});

 private:
  Engine& engine_;
  ModelOptions options_;
  std::list<ShelvedModel> models_;
};

// Its text comes from data/backcopy.h: nothing in a checkpoint says so, but whoever made it named it.
bool is_of_nursery(const ShelvedModel& model);

nlohmann::ordered_json to_json(const ShelvedModel& model, const ModelOptions& options);

// As people tell them apart: the last part of each path, more of it where that is not enough.
std::vector<std::string> distinct_names(const std::vector<std::filesystem::path>& paths);

}  // namespace sluice::serve
