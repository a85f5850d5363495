// Checkpoints that are not what a run wrote: the one before is used instead.
#include <functional>
#include <nlohmann/json.hpp>

#include "tests/train/runs.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

using Change = std::function<void(nlohmann::ordered_json&)>;

// Well-formed, and as if no program had changed it: version 0.1.0 wrote no checksum of the file.
enum class OwnChecksum { Kept, Removed };

void change_state(const fs::path& checkpoint, OwnChecksum own, const Change& change) {
  std::ifstream in(checkpoint / "state.json");
  auto json = nlohmann::ordered_json::parse(in);
  in.close();
  change(json);
  if (own == OwnChecksum::Removed) json.erase("own_checksum");
  std::ofstream(checkpoint / "state.json") << json.dump(2);
}

TEST_F(Runs, skip_a_damaged_checkpoint_for_the_one_before_it) {
  train("whole", small_run());
  train("run", small_run(), 9);
  const fs::path newest = directory_.path() / "run" / "checkpoints" / "step-000008";
  ASSERT_TRUE(fs::exists(newest));
  fs::resize_file(newest / "optimizer.safetensors", 100);
  train("run", small_run());
  EXPECT_NE(messages_.str().find("a checkpoint is skipped"), std::string::npos) << messages_.str();
  EXPECT_EQ(weights("run"), weights("whole"));
}

TEST_F(Runs, skip_a_checkpoint_in_which_one_bit_has_changed) {
  train("whole", small_run());
  train("run", small_run(), 9);
  const fs::path file = directory_.path() / "run/checkpoints/step-000008/model.safetensors";
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  const auto middle = static_cast<std::streamoff>(fs::file_size(file) / 2);
  char byte = 0;
  stream.seekg(middle).get(byte);
  stream.seekp(middle).put(static_cast<char>(byte ^ 1));
  stream.close();
  train("run", small_run());
  EXPECT_NE(messages_.str().find("damaged: not what was written"), std::string::npos) << messages_.str();
  EXPECT_EQ(weights("run"), weights("whole"));
}

TEST_F(Runs, without_any_usable_checkpoint_are_refused_and_nothing_is_lost) {
  train("run", small_run(), 9);
  for (const auto& entry : fs::directory_iterator(directory_.path() / "run" / "checkpoints"))
    fs::resize_file(entry.path() / "state.json", 3);
  EXPECT_THROW(train("run", small_run()), Error);
  EXPECT_TRUE(fs::exists(directory_.path() / "run" / "checkpoints" / "step-000008"));
}

class ImpossibleStates : public Runs, public testing::WithParamInterface<std::pair<const char*, int64_t>> {};

TEST_P(ImpossibleStates, are_skipped_for_the_checkpoint_before) {
  train("whole", small_run());
  for (const OwnChecksum own : {OwnChecksum::Kept, OwnChecksum::Removed}) {
    const std::string name = own == OwnChecksum::Kept ? "kept" : "removed";
    train(name, small_run(), 9);
    change_state(directory_.path() / name / "checkpoints/step-000008", own,
                 [](nlohmann::ordered_json& json) { json[GetParam().first] = GetParam().second; });
    messages_.str("");
    train(name, small_run());
    EXPECT_NE(messages_.str().find("a checkpoint is skipped"), std::string::npos) << messages_.str();
    EXPECT_NE(messages_.str().find("going on after step 5"), std::string::npos) << messages_.str();
    EXPECT_TRUE(fs::exists(directory_.path() / name / "checkpoints/damaged-000008"));
    EXPECT_EQ(weights(name), weights("whole"));
  }
}

INSTANTIATE_TEST_SUITE_P(Keys, ImpossibleStates,
                         testing::Values(std::pair("position", 1 << 20), std::pair("position", 3),
                                         std::pair("epoch", 7), std::pair("step", 4), std::pair("tokens", 1),
                                         std::pair("best_step", 9)));

TEST_F(Runs, skip_a_checkpoint_whose_state_names_other_data_but_was_not_written_so) {
  train("whole", small_run());
  train("run", small_run(), 9);
  change_state(directory_.path() / "run/checkpoints/step-000008", OwnChecksum::Kept,
               [](nlohmann::ordered_json& json) { json["data"][0] = 1; });
  train("run", small_run());
  EXPECT_EQ(weights("run"), weights("whole"));
}

TEST_F(Runs, skip_a_checkpoint_whose_configuration_is_another_but_was_not_written_so) {
  train("whole", small_run());
  train("run", small_run(), 9);
  const fs::path config = directory_.path() / "run/checkpoints/step-000008/config.json";
  std::ifstream in(config);
  auto json = nlohmann::ordered_json::parse(in);
  in.close();
  json["rope_theta"] = 5;
  std::ofstream(config) << json.dump(2);
  train("run", small_run());
  EXPECT_EQ(weights("run"), weights("whole"));
}

}  // namespace
}  // namespace sluice
