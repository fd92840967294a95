// MpiTransport: HostTransport over non-blocking MPI calls. MPI progresses only within poll() and
// other calls of MPI. Every rank passes the same form of buffers to MPI whether it works in place
// or not, because MPI selects its algorithms by the form. Threads: see host_transport.hpp.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>

#include "collectives/host_transport.hpp"
#include "collectives/job_failure.hpp"

namespace reprise::detail {

class MpiTransport final : public HostTransport {
 public:
  // Collective: duplicates `comm`, whose errors are returned. One request moves at most
  // `max_bytes`.
  [[nodiscard]] static std::unique_ptr<MpiTransport> duplicate(MPI_Comm comm,
                                                               std::uint64_t max_bytes);
  MpiTransport(const MpiTransport&) = delete;
  MpiTransport& operator=(const MpiTransport&) = delete;
  ~MpiTransport() override;

  [[nodiscard]] std::uint32_t rank() const noexcept override { return rank_; }
  [[nodiscard]] std::uint32_t size() const noexcept override { return size_; }
  [[nodiscard]] std::unique_ptr<Operation> start(std::span<const CollectiveCall> group) override;
  [[nodiscard]] std::unique_ptr<HostTransport> split(std::uint32_t color) override;
  void abort(std::string reason) noexcept override;

 private:
  // Takes over `comm`.
  MpiTransport(MPI_Comm comm, std::uint64_t max_bytes, std::shared_ptr<JobFailure> failure);

  MPI_Comm comm_ = MPI_COMM_NULL;
  std::uint64_t max_bytes_;
  std::shared_ptr<JobFailure> failure_;  // shared with the transports that are split from this one
  std::uint32_t rank_ = 0, size_ = 1;
};

}  // namespace reprise::detail
