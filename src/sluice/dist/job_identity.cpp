#include "sluice/dist/job_identity.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sluice/base/build_info.h"
#include "sluice/base/crc32c.h"

namespace sluice {

Fingerprint build_identity() {
  const BuildInfo build = build_info();
  return {"the build of sluice", fmt::format("{}, {}", build.version, build.compiler)};
}

std::string fingerprint_of(const JobIdentity& identity) {
  std::string all;
  for (const Fingerprint& part : identity) all += part.what + "\n" + part.value + "\n";
  return fmt::format("{:08x}", crc32c(all));
}

nlohmann::ordered_json to_json(const JobIdentity& identity) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const Fingerprint& part : identity) json.push_back({part.what, part.value});
  return json;
}

void check_same_job(const Json& was, const JobIdentity& is, const std::string& where) {
  const std::vector<Json> parts = was.array();
  for (size_t i = 0; i < std::max(parts.size(), is.size()); ++i) {
    const std::string what_was = i < parts.size() ? parts[i].at(size_t{0}).text() : "";
    const std::string value_was = i < parts.size() ? parts[i].at(1).text() : "nothing";
    const Fingerprint now = i < is.size() ? is[i] : Fingerprint{what_was, "nothing"};
    if (i < parts.size() && i < is.size() && what_was == now.what && value_was == now.value) continue;
    throw bad_input({.where = where,
                     .what = fmt::format("was begun with something else: {} differs", now.what),
                     .expected = value_was,
                     .got = now.value,
                     .hint = "the same command goes on; another one needs another --out"});
  }
}

}  // namespace sluice
