// Text as people keep it: .txt, .jsonl with a "text" field, either of them gzipped, "-" for standard input.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "sluice/base/json.h"
#include "sluice/text/text_format.h"

namespace sluice {

// The whole of a file, unpacked if it is gzipped.
std::string read_input(const std::string& path);

// How a message names it.
std::string input_name(const std::string& path);

// Every line of a JSON Lines file that is not blank. The view's document lives only during the call.
void for_each_object(const std::string& path, const std::function<void(const Json&)>& sink);

// Each document of the file: a text file is one, a JSON Lines file has one per line. Without a format its
// name tells which.
void for_each_document(const std::string& path, const std::function<void(std::string_view)>& sink,
                       std::optional<TextFormat> format = {});

// Each line of a text file that is not blank, or each document of a JSON Lines file.
void for_each_prompt(const std::string& path, const std::function<void(std::string_view)>& sink);

}  // namespace sluice
