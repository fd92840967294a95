// StampEnds: the two stamps around a graph that has no frame to carry them: one before all of its roots, one after all of its leaves. They cost
// a microsecond or two of each replay, and so can be switched off in an executable, and left out of copies. Threads: one at a time; used
// within a SetupScope.
#pragma once

#include <cstdint>

#include "backend/cuda/cuda_context.hpp"
#include "backend/cuda/cuda_instruments.hpp"

namespace reprise::detail {

// Nodes of the graph that they are in; null: there are none.
struct StampEnds {
  cudaGraphNode_t begin = nullptr, end = nullptr;
  [[nodiscard]] explicit operator bool() const noexcept { return begin != nullptr; }
};

// Puts them around everything in `graph`; they note times in `ring`, the memory of a StampRing.
[[nodiscard]] StampEnds add_stamp_ends(const CudaContext& context, cudaGraph_t graph, const CudaInstruments& instruments, std::uint64_t* ring,
                                       const CallPlace& place);
// Whether kernels of this device may start before the one in front of them has ended.
[[nodiscard]] bool can_overlap_begin(const DeviceInfo& device);
// Lets `root`, a kernel that comes after nothing yet, start once the first stamp has noted its time, and the last one come after both. That
// takes 0.3 to 0.6 us of each replay off what the two cost; with several roots it would add.
void overlap_begin(cudaGraph_t graph, const StampEnds& ends, cudaGraphNode_t root, const CallPlace& place);
// Takes them out of `copy`, a clone of the graph that has `ends`.
void remove_stamp_ends(cudaGraph_t copy, const StampEnds& ends, const CallPlace& place);

enum class Stamping : std::uint8_t { Off, On };
// From the next launch of `exec` on, which is made of the graph that has `ends`.
void set_stamping(cudaGraphExec_t exec, const StampEnds& ends, Stamping stamping, const CallPlace& place);

}  // namespace reprise::detail
