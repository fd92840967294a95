// Builds small GPU core dumps, as the driver writes them, for tests without a GPU. Threads: values.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace reprise::test {

// Little-endian bytes with numbers at given offsets.
class Blob {
 public:
  explicit Blob(std::size_t bytes = 0) : bytes_(bytes) {}
  template <class T>
  Blob& put(std::size_t offset, T value) {
    if (bytes_.size() < offset + sizeof value) bytes_.resize(offset + sizeof value);
    std::memcpy(bytes_.data() + offset, &value, sizeof value);
    return *this;
  }
  template <class T>
  Blob& append(T value) {
    return put(bytes_.size(), value);
  }
  Blob& append(const std::string& text) {  // with its terminator
    for (const char c : text) append(c);
    return append('\0');
  }
  Blob& append(const Blob& other) {
    bytes_.insert(bytes_.end(), other.bytes_.begin(), other.bytes_.end());
    return *this;
  }
  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }

 private:
  std::vector<std::byte> bytes_;
};

class ElfBuilder {
 public:
  explicit ElfBuilder(std::uint16_t type) : type_(type) { add("", 0, Blob()); }
  // Returns the number of the section.
  std::uint32_t add(const std::string& name, std::uint32_t type, const Blob& contents,
                    std::uint32_t link = 0, std::uint32_t info = 0, std::uint64_t entry = 0,
                    std::uint64_t address = 0) {
    sections_.push_back({name, type, link, info, entry, address, contents});
    return static_cast<std::uint32_t>(sections_.size() - 1);
  }
  [[nodiscard]] std::vector<std::byte> build() {
    Blob names;
    std::vector<std::uint32_t> name_offsets;
    for (const One& one : sections_) {
      name_offsets.push_back(static_cast<std::uint32_t>(names.size()));
      names.append(one.name);
    }
    name_offsets.push_back(static_cast<std::uint32_t>(names.size()));
    names.append(std::string(".shstrtab"));
    const std::uint32_t name_table = add(".shstrtab", SHT_STRTAB, names);
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_type = type_;
    header.e_machine = 190;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = static_cast<std::uint16_t>(sections_.size());
    header.e_shstrndx = static_cast<std::uint16_t>(name_table);
    Blob file(sizeof header);
    std::vector<Elf64_Shdr> headers;
    for (std::size_t i = 0; i < sections_.size(); ++i) {
      const One& one = sections_[i];
      Elf64_Shdr section{};
      section.sh_name = name_offsets[i];
      section.sh_type = one.type;
      section.sh_link = one.link;
      section.sh_info = one.info;
      section.sh_addr = one.address;
      section.sh_entsize = one.entry;
      section.sh_offset = file.size();
      section.sh_size = one.contents.size();
      headers.push_back(section);
      file.append(one.contents);
    }
    header.e_shoff = file.size();
    for (const Elf64_Shdr& section : headers) file.append(section);
    file.put(0, header);
    return file.bytes();
  }

 private:
  struct One {
    std::string name;
    std::uint32_t type, link, info;
    std::uint64_t entry, address;
    Blob contents;
  };
  std::uint16_t type_;
  std::vector<One> sections_;
};

inline Blob blob_of(const std::vector<std::byte>& bytes) {
  Blob blob;
  for (const std::byte one : bytes) blob.append(one);
  return blob;
}

// Line 5 of folder/gather.py at `address`, line 6 from `address` + 16 to + 32, as DWARF 2 has it.
inline Blob line_table(std::uint64_t address) {
  Blob header;
  header.append<std::uint8_t>(16).append<std::uint8_t>(1);  // instruction, is_statement
  header.append<std::int8_t>(-5).append<std::uint8_t>(14).append<std::uint8_t>(10);
  for (const int length : {0, 1, 1, 1, 1, 0, 0, 0, 1})
    header.append(static_cast<std::uint8_t>(length));
  header.append(std::string("folder")).append<std::uint8_t>(0);
  header.append(std::string("gather.py"));
  for (const int number : {1, 0, 0, 0}) header.append(static_cast<std::uint8_t>(number));
  Blob program;
  program.append<std::uint8_t>(0).append<std::uint8_t>(9).append<std::uint8_t>(2).append(address);
  program.append<std::uint8_t>(3).append<std::uint8_t>(4).append<std::uint8_t>(1);  // line 5
  program.append(static_cast<std::uint8_t>(10 + 14 * 1 + 1 + 5));                   // line 6
  program.append<std::uint8_t>(2).append<std::uint8_t>(1);
  program.append<std::uint8_t>(0).append<std::uint8_t>(1).append<std::uint8_t>(1);  // end
  Blob unit;
  unit.append<std::uint16_t>(2).append(static_cast<std::uint32_t>(header.size()));
  unit.append(header).append(program);
  return Blob().append(static_cast<std::uint32_t>(unit.size())).append(unit);
}

