// CommunicatorCore: the object behind a Communicator. Threads: immutable, apart from split().
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <reprise/collectives.hpp>

#include "collectives/collective_backend.hpp"
#include "collectives/job_rank.hpp"

namespace reprise::detail {

class CommunicatorCore {
 public:
  static constexpr std::uint64_t kWorld = 1;  // the id of all ranks
  struct Desc {
    Device device;
    std::shared_ptr<JobRank> job;
    std::shared_ptr<CollectiveBackend> backend;
    std::uint64_t id = kWorld;           // the same on all its ranks, and only there
    std::vector<std::uint32_t> members;  // ranks of the job, by rank; ascending
    std::uint32_t rank = 0;
  };
  explicit CommunicatorCore(Desc desc) : desc_(std::move(desc)) {}
  CommunicatorCore(const CommunicatorCore&) = delete;
  CommunicatorCore& operator=(const CommunicatorCore&) = delete;
  ~CommunicatorCore() { desc_.job->end_communicator(desc_.id); }

  [[nodiscard]] JobRank& job() const noexcept { return *desc_.job; }
  [[nodiscard]] CollectiveBackend& backend() const noexcept { return *desc_.backend; }
  [[nodiscard]] std::uint64_t id() const noexcept { return desc_.id; }
  [[nodiscard]] const std::vector<std::uint32_t>& members() const noexcept { return desc_.members; }
  [[nodiscard]] std::uint32_t rank() const noexcept { return desc_.rank; }
  [[nodiscard]] std::uint32_t size() const noexcept {
    return static_cast<std::uint32_t>(desc_.members.size());
  }
  [[nodiscard]] std::shared_ptr<CommunicatorCore> split(std::uint32_t color);

 private:
  const Desc desc_;
  std::uint64_t splits_ = 0;
};

}  // namespace reprise::detail
