// A look whose parts are computed by several processes, here threads with an engine each, is that of one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <nlohmann/json.hpp>
#include <thread>

#include "sluice/analysis/look_part.h"
#include "sluice/base/crc32c.h"
#include "sluice/base/file.h"
#include "sluice/probe/intervention.h"
#include "tests/analysis/planted_model.h"
#include "tests/base/expect_error.h"

namespace sluice {
namespace {

constexpr size_t kMost = 1 << 20;  // bytes of a part

double varied_gate(int64_t layer, int64_t head, TokenId token) {
  return 0.1 + 0.05 * static_cast<double>((layer * 5 + head * 3 + token * 7) % 17);
}

// 11 chunks of 9 tokens: three parts, the last one of three sequences.
ChunkedText varied_text() {
  std::vector<TokenId> tokens;
  for (int i = 0; i < 99; ++i) tokens.push_back(static_cast<TokenId>((i * i + 3 * i) % 16));
  return cut_into_chunks(tokens, {.length = 9}, {});
}

class SharedLook : public testing::Test {
 protected:
  SharedLook() { write_planted_model(path(), {.gate = varied_gate}); }

  std::filesystem::path path() const { return directory_.path() / "planted"; }

  LookSharing sharing(const std::string& fingerprint = "a") const {
    return {.folder = PieceFolder(directory_.path() / "pieces"), .name = "look", .fingerprint = fingerprint};
  }

  std::string looked(std::optional<LookSharing> shared, const JobControl& control = {}) const {
    Engine engine({.threads = 1});
    const LoadedModel model(engine, path());
    return to_json(look(model, {.text = varied_text(), .sharing = std::move(shared)}, control)).dump();
  }

  std::filesystem::path done_file(int part) const {
    return directory_.path() / "pieces" / fmt::format("look+part-{}.done", part);
  }

