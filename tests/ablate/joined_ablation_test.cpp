// Ablations that processes share: who may join, and who goes on alone.
#include "tests/ablate/nursery_ablation.h"
#include "tests/base/expect_error.h"

namespace sluice {
namespace {

class JoinedAblation : public NurseryAblation {
 protected:
  AblationRequest joining(const std::string& out) const {
    AblationRequest request = this->request(out);
    request.plan.groups = {"global"};
    request.plan.layers_with_heads = 0;
    request.sample_tokens = 0;
    request.sharing.joins = true;
    return request;
  }
};

TEST_F(JoinedAblation, of_another_seed_or_plan_is_refused) {
  AblationRequest begun = joining("a");
  const std::string result = result_of(begun);
  EXPECT_EQ(result_of(begun), result) << "the same goes on";
  AblationRequest other = begun;
  other.seed = 1;
  const std::string hint = " (the same command goes on; another one needs another --out)";
  EXPECT_BAD_INPUT(run_ablation(engine_, other),
                   begun.out.string() +
                       ": was begun with something else: the seed of the order of chunks "
                       "differs: expected 0, got 1" +
                       hint);
  other = begun;
  other.plan.global_actions = {"open"};
  try {
    (void)run_ablation(engine_, other);
    ADD_FAILURE() << "joined with another plan";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("the plan of model 1 differs"), std::string::npos)
        << error.what();
  }
}

TEST_F(JoinedAblation, leaves_alone_what_others_have_put_there) {
  AblationRequest joined = joining("foreign");
  std::filesystem::create_directory(joined.out);
  std::ofstream(joined.out / "report.html") << "another's";
  const std::string line = joined.out.string() + ": is not empty (give a name that does not exist yet)";
  EXPECT_ERROR(run_ablation(engine_, joined), ErrorKind::Failed, line);
  joined.sharing = {};
  joined.start = LogStart::Resume;
  EXPECT_ERROR(run_ablation(engine_, joined), ErrorKind::Failed, line);
  AblationRequest alone = joining("alone");
  alone.sharing = {};
  (void)run_ablation(engine_, alone);
  alone.sharing.joins = true;
  EXPECT_ERROR(
      run_ablation(engine_, alone), ErrorKind::Failed,
      alone.out.string() + ": holds an ablation of one process (--resume goes on with it, without --join)");
}

TEST_F(JoinedAblation, is_resumed_alone_from_its_pieces) {
  AblationRequest joined = joining("joined");
  const auto has_a_chunk = [&] {
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(joined.out / ".pieces", none))
      if (entry.path().extension() == ".done") return true;
    return false;
  };
  EXPECT_THROW(run_ablation(engine_, joined, {.cancelled = has_a_chunk}), Error);
  ASSERT_TRUE(has_a_chunk());
  joined.sharing = {};
  EXPECT_ERROR(run_ablation(engine_, joined), ErrorKind::Failed,
               joined.out.string() +
                   ": holds what processes have begun to share (if it is this ablation, --resume or --join "
                   "goes on with it)");
  joined.start = LogStart::Resume;
  const std::string resumed = result_of(joined);
  EXPECT_FALSE(std::filesystem::exists(joined.out / "ablation.log")) << "it begins nothing anew";
  AblationRequest whole = joining("whole");
  whole.sharing = {};
  EXPECT_EQ(resumed, result_of(whole));
}

}  // namespace
}  // namespace sluice
