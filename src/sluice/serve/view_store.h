// Views of recent subjects and the large values of their layers, within a bound of memory. What is asked for
// and not there is computed, by the thread that computes.
#pragma once

#include <memory>
#include <string>

#include "sluice/analysis/prompt_view.h"
#include "sluice/analysis/view_predictions.h"
#include "sluice/serve/byte_cache.h"
#include "sluice/serve/subject.h"

namespace sluice::serve {

struct StoredView {
  std::string name, model_id;
  const LoadedModel& model;
  Packing packing;
  std::vector<std::string> change_texts;
  PromptView view;
  NextTokens next;  // behind the last token, with as many rows as anybody may ask for
};

using ViewHandle = std::shared_ptr<const StoredView>;
using DetailHandle = std::shared_ptr<const LayerDetail>;

class ViewStore {
 public:
  static constexpr size_t kMaxRows = 200;  // of the table of the next token

  explicit ViewStore(size_t bytes) : views_(bytes / 2), details_(bytes - bytes / 2) {}

  // Null if it is not there, or if nobody has asked for this text yet: its tokens are for the thread that
  // computes to find, so that a long one keeps nobody waiting.
  ViewHandle find(const Subject& subject);
  DetailHandle find_layer(const StoredView& view, int64_t layer);

  // `cached` tells whether it was there.
  struct Obtained {
    ViewHandle view;
    bool cached = true;
  };
  Obtained obtain(const Subject& subject, ModelShelf& shelf, const JobControl& control);
  DetailHandle obtain_layer(const StoredView& view, int64_t layer);

  size_t bytes() const { return views_.bytes() + details_.bytes(); }

 private:
  void put_layer(const std::string& view, LayerDetail detail);

  // Of two hashes and their places in the cache; so many names that they outlive the views.
  static constexpr size_t kNameBytes = 256, kNames = 8192;

  ByteCache<std::string> names_{kNameBytes * kNames};  // of views, by text_name()
  ByteCache<StoredView> views_;
  ByteCache<LayerDetail> details_;
};

}  // namespace sluice::serve