  TemporaryDirectory directory_;
};

TEST_F(SharedLook, is_that_of_one_process) {
  const std::string alone = looked({});
  std::vector<std::string> shared(3);
  std::vector<std::thread> workers;
  for (std::string& result : shared) workers.emplace_back([&] { result = looked(sharing()); });
  for (std::thread& worker : workers) worker.join();
  for (const std::string& result : shared) EXPECT_EQ(result, alone);
  EXPECT_TRUE(exists(done_file(2)));
  EXPECT_FALSE(exists(done_file(3)));
}

TEST_F(SharedLook, loses_of_a_worker_that_dies_only_the_part_it_had) {
  std::atomic<int> asked = 0;
  const JobControl dies{.cancelled = [&] { return ++asked > 8; }};  // somewhere in its second part
  EXPECT_THROW(looked(sharing(), dies), Error);
  ASSERT_TRUE(exists(done_file(0)));
  ASSERT_FALSE(exists(done_file(2)));
  const auto written = last_write_time(done_file(0));
  EXPECT_EQ(looked(sharing()), looked({}));
  EXPECT_EQ(last_write_time(done_file(0)), written) << "done once";
}

TEST_F(SharedLook, takes_no_part_of_another_look) {
  looked(sharing("another model"));
  const std::string before = read_text(done_file(0), kMost);
  EXPECT_EQ(looked(sharing()), looked({}));
  EXPECT_NE(read_text(done_file(0), kMost), before);
}

// What a part holds besides the sums of a dense model with a gate per head.
struct SharedKind {
  std::string name, model;  // below tests/golden
  int64_t chunks = 9;       // the last part has one sequence
  int64_t key = 0;
  std::string change = {};
};

class SharedKinds : public testing::TestWithParam<SharedKind> {};

TEST_P(SharedKinds, are_those_of_one_process) {
  const SharedKind& kind = GetParam();
  const TemporaryDirectory directory;
  Engine engine({.threads = 1});
  const LoadedModel model(engine, std::filesystem::path(SLUICE_SOURCE_DIR) / "tests/golden" / kind.model);
  std::vector<TokenId> tokens;
  for (int64_t i = 0; i < 9 * kind.chunks; ++i) tokens.push_back(static_cast<TokenId>((i * i + 3 * i) % 31));
  LookRequest request{.text = cut_into_chunks(tokens, {.length = 9}, {}), .key = kind.key};
  if (!kind.change.empty())
    request.interventions = parse_interventions(std::vector<std::string>{kind.change}, model.config());
  const std::string alone = to_json(look(model, request)).dump();
  request.sharing = {.folder = PieceFolder(directory.path() / "pieces"), .name = "look", .fingerprint = "a"};
  EXPECT_EQ(to_json(look(model, request)).dump(), alone) << "computed and read";
  EXPECT_EQ(to_json(look(model, request)).dump(), alone) << "only read";
}

INSTANTIATE_TEST_SUITE_P(
    Looks, SharedKinds,
    testing::Values(SharedKind{.name = "GatesPerChannel", .model = "official/tiny_gate_elementwise"},
                    SharedKind{.name = "NoGates", .model = "official/tiny_baseline", .chunks = 5},
                    SharedKind{.name = "Experts", .model = "moe/qwen2_moe_shared"},
                    SharedKind{.name = "AnotherKey", .model = "official/tiny_gate_headwise", .key = 1},
                    SharedKind{.name = "ChangeOfLastToken",
                               .model = "official/tiny_gate_headwise",
                               .change = "attn.gate set=1 positions=7"}),
    [](const testing::TestParamInfo<SharedKind>& tested) { return tested.param.name; });

// The checksum of a part that was tampered with is right: what it says of itself must still fit.
TEST_F(SharedLook, refuses_parts_that_are_not_of_this_model) {
  const auto refused = [&](const std::function<void(LookPart&)>& change) {
    looked(sharing());
    const std::string text = read_text(done_file(1), kMost);
    const size_t begin = text.find('\n') + 1;
    LookPart part = part_in(text.substr(begin), "a part");
    change(part);
    directory_.file("pieces/look+part-1.done", text.substr(0, begin) + bytes_of(part));
    EXPECT_THROW(looked(sharing()), Error);
    std::filesystem::remove(done_file(1));
  };
  refused([](LookPart& part) { part.sums.gates[0].layers[0].heads = 100; });
  refused([](LookPart& part) { part.sums.gates[0].layers[1].width = 3; });
  refused([](LookPart& part) { part.sums.gates[0].layers[0].channels[1].clear(); });
  refused([](LookPart& part) { part.sums.gates[0].layers[0].layer = 7; });
  refused([](LookPart& part) { part.sums.relations[0].layer = 1'000'000; });
  refused([](LookPart& part) { part.sums.attention[0].layer = -1; });
}

TEST_F(SharedLook, refuses_a_part_that_is_damaged) {
  looked(sharing());
  std::string bytes = read_text(done_file(1), kMost);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  directory_.file("pieces/look+part-1.done", bytes);
  EXPECT_ERROR(looked(sharing()), ErrorKind::BadInput,
               done_file(1).string() + ": is damaged: its checksum is another (delete it: it is done again)");
}

TEST_F(SharedLook, has_parts_that_come_back_from_bytes_as_they_were) {
  Engine engine({.threads = 1});
  const LoadedModel model(engine, path());
  const LookRequest request{.text = varied_text()};
  const std::string bytes = bytes_of(LookParts(model, request).compute(1, {}));
  EXPECT_EQ(bytes_of(part_in(bytes, "a part")), bytes);
  for (const size_t length : {size_t{0}, size_t{8}, size_t{9}, bytes.size() - 1})
    EXPECT_THROW(part_in(bytes.substr(0, length), "a part"), Error) << length;
}

// A right checksum does not make a part right.
TEST_F(SharedLook, refuses_parts_of_another_shape) {
  Engine engine({.threads = 1});
  const LoadedModel model(engine, path());
  const LookRequest request{.text = varied_text()};
  const std::string content = bytes_of(LookParts(model, request).compute(1, {})).substr(9);
  const auto read = [](const std::string& changed) {
    return part_in(fmt::format("{:08x} ", crc32c(changed)) + changed, "a part");
  };
  EXPECT_NO_THROW(read(content));
  EXPECT_ERROR(read(content.substr(0, content.size() - 1)), ErrorKind::BadInput,
               "a part: ends too early (delete it: it is done again)");
  EXPECT_ERROR(read(content + "x"), ErrorKind::BadInput,
               "a part: goes on behind its end (delete it: it is done again)");
  std::string huge = content;
  huge[4 * 8 + 6] = 1;  // the number of sequences: behind the key, the tokens and two floors
  EXPECT_ERROR(read(huge), ErrorKind::BadInput,
               "a part: says it has more than it can have (delete it: it is done again)");
}

}  // namespace
}  // namespace sluice
