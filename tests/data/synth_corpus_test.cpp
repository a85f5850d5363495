#include "sluice/data/synth_corpus.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sluice/data/text_reader.h"
#include "tests/base/expect_error.h"
#include "tests/base/temporary_directory.h"

namespace sluice {
namespace {

class SynthCorpora : public testing::Test {
 protected:
  std::filesystem::path path(const char* name) const { return directory_.path() / name; }

  TemporaryDirectory directory_;
};

TEST_F(SynthCorpora, have_a_document_of_each_kind_in_turn) {
  const SynthCorpus corpus = write_synth_corpus(
      {.out = path("a.jsonl"), .kinds = {TextKind::Code, TextKind::Fact}, .seed = 3, .documents = 3});
  std::vector<std::string> kinds;
  int64_t bytes = 0;
  for_each_object(corpus.path.string(), [&](const Json& line) {
    kinds.push_back(line.text("kind"));
    bytes += std::ssize(line.text("text"));
  });
  EXPECT_EQ(kinds, (std::vector<std::string>{"code", "fact", "code"}));
  EXPECT_EQ(to_json(corpus),
            (nlohmann::ordered_json{{"path", path("a.jsonl").string()}, {"documents", 3}, {"bytes", bytes}}));
}

TEST_F(SynthCorpora, follow_the_progress_of_what_was_asked_for) {
  std::vector<std::string> units;
  int64_t done = 0;
  const auto follow = [&](const ProgressUpdate& update) {
    units.emplace_back(update.unit);
    done = update.done;
  };
  const SynthCorpus corpus = write_synth_corpus({.out = path("a.txt"), .bytes = 2000}, {.progress = follow});
  EXPECT_EQ(units, std::vector<std::string>(static_cast<size_t>(corpus.documents), "bytes"));
  EXPECT_EQ(done, corpus.bytes);
  EXPECT_GE(corpus.bytes, 2000);
}

TEST_F(SynthCorpora, are_not_left_half_written) {
  const JobControl stopped{.cancelled = [left = 3]() mutable { return --left == 0; }};
  EXPECT_THROW(write_synth_corpus({.out = path("a.txt")}, stopped), Error);
  EXPECT_EQ(directory_.entries(), 0U);
}

TEST_F(SynthCorpora, are_text_or_lines_of_json) {
  EXPECT_ERROR(write_synth_corpus({.out = "a.json"}), ErrorKind::Usage,
               "synthetic text: unknown kind of file: expected a name that ends in .jsonl or .txt, got "
               "\"a.json\"");
}

}  // namespace
}  // namespace sluice
