#include "sluice/base/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <thread>
#include <utility>

#include "sluice/base/error.h"
#include "sluice/base/file_system.h"
#include "tests/base/expect_error.h"
#include "tests/base/temporary_directory.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

std::string text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

class Files : public testing::Test {
 protected:
  std::string path(const char* name) const { return (directory_.path() / name).string(); }

  TemporaryDirectory directory_;
};

TEST_F(Files, MappingShowsTheContent) {
  const MappedFile file(directory_.file("a", "hello"));
  EXPECT_EQ(text_of(file), "hello");
}

TEST_F(Files, MappingAnEmptyFileIsEmpty) {
  EXPECT_TRUE(MappedFile(directory_.file("a", "")).bytes().empty());
}

TEST_F(Files, ForgottenPagesComeBackFromTheFile) {
  std::string text(50'000, 'x');
  for (size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>('a' + i % 23);
  const MappedFile file(directory_.file("a", text));
  EXPECT_EQ(text_of(file), text);
  forget_mapped_pages(file.bytes());
  forget_mapped_pages(file.bytes().subspan(100, 20'000));
  forget_mapped_pages(file.bytes().first(10));
  forget_mapped_pages({});
  EXPECT_EQ(text_of(file), text);
}

TEST_F(Files, MappingMovesWithItsOwner) {
  MappedFile first(directory_.file("a", "first"));
  MappedFile second(std::move(first));
  EXPECT_EQ(text_of(second), "first");
  second = MappedFile(directory_.file("b", "second"));
  EXPECT_EQ(text_of(second), "second");
}

TEST_F(Files, MappingOutlivesTheFile) {
  const fs::path file = directory_.file("a", "hello");
  const MappedFile mapped(file);
  fs::remove(file);
  EXPECT_EQ(text_of(mapped), "hello");
}

TEST_F(Files, MissingFileIsBadInput) {
  const std::string line = path("none") + ": cannot open: No such file or directory";
  EXPECT_BAD_INPUT(MappedFile(path("none")), line);
  EXPECT_BAD_INPUT(read_text(path("none"), 10), line);
}

TEST_F(Files, MissingRelativeFileHintsAtTheWorkingDirectory) {
  const std::string hint = "(relative to " + fs::current_path().string() + ")";
  EXPECT_BAD_INPUT(MappedFile("no-such-file"),
                   "no-such-file: cannot open: No such file or directory " + hint);
}

TEST_F(Files, DirectoryIsBadInput) {
  const std::string line =
      directory_.path().string() + ": expected a file, got a directory (name a file inside it)";
  EXPECT_BAD_INPUT(MappedFile(directory_.path()), line);
  EXPECT_BAD_INPUT(read_text(directory_.path(), 10), line);
}

TEST_F(Files, UnreadableFileIsBadInput) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const fs::path file = directory_.file("secret", "x");
  ::chmod(file.c_str(), 0);
  EXPECT_ERROR(
      MappedFile{file}, ErrorKind::BadInput,
      file.string() +
          ": cannot open: Permission denied (check the permissions of the file and its directories)");
}

TEST_F(Files, MappingAPipeIsRefusedWithoutWaiting) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_ERROR(
      MappedFile(path("pipe")), ErrorKind::BadInput,
      path("pipe") + ": expected a regular file, got a pipe or device (save the data to a file first)");
}

TEST_F(Files, ReadTextTakesAFileOfExactlyTheLimit) {
  const std::string content(100'000, 'x');
  EXPECT_EQ(read_text(directory_.file("a", content), content.size()), content);
  EXPECT_EQ(read_text(directory_.file("b", ""), 0), "");
  EXPECT_EQ(read_text(directory_.file("c", "abc"), SIZE_MAX), "abc");
}

TEST_F(Files, ReadTextRefusesALargerFile) {
  const fs::path file = directory_.file("a", "12345");
  EXPECT_BAD_INPUT(read_text(file, 4),
                   file.string() + ": file too large: expected at most 4 bytes, got 5 bytes");
}

TEST_F(Files, ReadTextReadsAPipeInPieces) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  const std::string content(200'000, 'y');
  std::thread writer([&] { directory_.file("pipe", content); });
  EXPECT_EQ(read_text(path("pipe"), 1'000'000), content);
  writer.join();
}

TEST_F(Files, ReadTextStopsAtTheLimitOfAnEndlessDevice) {
  EXPECT_BAD_INPUT(read_text("/dev/zero", 1000),
                   "/dev/zero: file too large: expected at most 1000 bytes, got more");
}

TEST_F(Files, of_a_directory_are_named_in_order) {
  for (const char* name : {"b", "a", ".hidden", "c"}) directory_.file(name, "");
  std::error_code error = std::make_error_code(std::errc::io_error);
  EXPECT_EQ(names_in(directory_.path(), error), (std::vector<std::string>{".hidden", "a", "b", "c"}));
  EXPECT_FALSE(error);
  EXPECT_TRUE(names_in(path("gone"), error).empty());
  EXPECT_EQ(error, std::errc::no_such_file_or_directory);
  EXPECT_TRUE(names_in(path("a"), error).empty());
  EXPECT_EQ(error, std::errc::not_a_directory);
}

}  // namespace
}  // namespace sluice
