#include "sluice/base/atomic_directory.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sluice/base/assert.h"
#include "sluice/base/atomic_file.h"
#include "sluice/base/error.h"
#include "sluice/base/file.h"
#include "tests/base/expect_error.h"
#include "tests/base/temporary_directory.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

class AtomicDirectories : public testing::Test {
 protected:
  fs::path path(const std::string& name) const { return directory_.path() / name; }

  // Makes `target` with two files, one of them in a folder, and commits it.
  static void make(const fs::path& target) {
    AtomicDirectory directory(target);
    write_file_atomically(directory.path() / "a", "one");
    fs::create_directory(directory.path() / "d");
    write_file_atomically(directory.path() / "d" / "b", "two");
    directory.commit();
  }

  static void expect_made(const fs::path& target) {
    EXPECT_EQ(read_text(target / "a", 10), "one");
    EXPECT_EQ(read_text(target / "d" / "b", 10), "two");
    EXPECT_EQ(std::distance(fs::directory_iterator(target), {}), 2);
  }

  TemporaryDirectory directory_;
};

TEST_F(AtomicDirectories, a_commit_puts_all_files_in_place_at_once) {
  AtomicDirectory directory(path("model"));
  write_file_atomically(directory.path() / "a", "one");
  EXPECT_EQ(directory.path().parent_path(), directory_.path()) << "a rename must not cross file systems";
  EXPECT_FALSE(fs::exists(path("model")));
  directory.commit();
  EXPECT_EQ(read_text(path("model") / "a", 10), "one");
  EXPECT_EQ(directory_.entries(), 1U);
}

TEST_F(AtomicDirectories, may_have_folders_in_them) {
  make(path("model"));
  expect_made(path("model"));
  EXPECT_EQ(directory_.entries(), 1U);
}

TEST_F(AtomicDirectories, may_be_empty) {
  AtomicDirectory(path("model")).commit();
  EXPECT_TRUE(fs::is_empty(path("model")));
}

TEST_F(AtomicDirectories, without_a_commit_nothing_is_left) {
  {
    const AtomicDirectory directory(path("model"));
    write_file_atomically(directory.path() / "a", "one");
    fs::create_directory(directory.path() / "d");
    write_file_atomically(directory.path() / "d" / "b", "two");
    EXPECT_EQ(directory_.entries(), 1U);
  }
  EXPECT_EQ(directory_.entries(), 0U);
}

TEST_F(AtomicDirectories, a_name_with_a_slash_behind_it_is_the_same_name) {
  make(path("model") / "");
  expect_made(path("model"));
}

TEST_F(AtomicDirectories, a_name_without_a_folder_is_one_in_the_current_folder) {
  const fs::path old = fs::current_path();
  fs::current_path(directory_.path());
  make("model");
  fs::current_path(old);
  expect_made(path("model"));
}

TEST_F(AtomicDirectories, folders_above_are_made) {
  make(path("x/y/model"));
  expect_made(path("x/y/model"));
  EXPECT_EQ(std::distance(fs::directory_iterator(path("x/y")), {}), 1);
}

TEST_F(AtomicDirectories, an_empty_directory_is_filled) {
  fs::create_directory(path("model"));
  make(path("model"));
  expect_made(path("model"));
  EXPECT_EQ(directory_.entries(), 1U);
}

TEST_F(AtomicDirectories, an_empty_directory_stays_empty_without_a_commit) {
  fs::create_directory(path("model"));
  { const AtomicDirectory directory(path("model")); }
  EXPECT_TRUE(fs::is_empty(path("model")));
  EXPECT_EQ(directory_.entries(), 1U);
}

TEST_F(AtomicDirectories, a_directory_with_files_is_refused_and_untouched) {
  fs::create_directory(path("model"));
  directory_.file("model/old", "kept");
  EXPECT_ERROR(AtomicDirectory(path("model")), ErrorKind::Failed,
               path("model").string() + ": is not empty (give a name that does not exist yet)");
  EXPECT_EQ(read_text(path("model/old"), 10), "kept");
  EXPECT_EQ(directory_.entries(), 1U);
}

// Somebody else may fill it while the files are made.
TEST_F(AtomicDirectories, a_directory_that_got_files_meanwhile_is_untouched) {
  {
    AtomicDirectory directory(path("model"));
    write_file_atomically(directory.path() / "a", "one");
    fs::create_directory(path("model"));
    directory_.file("model/old", "kept");
    EXPECT_ERROR(directory.commit(), ErrorKind::Failed,
                 path("model").string() + ": cannot rename: Directory not empty");
  }
  EXPECT_EQ(read_text(path("model/old"), 10), "kept");
  EXPECT_FALSE(fs::exists(path("model/a")));
  EXPECT_EQ(directory_.entries(), 1U);
}

TEST_F(AtomicDirectories, a_file_is_refused_and_untouched) {
  directory_.file("model", "a file");
  EXPECT_ERROR(AtomicDirectory(path("model")), ErrorKind::Failed,
               path("model").string() + ": is not a directory (give a name that does not exist yet)");
  EXPECT_EQ(read_text(path("model"), 10), "a file");
  EXPECT_EQ(directory_.entries(), 1U);
}

TEST_F(AtomicDirectories, a_file_above_is_a_failure_that_names_the_target) {
  directory_.file("file", "x");
  EXPECT_ERROR(AtomicDirectory(path("file/model")), ErrorKind::Failed,
               path("file/model").string() + ": cannot create: Not a directory");
}

TEST_F(AtomicDirectories, an_unwritable_folder_above_is_a_failure_that_names_the_target) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  ::chmod(directory_.path().c_str(), 0500);
  EXPECT_ERROR(AtomicDirectory(path("model")), ErrorKind::Failed,
               path("model").string() + ": cannot create: Permission denied");
  EXPECT_ERROR(AtomicDirectory(path("x/model")), ErrorKind::Failed,
               path("x/model").string() + ": cannot create: Permission denied");
  ::chmod(directory_.path().c_str(), 0700);
  EXPECT_EQ(directory_.entries(), 0U);
}

TEST_F(AtomicDirectories, have_a_name) {
  EXPECT_ERROR(AtomicDirectory(""), ErrorKind::Failed, "the directory to write has no name");
}

TEST_F(AtomicDirectories, are_committed_once) {
  AtomicDirectory directory(path("model"));
  directory.commit();
  EXPECT_THROW(directory.commit(), AssertionError);
}

}  // namespace
}  // namespace sluice
