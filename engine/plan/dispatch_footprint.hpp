// The footprint of a recorded dispatch: which of its declared bytes each block can access. Knows no
// device. Threads: pure functions.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
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
  // these, within [lowest, highest).
  struct Bytes {
    std::int64_t step = 0, begin = 0, end = 0, lowest = 0, highest = 0;
  };
  std::vector<Bytes> bytes = {};
  // Of a matrix in rows of `pitch` bytes, block b accesses at most one tile: `rows` rows, and of
  // each `width` bytes, or the rest of the row in the last of the `columns` columns of tiles.
  struct Tiles {
    std::int64_t begin = 0, pitch = 0, width = 0, rows = 0, columns = 0;
    friend bool operator==(const Tiles&, const Tiles&) = default;
  };
  std::optional<Tiles> tiles = {};
  bool is_declared = false;  // by the dispatch, some of the bytes at least

  // Without bytes and tiles, every block can access all bytes.
  [[nodiscard]] bool is_by_block() const noexcept { return !bytes.empty() || tiles; }
  // Whether block b can access all of these bytes at once.
  [[nodiscard]] bool contains(std::int64_t first, std::int64_t end, std::int64_t block) const;
};

// The accesses of a command, given in terms of memory: accesses[i] is the command's i-th one, and
// places[b] is the place of buffer b of the recording. What a dispatch declares takes the place of
// what its kernel's PTX shows. Where an access is by block, all blocks together can access each
// declared byte. `reason` receives why the first other one is not, and stays empty without one; may
// be null.
[[nodiscard]] std::vector<BlockAccess> block_accesses(const Recording& recording,
                                                      std::uint32_t command,
                                                      std::span<const BufferAccess> accesses,
                                                      std::span<const MemoryPlace> places,
                                                      std::string* reason = nullptr);

}  // namespace reprise::detail
