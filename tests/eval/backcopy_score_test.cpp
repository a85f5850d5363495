#include "sluice/eval/backcopy_score.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "sluice/data/backcopy.h"
#include "sluice/eval/perplexity.h"
#include "tests/base/expect_error.h"
#include "tests/infer/byte_model.h"

namespace sluice {
namespace {

class BackcopyScores : public WithByteModel {};

TEST_F(BackcopyScores, of_a_model_that_knows_nothing_are_those_of_chance) {
  const BackcopyScore score = score_backcopy(
      model_,
      {.seed = 1,
       .documents = 20,
       .interventions = parse_interventions(std::vector<std::string>{"logits set=0"}, model_.config())});
  EXPECT_EQ(score.documents, 20);
  EXPECT_EQ(score.copies + score.others, 20 * 126);
  EXPECT_GT(score.copies, 50);
  EXPECT_NEAR(score.copy_nll, std::log(128), 1e-5);
  EXPECT_NEAR(score.other_nll, std::log(128), 1e-5);
  EXPECT_EQ(score.copy_accuracy, 0) << "the first of equals is no letter";
  // Half a bit to three bits per letter: sparse, but no cycle.
  EXPECT_GT(score.chain_nll, 0.5);
  EXPECT_LT(score.chain_nll, 3.0);
}

TEST_F(BackcopyScores, add_up_to_the_likelihood_of_the_documents) {
  const BackcopyScore score = score_backcopy(model_, {.seed = 2, .documents = 1, .letters = 60});
  const std::string text = BackcopyChain(2).document(uint64_t{1} << 40, 60);
  const ChunkNll whole = chunk_nll(model_.context(), model_.decoder(), model_.encode(text));
  EXPECT_NEAR(score.copy_nll * static_cast<double>(score.copies) +
                  score.other_nll * static_cast<double>(score.others),
              whole.sum, 1e-4);
  EXPECT_NEAR(to_json(score)["excess"].get<double>(), score.other_nll - score.chain_nll, 1e-12);
}

TEST_F(BackcopyScores, of_documents_without_a_start_symbol_leave_it_out_of_what_the_model_sees) {
  const BackcopyScore score =
      score_backcopy(model_, {.seed = 2, .documents = 1, .start = BackcopyStart::Letter, .letters = 60});
  const BackcopyChain chain(2);
  const std::string text = chain.document(uint64_t{1} << 40, 60);
  const ChunkNll seen = chunk_nll(model_.context(), model_.decoder(), model_.encode(text.substr(1)));
  EXPECT_EQ(score.copies + score.others, 59) << "the first letter is given";
  EXPECT_NEAR(score.copy_nll * static_cast<double>(score.copies) +
                  score.other_nll * static_cast<double>(score.others),
              seen.sum, 1e-4);
  // What the chain itself says of the letters that are scored: it knows what was hidden.
  int64_t copies = 0;
  double chain_nll = 0;
  for (size_t i = 2; i < text.size(); ++i) {
    const std::string_view before = std::string_view(text).substr(0, i);
    if (chain.is_copied(before)) {
      ++copies;
    } else {
      chain_nll -= std::log(chain.probability(before, text[i]));
    }
  }
  EXPECT_EQ(score.copies, copies);
  EXPECT_NEAR(score.chain_nll * static_cast<double>(score.others), chain_nll, 1e-9);
}

TEST_F(BackcopyScores, have_sequences_of_the_same_length_whatever_a_document_begins_with) {
  const BackcopyScore symbol = score_backcopy(model_, {.seed = 2, .documents = 1});
  const BackcopyScore letter =
      score_backcopy(model_, {.seed = 2, .documents = 1, .start = BackcopyStart::Letter});
  EXPECT_EQ(symbol.copies + symbol.others, letter.copies + letter.others);
}

TEST_F(BackcopyScores, stop_when_they_are_cancelled) {
  int64_t seen = 0;
  const JobControl control{.progress = [&](const ProgressUpdate& update) { seen = update.done; },
                           .cancelled = [&] { return seen == 2; }};
  EXPECT_ERROR(score_backcopy(model_, {.seed = 2, .documents = 9}, control), ErrorKind::Interrupted,
               "interrupted");
  EXPECT_EQ(seen, 2);
}

}  // namespace
}  // namespace sluice
