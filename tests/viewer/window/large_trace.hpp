// A trace with large graphs: layers of kernels that read from the previous layers, in nested
// labels, with every tenth replay sampled. Deterministic for its arguments. Threads: one at a time.
#pragma once

#include <cstdint>
#include <filesystem>

namespace reprise::test {

struct LargeTraceDesc {
  std::uint32_t graphs = 1;  // of the same shape, replayed one after the other
  std::uint32_t nodes = 10'000;
  std::uint32_t width = 12;     // nodes of a layer; layers wider than labels have none
  std::uint64_t replays = 300;  // of each graph
};
void write_large_trace(const std::filesystem::path& path, const LargeTraceDesc& desc = {});

}  // namespace reprise::test
