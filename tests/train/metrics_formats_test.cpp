// metrics.jsonl in its other forms, read back by small readers of our own: CSV tables and TensorBoard events.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "sluice/base/crc32c.h"
#include "sluice/base/error.h"
#include "sluice/base/file.h"
#include "sluice/train/metrics_csv.h"
#include "sluice/train/run_directory.h"
#include "sluice/train/tensorboard.h"
#include "tests/base/temporary_directory.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

struct ReadEvent {
  double time = 0;
  int64_t step = 0;
  std::string version;
  std::map<std::string, float> scalars;
};

// Reads what protocol buffers call a message. Knows the wire format, not what the writer does with it.
class Message {
 public:
  explicit Message(std::string_view bytes) : rest_(bytes) {}

  // The next field's number, or 0 at the end.
  uint64_t next() {
    if (rest_.empty()) return 0;
    const uint64_t key = varint();
    wire_ = key & 7;
    return key >> 3;
  }
  uint64_t varint() {
    uint64_t value = 0;
    for (int shift = 0; !rest_.empty() && shift < 64; shift += 7) {
      const auto byte = static_cast<uint8_t>(rest_.front());
      rest_.remove_prefix(1);
      value |= uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return value;
    }
    ADD_FAILURE() << "a varint without an end";
    return value;
  }
  template <typename T>
  T fixed() {
    EXPECT_EQ(wire_, sizeof(T) == 8 ? 1U : 5U);
    T value{};
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string_view bytes() {
    EXPECT_EQ(wire_, 2U);
    return take(varint());
  }

 private:
  std::string_view take(size_t count) {
    if (count > rest_.size()) throw std::runtime_error("a field beyond the end");
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

  std::string_view rest_;
  uint64_t wire_ = 0;
};

std::pair<std::string, float> read_scalar(std::string_view bytes) {
  std::pair<std::string, float> scalar;
  Message message(bytes);
  while (const uint64_t field = message.next()) {
    if (field == 1) scalar.first = message.bytes();
    if (field == 2) scalar.second = message.fixed<float>();
  }
  return scalar;
}

ReadEvent read_event(std::string_view bytes) {
  ReadEvent event;
  Message message(bytes);
  while (const uint64_t field = message.next()) {
    if (field == 1) event.time = message.fixed<double>();
    if (field == 2) event.step = static_cast<int64_t>(message.varint());
    if (field == 3) event.version = message.bytes();
    if (field != 5) continue;
    Message summary(message.bytes());
    while (summary.next() != 0) event.scalars.insert(read_scalar(summary.bytes()));
  }
  return event;
}

uint32_t unmasked(uint32_t masked) {
  const uint32_t turned = masked - 0xa282ead8U;
  return turned >> 17 | turned << 15;
}

template <typename T>
T number_at(std::string_view bytes, size_t offset) {
  T value{};
  std::memcpy(&value, bytes.substr(offset).data(), sizeof value);
  return value;
}

std::vector<ReadEvent> read_events(std::string_view file) {
  std::vector<ReadEvent> events;
  while (file.size() >= 16) {
    const auto length = number_at<uint64_t>(file, 0);
    if (length > file.size() - 16) break;
    EXPECT_EQ(unmasked(number_at<uint32_t>(file, 8)), crc32c(file.substr(0, 8)));
    EXPECT_EQ(unmasked(number_at<uint32_t>(file, 12 + length)), crc32c(file.substr(12, length)));
    events.push_back(read_event(file.substr(12, length)));
    file.remove_prefix(16 + length);
  }
  EXPECT_TRUE(file.empty()) << "a record that is not whole";
  return events;
}

std::vector<fs::path> event_files(const fs::path& directory) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(directory)) {
    if (entry.path().filename().string().find("tfevents") != std::string::npos) files.push_back(entry.path());
  }
  return files;
}

std::string step_line(int64_t step, double loss) {
  return fmt::format(R"({{"step":{},"loss":{},"rate":0.001,"seconds":{}}})", step, loss, 0.5 * step);
}

std::string validation_line(int64_t step, const std::string& gate = "0.25") {
  return fmt::format(R"({{"step":{},"validation_loss":2.5,"sample":"a, \"b\"","gate":{}}})", step, gate);
}

class MetricsFormats : public testing::Test {
 protected:
  std::string text(const std::string& name) const { return read_text(directory_.path() / name, 1 << 20); }
  std::string events_text() const {
    const std::vector<fs::path> files = event_files(directory_.path());
    EXPECT_EQ(files.size(), 1U);
    return files.empty() ? "" : read_text(files.front(), 1 << 20);
  }

  TemporaryDirectory directory_;
};

TEST_F(MetricsFormats, csv_has_a_table_of_steps_and_one_of_validations) {
  MetricsCsv csv(directory_.path());
  csv.append(metrics_line(nlohmann::ordered_json::parse(step_line(1, 3.25))));
  csv.append(metrics_line(nlohmann::ordered_json::parse(step_line(2, 3.125))));
  csv.append(metrics_line(nlohmann::ordered_json::parse(validation_line(2))));
  EXPECT_EQ(text("train.csv"), "step,loss,rate,seconds\n1,3.25,0.001,0.5\n2,3.125,0.001,1\n");
  EXPECT_EQ(text("validation.csv"), "step,validation_loss,gate\n2,2.5,0.25\n") << "and no texts";
}

