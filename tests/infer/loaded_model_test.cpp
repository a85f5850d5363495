#include "sluice/infer/loaded_model.h"

#include "sluice/text/tokenizer_writer.h"
#include "tests/base/expect_error.h"
#include "tests/base/temporary_directory.h"
#include "tests/infer/byte_model.h"
#include "tests/text/small_tokenizer.h"

namespace sluice {
namespace {

const std::filesystem::path kModel = golden("tiny_gate_elementwise");

TEST(LoadedModel, shares_an_engine_with_others) {
  Engine engine;
  const LoadedModel one(engine, kModel), other(engine, golden("tiny_baseline"), {.dtype = DType::I8});
  EXPECT_EQ(&one.engine(), &other.engine());
  EXPECT_EQ(one.dtype(), DType::F32);
  EXPECT_EQ(other.dtype(), DType::I8);
}

// It used to be read as bytes, whatever its tokens were.
TEST(LoadedModel, without_a_tokenizer_refuses_text) {
  Engine engine;
  const LoadedModel model(engine, kModel);
  EXPECT_FALSE(model.has_tokenizer());
  EXPECT_BAD_INPUT(model.encode("text"), kModel.string() +
                                             ": the model has no tokenizer.json (--tokenizer FILE names one, "
                                             "--tokenizer bytes says that its tokens are bytes)");
}

TEST(LoadedModel, takes_bytes_or_a_file_for_its_tokenizer) {
  Engine engine;
  const TemporaryDirectory directory;
  const auto file = directory.file("t.json", test::small_file().dump());
  for (const std::string& name : {std::string("bytes"), file.string()})
    EXPECT_EQ(LoadedModel(engine, kModel, {.tokenizer = name}).encode("ab"), (std::vector<TokenId>{97, 98}));
  EXPECT_BAD_INPUT(
      LoadedModel(engine, kModel, {.tokenizer = kModel.string()}),
      kModel.string() + ": no tokenizer.json in it (name one, or \"bytes\" if its tokens are bytes)");
}

TEST(LoadedModel, has_the_tokenizer_of_its_directory) {
  Engine engine;
  const TemporaryDirectory directory;
  const std::filesystem::path copy = directory.path() / "model";
  std::filesystem::copy(kModel, copy);
  directory.file("model/tokenizer.json", byte_tokenizer_json());
  EXPECT_EQ(LoadedModel(engine, copy).encode("ab"), (std::vector<TokenId>{97, 98}));
  directory.file("model/tokenizer.json", "{");
  EXPECT_THROW(LoadedModel(engine, copy), Error) << "a broken one is not passed over";
}

TEST(WeightTypes, have_the_names_that_people_use) {
  for (const char* name : {"f32", "bf16", "int8"}) EXPECT_EQ(weight_type_name(weight_type(name)), name);
  EXPECT_ERROR(weight_type("fp8"), ErrorKind::Usage,
               "unknown type of weights: expected f32, bf16 or int8, got \"fp8\"");
}

}  // namespace
}  // namespace sluice
