#include "faults/line_table.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace reprise::faults {

namespace {

// Reads forward; after a read beyond the end, everything is 0 and is_cut() true.
class Cursor {
 public:
  explicit Cursor(Bytes bytes) : bytes_(bytes) {}
  template <class T>
  T take() {
    const auto value = read_at<T>(bytes_, at_);
    if (!value) {
      cut();
      return T{};
    }
    at_ += sizeof(T);
    return *value;
  }
  std::uint64_t take_offset(bool is_wide) {
    return is_wide ? take<std::uint64_t>() : take<std::uint32_t>();
  }
  std::uint64_t take_unsigned() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto part = take<std::uint8_t>();
      if (shift < 64) value |= std::uint64_t{part & 0x7fu} << shift;
      if ((part & 0x80) == 0) return value;
    }
  }
  std::int64_t take_signed() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;;) {
      const auto part = take<std::uint8_t>();
      if (shift < 64) value |= std::uint64_t{part & 0x7fu} << shift;
      shift += 7;
      if ((part & 0x80) != 0) continue;
      if ((part & 0x40) != 0 && shift < 64) value |= ~std::uint64_t{0} << shift;
      return static_cast<std::int64_t>(value);
    }
  }
  std::string_view take_text() {
    const std::string_view text = text_at(bytes_, at_);
    if (at_ >= bytes_.size() || text.data() == nullptr) {
      cut();
      return {};
    }
    at_ += text.size() + 1;
    return text;
  }
  Cursor take_part(std::uint64_t bytes) {
    const std::uint64_t part = std::min<std::uint64_t>(bytes, bytes_.size() - at_);
    Cursor cursor(bytes_.subspan(at_, part));
    at_ += part;
    is_cut_ |= part < bytes;
    return cursor;
  }
  void skip(std::uint64_t bytes) { static_cast<void>(take_part(bytes)); }
  [[nodiscard]] bool is_at_end() const { return at_ >= bytes_.size(); }
  [[nodiscard]] bool is_cut() const { return is_cut_; }

 private:
  void cut() {
    at_ = bytes_.size();
    is_cut_ = true;
  }
  Bytes bytes_;
  std::uint64_t at_ = 0;
  bool is_cut_ = false;
};

class LineProgram {
 public:
  // `unit`: the bytes after its length.
  LineProgram(Cursor unit, Bytes texts, bool is_wide) : rest_(unit), texts_(texts) {
    version_ = rest_.take<std::uint16_t>();
    if (version_ < 2 || version_ > 5) return;
    if (version_ >= 5) rest_.skip(2);  // sizes of addresses and segments
    Cursor header = rest_.take_part(rest_.take_offset(is_wide));
    min_instruction_ = header.take<std::uint8_t>();
    if (version_ >= 4) header.skip(1);  // operations of an instruction
    header.skip(1);                     // default of is_statement
    line_base_ = header.take<std::int8_t>();
    line_range_ = header.take<std::uint8_t>();
    opcode_base_ = header.take<std::uint8_t>();
    for (unsigned i = 1; i < opcode_base_; ++i) lengths_.push_back(header.take<std::uint8_t>());
    if (version_ >= 5) {
      folders_ = read_entries(header, is_wide);
      files_ = read_entries(header, is_wide);
    } else {
      read_older_names(header);
    }
    is_usable_ = !header.is_cut() && line_range_ != 0;
  }

  // The line of the row that covers `address`.
  SourceLine find(std::uint64_t address) {
    if (!is_usable_) return {};
    Row row, before;
    bool has_before = false;
    while (!rest_.is_at_end()) {
      const Step step = advance(row);
      if (step == Step::Nothing) continue;
      if (has_before && before.address <= address && address < row.address)
        return {name_of(before.file), before.line};
      before = row;
      has_before = step == Step::Row;
      if (step == Step::End) row = {};
    }
    return {};
  }

 private:
  struct Row {
    std::uint64_t address = 0, file = 1;
    std::uint32_t line = 1;
  };
  struct Name {
    std::string_view text;  // of the dump
    std::uint64_t folder = 0;
  };
  enum class Step : std::uint8_t { Nothing, Row, End };

  void read_older_names(Cursor& header) {
    folders_.push_back({});  // the compiler's
    for (std::string_view text; !(text = header.take_text()).empty();)
      folders_.push_back({text, 0});
    files_.push_back({});  // numbered from 1
    for (std::string_view text; !(text = header.take_text()).empty();) {
      Name name{text, header.take_unsigned()};
      static_cast<void>(header.take_unsigned());  // time
      static_cast<void>(header.take_unsigned());  // size
      files_.push_back(std::move(name));
    }
  }

