// Getters of base/json.h and the exact line of each of their errors. Parsing: json_parse_test.cpp.
#include "sluice/base/json.h"

#include <gtest/gtest.h>

#include "tests/base/expect_error.h"

namespace sluice {
namespace {

enum class Activation { Sigmoid, Tanh };

Json run() {
  return Json::parse(R"({
    "model": {
      "layers": 4, "rate": 0.5, "name": "small", "tied": true, "activation": "sigmoid", "scaling": null,
      "blocks": [{"kind": "dense"}, {"kind": 7}],
      "wrong": "x", "whole": 1.0, "zero": 0, "huge": 18446744073709551615, "negative": -2, "empty": {}, "none": [],
      "long": "0123456789012345678901234567890123456789", "longer": "01234567890123456789012345678901234567890",
      "umlauts": "äöüäöüäöüäöüäöüäöüäöüäöüäöü", "typo": "sigmod", "a key": 1
    }
  })",
                     "run.json");
}

Json model() {
  return run().at("model");
}

Activation activation(const char* key) {
  return model().choice<Activation>(key, {{"sigmoid", Activation::Sigmoid}, {"tanh", Activation::Tanh}});
}

TEST(Json, ReadsValuesByKey) {
  EXPECT_EQ(model().integer("layers", {.min = 1, .max = 8}), 4);
  EXPECT_EQ(model().number("rate", {.min = 0, .max = 1}), 0.5);
  EXPECT_EQ(model().number("layers"), 4.0);
  EXPECT_EQ(model().text("name"), "small");
  EXPECT_TRUE(model().boolean("tied"));
  EXPECT_EQ(activation("activation"), Activation::Sigmoid);
  EXPECT_EQ(model().integer("negative"), -2);
}

TEST(Json, FallsBackWhenAbsentOrNull) {
  EXPECT_EQ(model().integer_or("absent", 3, {.min = 9}), 3);
  EXPECT_EQ(model().integer_or("scaling", 3), 3);
  EXPECT_EQ(model().integer_or("layers", 3), 4);
  EXPECT_EQ(model().number_or("absent", 0.25), 0.25);
  EXPECT_EQ(model().text_or("absent", "y"), "y");
  EXPECT_EQ(model().boolean_or("absent", true), true);
  EXPECT_EQ(model().choice_or("absent", Activation::Tanh, {{"sigmoid", Activation::Sigmoid}}),
            Activation::Tanh);
  EXPECT_EQ(model().choice_or("activation", Activation::Tanh, {{"sigmoid", Activation::Sigmoid}}),
            Activation::Sigmoid);
  EXPECT_BAD_INPUT(model().integer_or("wrong", 3), R"(run.json: model.wrong: expected integer, got "x")");
}

TEST(Json, ContainsMeansPresentAndNotNull) {
  EXPECT_TRUE(model().contains("layers"));
  EXPECT_FALSE(model().contains("absent"));
  EXPECT_FALSE(model().contains("scaling"));
  EXPECT_TRUE(model().at("scaling").is_null());
  EXPECT_BAD_INPUT(model().at("layers").contains("x"), "run.json: model.layers: expected object, got 4");
}

TEST(Json, KeepsTheDocumentAlive) {
  const Json block = run().at("model").at("blocks").at(0);
  EXPECT_EQ(block.text("kind"), "dense");
  EXPECT_EQ(block.where(), "run.json: model.blocks[0]");
}

TEST(Json, IteratesArrays) {
  const std::vector<Json> blocks = model().at("blocks").array();
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_BAD_INPUT(blocks[1].text("kind"), "run.json: model.blocks[1].kind: expected string, got 7");
  EXPECT_TRUE(model().at("none").array().empty());
  EXPECT_BAD_INPUT(model().at("layers").array(), "run.json: model.layers: expected array, got 4");
  EXPECT_BAD_INPUT(model().at("blocks").at(2),
                   "run.json: model.blocks: expected array of at least 3, got an array of 2");
  EXPECT_BAD_INPUT(model().at("layers").at(0), "run.json: model.layers: expected array, got 4");
}

TEST(Json, IteratesObjectsInTheOrderOfKeys) {
  const auto members = Json::parse(R"({"b": 1, "a": 2})", "x").object();
  ASSERT_EQ(members.size(), 2u);
  EXPECT_EQ(members[0].first, "a");
  EXPECT_EQ(members[0].second.integer(), 2);
  EXPECT_EQ(members[1].second.where(), "x: b");
  EXPECT_BAD_INPUT(model().at("blocks").object(),
                   "run.json: model.blocks: expected object, got an array of 2");
}

TEST(Json, MissingKeyIsNamed) {
  EXPECT_BAD_INPUT(model().integer("depth"), "run.json: model.depth: required key is missing");
  EXPECT_BAD_INPUT(run().at("data"), "run.json: data: required key is missing");
}

