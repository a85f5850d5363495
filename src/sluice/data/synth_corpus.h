// A file of synthetic text.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "sluice/base/job_control.h"
#include "sluice/data/backcopy.h"
#include "sluice/data/synth.h"

namespace sluice {

struct SynthCorpusRequest {
  std::filesystem::path out;         // .jsonl: a line {"text", "kind"} per document. .txt: one text
  std::vector<TextKind> kinds = {};  // in turn; none: all
  uint64_t seed = 0;
  int64_t documents = 1000;
  std::optional<int64_t> bytes = {};  // of text, instead of a number of documents: at least so many

  // Documents of a BackcopyChain instead of kinds: so many letters each.
  std::optional<int64_t> backcopy_letters = {};
  BackcopyStart backcopy_start = BackcopyStart::Symbol;
};

struct SynthCorpus {
  std::filesystem::path path;
  int64_t documents = 0;
  int64_t bytes = 0;  // of text
};

SynthCorpus write_synth_corpus(const SynthCorpusRequest& request, const JobControl& control = {});

nlohmann::ordered_json to_json(const SynthCorpus& corpus);
std::string to_text(const SynthCorpus& corpus);

}  // namespace sluice
