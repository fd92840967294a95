// ElfFile: the sections and functions of a 64-bit little-endian ELF file in memory, which may be
// cut or hostile: every access is checked. Knows nothing about GPUs. Threads: immutable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace reprise::faults {

using Bytes = std::span<const std::byte>;

// The text names the file, the section and the fact.
class DumpError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The value at `offset`; nullopt: the bytes end before.
template <class T>
[[nodiscard]] std::optional<T> read_at(Bytes bytes, std::uint64_t offset) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

// The text up to its terminator; empty if it has none within 64 KiB, or `offset` is outside.
[[nodiscard]] std::string_view text_at(Bytes bytes, std::uint64_t offset);

// Texts are part of the file's bytes.
struct Section {
  std::string_view name;
  std::uint32_t type = 0, link = 0, info = 0;
  std::uint64_t address = 0, offset = 0, bytes = 0, entry_bytes = 0;
};

// A function, or the code of a kernel, at its address in memory.
struct Function {
  std::string_view name;
  std::uint64_t address = 0, bytes = 0;
};

class ElfFile {
 public:
  // `bytes` must outlive it. `name` is for errors. Throws DumpError: no such ELF file, or its
  // section headers are cut off.
  ElfFile(Bytes bytes, std::string name);

  [[nodiscard]] std::uint16_t type() const noexcept { return type_; }
  [[nodiscard]] std::uint16_t machine() const noexcept { return machine_; }
  // Sections are numbered as in `link` of others; [0] is empty.
  [[nodiscard]] const std::vector<Section>& sections() const noexcept { return sections_; }
  [[nodiscard]] const Section* find(std::string_view name) const;  // null: absent
  // Throws DumpError if the section ends beyond the file.
  [[nodiscard]] Bytes contents(const Section& section) const;
  // Functions of the symbol table, and code sections without a symbol. Sorted by address.
  [[nodiscard]] std::vector<Function> functions() const;
  [[noreturn]] void fail(const Section& section, const std::string& fact) const;

 private:
  Bytes bytes_;
  std::string name_;
  std::uint16_t type_ = 0, machine_ = 0;
  std::vector<Section> sections_;
};

}  // namespace reprise::faults
