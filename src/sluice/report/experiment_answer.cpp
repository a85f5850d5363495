#include "sluice/report/experiment_answer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

#include "sluice/base/error.h"
#include "sluice/base/suggest.h"
#include "sluice/experiment/experiment_effects.h"
#include "sluice/report/experiment_parts.h"

namespace sluice {
namespace {

constexpr const char* kBeyondNumbers = "beyond all numbers";
constexpr NumberFormat kNats{.style = NumberStyle::Fixed, .digits = 3, .sign = NumberSign::Always};

std::string text_within(const std::optional<MeanInterval>& mean, const std::optional<Interval>& possible,
                        const NumberFormat& format) {
  return cell_text(cell_over_seeds(mean, possible), {.name = "", .format = format});
}

std::string text_of(const std::optional<MeanInterval>& mean, const NumberFormat& format) {
  return text_within(mean, {}, format);
}

std::string effect_text(double effect) {
  return std::isinf(effect) ? kBeyondNumbers : number_text(effect, kNats);
}

// What the words between two braces stand for.
class Placeholder {
 public:
  Placeholder(const ExperimentResult& result, std::vector<std::string> words)
      : result_(result), words_(std::move(words)) {}

  std::string text() const {
    if (is("uniform", 1)) return fmt::format("{:.3f}", result_.sink_floor);
    if (is("seeds", 2)) return fmt::format("{}", counted_runs(result_, variant()).size());
    if (is("sinks", 2)) return fmt::format("{}", sinks());
    if (is("sinkless", 2)) return fmt::format("{}", std::ssize(counted_runs(result_, variant())) - sinks());
    if (is("mean", 3)) return mean_text();
    if (is("each", 3)) return each_text();
    if (is("difference", 3)) return difference_text();
    if (is("minus", 4)) return minus_text();
    if (is("slope", 3)) return slope_text();
    if (is("effect", 3)) return effects().empty() ? "–" : mean_effect_text();
    if (is("against", 3)) return against_text();
    if (is("worse", 3)) return effects().empty() ? "–" : worse_text();
    if (is("lowest", 3)) return effects().empty() ? "–" : effect_text(std::ranges::min(effects()));
    if (is("highest", 3)) return effects().empty() ? "–" : effect_text(std::ranges::max(effects()));
    if (is("median", 3)) return effects().empty() ? "–" : effect_text(median_effect());
    throw unknown();
  }

  Error unknown() const {
    return bad_input({.where = result_.experiment.name + ".json: answer",
                      .what = fmt::format("{{{}}} is no number of this experiment", fmt::join(words_, " ")),
                      .hint = nearest_hint()});
  }

 private:
  bool is(std::string_view verb, size_t words) const {
    return words_.size() == words && words_.front() == verb;
  }

  // What may stand at that place: a variant behind all else, and in front of it a figure or an intervention.
  std::vector<std::string> known_at(size_t place) const {
    std::set<std::string> known;
    if (place > 1 || place + 1 == words_.size()) {
      for (const PlannedVariant& each : result_.variants) known.insert(each.point.name());
      for (const ExperimentVariant& each : result_.experiment.variants) known.insert(each.name);
    } else {
      for (const ExperimentFigure& figure : experiment_figures()) known.insert(figure.key);
      if (result_.experiment.breaking)
        for (const PlannedIntervention& each : result_.experiment.breaking->interventions)
          known.insert(as_one_word(each.name));
    }
    return {known.begin(), known.end()};
  }

  // What the first word that means nothing here was most likely meant to be.
  std::string nearest_hint() const {
    for (size_t place = 1; place < words_.size(); ++place) {
      const std::vector<std::string> known = known_at(place);
      if (std::ranges::find(known, words_[place]) != known.end()) continue;
      if (std::string hint = did_you_mean(words_[place], known); !hint.empty()) return hint;
    }
    return "docs/experiments.md lists what may stand there";
  }

  const PlannedVariant& variant(const std::string& name) const {
    const PlannedVariant* found = find_variant(result_.variants, name);
    if (found == nullptr) throw unknown();
    return *found;
  }

  // What they end with.
  const PlannedVariant& variant() const { return variant(words_.back()); }

  const ExperimentFigure& figure() const {
    const auto figures = experiment_figures();
    const auto found = std::ranges::find(figures, words_[1],
                                         [](const ExperimentFigure& each) { return std::string(each.key); });
    if (found == figures.end()) throw unknown();
    return *found;
  }

  NumberFormat format(NumberSign sign = NumberSign::IfNegative) const {
    return {.style = NumberStyle::Fixed, .digits = figure().digits, .sign = sign};
  }

