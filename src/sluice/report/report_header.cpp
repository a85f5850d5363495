#include "sluice/report/report_header.h"

#include <fmt/format.h>

#include "sluice/base/build_info.h"
#include "sluice/base/system.h"
#include "sluice/model/model_checksum.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

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
          .time = utc_time("%Y-%m-%dT%H:%M:%SZ")};
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
