// Dynamic shared memory of the block that the calling thread runs. Threads: each has its own.
#pragma once

#include <cstddef>

namespace reprise::detail {

// At least `bytes`, aligned to 128 bytes, with what earlier blocks left in it. Good until the
// thread asks for more; ends the program where there is no memory.
[[nodiscard]] std::byte* block_scratch(std::size_t bytes) noexcept;

}  // namespace reprise::detail
