// A file system of a few megabytes in memory, which can really be full. Only this process and its children
// see it, so nothing of it is left even if the test crashes.
#pragma once

#include <sched.h>
#include <sys/mount.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>

namespace sluice::test {

class SmallDisk {
 public:
  explicit SmallDisk(std::filesystem::path path) : path_(std::move(path)) {
    std::filesystem::create_directory(path_);
    if (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("tmpfs", path_.c_str(), "tmpfs", 0, options(kPlenty).c_str()) != 0)
      problem_ = std::string("cannot mount a tmpfs, which root may: ") + std::strerror(errno);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk() {
    if (problem_.empty()) umount2(path_.c_str(), MNT_DETACH);
  }

  // Why there is none; empty if there is one.
  const std::string& problem() const { return problem_; }

  // From now on so many bytes are free.
  bool leave(std::uintmax_t bytes) const {
    const auto space = std::filesystem::space(path_);
    return resize(space.capacity - space.free + bytes);
  }
  bool leave_plenty() const { return resize(kPlenty); }

 private:
  static constexpr std::uintmax_t kPlenty = 64 << 20;

  static std::string options(std::uintmax_t bytes) { return "size=" + std::to_string(bytes); }
  bool resize(std::uintmax_t bytes) const {
    return mount(nullptr, path_.c_str(), nullptr, MS_REMOUNT, options(bytes).c_str()) == 0;
  }

  std::filesystem::path path_;
  std::string problem_;
};

}  // namespace sluice::test
