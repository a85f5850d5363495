// `sluice explore` as it runs for the tests: the nursery's pair and a deep random model with elementwise
// gates.
#pragma once

#include <memory>
#include <string>

#include "tests/browser/background_process.h"
#include "tests/browser/temporary_folder.h"

namespace sluice::test {

constexpr int kDeepLayers = 24, kDeepHeads = 4, kDeepChannels = 16;

// Of the deep model.
struct DeepShape {
  int layers = kDeepLayers, heads = kDeepHeads, channels = kDeepChannels;
};

class ExploredModels {
 public:
  explicit ExploredModels(const DeepShape& deep = {}, const std::string& program = SLUICE_PROGRAM);

  // http://127.0.0.1:PORT
  const std::string& address() const { return address_; }

 private:
  TemporaryFolder folder_;
  std::unique_ptr<BackgroundProcess> server_;
  std::string address_;
};

}  // namespace sluice::test
