#include "sluice/data/synth.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "sluice/base/assert.h"
#include "sluice/data/synth/grammar.h"
#include "sluice/data/synth/words.h"

namespace sluice {
namespace {

constexpr uint64_t kSamples = 300;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> samples(TextKind kind, uint64_t seed = 1) {
  std::vector<std::string> texts;
  for (uint64_t i = 0; i < kSamples; ++i) texts.push_back(synth_document({kind, seed, i}));
  return texts;
}

class SynthKind : public testing::TestWithParam<TextKind> {};

TEST_P(SynthKind, is_the_same_for_the_same_seed_and_index) {
  EXPECT_EQ(samples(GetParam()), samples(GetParam()));
  EXPECT_NE(samples(GetParam(), 1), samples(GetParam(), 2));
}

TEST_P(SynthKind, hardly_ever_makes_the_same_document_twice) {
  const std::vector<std::string> texts = samples(GetParam());
  EXPECT_GT(std::set<std::string>(texts.begin(), texts.end()).size(), kSamples - 5);
}

TEST(Synth, may_write_code_that_is_longer_than_thousands_of_others) {
  EXPECT_EQ(synth_document({.kind = TextKind::Code, .seed = 1, .index = 25'666}).size(), 1698U);
}

TEST_P(SynthKind, is_plain_ascii_of_bounded_length) {
  for (const std::string& text : samples(GetParam())) {
    EXPECT_GE(text.size(), kMinSynthBytes);
    EXPECT_LE(text.size(), kMaxSynthBytes);
    EXPECT_TRUE(text.ends_with('\n'));
    EXPECT_TRUE(std::ranges::all_of(text, [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }))
        << text;
  }
}

// Nothing of the tables' own syntax, no hole where a word should be.
TEST_P(SynthKind, has_no_traces_of_the_tables) {
  if (GetParam() == TextKind::Code) return;
  for (const std::string& text : samples(GetParam())) {
    EXPECT_EQ(text.find_first_of("{}[]|*^#="), std::string::npos) << text;
    for (const char* trace :
         {"  ", " .", " ,", "\n ", " \n", " a a", " a e", " a i", " a o", " an b", " an s", "..", ";."})
      EXPECT_EQ(text.find(trace), std::string::npos) << '"' << trace << "\" in " << text;
  }
}

INSTANTIATE_TEST_SUITE_P(All, SynthKind, testing::ValuesIn(all_text_kinds().begin(), all_text_kinds().end()),
                         [](const auto& test) { return std::string(name_of(test.param)); });

// The text is part of published figures: changing it is a decision.
TEST(Synth, is_what_it_was) {
  EXPECT_TRUE(synth_document({TextKind::Technical, 1, 0})
                  .starts_with("Service of the wool press\nThe kit contains eight bolts"));
}

TEST(Synth, kinds_differ) {
  std::set<std::string> names, texts;
  for (const TextKind kind : all_text_kinds()) {
    names.emplace(name_of(kind));
    texts.insert(synth_document({kind, 1, 0}));
  }
  EXPECT_EQ(names.size(), 6U);
  EXPECT_EQ(texts.size(), 6U);
}

std::vector<std::string> names_in(const std::string& text) {
  std::vector<std::string> names;
  for (const synth::Patterns table : {synth::women(), synth::men()})
    for (const std::string_view name : table)
      if (text.find(name) != std::string::npos) names.emplace_back(name);
  return names;
}

TEST(Synth, the_end_of_a_story_names_somebody_who_was_introduced) {
  for (const std::string& text : samples(TextKind::Story)) {
    const size_t end = text.find_last_of(".?!", text.size() - 3);
    ASSERT_NE(end, std::string::npos);
    const std::string last = text.substr(end + 1), before = text.substr(0, end + 1);
    ASSERT_FALSE(names_in(last).empty()) << last;
    for (const std::string& name : names_in(last)) {
      const size_t first = before.find(name);
      ASSERT_NE(first, std::string::npos) << name << " is new in: " << text;
      EXPECT_LT(first, 450U) << "introduced at the beginning";
    }
  }
}

struct Count {
  int value;
  bool quoted;  // somebody answers how many there are
};

// All numbers of a story, in words or digits; "One evening" is none.
std::vector<Count> counts_in(const std::string& text) {
  std::vector<Count> counts;
  std::istringstream in(text);
  for (std::string word; in >> word;) {
    const bool quoted = word.starts_with('"');
    std::erase_if(word, [](char c) { return std::string_view(".,;\"").find(c) != std::string_view::npos; });
    for (int n = 1; n < 60; ++n) {
      const std::string number = synth::in_words(n);
      if (word == (quoted ? synth::capitalised(number) : number)) counts.push_back({n, quoted});
    }
  }
  return counts;
}

// First what there is; then for every change what is added or taken, and what there is now.
TEST(Synth, counts_in_a_story_agree_with_what_was_added_and_taken) {
  int changes = 0, answers = 0;
  for (const std::string& text : samples(TextKind::Story)) {
    const std::vector<Count> counts = counts_in(text);
    ASSERT_FALSE(counts.empty()) << text;
    int now = counts[0].value;
    for (size_t i = 1; i < counts.size(); ++i) {
      if (counts[i].quoted) {
        EXPECT_EQ(counts[i].value, now) << text;
        ++answers;
        continue;
      }
      ASSERT_LT(i + 1, counts.size()) << text;
      const int change = counts[i].value, after = counts[++i].value;
      EXPECT_EQ(std::abs(after - now), change) << text;
      now = after;
      ++changes;
    }
  }
  EXPECT_GT(changes, 300);
  EXPECT_GT(answers, 100);
}

TEST(Synth, every_answer_of_a_fact_stands_in_its_text) {
  for (const std::string& text : samples(TextKind::Fact)) {
    const std::string told = text.substr(0, text.find("Question: "));
    int answers = 0;
    for (const std::string& line : lines_of(text)) {
      if (!line.starts_with("Answer: ")) continue;
      ++answers;
      const std::string last_word = line.substr(line.rfind(' ') + 1, line.size() - line.rfind(' ') - 2);
      EXPECT_NE(told.find(last_word), std::string::npos) << last_word << " is not in " << text;
    }
    EXPECT_GE(answers, 3);
  }
}

TEST(Synth, every_step_of_a_manual_that_is_referred_to_names_the_same_part) {
  for (const std::string& text : samples(TextKind::Technical)) {
    const std::vector<std::string> lines = lines_of(text);
    int references = 0;
    for (const std::string& line : lines) {
      const size_t at = line.find(" in step ");
      if (at == std::string::npos) continue;
      const std::string number = line.substr(at + 9, line.size() - at - 10);
      const auto step = std::ranges::find_if(
          lines, [&](const std::string& each) { return each.starts_with(number + ". "); });
      ASSERT_NE(step, lines.end()) << text;
      const size_t label = line.find_first_of("123456789", line.find(". ") + 2) - 1;
      EXPECT_NE(step->find(line.substr(label, 2)), std::string::npos) << line << " refers to " << *step;
      ++references;
    }
    EXPECT_GE(references, 3) << text;
  }
}

TEST(Synth, two_people_take_turns_in_a_dialogue) {
  for (const std::string& text : samples(TextKind::Dialogue)) {
    std::vector<std::string> speakers;
    for (const std::string& line : lines_of(text)) speakers.push_back(line.substr(0, line.find(':')));
    EXPECT_EQ(std::set<std::string>(speakers.begin(), speakers.end()).size(), 2U) << text;
    for (size_t i = 1; i < speakers.size(); ++i) EXPECT_NE(speakers[i], speakers[i - 1]) << text;
  }
}

TEST(Synth, brackets_close_in_code) {
  for (const std::string& text : samples(TextKind::Code)) {
    std::string open;
    for (const char c : text) {
      if (c == '(' || c == '{') open += c;
      if (c != ')' && c != '}') continue;
      ASSERT_FALSE(open.empty()) << text;
      EXPECT_EQ(open.back(), c == ')' ? '(' : '{') << text;
      open.pop_back();
    }
    EXPECT_EQ(open, "") << text;
  }
}

TEST(Synth, blocks_are_indented_by_one_step_in_code) {
  for (const std::string& text : samples(TextKind::Code)) {
    const bool braces = text.find('{') != std::string::npos;
    const size_t step = braces ? 2 : 4;
    size_t depth = 0;
    bool opened = false;
    for (const std::string& line : lines_of(text)) {
      if (line.empty()) continue;
      const size_t indent = line.find_first_not_of(' ');
      EXPECT_EQ(indent % step, 0U) << line;
      EXPECT_TRUE(opened ? indent == depth + step : indent <= depth) << line << " in " << text;
      depth = indent;
      opened = line.ends_with(braces ? '{' : ':');
    }
  }
}

TEST(Synth, code_calls_only_what_was_defined_before) {
  for (const std::string& text : samples(TextKind::Code)) {
    std::set<std::string> defined = {"print", "range", "for", "if", "main"};
    for (const std::string& line : lines_of(text)) {
      const bool definition = line.starts_with("int ") || line.starts_with("def ");
      for (size_t at = line.find('('); at != std::string::npos; at = line.find('(', at + 1)) {
        size_t begin = at;
        while (begin > 0 &&
               (std::isalnum(static_cast<unsigned char>(line[begin - 1])) != 0 || line[begin - 1] == '_'))
          --begin;
        const std::string name = line.substr(begin, at - begin);
        if (name.empty()) continue;
        if (definition) defined.insert(name);
        EXPECT_TRUE(definition || defined.contains(name) || line.find(name + " (") != std::string::npos)
            << name << " in " << text;
      }
    }
  }
}

constexpr std::string_view kFruits[] = {"apple", "plum"};
constexpr synth::Rule kFruitRule[] = {{"fruit", kFruits}};

TEST(SynthWriter, keeps_what_was_set) {
  synth::Dice dice(Random(1));
  synth::Writer writer(dice, kFruitRule);
  const std::string text = writer.text("{x=fruit} {x} {^x}");
  EXPECT_TRUE(text == "apple apple Apple" || text == "plum plum Plum") << text;
  writer.set("x", "key");
  EXPECT_EQ(writer.text("{a x}, {^a x}, \"{^x}\""), "a key, A key, \"Key\"");
}

TEST(SynthWriter, makes_numbers_and_nouns_agree) {
  synth::Dice dice(Random(1));
  synth::Writer writer(dice, {});
  writer.set("n", 1);
  writer.set("m", 3);
  writer.set("many", 50);
  writer.set("it", "box");
  EXPECT_EQ(writer.text("{n*lamp}, {m*lamp}, {m*it}, {m*berry}, {m*key}, {many*lamp}; {m} {#m}"),
            "one lamp, three lamps, three boxes, three berries, three keys, 50 lamps; three 3");
  EXPECT_EQ(writer.text("{^m*lamp}"), "Three lamps");
}

TEST(SynthWriter, refuses_mistakes_in_the_tables) {
  synth::Dice dice(Random(1));
  synth::Writer writer(dice, {});
  EXPECT_THROW(writer.text("{nobody_set_this}"), AssertionError);
  EXPECT_THROW(writer.text("{open"), AssertionError);
  EXPECT_THROW(writer.text("{#n}"), AssertionError);
}

}  // namespace
}  // namespace sluice
