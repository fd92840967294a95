// CollectiveBackend: runs the collectives of one communicator on the device of this rank. Threads:
// record() on any thread; split() on one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <reprise/collectives.hpp>

#include "collectives/host_transport.hpp"
#include "collectives/rank_control.hpp"

namespace reprise::detail {

class CollectiveBackend {
 public:
  virtual ~CollectiveBackend() = default;
  // Adds the operations, as one group, to an op. The backend outlives the recorded work.
  virtual void record(GraphRecordCtx& ctx, std::span<const CollectiveDesc> operations) = 0;
  // Collective: a backend of the ranks that pass the same `color`, in their order.
  [[nodiscard]] virtual std::shared_ptr<CollectiveBackend> split(std::uint32_t color) = 0;
  // Why a loop must not contain collectives; empty: it may.
  [[nodiscard]] virtual std::string loop_exclusion() const { return {}; }
};

// The addresses of an operation in the executable that is recorded.
[[nodiscard]] CollectiveCall call_of(const GraphRecordCtx& ctx, const CollectiveDesc& operation);

// The only rank of a communicator, on any device.
[[nodiscard]] std::shared_ptr<CollectiveBackend> make_single_rank_backend();
// `control` aborts what is in progress.
[[nodiscard]] std::shared_ptr<CollectiveBackend> make_host_backend(
    std::unique_ptr<HostTransport> transport, std::shared_ptr<RankControl> control);
// On a GPU, with a new communicator of NCCL. Collective among the ranks of the job.
[[nodiscard]] std::shared_ptr<CollectiveBackend> make_nccl_backend(
    const Device& device, std::shared_ptr<RankControl> control);
// Adds a copy to the work that `stream`, a cudaStream_t, captures.
void copy_on_stream(void* stream, void* to, const void* from, std::uint64_t bytes);
// With a communicator of the application. Sets rank and size.
[[nodiscard]] std::shared_ptr<CollectiveBackend> adopt_nccl(const Device& device,
                                                            ncclComm* communicator,
                                                            std::uint32_t& rank,
                                                            std::uint32_t& size);

}  // namespace reprise::detail