  std::vector<Name> read_entries(Cursor& header, bool is_wide) const {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> format(header.take<std::uint8_t>());
    for (auto& [content, form] : format) {
      content = header.take_unsigned();
      form = header.take_unsigned();
    }
    std::vector<Name> names;
    const std::uint64_t count = header.take_unsigned();
    if (format.empty()) return names;
    for (std::uint64_t i = 0; i < count && !header.is_cut(); ++i) {
      Name name;
      for (const auto& [content, form] : format) {
        std::string_view text;
        std::uint64_t number = 0;
        switch (form) {
          case 0x08: text = header.take_text(); break;                            // string
          case 0x1f: text = text_at(texts_, header.take_offset(is_wide)); break;  // line_strp
          case 0x0b: number = header.take<std::uint8_t>(); break;                 // data1
          case 0x05: number = header.take<std::uint16_t>(); break;                // data2
          case 0x0f: number = header.take_unsigned(); break;                      // udata
          case 0x1e: header.skip(16); break;                                      // data16
          default: header.skip(~std::uint64_t{0});  // its size is unknown
        }
        if (content == 1) name.text = text;
        if (content == 2) name.folder = number;
      }
      names.push_back(std::move(name));
    }
    return names;
  }

  Step advance(Row& row) {
    const auto opcode = rest_.take<std::uint8_t>();
    if (opcode >= opcode_base_) {
      const unsigned adjusted = opcode - opcode_base_;
      row.address += std::uint64_t{adjusted / line_range_} * min_instruction_;
      row.line += static_cast<std::uint32_t>(line_base_ + static_cast<int>(adjusted % line_range_));
      return Step::Row;
    }
    switch (opcode) {
      case 0: return advance_extended(row);
      case 1: return Step::Row;
      case 2: row.address += rest_.take_unsigned() * min_instruction_; return Step::Nothing;
      case 3: row.line += static_cast<std::uint32_t>(rest_.take_signed()); return Step::Nothing;
      case 4: row.file = rest_.take_unsigned(); return Step::Nothing;
      case 8:
        row.address += std::uint64_t{(255u - opcode_base_) / line_range_} * min_instruction_;
        return Step::Nothing;
      case 9: row.address += rest_.take<std::uint16_t>(); return Step::Nothing;
      default:
        for (unsigned i = 0; i < lengths_[opcode - 1u]; ++i)
          static_cast<void>(rest_.take_unsigned());
        return Step::Nothing;
    }
  }

  Step advance_extended(Row& row) {
    Cursor operands = rest_.take_part(rest_.take_unsigned());
    switch (operands.take<std::uint8_t>()) {
      case 1: return Step::End;
      case 2: row.address = operands.take<std::uint64_t>(); return Step::Nothing;
      default: return Step::Nothing;  // also NVIDIA's, which state the functions of inlined code
    }
  }

  [[nodiscard]] std::string name_of(std::uint64_t file) const {
    if (file >= files_.size()) return {};
    const Name& name = files_[file];
    if (name.text.empty() || name.text.front() == '/' || name.folder >= folders_.size() ||
        folders_[name.folder].text.empty())
      return std::string(name.text);
    return std::string(folders_[name.folder].text).append("/").append(name.text);
  }

  Cursor rest_;
  Bytes texts_;
  std::uint16_t version_ = 0;
  std::uint8_t min_instruction_ = 1, line_range_ = 0, opcode_base_ = 1;
  std::int8_t line_base_ = 0;
  std::vector<std::uint8_t> lengths_;  // operands of the standard opcodes
  std::vector<Name> folders_, files_;
  bool is_usable_ = false;
};

}  // namespace

SourceLine find_line(Bytes table, Bytes texts, std::uint64_t address) {
  for (Cursor units(table); !units.is_at_end();) {
    constexpr std::uint32_t kWide = 0xffffffffu;
    std::uint64_t bytes = units.take<std::uint32_t>();
    const bool is_wide = bytes == kWide;
    if (is_wide) bytes = units.take<std::uint64_t>();
    SourceLine found = LineProgram(units.take_part(bytes), texts, is_wide).find(address);
    if (found.line != 0) return found;
  }
  return {};
}

}  // namespace reprise::faults
