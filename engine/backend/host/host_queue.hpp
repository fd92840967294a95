// HostQueue: the owner of a HostWorkQueue. Threads: as BackendQueue.
#pragma once

#include <memory>

#include "backend/backend.hpp"
#include "backend/host/host_work_queue.hpp"

namespace reprise::detail {

class HostQueue final : public BackendQueue {
 public:
  explicit HostQueue(std::shared_ptr<HostWorkQueue> line) noexcept : line_(std::move(line)) {}
  ~HostQueue() override { line_->close(); }

  [[nodiscard]] std::uint64_t last_serial() const noexcept override { return line_->last_serial(); }
  [[nodiscard]] bool done(std::uint64_t serial) override { return line_->done(serial); }
  [[nodiscard]] bool wait(std::uint64_t serial,
                          std::optional<std::chrono::nanoseconds> timeout) override {
    return line_->wait(serial, timeout, HostWorkQueue::Runner::HelpingWaiter);
  }
  void wait_for(BackendQueue& other, std::uint64_t serial) override {
    line_->submit_wait(static_cast<HostQueue&>(other).line_, serial);
  }
  std::uint64_t mark() override { return line_->mark(); }
  std::uint64_t write(std::byte* destination, std::span<const std::byte> bytes) override {
    return line_->submit_write(destination, bytes);
  }

  [[nodiscard]] HostWorkQueue& line() const noexcept { return *line_; }

 private:
  std::shared_ptr<HostWorkQueue> line_;
};

}  // namespace reprise::detail
