#include "sluice/data/opened_text.h"

#include "sluice/base/error.h"
#include "sluice/base/file_system.h"
#include "sluice/data/tokenize.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

// The mapping outlives the name.
class NamelessFile {
 public:
  NamelessFile() : path_(fs::temp_directory_path() / temporary_name()) {}
  NamelessFile(const NamelessFile&) = delete;
  NamelessFile& operator=(const NamelessFile&) = delete;
  ~NamelessFile() {
    std::error_code gone;
    fs::remove(path_, gone);
  }

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

TokenShard tokenized(const std::string& path, const TextOpening& opening, const JobControl& control) {
  if (!opening.tokenizer) {
    throw bad_input({.where = path,
                     .what = "not a token shard",
                     .hint = "for a text, --tokenizer FILE or bytes says what its tokens are"});
  }
  const NamelessFile file;
  const Tokenizer& tokenizer = *opening.tokenizer;
  tokenize_files(tokenizer, {.files = {path}, .out = file.path(), .end_of_text = end_of_text_of(tokenizer)},
                 opening.threads, control);
  return TokenShard(std::make_shared<const MappedFile>(file.path()), path);
}

}  // namespace

TokenShard open_text(const std::string& path, const TextOpening& opening, const JobControl& control) {
  if (path == "-") {
    throw usage_error({.where = "standard input",
                       .what = "a run's text has to be found again when it is resumed or evaluated",
                       .hint = "sluice data tokenize makes a shard of it"});
  }
  std::error_code unknown;
  const bool is_text = fs::exists(path, unknown) && !is_token_shard(path) && !path.ends_with(".tokens");
  return is_text ? tokenized(path, opening, control) : TokenShard(path);
}

}  // namespace sluice
