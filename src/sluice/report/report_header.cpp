#include "sluice/report/report_header.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <chrono>
#include <ctime>

#include "sluice/base/build_info.h"
#include "sluice/base/file.h"
#include "sluice/base/file_system.h"
#include "sluice/model/model_directory.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

std::string utc_time() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm utc = {};
  gmtime_r(&now, &utc);
  char text[32] = {};
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

std::string machine_text(const Engine& engine) {
  const int threads = engine.threads().count();
  return fmt::format("{}, {} on {} {}", engine.cpu().brand, name_of(engine.isa().isa), threads,
                     threads == 1 ? "thread" : "threads");
}

// A part at a time, which is dropped from memory again: the model is mapped once already, by whoever runs it.
uint32_t checksum_with(uint32_t before, const fs::path& file) {
  constexpr size_t kPart = size_t{8} << 20;
  const MappedFile mapped(file);
  uint32_t checksum = before;
  for (std::span<const std::byte> rest = mapped.bytes(); !rest.empty();) {
    const std::span<const std::byte> part = rest.first(std::min(kPart, rest.size()));
    checksum =
        static_cast<uint32_t>(crc32_z(checksum, reinterpret_cast<const Bytef*>(part.data()), part.size()));
    forget_mapped_pages(part);
    rest = rest.subspan(part.size());
  }
  return checksum;
}

bool belongs_to_model(const fs::path& file) {
  return file.filename() == "config.json" || file.extension() == ".safetensors";
}

// What makes a model what it is, in an order that does not depend on the file system. A tokenizer has a
// fingerprint of its own.
std::vector<fs::path> files_of_model(const fs::path& directory) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error))
    if (belongs_to_model(at->path())) files.push_back(at->path());
  if (error) throw system_failure(directory, "cannot read", error);
  std::ranges::sort(files);
  return files;
}

}  // namespace

ReportHeader report_header(const Engine& engine, std::string command) {
  return {.command = std::move(command),
          .version = std::string(build_info().version),
          .machine = machine_text(engine),
          .time = utc_time()};
}

ReportSource report_source(std::string role, const fs::path& path) {
  ReportSource source{.role = std::move(role), .name = path.string()};
  std::error_code unknown;
  std::vector<fs::path> files;
  if (fs::is_directory(path, unknown)) files = files_of_model(model_directory(path));
  if (fs::is_regular_file(path, unknown)) files = {path};
  if (files.empty()) return source;
  uint32_t checksum = 0;
  for (const fs::path& file : files) checksum = checksum_with(checksum, file);
  source.checksum = checksum_text(checksum);
  return source;
}

std::string checksum_text(uint32_t crc32) {
  return fmt::format("crc32 {:08x}", crc32);
}

}  // namespace sluice
