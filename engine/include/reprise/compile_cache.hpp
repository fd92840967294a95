// What a device keeps of compiles, so that recordings of the same structure are scheduled, lowered
// and placed once. Threads: values.
#pragma once

#include <cstdint>

namespace reprise {

// Of one device. Structure: which bytes of which of its buffers each command touches, barriers,
// edges, sizes of transient buffers, and the lowering that is asked for; not what commands do, nor
// which buffers they are.
struct CompileCacheReport {
  std::uint64_t hits = 0;        // compiles that found their structure, compared in full
  std::uint64_t misses = 0;      // that did not
  std::uint64_t evictions = 0;   // structures that went because there was no room
  std::uint64_t structures = 0;  // kept now; one is kept from its second compile on
  std::uint64_t bytes = 0;       // that they take, at most `budget`
  std::uint64_t budget = 0;
};

}  // namespace reprise
