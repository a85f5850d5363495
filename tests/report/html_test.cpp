#include "sluice/report/html.h"

#include <gtest/gtest.h>

#include <set>

#include "sluice/base/sha256.h"
#include "sluice/report/report_names.h"
#include "sluice/text/markup.h"
#include "tests/report/example_report.h"
#include "tests/report/markup_reader.h"

namespace sluice {
namespace {

const char* const kHostileNames[] = {"plain",
                                     "two words",
                                     "<script>alert(1)</script>",
                                     "\"quoted\" 'too' & more",
                                     "../../x",
                                     "</template></td></style><b>",
                                     "]]> --> <!-- \\",
                                     "\" onclick=\"alert(1)",
                                     "line\nbreak\ttab",
                                     "\xff\xfe no UTF-8 \x01",
                                     ""};

bool has_text(const std::string& page, const std::string& text) {
  return page.find(text) != std::string::npos;
}

TEST(ReportHtml, is_well_formed_whatever_things_are_called) {
  for (const char* name : kHostileNames) {
    const std::string page = html_of(example_report(name));
    ASSERT_NO_THROW(MarkupReader{page}) << name;
    const MarkupReader reader(page);
    EXPECT_EQ(reader.with_tag("script").size(), 1U) << name;
    EXPECT_EQ(reader.with_tag("b").size(), 0U) << name;
    EXPECT_TRUE(reader.values_of("onclick").empty()) << name;
    EXPECT_EQ(reader.with_tag("h1").at(0)->text, "Gates of " + escaped_markup(name));
  }
}

TEST(ReportHtml, shows_a_name_in_every_place_that_has_it) {
  const std::string page = html_of(example_report("<m>"));
  for (const char* place :
       {"<title>Gates of &lt;m&gt;</title>", "<h1>Gates of &lt;m&gt;</h1>", "<p>About &lt;m&gt;</p>",
        "<code>sluice gates &lt;m&gt;</code>", "<dt>model</dt><dd>&lt;m&gt; <code>crc32 00c0ffee</code></dd>",
        "<a href=\"#section-m\">Section &lt;m&gt;</a>", "<h2>Section &lt;m&gt;<", "<h3>Below &lt;m&gt;<",
        "<li>&lt;m&gt;</li>", "<p class=\"note\">&lt;m&gt;</p>", "<pre>&lt;m&gt;\n  b\n</pre>",
        "<td>&lt;m&gt;</td>", "<figcaption>Drawn: &lt;m&gt;</figcaption>", "id=\"figure-_m__gates\""}) {
    EXPECT_TRUE(has_text(page, place)) << place << "\n" << page;
  }
}

TEST(ReportHtml, allows_its_own_script_by_its_hash_and_nothing_else) {
  const MarkupReader reader(html_of(example_report("m")));
  const std::string script = reader.with_tag("script").at(0)->text;
  ASSERT_FALSE(script.empty());
  std::vector<std::string> policies;
  for (const MarkupElement* meta : reader.with_tag("meta"))
    if (meta->attributes.contains("http-equiv")) policies.push_back(meta->attributes.at("content"));
  ASSERT_EQ(policies.size(), 1U);
  EXPECT_EQ(policies[0], "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-" +
                             base64_of(sha256(script)) +
                             "'; img-src data:; base-uri 'none'; form-action 'none'");
}

TEST(ReportHtml, loads_nothing) {
  const std::string page = html_of(example_report("m"));
  const MarkupReader reader(page);
  EXPECT_TRUE(reader.values_of("src").empty());
  EXPECT_TRUE(reader.with_tag("link").empty());
  EXPECT_FALSE(has_text(page, "@import"));
  for (const std::string& target : reader.values_of("href")) EXPECT_TRUE(target.starts_with('#')) << target;
  // The name of the SVG language is an address that nobody visits.
  for (const char* address : {"http:", "https:"}) {
    for (size_t at = 0; (at = page.find(address, at)) != std::string::npos; ++at)
      EXPECT_EQ(page.substr(at, 26), "http://www.w3.org/2000/svg");
  }
}

TEST(ReportHtml, has_every_link_of_its_contents_and_every_id_once) {
  const MarkupReader reader(html_of(example_report("m")));
  const std::vector<std::string> ids = reader.values_of("id");
  const std::set<std::string> unique(ids.begin(), ids.end());
  EXPECT_EQ(unique.size(), ids.size());
  EXPECT_GE(reader.values_of("href").size(), 3U);
  for (const std::string& target : reader.values_of("href"))
    EXPECT_TRUE(unique.contains(target.substr(1))) << target;
  // Two drawings, each clipped by its own path.
  const std::vector<std::string> clips = reader.values_of("clip-path");
  ASSERT_EQ(clips.size(), 2U);
  EXPECT_NE(clips[0], clips[1]);
  for (const std::string& clip : clips) EXPECT_TRUE(unique.contains(clip.substr(5, clip.size() - 6))) << clip;
}

TEST(ReportHtml, has_the_whole_number_for_sorting_and_the_csv_for_saving) {
  const std::string page = html_of(example_report("m"));
  EXPECT_TRUE(has_text(page, "<td class=\"number\" data-value=\"0.4381\">0.44</td>"));
  EXPECT_TRUE(has_text(
      page, "<td class=\"number\" data-value=\"2\">2.00 <span class=\"interval\">[1.50, 2.50]</span></td>"));
  EXPECT_TRUE(has_text(page, "<td class=\"number\">–</td>"));
  EXPECT_TRUE(has_text(page,
                       "<th scope=\"col\" class=\"number\" title=\"over all heads\">mean gate<span "
                       "class=\"unit\">share</span></th>"));
  EXPECT_TRUE(has_text(page, "<template>" + escaped_markup(csv_of(example_table("m"))) + "</template>"));
  EXPECT_TRUE(has_text(page, "data-stem=\"m_gates\" data-table=\"m\""));
}

TEST(ReportHtml, marks_a_verdict_by_word_and_sign) {
  const std::string page = html_of(example_report("m"));
  EXPECT_TRUE(
      has_text(page, "<span class=\"verdict lower\"><span aria-hidden=\"true\">▼</span> lower</span> m</p>"));
}

TEST(ReportHtml, folds_long_tables_and_leaves_the_longest_to_their_files) {
  Table table = example_table("m");
  table.view = TableView::Folded;
  EXPECT_TRUE(
      has_text(html_of({.title = "t", .summary = {table}}), "<summary>Gates of m – 2 rows</summary>"));
  table.view = TableView::FileOnly;
  const std::string page = html_of({.title = "t", .summary = {table}});
  EXPECT_TRUE(has_text(page, "<figcaption>Gates of m – 2 rows, in m.csv</figcaption>"));
  EXPECT_TRUE(has_text(page, "<template>"));
  EXPECT_FALSE(has_text(page, "<table>"));
}

TEST(ReportHtml, nests_deeper_than_there_are_headings) {
  Section section{.title = "deepest"};
  for (int i = 0; i < 8; ++i) section = Section{.title = "s", .subsections = {section}};
  const std::string page = html_of({.title = "t", .sections = {section}});
  EXPECT_NO_THROW(MarkupReader{page});
  EXPECT_TRUE(has_text(page, "<h6>deepest<"));
  EXPECT_FALSE(has_text(page, "<h7"));
}

}  // namespace
}  // namespace sluice
