// The tile of c that one block of a small matrix product computes, for its kernel and for the host.
// Threads: constants.
#pragma once

namespace reprise_ops {

inline constexpr unsigned kGemmTileRows = 16, kGemmTileColumns = 64, kGemmThreads = 256;

}  // namespace reprise_ops
