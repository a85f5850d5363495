#include "sluice/base/atomic_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <thread>
#include <vector>

#include "sluice/base/assert.h"
#include "sluice/base/error.h"
#include "sluice/base/file.h"
#include "tests/base/expect_error.h"
#include "tests/base/temporary_directory.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

// Writes beyond `bytes` fail with EFBIG while this lives, in place of a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : old_handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit limit = {bytes, old_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, old_handler_);
  }

 private:
  void (*old_handler_)(int);
  rlimit old_ = {};
};

class AtomicFiles : public testing::Test {
 protected:
  fs::path path(const char* name) const { return directory_.path() / name; }
  static std::string content(const fs::path& path) { return read_text(path, 1 << 24); }
  static mode_t mode(const fs::path& path) {
    struct stat status = {};
    EXPECT_EQ(::stat(path.c_str(), &status), 0);
    return status.st_mode & 07777;
  }

  TemporaryDirectory directory_;
};

TEST_F(AtomicFiles, CommitPutsTheWholeContentInPlace) {
  AtomicFile file(path("a"));
  const std::string large(300'000, 'x');
  file.write("head ");
  file.write(large);
  file.write(std::as_bytes(std::span(" tail", 5)));
  EXPECT_FALSE(fs::exists(path("a")));
  file.commit();
  EXPECT_EQ(content(path("a")), "head " + large + " tail");
  EXPECT_EQ(directory_.entries(), 1u);
}

TEST_F(AtomicFiles, BytesAlreadyWrittenCanBeReplaced) {
  const std::string large(100'000, 'x');
  AtomicFile file(path("a"));
  file.write("head ");
  file.write(large);
  file.overwrite(0, std::as_bytes(std::span("HEAD", 4)));
  file.write(" tail");
  file.overwrite(large.size() + 6, std::as_bytes(std::span("T", 1)));
  EXPECT_THROW(file.overwrite(large.size() + 10, std::as_bytes(std::span("T", 1))), AssertionError);
  file.commit();
  EXPECT_EQ(content(path("a")), "HEAD " + large + " Tail");
}

TEST_F(AtomicFiles, WithoutCommitNothingChanges) {
  directory_.file("a", "old");
  {
    AtomicFile file(path("a"));
    file.write(std::string(100'000, 'x'));
    EXPECT_EQ(directory_.entries(), 2u);
  }
  EXPECT_EQ(content(path("a")), "old");
  EXPECT_EQ(directory_.entries(), 1u);
}

TEST_F(AtomicFiles, WriteReplacesAnExistingFile) {
  directory_.file("a", "old and longer");
  write_file_atomically(path("a"), "new");
  EXPECT_EQ(content(path("a")), "new");
}

TEST_F(AtomicFiles, WriteOfNothingMakesAnEmptyFile) {
  write_file_atomically(path("a"), "");
  EXPECT_EQ(content(path("a")), "");
}

TEST_F(AtomicFiles, RelativePathWithoutDirectoryWorks) {
  const fs::path old = fs::current_path();
  fs::current_path(directory_.path());
  write_file_atomically("plain", "x");
  fs::current_path(old);
  EXPECT_EQ(content(path("plain")), "x");
}

TEST_F(AtomicFiles, FailureMidwayLeavesTheOldContentAndNoTemporary) {
  directory_.file("a", "old");
  const std::string large(300'000, 'x');
  {
    const FileSizeLimit limit(100'000);
    EXPECT_ERROR(write_file_atomically(path("a"), large), ErrorKind::Failed,
                 path("a").string() + ": cannot write: File too large");
  }
  EXPECT_EQ(content(path("a")), "old");
  EXPECT_EQ(directory_.entries(), 1u);
}

TEST_F(AtomicFiles, AFailedFileCannotBeCommitted) {
  AtomicFile file(path("a"));
  {
    const FileSizeLimit limit(1000);
    EXPECT_THROW(file.write(std::string(100'000, 'x')), Error);
  }
  EXPECT_THROW(file.commit(), AssertionError);
  EXPECT_EQ(directory_.entries(), 0u);
}

TEST_F(AtomicFiles, ACommittedFileTakesNoMoreWrites) {
  AtomicFile file(path("a"));
  file.commit();
  EXPECT_THROW(file.write("x"), AssertionError);
}

TEST_F(AtomicFiles, MissingDirectoryIsAFailure) {
  const fs::path target = path("none") / "a";
  EXPECT_ERROR(AtomicFile{target}, ErrorKind::Failed,
               target.string() + ": cannot open the directory: No such file or directory");
}

TEST_F(AtomicFiles, UnwritableDirectoryIsAFailure) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  directory_.file("a", "old");
  ::chmod(directory_.path().c_str(), 0500);
  EXPECT_ERROR(AtomicFile{path("a")}, ErrorKind::Failed,
               path("a").string() + ": cannot create: Permission denied");
  ::chmod(directory_.path().c_str(), 0700);
  EXPECT_EQ(content(path("a")), "old");
}

TEST_F(AtomicFiles, DirectoriesAndDevicesAreNotReplaced) {
  fs::create_directory(path("d"));
  EXPECT_ERROR(AtomicFile(path("d")), ErrorKind::Failed,
               path("d").string() + ": cannot write: expected a file, got a directory");
  EXPECT_ERROR(AtomicFile("/dev/null"), ErrorKind::Failed,
               "/dev/null: cannot write: expected a file, got a pipe or device");
  EXPECT_ERROR(AtomicFile("/tmp/"), ErrorKind::Failed, "/tmp/: cannot write: not the name of a file");
}

TEST_F(AtomicFiles, ATooLongNameFailsBeforeAnythingIsWritten) {
  const fs::path target = path(std::string(300, 'n').c_str());
  EXPECT_ERROR(AtomicFile{target}, ErrorKind::Failed,
               target.string() + ": cannot create: File name too long");
}

TEST_F(AtomicFiles, NewFilesFollowTheUmask) {
  const mode_t old = ::umask(027);
  write_file_atomically(path("a"), "x");
  ::umask(old);
  EXPECT_EQ(mode(path("a")), 0640u);
}

TEST_F(AtomicFiles, ExistingFilesKeepTheirPermissions) {
  for (const mode_t each : {0600u, 0666u, 0755u, 0444u}) {
    ::chmod(directory_.file("a", "old").c_str(), each);
    write_file_atomically(path("a"), "new");
    EXPECT_EQ(mode(path("a")), each);
    EXPECT_EQ(content(path("a")), "new");
    fs::remove(path("a"));
  }
}

TEST_F(AtomicFiles, TheTemporaryOfAPrivateFileIsPrivate) {
  ::chmod(directory_.file("a", "old").c_str(), 0600);
  const AtomicFile file(path("a"));
  for (const fs::directory_entry& each : fs::directory_iterator(directory_.path())) {
    EXPECT_EQ(mode(each.path()), 0600u) << each.path();
  }
}

TEST_F(AtomicFiles, ALinkStaysALinkAndItsTargetIsReplaced) {
  fs::create_directory(path("d"));
  directory_.file("d/real", "old");
  fs::create_symlink("d/real", path("middle"));
  fs::create_symlink(path("middle"), path("link"));
  write_file_atomically(path("link"), "new");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_TRUE(fs::is_symlink(path("middle")));
  EXPECT_FALSE(fs::is_symlink(path("d") / "real"));
  EXPECT_EQ(content(path("d") / "real"), "new");
}

TEST_F(AtomicFiles, ADanglingLinkGetsItsTargetMade) {
  fs::create_symlink("later", path("link"));
  write_file_atomically(path("link"), "x");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(content(path("later")), "x");
}

TEST_F(AtomicFiles, ALoopOfLinksIsAFailure) {
  fs::create_symlink("b", path("a"));
  fs::create_symlink("a", path("b"));
  EXPECT_ERROR(AtomicFile{path("a")}, ErrorKind::Failed,
               path("a").string() + ": cannot follow the link: Too many levels of symbolic links");
}

TEST_F(AtomicFiles, ConcurrentWritersLeaveOneWholeVersion) {
  write_file_atomically(path("a"), std::string(100'000, '0'));
  std::vector<std::thread> writers;
  for (char letter : {'1', '2', '3'}) {
    writers.emplace_back([this, letter] {
      for (int i = 0; i < 10; ++i) write_file_atomically(path("a"), std::string(100'000, letter));
    });
  }
  for (int i = 0; i < 30; ++i) {
    const std::string seen = content(path("a"));
    EXPECT_EQ(seen, std::string(100'000, seen.at(0)));
  }
  for (std::thread& writer : writers) writer.join();
  const std::string last = content(path("a"));
  EXPECT_EQ(last, std::string(100'000, last.at(0)));
  EXPECT_EQ(directory_.entries(), 1u);
}

}  // namespace
}  // namespace sluice