TEST(Json, IntegerRefusesOtherTypes) {
  EXPECT_BAD_INPUT(model().integer("wrong"), R"(run.json: model.wrong: expected integer, got "x")");
  EXPECT_BAD_INPUT(model().integer("whole"), "run.json: model.whole: expected integer, got 1.0");
  EXPECT_BAD_INPUT(model().integer("tied"), "run.json: model.tied: expected integer, got true");
  EXPECT_BAD_INPUT(model().integer("scaling"), "run.json: model.scaling: expected integer, got null");
  EXPECT_BAD_INPUT(model().integer("empty"), "run.json: model.empty: expected integer, got an empty object");
  EXPECT_BAD_INPUT(model().integer("none"), "run.json: model.none: expected integer, got an empty array");
  EXPECT_BAD_INPUT(run().integer("model"), "run.json: model: expected integer, got an object");
}

TEST(Json, IntegerRefusesValuesOutOfRange) {
  EXPECT_BAD_INPUT(model().integer("zero", {.min = 1}), "run.json: model.zero: expected integer >= 1, got 0");
  EXPECT_BAD_INPUT(model().integer("layers", {.max = 3}),
                   "run.json: model.layers: expected integer <= 3, got 4");
  EXPECT_BAD_INPUT(model().integer("layers", {.min = 5, .max = 8}),
                   "run.json: model.layers: expected integer from 5 to 8, got 4");
  EXPECT_BAD_INPUT(model().integer("huge"),
                   "run.json: model.huge: expected integer <= 9223372036854775807, got 18446744073709551615");
}

TEST(Json, NumberRefusesOtherTypesAndRanges) {
  EXPECT_BAD_INPUT(model().number("wrong"), R"(run.json: model.wrong: expected number, got "x")");
  EXPECT_BAD_INPUT(model().number("negative", {.min = 0}),
                   "run.json: model.negative: expected number >= 0, got -2");
  EXPECT_BAD_INPUT(model().number("rate", {.min = 0, .max = 0.25}),
                   "run.json: model.rate: expected number from 0 to 0.25, got 0.5");
}

TEST(Json, TextAndBooleanRefuseOtherTypes) {
  EXPECT_BAD_INPUT(model().text("layers"), "run.json: model.layers: expected string, got 4");
  EXPECT_BAD_INPUT(model().boolean("zero"), "run.json: model.zero: expected true or false, got 0");
}

TEST(Json, LongValuesAreShortenedBetweenCharacters) {
  EXPECT_BAD_INPUT(
      model().integer("long"),
      R"(run.json: model.long: expected integer, got "0123456789012345678901234567890123456789")");
  EXPECT_BAD_INPUT(
      model().integer("longer"),
      R"(run.json: model.longer: expected integer, got "0123456789012345678901234567890123456...")");
  EXPECT_BAD_INPUT(model().integer("umlauts"),
                   R"(run.json: model.umlauts: expected integer, got "äöüäöüäöüäöüäöüäöü...")");
}

TEST(Json, OddKeysAreQuotedInPaths) {
  EXPECT_BAD_INPUT(model().text("a key"), R"(run.json: model["a key"]: expected string, got 1)");
  EXPECT_BAD_INPUT(model().at(""), R"(run.json: model[""]: required key is missing)");
  EXPECT_BAD_INPUT(model().at("\xff"), "run.json: model[\"\xef\xbf\xbd\"]: required key is missing");
}

TEST(Json, ChoiceNamesTheNearest) {
  EXPECT_BAD_INPUT(
      activation("typo"),
      "run.json: model.typo: expected one of \"sigmoid\", \"tanh\", got \"sigmod\" (did you mean "
      "\"sigmoid\"?)");
  EXPECT_BAD_INPUT(activation("name"),
                   R"(run.json: model.name: expected one of "sigmoid", "tanh", got "small")");
  EXPECT_BAD_INPUT(activation("layers"),
                   R"(run.json: model.layers: expected one of "sigmoid", "tanh", got 4)");
}

TEST(Json, AllowKeysRefusesOthersAndNamesTheNearest) {
  const Json json = Json::parse(R"({"layers": 1, "haeds": 2})", "run.json");
  EXPECT_NO_THROW(json.allow_keys({"layers", "haeds", "more"}));
  EXPECT_BAD_INPUT(json.allow_keys({"layers", "heads"}),
                   R"(run.json: haeds: unknown key (did you mean "heads"?))");
  EXPECT_BAD_INPUT(json.allow_keys({"layers", "width"}),
                   "run.json: haeds: unknown key (valid keys: layers, width)");
  EXPECT_BAD_INPUT(model().at("blocks").allow_keys({"x"}),
                   "run.json: model.blocks: expected object, got an array of 2");
}

TEST(Json, CallersMakeErrorsOfTheirOwn) {
  const Error error = model().at("layers").unexpected("odd number", "gates come in pairs");
  EXPECT_STREQ(error.what(), "run.json: model.layers: expected odd number, got 4 (gates come in pairs)");
}

}  // namespace
}  // namespace sluice
