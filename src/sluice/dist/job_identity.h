// What makes a job the one it is. Whoever goes on with a job, or joins the processes that share it, goes on
// with the same one or is refused.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sluice/base/json.h"
#include "sluice/dist/fingerprint.h"

namespace sluice {

// In the order in which differences are told: what decides about others comes first.
using JobIdentity = std::vector<Fingerprint>;

// The build that does a job, which begins its identity: another one may compute other digits.
Fingerprint build_identity();

// Of all of it, for the pieces of the job.
std::string fingerprint_of(const JobIdentity& identity);

nlohmann::ordered_json to_json(const JobIdentity& identity);

// Bad input that says what is not as it was, in the JSON that to_json() has made.
void check_same_job(const Json& was, const JobIdentity& is, const std::string& where);

}  // namespace sluice