// One multiprocessor runs block (3, 0, 0) of a grid of 256 blocks of 128 threads of the kernel
// `_Z6gatherPf`, and its thread (9, 0, 0) has the exception.
struct ArtificialFault {
  std::uint32_t exception = 14;  // 0: none, as of a hang
  std::vector<std::uint64_t> parameters = {};
  bool has_threads = true, has_grid = true;
};
inline std::vector<std::byte> artificial_dump(const ArtificialFault& fault = {}) {
  constexpr std::uint64_t kCode = 0x7f0000001000, kErrorAt = kCode + 16;
  constexpr std::uint32_t kUser = 0x80000000u;
  ElfBuilder image(2);
  const std::uint32_t code = image.add(".text._Z6gatherPf", SHT_PROGBITS, Blob(64), 0, 0, 0, kCode);
  const std::uint32_t names = image.add(
      ".strtab", SHT_STRTAB, Blob().append(std::string()).append(std::string("_Z6gatherPf")));
  Elf64_Sym symbol{};
  symbol.st_name = 1;
  symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
  symbol.st_shndx = static_cast<std::uint16_t>(code);
  symbol.st_size = 64;
  image.add(".symtab", SHT_SYMTAB, Blob().append(symbol), names, 0, sizeof symbol);
  image.add(".debug_line", SHT_PROGBITS, line_table(kCode));

  ElfBuilder dump(4);
  const std::uint32_t devices =
      dump.add(".cudbg.devtbl", kUser + 9, Blob(80).put<std::uint32_t>(24, 1), 0, 0, 80);
  dump.add(".cudbg.relfimg.dev0.ctx0", kUser + 7, blob_of(image.build()));
  if (fault.has_grid) {
    Blob grid(136);
    grid.put<std::uint64_t>(0, 7).put<std::uint64_t>(24, kCode).put<std::uint64_t>(48, 0x210);
    grid.put<std::uint32_t>(72, 256).put<std::uint32_t>(76, 1).put<std::uint32_t>(80, 1);
    grid.put<std::uint32_t>(84, 128).put<std::uint32_t>(88, 1).put<std::uint32_t>(92, 1);
    const std::uint32_t grids =
        dump.add(".cudbg.gridtbl.dev0", kUser + 12, grid, devices, 0, grid.size());
    if (!fault.parameters.empty()) {
      Blob memory(0x210);
      for (const std::uint64_t word : fault.parameters) memory.append(word);
      Blob bank;
      bank.append<std::uint64_t>(0x500000).append(static_cast<std::uint32_t>(memory.size()));
      bank.append<std::uint32_t>(0);
      dump.add(".cudbg.cbankstbl.dev0.grid0", kUser + 21, bank, grids, 0, 16);
      dump.add(".cudbg.global.0", kUser + 2, memory, 0, 0, 0, 0x500000);
    }
  }
  Blob multiprocessor(40);
  multiprocessor.put<std::uint32_t>(0, 5).put(8, fault.exception);
  multiprocessor.put<std::uint32_t>(12, 1).put(16, kErrorAt);
  const std::uint32_t multiprocessors =
      dump.add(".cudbg.smtbl.dev0", kUser + 11, multiprocessor, devices, 0, 40);
  if (fault.has_threads) {
    const std::uint32_t blocks = dump.add(
        ".cudbg.ctatbl.dev0.sm0", kUser + 13,
        Blob(24).put<std::uint64_t>(0, 7).put<std::uint32_t>(8, 3), multiprocessors, 0, 24);
    const std::uint32_t warps =
        dump.add(".cudbg.wptbl.dev0.sm0.cta0", kUser + 14,
                 Blob(32).put(0, kErrorAt).put<std::uint32_t>(24, 1), blocks, 0, 32);
    Blob threads(2 * 48);
    threads.put<std::uint32_t>(20, 8).put(48, kCode).put<std::uint32_t>(48 + 20, 9);
    threads.put(48 + 32, fault.exception);
    dump.add(".cudbg.lntbl.dev0.sm0.cta0.wp0", kUser + 15, threads, warps, 0, 48);
  }
  return dump.build();
}

}  // namespace reprise::test
