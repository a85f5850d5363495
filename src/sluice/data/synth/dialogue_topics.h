// What people talk about. {who} tells, {who2} listens and asks again; {friend} is somebody else.
#pragma once

#include "sluice/data/synth/topic.h"

namespace sluice::synth {

constexpr WordField kTripWords[] = {{"day", "{day}"},
                                    {"place", "{some_place}"},
                                    {"guest", "{friend}"},
                                    {"dish", "{food}"},
                                    {"gear", "{colour} {thing_noun}"}};
constexpr NumberField kTripNumbers[] = {{"hour", 6, 11}, {"adults", 2, 6}, {"children", 2, 5}};
constexpr SumField kTripSums[] = {{"seats", "adults", "children"}};
constexpr std::string_view kTripOpenings[] = {"{^who2}, about our trip: we leave on {day}.",
                                              "I have planned the trip, {who2}. It will be on {day}."};
constexpr Statement kTripStatements[] = {
    {"We meet at {place}, at {hour} o'clock.", "where do we meet?", "At {place}, at {hour} o'clock."},
    {"{guest} will bring {dish} for everybody.", "who brings the food?",
     "{guest} does. There will be {dish}."},
    {"There are {adults} of us and {children} children, so we need {seats} seats.",
     "how many seats do we need?", "{^seats}: {adults} for us and {children} for the children."},
    {"Please do not forget your {gear}.", "what was I to bring?", "Your {gear}."}};

constexpr WordField kLoanWords[] = {{"tool", "{colour} {thing_noun}"},
                                    {"lender", "{friend}"},
                                    {"spot", "{hiding_place}"},
                                    {"day", "{day}"},
                                    {"flaw", "[the handle|the lid|one corner|the strap]"}};
constexpr NumberField kLoanNumbers[] = {{"paid", 3, 9}, {"rest", 2, 9}};
constexpr SumField kLoanSums[] = {{"price", "paid", "rest"}};
constexpr std::string_view kLoanOpenings[] = {"{^who2}, I have borrowed {a tool} for you.",
                                              "You asked for {a tool}, {who2}. I found one."};
constexpr Statement kLoanStatements[] = {
    {"It belongs to {lender}, so be careful with it.", "whose is it?", "It belongs to {lender}."},
    {"I put it {spot}.", "where did you put it?", "{^spot}."},
    {"It has to go back on {day}.", "when does it have to go back?", "On {day}."},
    {"Look out for {flaw}, it is a little loose.", "what was loose?", "{^flaw} is, a little."},
    {"It costs {price} coins. I have paid {paid}, so {rest} are left to pay.", "how much is left to pay?",
     "{^rest} coins. I paid {paid} of the {price}."}};

constexpr WordField kRecipeWords[] = {
    {"dish", "[plum|onion|walnut|carrot|pumpkin] [pie|soup|bread|stew]"},
    {"secret", "[a spoon of vinegar|grated ginger|a bay leaf|brown butter]"},
    {"pot", "[clay|iron|copper|glass] [pot|dish|pan]"},
    {"cook", "my {kin} {friend}"}};
constexpr NumberField kRecipeNumbers[] = {{"eggs", 2, 6}, {"covered", 21, 45}, {"open", 5, 15}};
constexpr SumField kRecipeSums[] = {{"minutes", "covered", "open"}};
constexpr std::string_view kRecipeOpenings[] = {"Would you like to know how I make {dish}, {who2}?",
                                                "Today I will tell you how {dish} is made, {who2}."};
constexpr Statement kRecipeStatements[] = {
    {"You need {eggs*egg} and {a pot}.", "how many eggs was it?", "{^eggs}."},
    {"The secret is {secret}.", "what was the secret again?", "{^secret}."},
    {"It cooks {#covered} minutes with the lid on and {#open} without, {#minutes} in all.",
     "how long does it cook in all?", "{#minutes} minutes, the last {#open} without the lid."},
    {"I learned it from {cook}.", "who taught you that?", "{^cook} did."}};

constexpr WordField kStallWords[] = {{"good", "{small_thing}"},
                                     {"best", "{thing_noun}"},
                                     {"buyer", "{friend}"},
                                     {"tint", "{colour}"},
                                     {"corner", "{some_place}"}};
constexpr NumberField kStallNumbers[] = {{"morning", 3, 9}, {"evening", 2, 8}, {"coins", 21, 60}};
constexpr SumField kStallSums[] = {{"sold", "morning", "evening"}};
constexpr std::string_view kStallOpenings[] = {"You should have seen my stall today, {who2}.",
                                               "It was a good day at the market, {who2}."};
constexpr Statement kStallStatements[] = {
    {"This time I stood near {corner}.", "where did you stand?", "Near {corner}."},
    {"I sold {morning*good} in the morning and {evening} in the evening, which makes {sold}.",
     "how many did you sell altogether?", "{^sold}: {morning} and {evening}."},
    {"{buyer} bought the {tint} {best}.", "who bought the {tint} {best}?", "{buyer} did."},
    {"In the end there were {#coins} coins in the box.", "how much money was in the box?",
     "{#coins} coins."}};

constexpr Topic kDialogueTopics[] = {
    {kTripWords, kTripNumbers, kTripSums, kTripOpenings, kTripStatements},
    {kLoanWords, kLoanNumbers, kLoanSums, kLoanOpenings, kLoanStatements},
    {kRecipeWords, kRecipeNumbers, kRecipeSums, kRecipeOpenings, kRecipeStatements},
    {kStallWords, kStallNumbers, kStallSums, kStallOpenings, kStallStatements}};

constexpr std::string_view kReactions[] = {"I see.",
                                           "All right, {who}.",
                                           "Good to know.",
                                           "Let me write that down.",
                                           "That is [fine|a lot|nice] to hear.",
                                           "Go on, {who}, I am listening.",
                                           "My {kin} would [like|laugh about] that.",
                                           "Understood. Anything else?"};
// Something else in between, and what the other says to it.
struct Digression {
  std::string_view line, reply;
};
constexpr Digression kDigressions[] = {
    {"By the way, it [rained|was windy|was very quiet] here all morning.", "Here, too, {who2}."},
    {"Have you eaten? There is still some {food} left.", "Thank you, {who2}, [maybe later|I am not hungry]."},
    {"I am a bit tired today, I [slept badly|worked too long|walked too far].",
     "Then let us be quick, {who2}."},
    {"Has {friend} written to you?", "No, {friend} [is away|never writes|called me instead]."}};
constexpr std::string_view kAskAgain[] = {"Wait, {question}", "Sorry, {who}, {question}",
                                          "Just to be sure, {question}", "One more thing: {question}"};
constexpr std::string_view kFarewells[] = {"Thank you, {who}. [Goodbye|See you soon]!",
                                           "Thanks, {who}, now I know everything."};

}  // namespace sluice::synth
