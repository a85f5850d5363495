#include "sluice/ablate/ablation_log.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sluice/base/crc32c.h"
#include "sluice/base/error.h"
#include "sluice/base/file.h"
#include "tests/base/temporary_directory.h"

namespace sluice {
namespace {

const JobIdentity kSame = {{"model 1", "crc32 00000001"}, {"the plan of model 1", "3 runs"}};

class AblationLogTest : public testing::Test {
 protected:
  std::filesystem::path out() const { return directory_.path() / "out"; }
  std::filesystem::path file() const { return out() / "ablation.log"; }
  std::string content() const { return read_text(file(), 1 << 20); }
  void write(const std::string& text) const { std::ofstream(file(), std::ios::binary) << text; }

  static LogEntry entry(int64_t chunk, int64_t run) {
    return {.key = {.chunk = chunk, .run = run},
            .measures = {.nll = {.sum = 1.0 / 3 + static_cast<double>(chunk), .tokens = 7},
                         .kl = 0.1,
                         .changed_top1 = run + 1,
                         .sink = 1e-7,
                         .largest_activation = 123.456}};
  }

  void begin() const {
    AblationLog log(out(), kSame, LogStart::New);
    for (int64_t chunk = 0; chunk < 3; ++chunk)
      log.append(std::vector{entry(chunk, LogKey::kBase), entry(chunk, 0), entry(chunk, 1)});
  }

  std::string refusal(const JobIdentity& identity) const {
    try {
      AblationLog(out(), identity, LogStart::Resume);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::BadInput);
      return error.what();
    }
    return "";
  }

  TemporaryDirectory directory_;
};

TEST_F(AblationLogTest, gives_back_every_bit_that_was_written) {
  begin();
  const AblationLog log(out(), kSame, LogStart::Resume);
  EXPECT_EQ(log.size(), 9u);
  const RunMeasures found = log.find(entry(2, 1).key).value();
  EXPECT_EQ(found.nll.sum, entry(2, 1).measures.nll.sum);
  EXPECT_EQ(found.nll.tokens, 7);
  EXPECT_EQ(found.changed_top1, 2);
  EXPECT_EQ(found.largest_activation, 123.456);
  EXPECT_FALSE(log.find({.chunk = 3}));
}

TEST_F(AblationLogTest, keeps_what_is_not_finite_as_that) {
  LogEntry broken = entry(0, 0);
  broken.measures.nll.sum = std::numeric_limits<double>::infinity();
  {
    AblationLog log(out(), kSame, LogStart::New);
    log.append(std::vector{broken});
    EXPECT_TRUE(std::isnan(log.find(broken.key)->nll.sum)) << "the same as after reading it";
  }
  EXPECT_TRUE(std::isnan(AblationLog(out(), kSame, LogStart::Resume).find(broken.key)->nll.sum));
}

TEST_F(AblationLogTest, cut_at_any_byte_keeps_every_whole_line) {
  begin();
  const std::string whole = content();
  for (size_t length = 0; length <= whole.size(); length += 97) {
    write(whole.substr(0, length));
    const auto lines = std::ranges::count(whole.substr(0, length), '\n');
    AblationLog log(out(), kSame, LogStart::Resume);
    EXPECT_EQ(log.size(), static_cast<size_t>(std::max<int64_t>(lines - 1, 0))) << "at " << length;
    log.append(std::vector{entry(9, 0)});
    EXPECT_TRUE(log.find(entry(9, 0).key));
  }
}

TEST_F(AblationLogTest, refuses_a_line_that_is_damaged_in_the_middle) {
  begin();
  std::string text = content();
  text[text.find("\"chunk\":1") + 8] = '2';
  write(text);
  EXPECT_NE(refusal(kSame).find("line 5: is damaged"), std::string::npos) << refusal(kSame);
}

TEST_F(AblationLogTest, refuses_to_go_on_with_something_else_and_says_what) {
  begin();
  JobIdentity other = kSame;
  other[1].value = "4 runs";
  EXPECT_NE(refusal(other).find("the plan of model 1 differs: expected 3 runs, got 4 runs"),
            std::string::npos)
      << refusal(other);
  other = kSame;
  other.push_back({"text 1 of model 1", "crc32c 5"});
  EXPECT_NE(refusal(other).find("text 1 of model 1 differs"), std::string::npos) << refusal(other);
}

TEST_F(AblationLogTest, refuses_the_log_of_another_version) {
  begin();
  const std::string text = content();
  const std::string header = R"({"sluice_ablation":1,"of":[]})";
  write(fmt::format("{:08x} {}\n", crc32c(header), header) + text.substr(text.find('\n') + 1));
  EXPECT_NE(refusal(kSame).find("is the log of another version of sluice: expected version 4, got 1"),
            std::string::npos)
      << refusal(kSame);
}

TEST_F(AblationLogTest, begins_anew_where_there_is_nothing_to_resume) {
  EXPECT_EQ(AblationLog(out(), kSame, LogStart::Resume).size(), 0u);
  EXPECT_TRUE(std::filesystem::exists(file()));
}

TEST_F(AblationLogTest, replaces_nothing) {
  begin();
  EXPECT_THROW(AblationLog(out(), kSame, LogStart::New), Error);
  const std::filesystem::path other = directory_.path() / "full";
  std::filesystem::create_directory(other);
  std::ofstream(other / "file") << "x";
  EXPECT_THROW(AblationLog::check_is_free(other), Error);
}

TEST_F(AblationLogTest, belongs_to_one_process_at_a_time) {
  const AblationLog log(out(), kSame, LogStart::New);
  EXPECT_THROW(AblationLog(out(), kSame, LogStart::Resume), Error);
}

}  // namespace
}  // namespace sluice
