// Sections about how open gates are: on the text, on a second one, at different first words.
#pragma once

#include "sluice/analysis/study.h"
#include "sluice/report/report.h"

namespace sluice {

// One line: mean, median and shares.
std::string gate_sentence(const std::string& name, const GateMeasure& gate);

Section gate_section(const StudiedModel& model, const GateMeasure& gate);
Section first_words_section(const StudiedModel& model);
Section second_text_section(const StudiedModel& model);

// A token that stands first against itself elsewhere: is it the place or the word?
ReportBlock itself_block(const StudiedModel& model, const GatesByToken& tokens);

}  // namespace sluice
