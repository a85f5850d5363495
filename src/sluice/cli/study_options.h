// The options that gates, attention and compare share: which models are looked at, on what, and where the
// report goes.
#pragma once

#include <nlohmann/json.hpp>

#include "sluice/analysis/study.h"
#include "sluice/cli/chunk_options.h"
#include "sluice/cli/model_input.h"
#include "sluice/cli/text_options.h"
#include "sluice/report/report.h"

namespace sluice::cli {

struct StudyOptions {
  std::vector<std::string> models;
  std::string tokenizer, out;
  bool join = false;
  StudyRequest::Prompt prompt;
  std::optional<std::int64_t> key;
  NonFiniteOption weights;
  TextOptions text;
  ChunkingOptions chunking;
  InterventionOptions interventions;

  void declare(Options& options);
  void declare_prompt(Options& options);  // of those that show one
  void declare_join(Options& options);    // of those that several processes can share

  // How the report was made: from which models and which text.
  ReportHeader header(const Engine& engine, const Session& session) const;

  StudyRequest request(const std::string& command, const Session& session) const;
};

// A study as each of its readers wants it.
struct StudyOutput {
  Report report;
  nlohmann::ordered_json result;
  std::string text;
};

// Prints it, and writes the report and result.json to the directory if one is given.
void finish_study(const StudyOptions& options, const StudyOutput& output, const Session& session);

}  // namespace sluice::cli
