#include "sluice/report/report_header.h"

#include <fmt/format.h>

#include <chrono>
#include <ctime>

#include "sluice/base/build_info.h"
#include "sluice/model/model_checksum.h"

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

}  // namespace

ReportHeader report_header(const Engine& engine, std::string command) {
  return {.command = std::move(command),
          .version = std::string(build_info().version),
          .machine = machine_text(engine),
          .time = utc_time()};
}

ReportSource report_source(std::string role, const fs::path& path) {
  ReportSource source{.role = std::move(role), .name = path.string()};
  if (const std::optional<uint32_t> checksum = checksum_of_source(path))
    source.checksum = checksum_text(*checksum);
  return source;
}

std::string checksum_text(uint32_t crc32) {
  return fmt::format("crc32 {:08x}", crc32);
}

}  // namespace sluice
