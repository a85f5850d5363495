#include "sluice/data/synth/words.h"

namespace sluice::synth {
namespace {

constexpr std::string_view kWomen[] = {
    "Mira",  "Anna",   "Tessa", "Ingrid", "Lena",  "Salma", "Greta", "Paola", "Ruth",  "Noor",
    "Wanda", "Clara",  "Hana",  "Bea",    "Selin", "Judit", "Olga",  "Rosa",  "Yara",  "Dora",
    "Alma",  "Kirsti", "Vera",  "Nadia",  "Sofie", "Petra", "Imani", "Leila", "Frida", "Maud"};
constexpr std::string_view kMen[] = {
    "Tomas",  "Emil",  "Oskar", "Jonas",  "Piet",  "Karim",  "Anton", "Rafael", "Hugo",   "Milan",
    "Boris",  "Simon", "Aldo",  "Viktor", "Idris", "Lars",   "Marek", "Nils",   "Omar",   "Felix",
    "Gustav", "Jens",  "Kofi",  "Luca",   "Mateo", "Stefan", "Tariq", "Ulrich", "Walter", "Yusuf"};
constexpr std::string_view kTrades[] = {
    "potter",  "baker",     "weaver",  "fisher", "teacher",           "clockmaker", "gardener", "carpenter",
    "painter", "beekeeper", "printer", "doctor", "ferryman's helper", "librarian",  "mason",    "tailor"};
constexpr std::string_view kTraits[] = {
    "patient", "cheerful", "quiet", "curious",    "careful", "stubborn", "clever", "shy",
    "proud",   "gentle",   "busy",  "thoughtful", "old",     "young",    "tall",   "absent-minded"};
constexpr std::string_view kColours[] = {"red",   "blue",   "green", "yellow", "black",
                                         "white", "silver", "brown", "orange", "grey"};
constexpr std::string_view kThings[] = {
    "lantern", "violin", "umbrella", "compass", "kettle", "mirror", "whistle", "notebook",  "scarf",
    "hammer",  "clock",  "drum",     "teapot",  "map",    "flute",  "basket",  "telescope", "candlestick"};
constexpr std::string_view kSmallThings[] = {"coin",   "button", "shell", "marble", "walnut", "feather",
                                             "pebble", "bead",   "stamp", "acorn",  "ribbon", "key"};
constexpr std::string_view kContainers[] = {"clay jar",   "wooden box", "tin can",      "leather bag",
                                            "glass bowl", "iron chest", "paper parcel", "willow basket"};
constexpr std::string_view kPlaces[] = {"the harbour",
                                        "the mill",
                                        "the market",
                                        "the old bridge",
                                        "the station",
                                        "the lighthouse",
                                        "the bakery",
                                        "the school",
                                        "the orchard",
                                        "the river bank",
                                        "the chapel",
                                        "the town square",
                                        "the edge of the forest",
                                        "the print shop",
                                        "the ferry landing"};
constexpr std::string_view kHidings[] = {
    "under the loose floorboard",     "behind the water barrel", "inside the hollow oak",
    "under the third stair",          "behind the stove",        "at the bottom of the well house",
    "in the drawer of the workbench", "beneath the stone bench"};
constexpr std::string_view kKin[] = {"grandmother", "grandfather", "aunt", "uncle", "sister", "brother"};
constexpr std::string_view kDays[] = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                      "Friday", "Saturday", "Sunday"};
constexpr std::string_view kFoods[] = {"bread", "soup",    "cheese",   "apple cake",
                                       "rice",  "lentils", "plum jam", "fish"};

// Names of places that no map has.
constexpr std::string_view kNameHeads[] = {"Vel",  "Asten", "Bro", "Cal", "Dor", "Eldr", "Fen", "Gar",
                                           "Hol",  "Ist",   "Kor", "Lum", "Mar", "Nor",  "Os",  "Pel",
                                           "Quin", "Ror",   "Sal", "Tav", "Umb", "Wen",  "Yar", "Zel"};
constexpr std::string_view kNameTails[] = {"mora", "wick", "haven", "dale", "itz", "una", "ford", "eth",
                                           "burg", "ani",  "ostra", "mere", "ona", "ell", "grad", "ivar"};
constexpr std::string_view kInvented[] = {"{name_head}{name_tail}"};

constexpr Rule kShared[] = {
    {"woman", kWomen},
    {"man", kMen},
    {"trade", kTrades},
    {"trait", kTraits},
    {"colour", kColours},
    {"thing_noun", kThings},
    {"small_thing", kSmallThings},
    {"container_noun", kContainers},
    {"some_place", kPlaces},
    {"hiding_place", kHidings},
    {"kin", kKin},
    {"day", kDays},
    {"food", kFoods},
    {"name_head", kNameHeads},
    {"name_tail", kNameTails},
    {"invented", kInvented},
};

}  // namespace

Patterns women() {
  return kWomen;
}

Patterns men() {
  return kMen;
}

std::span<const Rule> shared_rules() {
  return kShared;
}

std::vector<Person> some_people(Dice& dice, size_t count) {
  std::vector<Person> people;
  const size_t women_count = std::size(kWomen);
  for (const size_t i : dice.distinct(count, women_count + std::size(kMen))) {
    if (i < women_count) {
      people.push_back({std::string(kWomen[i]), "she", "her", "her"});
    } else {
      people.push_back({std::string(kMen[i - women_count]), "he", "him", "his"});
    }
  }
  return people;
}

void set_person(Writer& writer, const Person& person, std::string_view suffix) {
  const auto name = [&](const char* word) { return std::string(word).append(suffix); };
  writer.set(name("who"), person.name);
  writer.set(name("he"), person.he);
  writer.set(name("him"), person.him);
  writer.set(name("his"), person.his);
}

}  // namespace sluice::synth
