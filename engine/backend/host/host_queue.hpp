// HostQueue: the owner of a HostWorkQueue. Threads: as BackendQueue.
#pragma once

#include <memory>

#include "backend/backend.hpp"
#include "backend/host/host_work_queue.hpp"

namespace reprise::detail {

class HostQueue final : public BackendQueue {
 public:
  explicit HostQueue(std::shared_ptr<HostWorkQueue> work_queue) noexcept
      : work_queue_(std::move(work_queue)) {}
  ~HostQueue() override { work_queue_->close(); }

  [[nodiscard]] std::uint64_t last_serial() const noexcept override {
    return work_queue_->last_serial();
  }
  [[nodiscard]] bool done(std::uint64_t serial) override { return work_queue_->done(serial); }
  [[nodiscard]] bool wait(std::uint64_t serial,
                          std::optional<std::chrono::nanoseconds> timeout) override {
    return work_queue_->wait(serial, timeout, HostWorkQueue::Runner::HelpingWaiter);
  }
  void wait_for(BackendQueue& other, std::uint64_t serial) override {
    work_queue_->submit_wait(static_cast<HostQueue&>(other).work_queue_, serial);
  }
  std::uint64_t mark() override { return work_queue_->mark(); }
  std::uint64_t write(std::byte* destination, std::span<const std::byte> bytes) override {
    return work_queue_->submit_write(destination, bytes);
  }

  [[nodiscard]] HostWorkQueue& work_queue() const noexcept { return *work_queue_; }

 private:
  std::shared_ptr<HostWorkQueue> work_queue_;
};

}  // namespace reprise::detail
