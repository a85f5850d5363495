// What the invented encyclopedia knows.
#pragma once

#include "sluice/data/synth/topic.h"

namespace sluice::synth {

constexpr WordField kTownWords[] = {{"name", "{invented}"},
                                    {"river", "{invented}"},
                                    {"ware", "[glass|rope|copper pots|wool cloth|salt|paper|barrels|bells]"},
                                    {"sight", "[clock tower|covered bridge|granary|botanical garden]"},
                                    {"fair", "{day}"}};
constexpr NumberField kTownNumbers[] = {
    {"founded", 1040, 1560}, {"later", 60, 240}, {"north", 2, 9}, {"south", 2, 9}, {"people", 21, 98}};
constexpr SumField kTownSums[] = {{"burned", "founded", "later"}, {"mills", "north", "south"}};
constexpr std::string_view kTownOpenings[] = {
    "{name} is a town on the river {river}.",
    "The town of {name} lies where the road to the coast crosses the river {river}."};
constexpr Statement kTownStatements[] = {
    {"{name} was founded in {#founded}.", "In which year was {name} founded?", "In {#founded}."},
    {"In {#burned}, {#later} years after its founding, most of {name} burned down and was rebuilt in stone.",
     "When did most of {name} burn down?", "In {#burned}."},
    {"The town is known for its {ware}.", "What is {name} known for?", "For its {ware}."},
    {"There are {north*mill} on the north bank of the {river} and {south} on the south bank, {mills} in all.",
     "How many mills does {name} have in all?", "It has {mills}."},
    {"Visitors come mostly for the {sight}.", "What do visitors of {name} come for?", "For the {sight}."},
    {"A market is held there every {fair}.", "On which day is the market of {name}?", "On {fair}."},
    {"About {#people} thousand people live in {name} today.", "How many people live in {name}?",
     "About {#people} thousand."}};

constexpr WordField kAnimalWords[] = {
    {"name", "{invented} [newt|heron|shrew|moth|hare|owl|pike|marten]"},
    {"shade", "{colour}"},
    {"marking", "[pale|broken|double|dark]"},
    {"where", "[in peat bogs|in dry pine forests|on gravel banks|in old orchards|on sea cliffs]"},
    {"diet", "[beetles|fallen seeds|water snails|lichen|earthworms|berries]"},
    {"hour", "[at dawn|at dusk|around noon|after midnight]"}};
constexpr NumberField kAnimalNumbers[] = {
    {"size", 21, 88}, {"young", 2, 7}, {"weeks", 3, 11}, {"more", 2, 9}};
constexpr SumField kAnimalSums[] = {{"grown", "weeks", "more"}};
constexpr std::string_view kAnimalOpenings[] = {
    "The {name} is {a shade} animal with {a marking} stripe along its back.",
    "Among the animals of its region the {name} is easy to know: it is {shade}, with {a marking} stripe."};
constexpr Statement kAnimalStatements[] = {
    {"It lives {where}.", "Where does the {name} live?", "It lives {where}."},
    {"It feeds on {diet} and hunts {hour}.", "What does the {name} feed on?", "On {diet}."},
    {"An adult measures {#size} centimetres from nose to tail.", "How long is an adult {name}?",
     "It measures {#size} centimetres."},
    {"A female raises {young} young at a time.", "How many young does a female {name} raise at a time?",
     "It raises {young}."},
    {"The young leave the nest after {weeks} weeks and are fully grown {more} weeks later, at {grown} weeks.",
     "At what age is the {name} fully grown?", "At {grown} weeks."}};

constexpr WordField kInstrumentWords[] = {
    {"name", "[orlin|tambra|sivel|dulket|kerrow|pandal|vashti horn|lumba]"},
    {"wood", "[pear|walnut|spruce|cherry|maple|olive] wood"},
    {"home", "{invented}"},
    {"maker", "[{woman}|{man}] {invented}"},
    {"event", "[at weddings|at harvest feasts|at boat races|on winter evenings]"}};
constexpr NumberField kInstrumentNumbers[] = {
    {"upper", 2, 8}, {"lower", 2, 6}, {"year", 1610, 1890}, {"days", 24, 90}};
constexpr SumField kInstrumentSums[] = {{"strings", "upper", "lower"}};
constexpr std::string_view kInstrumentOpenings[] = {
    "The {name} is a musical instrument from the region of {home}.",
    "Musicians of {home} are proud of the {name}, an instrument that is hardly known elsewhere."};
constexpr Statement kInstrumentStatements[] = {
    {"Its body is made of {wood}.", "What is the body of the {name} made of?", "It is made of {wood}."},
    {"It has {upper*string} for the melody and {lower} that only resonate, {strings} altogether.",
     "How many strings does the {name} have altogether?", "It has {strings}."},
    {"The first one was built by {maker} in {#year}.", "Who built the first {name}?", "It was {maker}."},
    {"It is played {event}.", "When is the {name} played?", "{^event}."},
    {"Building one takes about {#days} days.", "How long does it take to build {a name}?",
     "About {#days} days."}};

constexpr WordField kScholarWords[] = {
    {"name", "[{woman}|{man}] {invented}"},
    {"born_in", "{invented}"},
    {"field", "[tides|the colours of flames|old weights and measures|bird song|mosses]"},
    {"work", "[a book|an atlas|a set of tables|a long letter]"},
    {"teacher", "[{woman}|{man}] {invented}"}};
constexpr NumberField kScholarNumbers[] = {
    {"born", 1702, 1850}, {"first", 24, 40}, {"rest", 21, 40}, {"students", 3, 14}};
constexpr SumField kScholarSums[] = {
    {"published", "born", "first"}, {"died", "published", "rest"}, {"age", "first", "rest"}};
constexpr std::string_view kScholarOpenings[] = {
    "{name}, born in {born_in} in {#born}, was a scholar of {field}.",
    "The scholar {name} was born in {#born} in {born_in} and studied {field}."};
constexpr Statement kScholarStatements[] = {
    {"In {#published}, at the age of {#first}, {name} published {work} about {field}.",
     "In which year did {name} publish {work}?", "In {#published}."},
    {"One of the works of {name} was dedicated to {teacher}, a teacher from early years.",
     "To whom did {name} dedicate a work?", "To {teacher}."},
    {"{name} taught {students*student}, some of whom became well known.",
     "How many students did {name} teach?", "There were {students}."},
    {"{name} died in {#died}, aged {#age}.", "At what age did {name} die?", "At the age of {#age}."},
    {"A street in {born_in} bears the name of {name}.", "Where is a street named after {name}?",
     "In {born_in}."}};

constexpr Topic kFactTopics[] = {
    {kTownWords, kTownNumbers, kTownSums, kTownOpenings, kTownStatements},
    {kAnimalWords, kAnimalNumbers, kAnimalSums, kAnimalOpenings, kAnimalStatements},
    {kInstrumentWords, kInstrumentNumbers, kInstrumentSums, kInstrumentOpenings, kInstrumentStatements},
    {kScholarWords, kScholarNumbers, kScholarSums, kScholarOpenings, kScholarStatements}};

}  // namespace sluice::synth
