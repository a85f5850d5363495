#include "sluice/model/initialisation.h"

#include <cmath>

namespace sluice {
namespace {

double usual_std(const NamedParameter& named, const Initialisation& start) {
  return start.gain ? *start.gain / std::sqrt(static_cast<double>(named.shape.cols())) : start.std;
}

double residual_std(const NamedParameter& named, const Initialisation& start, int64_t layers) {
  const double std = usual_std(named, start);
  return start.residual_by_depth ? std / std::sqrt(2 * static_cast<double>(layers)) : std;
}

}  // namespace

double starting_std(const NamedParameter& named, const Initialisation& start, int64_t layers) {
  if (named.role != ParameterRole::Matrix) return named.std;
  switch (named.use) {
    case MatrixUse::Inner:
    case MatrixUse::Router:
      return usual_std(named, start);
    case MatrixUse::AttentionOutput:
      return start.attention_output * residual_std(named, start, layers);
    case MatrixUse::FeedForwardOutput:
      return residual_std(named, start, layers);
    case MatrixUse::Embedding:
      return start.embedding.value_or(start.gain ? kUsualStd : start.std);
    case MatrixUse::Output:
      return start.output.value_or(usual_std(named, start));
    case MatrixUse::Gate:
      return named.std;
  }
  return named.std;
}

}  // namespace sluice
