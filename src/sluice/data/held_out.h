// What a run kept out of its training, on record: held-out.json in its directory. With it the same text can
// be evaluated later.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sluice/base/job_control.h"
#include "sluice/data/packed_sequences.h"

namespace sluice {

struct HeldOut {
  struct File {
    std::string path;       // absolute
    uint32_t checksum = 0;  // of the shard, or of the one that a text makes
  };
  std::vector<File> files = {};  // in this order
  int64_t length = 0;            // tokens of a sequence
  bool whole = false;            // all of the files, which were given for validation alone
  SplitOptions split = {};       // which part otherwise; not Auto
};

// Of training data that a share is kept out of.
HeldOut held_out_of(const std::vector<TokenShard>& shards, int64_t length, const SplitOptions& split);

// Of files that are for validation alone.
HeldOut held_out_whole(const std::vector<TokenShard>& shards, int64_t length);

nlohmann::ordered_json to_json(const HeldOut& held_out);

// Where a run has it.
std::filesystem::path held_out_file(const std::filesystem::path& run);

// Bad input if the run has none: it validated on nothing, or began before there was one.
HeldOut read_held_out(const std::filesystem::path& run);

struct HeldOutRequest {
  std::filesystem::path run;
  std::vector<std::string> moved = {};  // where the files are now; none: where they were
};

// The sequences themselves. Bad input if a file is gone or is not what the run had.
PackedSequences open_held_out(const HeldOutRequest& request, const Threads& threads,
                              const JobControl& control = {});

}  // namespace sluice
