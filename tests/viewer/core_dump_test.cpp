// GPU core dumps, built by hand: their facts, and what is wrong with cut and hostile ones.
#include "faults/core_dump.hpp"

#include <doctest/doctest.h>
#include <elf.h>

#include <cstring>
#include <string>

#include "cli/fault_dumps.hpp"
#include "viewer/artificial_dump.hpp"

namespace reprise::test {
namespace {

using faults::CoreDump;
using faults::Extent;
using faults::read_core_dump;

std::string dump_error(faults::Bytes bytes) {
  try {
    static_cast<void>(read_core_dump(bytes, "dump.7"));
  } catch (const faults::DumpError& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("core dump: an exception names kernel, grid, block, thread and source line") {
  const CoreDump dump = read_core_dump(artificial_dump(), "dump.7");
  REQUIRE(dump.grids.size() == 1);
  CHECK(dump.grids[0].kernel == "_Z6gatherPf");
  CHECK(dump.grids[0].device == 1);
  CHECK(dump.grids[0].grid == Extent{256, 1, 1});
  CHECK(dump.grids[0].block == Extent{128, 1, 1});
  CHECK(dump.grids[0].blocks == 1);
  CHECK(dump.grids[0].first_block == Extent{3, 0, 0});
  REQUIRE(dump.exceptions.size() == 1);
  const faults::DumpedException& one = dump.exceptions[0];
  CHECK(faults::exception_name(one.code) == "illegal address");
  CHECK(one.grid == 0);
  CHECK(one.block == Extent{3, 0, 0});
  CHECK(one.thread == Extent{9, 0, 0});
  CHECK(one.threads == 1);
  CHECK(one.multiprocessor == 5);
  CHECK(one.function == "_Z6gatherPf");
  CHECK(one.file == "folder/gather.py");
  CHECK(one.line == 6);
}

TEST_CASE("core dump: parameters come from constant bank 0") {
  const CoreDump dump = read_core_dump(artificial_dump({.parameters = {0x1234, 99}}), "dump.7");
  REQUIRE(dump.grids.size() == 1);
  CHECK(blob_of(dump.grids[0].parameters).bytes() ==
        Blob().append<std::uint64_t>(0x1234).append<std::uint64_t>(99).bytes());
}

TEST_CASE("core dump: an exception whose warps have ended is that of the multiprocessor") {
  const CoreDump dump =
      read_core_dump(artificial_dump({.has_threads = false, .has_grid = false}), "dump.7");
  CHECK(dump.grids.empty());
  REQUIRE(dump.exceptions.size() == 1);
  CHECK(dump.exceptions[0].grid == faults::kNoGrid);
  CHECK_FALSE(dump.exceptions[0].block);
  CHECK(dump.exceptions[0].function == "_Z6gatherPf");
}

TEST_CASE("core dump: errors name the file, the section and the fact") {
  const std::vector<std::byte> whole = artificial_dump();
  CHECK(dump_error(faults::Bytes(whole).first(10)) ==
        "dump.7: not a 64-bit little-endian ELF file");
  CHECK(dump_error(faults::Bytes(whole).first(whole.size() - 1)) ==
        "dump.7: the file ends before its section headers; it has " +
            std::to_string(whole.size() - 1) + " bytes");
  CHECK(dump_error(ElfBuilder(2).build()) == "dump.7: not a GPU core dump");
  ElfBuilder without_size(4);
  without_size.add(".cudbg.devtbl", 0x80000009u, Blob(80));
  CHECK(dump_error(without_size.build()) == "dump.7: section .cudbg.devtbl has entries of 0 bytes");
  ElfBuilder without_code(4);
  without_code.add(".cudbg.relfimg.dev0.ctx0", 0x80000007u, Blob(8));
  CHECK(dump_error(without_code.build()) ==
        "dump.7: section .cudbg.relfimg.dev0.ctx0 is no image of code: .cudbg.relfimg.dev0.ctx0: "
        "not a 64-bit little-endian ELF file");
}

TEST_CASE("core dump: sections that overlap, or more of them than fit, are an error") {
  const std::vector<std::byte> whole = artificial_dump();
  Elf64_Ehdr header;
  std::memcpy(&header, whole.data(), sizeof header);
  const auto change = [&](std::vector<std::byte>& in, std::size_t section, auto how) {
    Elf64_Shdr one;
    std::byte* const at = in.data() + header.e_shoff + section * sizeof one;
    std::memcpy(&one, at, sizeof one);
    how(one);
    std::memcpy(at, &one, sizeof one);
  };
  std::vector<std::byte> overlapping = whole;
  for (std::size_t i = 1; i < header.e_shnum; ++i) {
    change(overlapping, i, [&](Elf64_Shdr& one) {
      if (one.sh_type < 0x80000009u) return;  // no table
      one.sh_offset = 0;
      one.sh_size = whole.size();
    });
  }
  CHECK(dump_error(overlapping).ends_with(" overlaps others"));
  std::vector<std::byte> too_many = whole;
  change(too_many, 0, [](Elf64_Shdr& one) { one.sh_size = (std::uint64_t{1} << 58) + 1; });
  header.e_shnum = 0;
  std::memcpy(too_many.data(), &header, sizeof header);
  CHECK(dump_error(too_many).starts_with("dump.7: the file ends before its section headers"));
}

TEST_CASE("core dump: changed bytes cause an error or other facts, nothing else") {
  const std::vector<std::byte> whole = artificial_dump({.parameters = {1, 2, 3}});
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const int value : {0, 1, 0x7f, 0xff}) {
      std::vector<std::byte> changed = whole;
      changed[at] = static_cast<std::byte>(value);
      static_cast<void>(dump_error(changed));
    }
    static_cast<void>(dump_error(faults::Bytes(whole).first(at)));
  }
}

TEST_CASE("core dump: the driver's patterns of names state the process") {
  const auto process = [](const char* name, const char* pattern) {
    return cli::process_of_dump(name, cli::names_of_dumps(pattern));
  };
  CHECK(process("dump.4711", "dump.%p") == 4711);
  CHECK(process("dump.x", "dump.%p") == -1);
  CHECK(process("dump", "dump.%p") == -1);
  CHECK(process("core_box_12.3", "core_%h_%p.%t") == 12);
  CHECK(process("core-gpu-node-3-47", "core-%h-%p") == 47);
  CHECK(process("core.a.b.47", "core.%h.%p") == 47);
  CHECK(process("core+1", "core.%p") == -1);
  CHECK(process("core", "core") == 0);
  CHECK(process("cores", "core") == -1);
}

}  // namespace reprise::test
