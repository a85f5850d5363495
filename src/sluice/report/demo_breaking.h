// The demo's last exhibit: its models, broken. What the ablation is: ablate/ablation.h.
#pragma once

#include <filesystem>
#include <vector>

#include "sluice/ablate/ablation.h"
#include "sluice/report/report.h"

namespace sluice {

struct DemoBreaking {
  AblationResult nursery = {};  // headwise and its ungated twin
  AblationResult text = {};     // headwise, elementwise and baseline
};

// The runs are in `out`, by their variants; the logs go to broken-nursery and broken-text there. A minute on
// two cores, whatever the models have learned: the plans and the chunks are few.
DemoBreaking break_demo(Engine& engine, const std::filesystem::path& out, const std::string& prompt,
                        const JobControl& control = {});

Section breaking_section(const DemoBreaking& broken);

// What the terminal shows of it.
std::string to_text(const DemoBreaking& broken);

}  // namespace sluice
