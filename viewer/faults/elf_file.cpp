#include "faults/elf_file.hpp"

#include <elf.h>

#include <algorithm>
#include <utility>

namespace reprise::faults {

std::string_view text_at(Bytes bytes, std::uint64_t offset) {
  if (offset >= bytes.size()) return {};
  const char* const begin = reinterpret_cast<const char*>(bytes.data() + offset);
  constexpr std::uint64_t kMaxText = 1 << 16;  // many texts may refer to the same bytes
  const void* const end =
      std::memchr(begin, 0, std::min<std::uint64_t>(bytes.size() - offset, kMaxText));
  return end == nullptr ? std::string_view()
                        : std::string_view(begin, static_cast<const char*>(end));
}

ElfFile::ElfFile(Bytes bytes, std::string name) : bytes_(bytes), name_(std::move(name)) {
  const auto header = read_at<Elf64_Ehdr>(bytes, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
    throw DumpError(name_ + ": not a 64-bit little-endian ELF file");
  type_ = header->e_type;
  machine_ = header->e_machine;
  if (header->e_shoff == 0) return;  // without sections
  const auto header_at = [&](std::uint64_t index) {
    const bool is_beyond =
        index > bytes.size() / sizeof(Elf64_Shdr) || header->e_shoff > bytes.size();
    const auto section =
        is_beyond ? std::nullopt
                  : read_at<Elf64_Shdr>(bytes, header->e_shoff + index * sizeof(Elf64_Shdr));
    if (!section)
      throw DumpError(name_ + ": the file ends before its section headers; it has " +
                      std::to_string(bytes.size()) + " bytes");
    return *section;
  };
  if (header->e_shentsize != sizeof(Elf64_Shdr))
    throw DumpError(name_ + ": section headers of " + std::to_string(header->e_shentsize) +
                    " bytes are unknown");
  // Files with more sections than a header can state have the numbers in the first section.
  const Elf64_Shdr first = header_at(0);
  const std::uint64_t count = header->e_shnum == 0 ? first.sh_size : header->e_shnum;
  const std::uint64_t names = header->e_shstrndx == SHN_XINDEX ? first.sh_link : header->e_shstrndx;
  static_cast<void>(header_at(count == 0 ? 0 : count - 1));  // before memory is allocated for them
  sections_.reserve(count);
  std::vector<std::uint32_t> name_offsets;
  for (std::uint64_t i = 0; i < count; ++i) {
    const Elf64_Shdr one = header_at(i);
    sections_.push_back({{},
                         one.sh_type,
                         one.sh_link,
                         one.sh_info,
                         one.sh_addr,
                         one.sh_offset,
                         one.sh_type == SHT_NOBITS ? 0 : one.sh_size,
                         one.sh_entsize});
    name_offsets.push_back(one.sh_name);
  }
  if (names >= count) return;
  const Bytes texts = contents(sections_[names]);
  for (std::uint64_t i = 0; i < count; ++i) sections_[i].name = text_at(texts, name_offsets[i]);
}

const Section* ElfFile::find(std::string_view name) const {
  const auto found = std::find_if(sections_.begin(), sections_.end(),
                                  [&](const Section& one) { return one.name == name; });
  return found == sections_.end() ? nullptr : &*found;
}

Bytes ElfFile::contents(const Section& section) const {
  if (section.offset > bytes_.size() || bytes_.size() - section.offset < section.bytes)
    fail(section, "ends beyond the file of " + std::to_string(bytes_.size()) + " bytes");
  return bytes_.subspan(section.offset, section.bytes);
}

void ElfFile::fail(const Section& section, const std::string& fact) const {
  throw DumpError(name_ + ": section " +
                  (section.name.empty() ? "without a name" : std::string(section.name)) + " " +
                  fact);
}

std::vector<Function> ElfFile::functions() const {
  std::vector<Function> found;
  std::vector<bool> has_symbol(sections_.size());
  for (const Section& table : sections_) {
    if (table.type != SHT_SYMTAB || table.link >= sections_.size()) continue;
    const Bytes symbols = contents(table), names = contents(sections_[table.link]);
    for (std::uint64_t at = 0; const auto symbol = read_at<Elf64_Sym>(symbols, at);
         at += sizeof(Elf64_Sym)) {
      if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_shndx >= sections_.size())
        continue;
      // In relocated images, the section has an address; the symbol may still be relative to it.
      const Section& code = sections_[symbol->st_shndx];
      const bool is_absolute =
          symbol->st_value >= code.address && symbol->st_value - code.address <= code.bytes;
      has_symbol[symbol->st_shndx] = true;
      found.push_back({text_at(names, symbol->st_name),
                       is_absolute ? symbol->st_value : code.address + symbol->st_value,
                       symbol->st_size});
    }
  }
  constexpr std::string_view kCode = ".text.";
  for (std::size_t i = 0; i < sections_.size(); ++i) {
    const Section& one = sections_[i];
    if (one.name.starts_with(kCode) && !has_symbol[i])
      found.push_back({one.name.substr(kCode.size()), one.address, one.bytes});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Function& a, const Function& b) { return a.address < b.address; });
  return found;
}

}  // namespace reprise::faults
