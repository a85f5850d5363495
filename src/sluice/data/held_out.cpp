#include "sluice/data/held_out.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "sluice/base/error.h"
#include "sluice/base/json.h"
#include "sluice/data/opened_text.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

enum class HeldOutKind { Whole, Documents, Position };
constexpr Choice<HeldOutKind> kHeldOutKinds[] = {{"whole", HeldOutKind::Whole},
                                                 {"documents", HeldOutKind::Documents},
                                                 {"position", HeldOutKind::Position}};

std::vector<HeldOut::File> files_of(const std::vector<TokenShard>& shards) {
  std::vector<HeldOut::File> files;
  for (const TokenShard& shard : shards)
    files.push_back({fs::absolute(shard.name()).lexically_normal().string(), shard.info().checksum});
  return files;
}

HeldOutKind kind_of(const HeldOut& held_out) {
  if (held_out.whole) return HeldOutKind::Whole;
  return held_out.split.rule == SplitRule::Position ? HeldOutKind::Position : HeldOutKind::Documents;
}

void check_is_there(const std::string& path) {
  std::error_code unknown;
  if (fs::exists(path, unknown) || unknown) return;
  throw bad_input({.where = path,
                   .what = "gone: the run held out text of this file",
                   .hint = "if it was moved, --data says where it is"});
}

void check_is_unchanged(const TokenShard& shard, uint32_t checksum) {
  if (shard.info().checksum == checksum) return;
  throw bad_input({.where = shard.name(),
                   .what = "has changed since the run held out text of it",
                   .expected = fmt::format("checksum {:08x}", checksum),
                   .got = fmt::format("{:08x}", shard.info().checksum)});
}

// Texts were tokenized with the run's own.
std::optional<Tokenizer> tokenizer_in(const fs::path& run) {
  std::error_code unknown;
  if (!fs::exists(run / "tokenizer.json", unknown)) return {};
  return Tokenizer::load(run);
}

}  // namespace

HeldOut held_out_of(const std::vector<TokenShard>& shards, int64_t length, const SplitOptions& split) {
  HeldOut held_out{.files = files_of(shards), .length = length, .split = split};
  held_out.split.rule = settled_rule(shards, length, split);
  return held_out;
}

HeldOut held_out_whole(const std::vector<TokenShard>& shards, int64_t length) {
  return {.files = files_of(shards), .length = length, .whole = true};
}

nlohmann::ordered_json to_json(const HeldOut& held_out) {
  nlohmann::ordered_json files = nlohmann::ordered_json::array();
  for (const auto& [path, checksum] : held_out.files)
    files.push_back({{"path", path}, {"checksum", checksum}});
  nlohmann::ordered_json json = {
      {"split", word_for(kHeldOutKinds, kind_of(held_out))}, {"sequence", held_out.length}, {"files", files}};
  if (held_out.whole) return json;
  json["share"] = held_out.split.validation_share;
  if (held_out.split.rule == SplitRule::Documents) json["seed"] = held_out.split.seed;
  return json;
}

fs::path held_out_file(const fs::path& run) {
  return run / "held-out.json";
}

HeldOut read_held_out(const fs::path& run) {
  const fs::path file = held_out_file(run);
  std::error_code unknown;
  if (!fs::exists(file, unknown) && !unknown) {
    throw bad_input(
        {.where = run.string(),
         .what = "the run does not say what it held out",
         .hint = "it has no held-out.json: it kept no text for validation, or began before runs wrote one"});
  }
  const Json json = Json::load(file);
  json.allow_keys({"split", "sequence", "files", "share", "seed"});
  HeldOut held_out{.length = json.integer("sequence", {.min = 2, .max = 1 << 20})};
  for (const Json& each : json.at("files").array()) {
    const IntegerRange sums{.min = 0, .max = std::numeric_limits<uint32_t>::max()};
    held_out.files.push_back({each.text("path"), static_cast<uint32_t>(each.integer("checksum", sums))});
  }
  if (held_out.files.empty()) throw json.at("files").unexpected("at least one file");
  const auto kind = json.choice<HeldOutKind>("split", kHeldOutKinds);
  held_out.whole = kind == HeldOutKind::Whole;
  if (held_out.whole) return held_out;
  held_out.split = {.validation_share = json.number("share", {.min = 0.0, .max = 1.0}),
                    .seed = static_cast<uint64_t>(json.integer_or("seed", 0, {.min = 0})),
                    .rule = kind == HeldOutKind::Position ? SplitRule::Position : SplitRule::Documents};
  return held_out;
}

PackedSequences open_held_out(const HeldOutRequest& request, const Threads& threads,
                              const JobControl& control) {
  const HeldOut held_out = read_held_out(request.run);
  const size_t files = held_out.files.size();
  if (!request.moved.empty() && request.moved.size() != files) {
    throw bad_input({.where = "held-out text",
                     .expected = fmt::format("{} files, in the order of the run", files),
                     .got = std::to_string(request.moved.size())});
  }
  const TextOpening opening{.tokenizer = tokenizer_in(request.run), .threads = threads};
  std::vector<TokenShard> shards;
  for (size_t i = 0; i < files; ++i) {
    const auto& [before, checksum] = held_out.files[i];
    const std::string& path = request.moved.empty() ? before : request.moved[i];
    check_is_there(path);
    check_is_unchanged(shards.emplace_back(open_text(path, opening, control)), checksum);
  }
  // Of files that are for validation alone nothing is kept out: all is what a training split would have.
  return PackedSequences(std::move(shards), {.length = held_out.length,
                                             .split = held_out.whole ? Split::Training : Split::Validation,
                                             .kept_out = held_out.split});
}

}  // namespace sluice
