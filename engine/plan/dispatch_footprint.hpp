// The footprint of a recorded dispatch: which of its declared bytes each block can access. Knows no
// device. Threads: pure functions.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/kernel_footprints.hpp"
#include "record/recording.hpp"

namespace reprise::detail {

// The entry whose symbol or whose C++ name is `name`; null: none.
[[nodiscard]] const PtxFunction* find_kernel(const PtxModule& module, std::string_view name);

// What the backend of the kernel derives, which has its PTX.
[[nodiscard]] std::shared_ptr<const Footprint> find_footprint(KernelFootprints& kernel,
                                                              const DispatchPayload& dispatch);

// One declared access of a command.
struct BlockAccess {
  BufferAccess access;  // in terms of memory
  // Block b, in linear order, accesses at most bytes [begin + step * b, end + step * b) of one of
  // these, within [lowest, highest). Empty: every block can access all bytes.
  struct Bytes {
    std::int64_t step = 0, begin = 0, end = 0, lowest = 0, highest = 0;
  };
  std::vector<Bytes> bytes = {};
  bool is_declared = false;  // by the dispatch, some of the bytes at least
};

// The accesses of a command, given in terms of memory: accesses[i] is the command's i-th one, and
// places[b] is the place of buffer b of the recording. What a dispatch declares takes the place of
// what its kernel's PTX shows. Where an access has bytes by block, all blocks together can access
// each declared byte. `reason` receives why the first one without has
// none, and stays empty otherwise; may be null.
[[nodiscard]] std::vector<BlockAccess> block_accesses(const Recording& recording,
                                                      std::uint32_t command,
                                                      std::span<const BufferAccess> accesses,
                                                      std::span<const MemoryPlace> places,
                                                      std::string* reason = nullptr);

}  // namespace reprise::detail