TEST_F(MetricsFormats, csv_keeps_its_columns_until_it_is_written_anew) {
  MetricsCsv csv(directory_.path());
  csv.append(metrics_line(nlohmann::ordered_json::parse(R"({"step":1,"loss":2,"rate":null})")));
  csv.append(metrics_line(nlohmann::ordered_json::parse(R"({"step":2,"new, one":4,"loss":1})")));
  EXPECT_EQ(text("train.csv"), "step,loss,rate\n1,2,\n2,1,\n");
  csv.rewrite(read_metrics_lines("{\"step\":1,\"loss\":2}\n{\"step\":2,\"new, one\":4,\"loss\":1}\n"));
  csv.append(metrics_line(nlohmann::ordered_json::parse(R"({"step":3,"loss":0.5,"new, one":5})")));
  EXPECT_EQ(text("train.csv"), "step,loss,\"new, one\"\n1,2,\n2,1,4\n3,0.5,5\n");
  csv.rewrite({});
  EXPECT_FALSE(fs::exists(directory_.path() / "train.csv"));
}

TEST_F(MetricsFormats, events_can_be_read_by_others) {
  TensorBoardEvents writer(directory_.path());
  writer.append(metrics_line(nlohmann::ordered_json::parse(step_line(1, 3.25))));
  writer.append(metrics_line(nlohmann::ordered_json::parse(step_line(int64_t{1} << 40, 3.125))));
  writer.append(metrics_line(nlohmann::ordered_json::parse(validation_line(300, "null"))));
  const std::string name = event_files(directory_.path()).at(0).filename().string();
  EXPECT_TRUE(name.starts_with("events.out.tfevents.") && name.ends_with(".sluice")) << name;
  const std::vector<ReadEvent> events = read_events(events_text());
  ASSERT_EQ(events.size(), 4U);
  EXPECT_EQ(events[0].version, "brain.Event:2");
  EXPECT_EQ(events[1].step, 1);
  EXPECT_EQ(events[1].scalars.at("train/loss"), 3.25F);
  EXPECT_EQ(events[1].scalars.at("train/rate"), 0.001F);
  EXPECT_EQ(events[1].time, events[0].time + 0.5);
  EXPECT_GT(events[0].time, 1.7e9) << "seconds since 1970";
  EXPECT_EQ(events[2].step, int64_t{1} << 40);
  EXPECT_EQ(events[3].step, 300);
  EXPECT_EQ(events[3].scalars, (std::map<std::string, float>{{"validation/loss", 2.5F}}))
      << "no texts, and nothing for null";
  EXPECT_EQ(events[3].time, events[2].time);
}

TEST_F(MetricsFormats, of_a_resumed_run_have_every_step_once) {
  const fs::path path = directory_.path();
  std::string whole;
  {
    RunDirectory run = RunDirectory::create(path, {.config = "{}"});
    for (int64_t step = 1; step <= 4; ++step)
      run.append_metrics(nlohmann::ordered_json::parse(step_line(step, 3)));
    whole = events_text();
    run.append_metrics(nlohmann::ordered_json::parse(validation_line(4)));
    run.append_metrics(nlohmann::ordered_json::parse(step_line(5, 3)));
    run.append_metrics(
        nlohmann::ordered_json::parse(step_line(6, 3)));  // and killed; the checkpoint is of step 4
  }
  RunDirectory run = RunDirectory::open(path);
  run.cut_metrics(4);
  EXPECT_TRUE(events_text().starts_with(whole)) << "the events that stay are the same bytes";
  run.append_metrics(nlohmann::ordered_json::parse(step_line(5, 2)));
  run.append_metrics(nlohmann::ordered_json::parse(validation_line(5)));
  EXPECT_EQ(text("train.csv"),
            "step,loss,rate,seconds\n1,3,0.001,0.5\n2,3,0.001,1\n3,3,0.001,1.5\n"
            "4,3,0.001,2\n5,2,0.001,2.5\n");
  EXPECT_EQ(text("validation.csv"), "step,validation_loss,gate\n4,2.5,0.25\n5,2.5,0.25\n");
  std::vector<int64_t> steps;
  for (const ReadEvent& event : read_events(events_text())) steps.push_back(event.step);
  EXPECT_EQ(steps, (std::vector<int64_t>{0, 1, 2, 3, 4, 4, 5, 5}));
}

TEST_F(MetricsFormats, that_cannot_be_written_are_named) {
  fs::create_directory(directory_.path() / "train.csv");
  MetricsCsv csv(directory_.path());
  try {
    csv.append(metrics_line(nlohmann::ordered_json::parse(step_line(1, 3))));
    FAIL() << "a directory was written";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Failed);
    EXPECT_NE(std::string(error.what()).find("train.csv"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace sluice
