#include "cli/lifetime_table.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>
#include <string_view>
#include <unordered_map>

#include "cli/text.hpp"

namespace reprise::cli {

namespace {

enum Column : std::uint8_t { kId, kLower, kUpper, kSize, kAlignment, kColumns };
constexpr std::array<const char*, kColumns> kNames = {"id", "lower", "upper", "size", "alignment"};
constexpr std::array<const char*, kColumns> kAliases = {"buffer", "start", "end", "", ""};
constexpr std::size_t kNoField = ~std::size_t{0};

class LifetimeReader {
 public:
  LifetimeReader(std::istream& in, const std::string& name) : in_(in), name_(name) {
    field_of_.fill(kNoField);
  }

  LifetimeTable read() {
    if (!next_line())
      fail_file("the file is empty; the first line must name the columns: id,lower,upper,size");
    if (line_.starts_with("\xef\xbb\xbf")) line_.erase(0, 3);
    table_.header = line_;
    read_header();
    while (next_line()) read_row();
    if (in_.bad()) fail_file("read error");
    return std::move(table_);
  }

 private:
  [[noreturn]] void fail_file(const std::string& text) const {
    throw std::runtime_error(name_ + ": " + text);
  }
  [[noreturn]] void fail_line(const std::string& text) const {
    throw std::runtime_error(name_ + ":" + std::to_string(number_) + ": " + text);
  }
  [[noreturn]] void fail_field(Column column, const std::string& text) const {
    fail_line("column " + column_name(column) + ": \"" +
              printable_prefix(fields_[field_of_[column]]) + "\" " + text);
  }
  std::string column_name(Column column) const { return names_[field_of_[column]]; }
  static std::string printable_prefix(const std::string& field) {
    const std::string text = printable(field.substr(0, 40));
    return field.size() > 40 ? text + "..." : text;
  }

  // Reads the next line that is not empty, without its line end.
  bool next_line() {
    while (std::getline(in_, line_)) {
      ++number_;
      if (!line_.empty() && line_.back() == '\r') line_.pop_back();
      if (line_.find_first_not_of(" \t") != std::string::npos) return true;
    }
    return false;
  }

  void split() {
    fields_.clear();
    std::size_t at = 0;
    do {
      at = line_.find_first_not_of(" \t", at);
      if (at == std::string::npos) at = line_.size();
      fields_.push_back(at < line_.size() && line_[at] == '"' ? quoted(at) : plain(at));
    } while (at++ < line_.size());
  }
  // plain() and quoted() set `at` to the comma after the field or to the end of the line.
  std::string plain(std::size_t& at) const {
    const std::size_t end = std::min(line_.find(',', at), line_.size());
    std::string field = line_.substr(at, end - at);
    field.erase(field.find_last_not_of(" \t") + 1);
    at = end;
    return field;
  }
  std::string quoted(std::size_t& at) const {
    std::string field;
    for (++at; at < line_.size(); ++at) {
      if (line_[at] != '"') {
        field += line_[at];
      } else if (at + 1 < line_.size() && line_[at + 1] == '"') {
        field += line_[++at];
      } else {
        at = std::min(line_.find_first_not_of(" \t", at + 1), line_.size());
        if (at < line_.size() && line_[at] != ',')
          fail_line("field " + std::to_string(fields_.size() + 1) +
                    ": text after the closing quote");
        return field;
      }
    }
    fail_line("field " + std::to_string(fields_.size() + 1) + ": the quote is not closed");
  }

  void read_header() {
    split();
    for (std::string& field : fields_) {
      std::string lower = field;
      std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) {
        return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
      });
      for (std::size_t column = 0; column < kColumns; ++column) {
        if (lower != kNames[column] && (lower != kAliases[column] || lower.empty())) continue;
        if (field_of_[column] != kNoField)
          fail_line("duplicate columns " + names_[field_of_[column]] + " and " + lower);
        field_of_[column] = names_.size();
      }
      names_.push_back(std::move(lower));
    }
    for (std::size_t column = kId; column <= kSize; ++column) {
      if (field_of_[column] != kNoField) continue;
      const bool has_other_separator =
          names_.size() == 1 && line_.find_first_of(";\t") != std::string::npos;
      fail_line(std::string("missing column ") + kNames[column] +
                "; required columns: id, lower, upper, size" +
                (has_other_separator ? ", separated by commas" : ""));
    }
  }

  void read_row() {
    split();
    if (fields_.size() != names_.size()) {
      fail_line(std::to_string(fields_.size()) + (fields_.size() == 1 ? " field, " : " fields, ") +
                "but the header has " + std::to_string(names_.size()) + " columns");
    }
    BufferLifetime buffer;
    buffer.lower = number<std::int64_t>(kLower, "is not an integer");
    buffer.upper = number<std::int64_t>(kUpper, "is not an integer");
    buffer.size = number<std::uint64_t>(kSize, "is not an integer of at least 0 (bytes)");
    if (field_of_[kAlignment] != kNoField && !fields_[field_of_[kAlignment]].empty()) {
      buffer.alignment =
          number<std::uint64_t>(kAlignment, "is not an integer of at least 1 (bytes)");
      if (buffer.alignment == 0) fail_field(kAlignment, "is not an integer of at least 1 (bytes)");
    }
    if (buffer.lower >= buffer.upper)
      fail_field(kUpper,
                 "is not above " + names_[field_of_[kLower]] + " " + std::to_string(buffer.lower));
    check_sum(buffer);
    const std::string& id = fields_[field_of_[kId]];
    if (id.empty()) fail_field(kId, "is not a valid id");
    const auto [known, is_new] = lines_.emplace(id, number_);
    if (!is_new) fail_field(kId, "duplicates the id of line " + std::to_string(known->second));
    table_.ids.push_back(id);
    table_.buffers.push_back(buffer);
    table_.lines.push_back(line_);
  }

  template <class Number>
  Number number(Column column, const char* requirement) const {
    const std::string& field = fields_[field_of_[column]];
    Number value{};
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (error == std::errc::result_out_of_range) fail_field(column, "exceeds 64 bits");
    if (error != std::errc() || end != field.data() + field.size()) fail_field(column, requirement);
    return value;
  }

  void check_sum(const BufferLifetime& buffer) {
    constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 62;
    if (buffer.alignment > kMaxBytes) fail_field(kAlignment, "exceeds 2^62");
    if (buffer.size > kMaxBytes || (sum_ += buffer.size + buffer.alignment) > kMaxBytes)
      fail_field(kSize, "makes the total size exceed 2^62 bytes");
  }

  std::istream& in_;
  const std::string& name_;
  LifetimeTable table_;
  std::string line_;
  std::uint64_t number_ = 0;
  std::vector<std::string> fields_, names_;
  std::array<std::size_t, kColumns> field_of_{};
  std::unordered_map<std::string, std::uint64_t> lines_;  // by id
  std::uint64_t sum_ = 0;
};

}  // namespace

LifetimeTable read_lifetimes(std::istream& in, const std::string& name) {
  return LifetimeReader(in, name).read();
}

void write_offsets(std::ostream& out, const LifetimeTable& table,
                   std::span<const std::uint64_t> offsets) {
  out << table.header << ",offset\n";
  for (std::size_t row = 0; row < table.lines.size(); ++row)
    out << table.lines[row] << ',' << offsets[row] << '\n';
}

}  // namespace reprise::cli
