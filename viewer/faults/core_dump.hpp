// The facts of a GPU core dump: the grids on the GPU, and the exceptions. The format is that of
// NVIDIA's cudacoredump.h (drivers 346 to 580), whose tables grow at the ends of their entries.
// Threads: pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "faults/elf_file.hpp"

namespace reprise::faults {

using Extent = std::array<std::uint32_t, 3>;
inline constexpr std::uint32_t kNoGrid = 0xffffffffu;

struct DumpedGrid {
  std::uint64_t id = 0;
  std::uint32_t device = 0;
  std::string kernel;                 // as in the binary; empty: unknown
  Extent grid{}, block{};             // 0: unknown
  std::vector<std::byte> parameters;  // and what follows them; empty: not in the dump
  // Blocks on the GPU at the time of the dump, and the first of them.
  std::uint64_t blocks = 0;
  std::optional<Extent> first_block;
};

// The threads of one warp that have an exception; or of a multiprocessor whose warps have ended.
struct DumpedException {
  std::uint32_t code = 0;
  std::uint32_t device = 0, multiprocessor = 0;
  std::uint32_t grid = kNoGrid;  // index in CoreDump::grids
  std::optional<Extent> block, thread;
  std::uint32_t threads = 0;
  std::uint64_t address = 0;  // of the instruction; 0: unknown
  std::string function;       // that contains it, as in the binary; empty: unknown
  std::string file;           // of the source; empty: unknown
  std::uint32_t line = 0;
};

struct CoreDump {
  std::vector<DumpedGrid> grids;
  std::vector<DumpedException> exceptions;
};

// `name` is for errors. Throws DumpError.
[[nodiscard]] CoreDump read_core_dump(Bytes bytes, const std::string& name);
[[nodiscard]] CoreDump read_core_dump(const std::filesystem::path& file);

// "illegal address" for 14; "exception 99" for an unknown one.
[[nodiscard]] std::string exception_name(std::uint32_t code);

}  // namespace reprise::faults
