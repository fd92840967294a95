// Plain descriptions of commands: how a kernel is dispatched, which bytes a copy or a fill covers,
// and a reference to a recorded command. Knows no device and no command buffer. Threads: values.
#pragma once

#include <cstdint>

#include <reprise/types.hpp>

namespace reprise {

struct DispatchDesc {
  Dim3 grid = {};   // blocks
  Dim3 block = {};  // threads of a block
  std::uint32_t shared_bytes =
      0;                     // dynamic shared memory of a block, up to the device's opt-in maximum
  Dim3 cluster = {0, 0, 0};  // blocks of a cluster; 0,0,0: no cluster
  enum class Launch : std::uint8_t { Normal, Cooperative } launch = Launch::Normal;
  // Early: each block calls reprise_wait_for_predecessors() before it first touches memory, so it
  // may start while those before it end. A cooperative kernel never does.
  enum class Start : std::uint8_t { Ordered, Programmatic } start = Start::Ordered;
  float cost = 0;  // microseconds that it takes, as far as is known, for the order of nodes and the
                   // number of lanes; 0: unknown
  SourceLocation where = SourceLocation::current();  // of the braces that make it
};

// Pitched copies and fills: sizes and pitches in bytes.
struct Extent {
  std::uint64_t width = 0;   // bytes of a row
  std::uint64_t height = 1;  // rows of a slice
  std::uint64_t depth = 1;   // slices
};
struct Pitch {
  std::uint64_t row = 0;    // bytes from row to row; 0: tight
  std::uint64_t slice = 0;  // bytes from slice to slice; 0: tight
};
struct CopyDesc {
  Extent extent = {};
  Pitch source = {}, destination = {};
};

// A command of one command buffer, for edge(). Only means something to the command buffer that gave
// it.
struct CommandRef {
  std::uint32_t recorder = 0;
  std::uint32_t index = 0xffffffffu;
};

}  // namespace reprise
