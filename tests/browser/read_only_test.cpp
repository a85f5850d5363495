// A server that changes nothing: what it would refuse is not offered, and the page says why.
#include "tests/browser/explorer_page.h"

namespace sluice::test {
namespace {

class ReadOnly : public ExplorerPage {
 protected:
  void SetUp() override {
    ExplorerPage::SetUp();
    const std::string nursery = SLUICE_NURSERY;
    server_ = std::make_unique<BackgroundProcess>(
        SLUICE_PROGRAM,
        std::vector<std::string>{"explore", nursery + "/baseline", nursery + "/headwise", "--read-only",
                                 "--port", "0"},
        folder_.path("server.log"));
    address_ = "http://127.0.0.1:" +
               std::to_string(server_->wait_for_number("http://127.0.0.1:", std::chrono::seconds(120)));
  }

  // Before its server goes: a page that is left open goes on fetching, and tells the next test's console that
  // nobody answers.
  void TearDown() override {
    ExplorerPage::TearDown();
    browser().open("about:blank");
  }

  void open_at(const std::string& fragment) {
    browser().open(address_ + "/#" + fragment + "&t=" + kPrompt);
    wait_for_tokens();
  }

 private:
  TemporaryFolder folder_;
  std::unique_ptr<BackgroundProcess> server_;

 protected:
  std::string address_;
};

TEST_F(ReadOnly, offers_no_changes_and_no_continuations) {
  open_at("m=headwise&v=break");
  EXPECT_NE(text_of("#view").find("--read-only"), std::string::npos);
  EXPECT_EQ(count("#add-change"), 0);
  EXPECT_EQ(count("#effects"), 0);
  EXPECT_EQ(count("#beside option[value='=']"), 0);
  // Nor does it ask for one behind the reader's back: a refusal would be on the console.
  browser().run_async("await new Promise((resolve) => setTimeout(resolve, 800)); return 0;");
  open_at("m=headwise&v=next");
  browser().wait_until("document.querySelector('#next-tables tbody tr')", "the table");
  EXPECT_EQ(count("#generate"), 0);
  EXPECT_EQ(count("#seed"), 0);
  EXPECT_EQ(count("#temperature"), 1) << "the table has a column of the sampler";
  EXPECT_NE(text_of("#view").find("--read-only"), std::string::npos);
}

TEST_F(ReadOnly, shows_a_link_with_changes_without_them_and_says_so) {
  open_at("m=headwise&v=attention&b=%3D&x=1_all_0_0_0_closed_1");
  EXPECT_EQ(count(".strip"), 1);
  EXPECT_NE(text_of("#notes").find("The changes in the link are left out"), std::string::npos);
}

TEST_F(ReadOnly, tells_the_story_but_for_what_is_broken) {
  browser().resize(1280, 9000);
  browser().open(address_ + "/story");
  browser().wait_until("document.querySelectorAll(\".chapter[data-state='done']\").length === 7",
                       "seven chapters");
  EXPECT_NE(text_of("#break").find("--read-only"), std::string::npos);
}

}  // namespace
}  // namespace sluice::test
