// What a story says. {who} acts and {who2} is the other person, each with pronouns; {subject} is {who} by
// name or pronoun. {thing} is "green lantern", {noun} is "lantern". There are {n} {goods} in the {container}.
#pragma once

#include "sluice/data/synth/grammar.h"

namespace sluice::synth {

constexpr std::string_view kHeroes[] = {
    "{^who} was {a trait} {trade} who lived [close to|not far from|right beside] {home}.",
    "In a [small|narrow|crooked] house near {home} lived {a trait} {trade} called {who}.",
    "Everybody around {home} knew {who}, {a trait} {trade}.",
    "There was once {a trait} {trade} by the name of {who}, who worked at {home}."};
constexpr std::string_view kTreasures[] = {
    "{^he} had {a thing}, and {he} never [left the house|travelled|went to work] without it.",
    "{^his} dearest possession was {a thing} that had belonged to {his} {kin}.",
    "Years ago {his} {kin} had given {him} {a thing}.",
    "What {he} loved most was {a thing}, bought with {his} first wages."};
constexpr std::string_view kFriends[] = {
    "{^who2}, {his} [best friend|neighbour|cousin], was {a trait} {trade}.",
    "{^he} often worked together with {who2}, {a trait} {trade}.",
    "Next door lived {who2}, {a trait} {trade} who liked {food}."};
constexpr std::string_view kStrangers[] = {
    "Then there was {who2}, {a trait} {trade} who had [only just moved there|come by boat in the spring].",
    "Both of them trusted {who2}, the {trait} {trade}."};
constexpr std::string_view kHoards[] = {"In {a container} {who} kept {n*goods}.",
                                        "{^who} also owned {a container} with {n*goods} in it.",
                                        "There was also {a container} in which {who} collected {goods_many}; "
                                        "so far {he} had {n}."};

constexpr std::string_view kWalks[] = {"{when} {subject} [walked|went|hurried] to {place}.",
                                       "{^subject} [walked|went|hurried] to {place} because {errand}.",
                                       "{when} {subject} was at {place}, because {errand}."};
constexpr std::string_view kGifts[] = {
    "{^subject} met {who2} at {place} and handed {him2} the {thing}.",
    "\"Please look after the {noun},\" {who} said at {place}, and {who2} put the {thing} into {his2} bag.",
    "{when} {subject} gave the {thing} to {who2}, who [thanked {him}|smiled at {him}|promised to be "
    "careful]."};
constexpr std::string_view kHidingWays[] = {
    "{^subject} hid the {thing} {hiding} and [told nobody|went away whistling].",
    "Afraid of thieves, {subject} put the {thing} {hiding}."};
constexpr std::string_view kFinds[] = {
    "{when} {subject} looked {hiding} and found the {thing}. {^he} took it along.",
    "It was {who} who looked {hiding}. The {thing} was still there, so {he} kept it."};
constexpr std::string_view kGains[] = {
    "{^subject} found {k*goods} [on the road|in the grass|near {place}] and put {them} into the {container}. "
    "Now it held {n*goods}.",
    "{^a trade} gave {who} {k*goods}, so the {container} held {n*goods} now."};
constexpr std::string_view kLosses[] = {
    "{^subject} took {k*goods} out of the {container} and gave {them} to {a trade}. That left {n}.",
    "{when} {subject} lost {k*goods} at {place}, and only {n} {were} left in the {container}."};
constexpr std::string_view kCounts[] = {
    "\"How many {goods_many} are in the {container}?\" asked {who2}. {^who} counted twice and said, "
    "\"{^n}.\"",
    "{^who2} wanted to know how many {goods_many} were in the {container}. \"{^n},\" said {who}."};
constexpr std::string_view kWhereHidden[] = {
    "\"Where is the {noun}?\" asked {who2}. \"{^hiding},\" [whispered|answered] {who}.",
    "{^who2} asked about the {noun}, and {who} said that it was {hiding}."};
constexpr std::string_view kWhereHeld[] = {
    "\"Who has the {noun}?\" asked {who2}. \"{holder} has it,\" [said|answered] {a trade}.",
    "{^who2} asked for the {thing}, but {holder} had it."};
constexpr std::string_view kMoods[] = {
    "{^subject} was [tired|hungry|cold], so {he} [sat down for a while|ate some {food}|went home early].",
    "[Rain fell on the roofs.|The wind smelled of salt.|A dog barked in the distance.|Bells rang twice.]",
    "{^subject} [sang an old song|counted the clouds|thought of {his} {kin}] and [smiled|sighed|said "
    "nothing]."};
constexpr std::string_view kMeetings[] = {
    "{^who} and {who2} were both at {place} that day; they [talked|argued|laughed] about the {noun}.",
    "{when} {who} and {who2} [ate|shared] {food} at {place}, and they spoke of {his} {kin}.",
    "Both {who} and {who2} were [late|tired|in good spirits], so they went to {place} together."};
// The last one is for a thing that has changed hands.
constexpr std::string_view kEndings[] = {
    "[A year|A whole winter] went by. Who had the {thing} then? It was {holder}.",
    "And if you ask today who has the {thing}, the answer is {holder}.",
    "\"Who has the {thing} now?\" the children [asked|wanted to know]. Everyone pointed at {holder}.",
    "So it came about that the {thing}, which had once belonged to {owner}, stayed with {holder}."};

constexpr std::string_view kWhens[] = {"The next morning", "Later that day", "One evening", "After a while",
                                       "Before noon",      "The day after",  "On {day}",    "At dusk"};
constexpr std::string_view kErrands[] = {
    "{he} needed {food}",        "the weather was fine",           "{he} wanted to be alone",
    "a letter had to be posted", "{his} {kin} had asked {him} to", "{he} had promised to help {a trade}"};

constexpr Rule kStoryRules[] = {{"when", kWhens}, {"errand", kErrands}};

}  // namespace sluice::synth
