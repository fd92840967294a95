// Dynamic shared memory of the block that the calling thread runs. Threads: each has its own.
#pragma once

#include <cstddef>

namespace reprise::detail {

// At least `bytes`, aligned to 128 bytes, uninitialised. Valid until the thread requests more.
// Terminates the program if the allocation fails.
[[nodiscard]] std::byte* block_scratch(std::size_t bytes) noexcept;

}  // namespace reprise::detail
