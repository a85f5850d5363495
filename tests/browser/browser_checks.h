// Checks of a whole page: can everything be named, and can everything be read?
#pragma once

#include <string>
#include <vector>

#include "tests/browser/browser.h"

namespace sluice::test {

// Controls and pictures without an accessible name, as the browser tells assistive technology.
std::vector<std::string> nameless_nodes(Browser& browser);

// Visible texts whose contrast with their background is below what WCAG 2 asks for level AA: 4.5, and 3 if
// large.
std::vector<std::string> faint_texts(Browser& browser);

}  // namespace sluice::test
