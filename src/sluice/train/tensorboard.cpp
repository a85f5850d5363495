#include "sluice/train/tensorboard.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <chrono>
#include <cmath>

#include "sluice/base/atomic_file.h"
#include "sluice/base/crc32c.h"
#include "sluice/base/file_system.h"
#include "sluice/base/system.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

// TensorBoard looks for this; what follows is for people, and for ourselves to know the file again.
constexpr std::string_view kPrefix = "events.out.tfevents.";
constexpr std::string_view kSuffix = ".sluice";

template <typename T>
std::string little_endian(T value) {
  std::string bytes;
  for (size_t i = 0; i < sizeof value; ++i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}

// Protocol buffers: a field is its number and wire type, then the value.
enum class Wire : uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

std::string key(uint32_t field, Wire wire) {
  return varint(field << 3 | static_cast<uint32_t>(wire));
}

std::string bytes_field(uint32_t field, std::string_view value) {
  return key(field, Wire::Bytes) + varint(value.size()) + std::string(value);
}

// Event { double wall_time = 1; int64 step = 2; string file_version = 3; Summary summary = 5; }
std::string event_time(double wall_time) {
  return key(1, Wire::Fixed64) + little_endian(std::bit_cast<uint64_t>(wall_time));
}

std::string event_step(int64_t step) {
  return key(2, Wire::Varint) + varint(static_cast<uint64_t>(step));
}

// Summary { repeated Value value = 1; }, Value { string tag = 1; float simple_value = 2; }
std::string summary_value(const std::string& tag, double value) {
  const auto bits = std::bit_cast<uint32_t>(static_cast<float>(value));
  return bytes_field(1, bytes_field(1, tag) + key(2, Wire::Fixed32) + little_endian(bits));
}

// TFRecord stores checksums turned and shifted, so that one of data with checksums in it is not degenerate.
uint32_t masked_crc(std::string_view bytes) {
  return std::rotr(crc32c(bytes), 15) + 0xa282ead8U;
}

std::string tf_record(const std::string& data) {
  const std::string length = little_endian(uint64_t{data.size()});
  return length + little_endian(masked_crc(length)) + data + little_endian(masked_crc(data));
}

std::string version_record(int64_t created) {
  return tf_record(event_time(static_cast<double>(created)) + bytes_field(3, "brain.Event:2"));
}

std::string tag_of(MetricsKind kind, std::string_view name) {
  constexpr std::string_view kRepeated = "validation_";
  if (kind == MetricsKind::Step) return fmt::format("train/{}", name);
  if (name.starts_with(kRepeated)) name.remove_prefix(kRepeated.size());
  return fmt::format("validation/{}", name);
}

std::string host_as_file_name() {
  std::string host = host_name();
  std::ranges::replace(host, '/', '_');
  return host;
}

std::optional<int64_t> creation_time(const std::string& name) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return {};
  int64_t created = 0;
  const char* begin = name.data() + kPrefix.size();
  const auto [stop, problem] = std::from_chars(begin, name.data() + name.size(), created);
  if (problem != std::errc() || stop == begin || *stop != '.') return {};
  return created;
}

}  // namespace

void TensorBoardEvents::find_or_name_file() {
  if (!path_.empty()) return;
  std::error_code error;
  for (const std::string& name : names_in(directory_, error)) {
    const auto created = creation_time(name);
    if (!created || !path_.empty()) continue;  // the first by name
    path_ = directory_ / name;
    created_ = *created;
  }
  if (error) throw system_failure(directory_, "cannot read", error);
  if (!path_.empty()) return;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  created_ = std::chrono::duration_cast<std::chrono::seconds>(now).count();
  path_ = directory_ / fmt::format("{}{}.{}{}", kPrefix, created_, host_as_file_name(), kSuffix);
}

std::string TensorBoardEvents::record(const MetricsLine& line) {
  std::string summary;
  for (const Metric& number : line.numbers) {
    if (std::isnan(number.value)) continue;  // nothing to draw
    if (line.kind == MetricsKind::Step && number.name == "seconds") seconds_ = number.value;
    summary += summary_value(tag_of(line.kind, number.name), number.value);
  }
  return tf_record(event_time(static_cast<double>(created_) + seconds_) + event_step(line.step) +
                   bytes_field(5, summary));
}

void TensorBoardEvents::append(const MetricsLine& line) {
  if (!file_) {
    find_or_name_file();
    file_.emplace(path_);
    std::error_code error;
    const auto size = fs::file_size(path_, error);
    if (error) throw system_failure(path_, "cannot look at it", error);
    if (size == 0) file_->append(version_record(created_));
  }
  file_->append(record(line));
}

void TensorBoardEvents::rewrite(std::span<const MetricsLine> lines) {
  file_.reset();  // of the old content
  find_or_name_file();
  seconds_ = 0;
  std::string content = version_record(created_);
  for (const MetricsLine& line : lines) content += record(line);
  write_file_atomically(path_, content);
}

}  // namespace sluice
