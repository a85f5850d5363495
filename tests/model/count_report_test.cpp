#include "sluice/model/count_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

const CountReport kReport{
    .parameters = {.embedding = 1000, .attention = 500, .gates = 400, .feed_forward = 2000, .norms = 100},
    .flops = {.products = 6600, .gates = 600, .per_context_token = 64}};

TEST(CountReport, tells_what_gates_add_to_the_rest) {
  EXPECT_EQ(to_json(kReport), nlohmann::ordered_json::parse(R"({
    "total": 4000, "active": 4000,
    "parts": {"embedding": 1000, "head": 0, "attention": 500, "gates": 400, "feed_forward": 2000, "router": 0,
              "norms": 100},
    "gate_overhead": {"parameters": 0.1111111111111111, "flops": 0.1},
    "flops_per_token": {"products": 6600, "per_context_token": 64}})"));
}

TEST(CountReport, leaves_out_parts_that_are_not_there) {
  const std::string text = to_text(kReport);
  EXPECT_NE(text.find("total                              4,000  parameters\n"), std::string::npos) << text;
  EXPECT_NE(text.find("gates add 11.111 % parameters and 10.000 % FLOPs\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("router"), std::string::npos) << text;
  EXPECT_EQ(text.find("active"), std::string::npos) << text;
}

}  // namespace
}  // namespace sluice
