#include "sluice/serve/view_store.h"

#include <fmt/format.h>

#include "sluice/serve/example_calibration.h"

namespace sluice::serve {
namespace {

std::string layer_name(const std::string& view, int64_t layer) {
  return fmt::format("{}/{}", view, layer);
}

}  // namespace

ViewHandle ViewStore::find(const Subject& subject) {
  if (!subject.prompt) return views_.find(view_name(subject, subject.ids));
  const std::shared_ptr<const std::string> name = names_.find(text_name(subject));
  return name ? views_.find(*name) : ViewHandle();
}

DetailHandle ViewStore::find_layer(const StoredView& view, int64_t layer) {
  return details_.find(layer_name(view.name, layer));
}

void ViewStore::put_layer(const std::string& view, LayerDetail detail) {
  const std::string name = layer_name(view, detail.layer);
  const size_t bytes = detail.bytes();
  details_.put(name, std::make_shared<LayerDetail>(std::move(detail)), bytes);
}

ViewStore::Obtained ViewStore::obtain(const Subject& subject, ModelShelf& shelf, const JobControl& control) {
  const LoadedModel& model = shelf.load(*subject.model, control);
  std::vector<TokenId> ids = ids_of(subject, model);
  const std::string name = view_name(subject, ids);
  if (subject.prompt) names_.put(text_name(subject), std::make_shared<const std::string>(name), kNameBytes);
  if (ViewHandle known = views_.find(name)) return {known, true};
  const Packing packing = subject.model->packing();
  PromptViewRequest request{.ids = std::move(ids), .packing = packing};
  request.interventions = calibrated_on_examples(*subject.model, model,
                                                 {subject.interventions, std::ssize(request.ids)}, control);
  ViewHandle unchanged;
  if (!subject.interventions.empty()) {
    Subject sound = subject;
    sound.interventions = {};
    sound.change_texts = {};
    unchanged = views_.find(view_name(sound, request.ids));
    if (unchanged) request.unchanged = &unchanged->view;
  }
  request.seen = [&](LayerDetail detail) { put_layer(name, std::move(detail)); };
  auto stored = std::make_shared<StoredView>(StoredView{.name = name,
                                                        .model_id = subject.model->id,
                                                        .model = model,
                                                        .packing = packing,
                                                        .change_texts = subject.change_texts,
                                                        .view = view_prompt(model, request, control),
                                                        .next = {}});
  stored->next = next_tokens(model, stored->view,
                             {.position = stored->view.length() - 1, .count = kMaxRows, .packing = packing});
  views_.put(name, stored, stored->view.bytes());
  return {stored, false};
}

DetailHandle ViewStore::obtain_layer(const StoredView& view, int64_t layer) {
  if (DetailHandle known = find_layer(view, layer)) return known;
  LayerDetail detail = layer_detail(view.model, view.view, layer, view.packing);
  const size_t bytes = detail.bytes();
  auto handle = std::make_shared<const LayerDetail>(std::move(detail));
  details_.put(layer_name(view.name, layer), handle, bytes);
  return handle;
}

}  // namespace sluice::serve