  int64_t sinks() const {
    return std::ranges::count_if(counted_runs(result_, variant()),
                                 [&](const MeasuredTraining* run) { return has_sink(result_, *run); });
  }

  std::string mean_text() const {
    return text_within(figure_over_seeds(result_, variant(), figure().value), possible_values(figure()),
                       format());
  }

  // Where two kinds of models are in one mean: "0.015, 0.163, 0.460". A digit less than means have.
  std::string each_text() const {
    std::vector<double> values = values_over_seeds(result_, variant(), figure().value);
    std::ranges::sort(values);
    std::vector<std::string> texts;
    for (const double value : values) texts.push_back(fmt::format("{:.{}f}", value, figure().digits - 1));
    return texts.empty() ? "–" : fmt::format("{}", fmt::join(texts, ", "));
  }

  std::string difference_text() const {
    if (!is_compared(result_, variant())) throw unknown();
    return text_within(planned_difference(result_, variant(), figure().value).shown(),
                       possible_differences(figure()), format(NumberSign::Always));
  }

  // Of any figure and any two variants; whether that was planned is said with it.
  std::string minus_text() const {
    const PlannedVariant& minuend = variant(words_[2]);
    const DifferenceAtLook at_look = difference_between(result_, minuend, variant(), figure().value);
    const std::string text =
        text_within(at_look.shown(), possible_differences(figure()), format(NumberSign::Always));
    const bool is_planned = figure().is_compared && is_compared(result_, minuend) &&
                            reference_of(result_, minuend).point.name() == variant().point.name();
    return is_planned ? text : text + " (not planned)";
  }

  // Of a variant under all conditions, so its name is without one.
  std::string slope_text() const {
    const std::vector<ExperimentVariant>& variants = result_.experiment.variants;
    const auto found = std::ranges::find(variants, words_.back(), &NamedChanges::name);
    if (!result_.experiment.slope || found == variants.begin() || found == variants.end()) throw unknown();
    return text_of(planned_slope(result_, words_.back(), figure().value).shown(), format(NumberSign::Always));
  }

  // Of the plan; names have _ for spaces here.
  size_t intervention() const {
    if (!result_.experiment.breaking) throw unknown();
    const auto& plan = result_.experiment.breaking->interventions;
    const auto found = std::ranges::find(
        plan, words_[1], [](const PlannedIntervention& each) { return as_one_word(each.name); });
    if (found == plan.end()) throw unknown();
    return static_cast<size_t>(found - plan.begin());
  }

  // A variant may lack what is changed: an answer has nothing to say of that.
  std::vector<double> effects() const {
    const size_t place = intervention();
    if (!variant().can_be_given.at(place)) throw unknown();
    return effects_on_loss(result_, variant(), place);
  }

  std::string mean_effect_text() const {
    const EffectAtLook effect = effect_at_look(result_, variant(), intervention());
    return effect.beyond > 0 ? kBeyondNumbers : text_of(effect.planned.shown(), kNats);
  }

  std::string worse_text() const {
    return fmt::format("{} of {}", worse_by_more(effects(), result_.experiment.equal_loss), effects().size());
  }

  std::string against_text() const {
    const size_t place = intervention();
    const std::optional<size_t> other = result_.experiment.breaking->interventions[place].against;
    if (!other || !variant().can_be_given.at(place) || !variant().can_be_given.at(*other)) throw unknown();
    const EffectAtLook effect = effect_at_look(result_, variant(), place, other);
    if (effect.beyond > 0)
      return fmt::format("no number, with {} beyond all numbers", counted_text(effect.beyond, "model"));
    return text_of(effect.planned.shown(), kNats);
  }

  double median_effect() const {
    std::vector<double> sorted = effects();
    std::ranges::sort(sorted);
    const size_t n = sorted.size();
    return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
  }

  const ExperimentResult& result_;
  std::vector<std::string> words_;
};

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

}  // namespace

void check_answer(const ExperimentResult& planned) {
  for (const std::string& paragraph : planned.experiment.answer.paragraphs) filled_in(paragraph, planned);
}

std::string filled_in(const std::string& paragraph, const ExperimentResult& result) {
  std::string text;
  for (size_t at = 0; at < paragraph.size();) {
    const size_t open = std::min(paragraph.find('{', at), paragraph.size());
    text += paragraph.substr(at, open - at);
    if (open == paragraph.size()) break;
    const size_t close = paragraph.find('}', open);
    const Placeholder placeholder(result, words_of(paragraph.substr(open + 1, close - open - 1)));
    if (close == std::string::npos) throw placeholder.unknown();
    text += placeholder.text();
    at = close + 1;
  }
  return text;
}

}  // namespace sluice
