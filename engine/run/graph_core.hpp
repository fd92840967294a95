// GraphCore: one compiled graph: its plan, its executable, its slab, and where it was launched last. Held by the
// CapturedGraph and by fences; when both are gone, everything that its last launch may touch goes to the retire queue.
// Threads: any thread. Launches take the graph's mutex; launches of graphs that share buffers take DeviceCore::order() first.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <reprise/captured_graph.hpp>

#include "record/command_buffer_core.hpp"
#include "run/graph_body.hpp"
#include "run/point.hpp"
#include "run/pool_buffer.hpp"

namespace reprise::detail {

class DeviceCore;
class PoolCore;
class QueueCore;

class GraphCore final : public PendingSource {
 public:
  // Makes itself known to its buffers and pools. Throws StaleHandle where a buffer was cleared meanwhile.
  [[nodiscard]] static std::shared_ptr<GraphCore> make(std::unique_ptr<GraphBody> body, CompileReport report);
  GraphCore(std::unique_ptr<GraphBody> body, CompileReport report);
  GraphCore(const GraphCore&) = delete;
  GraphCore& operator=(const GraphCore&) = delete;
  ~GraphCore() override;

  // `self` is this graph's own owner.
  Fence launch(const std::shared_ptr<GraphCore>& self, const std::shared_ptr<QueueCore>& queue);
  void upload(const std::shared_ptr<QueueCore>& queue);
  void set_profile(ProfileMode mode);

  [[nodiscard]] const std::string& label() const noexcept { return body_->plan->label; }
  [[nodiscard]] const std::shared_ptr<DeviceCore>& device() const noexcept { return body_->device; }
  [[nodiscard]] const std::shared_ptr<CapturePool>& pool() const noexcept { return body_->pool; }
  [[nodiscard]] const Plan& plan() const noexcept { return *body_->plan; }
  [[nodiscard]] BackendExec& exec() const noexcept { return *body_->exec; }
  [[nodiscard]] const CompileReport& report() const noexcept { return report_; }
  [[nodiscard]] std::uint64_t replays() const noexcept { return replays_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool is_uploaded() const noexcept { return uploaded_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint32_t trace_id() const noexcept { return body_->trace_id; }  // means something only with a trace
  [[nodiscard]] ReplayLog* log() const noexcept { return body_->log.get(); }  // null without a trace
  // True where its launches are tracked by a buffer.
  [[nodiscard]] bool is_shared() const noexcept { return shared_.load(std::memory_order_acquire); }
  // The last launch or upload; an empty queue where there was none.
  [[nodiscard]] Point last() const;
  [[nodiscard]] bool is_pending() const noexcept override;
  void rethrow_callback_error(std::uint64_t replay) const;

  // Under order(): from now on launches are tracked by `buffer`, those so far included. Call buffer.prepare() before.
  void track(PoolBuffer& buffer, Access access) noexcept;

 private:
  // A persistent buffer, with all that the graph's commands do to it.
  struct Use {
    std::shared_ptr<PoolBuffer> buffer;
    Access access;
  };
  void collect_uses();
  [[nodiscard]] std::uint64_t start_replay(QueueCore& queue);  // under mutex_; the serial
  void attach();
  void require_launchable(const QueueCore& queue, Stage stage) const;
  void share_all();                    // under order()
  void follow_last(QueueCore& queue);  // under mutex_
  void follow_uses(QueueCore& queue);  // under order() and mutex_
  void note_uses() noexcept;           // under order() and mutex_
  // Runs `submission`, ordered after what it conflicts with; `submission` returns its serial.
  template <class Submission>
  void submit(const std::shared_ptr<QueueCore>& queue, Stage stage, Submission&& submission);
  [[noreturn]] void rethrow_with_names(const Error& error, const QueueCore& queue, Stage stage) const;

  std::unique_ptr<GraphBody> body_;
  CompileReport report_;
  std::vector<Use> uses_;
  std::vector<std::shared_ptr<PoolCore>> pools_;  // each once
  std::uint32_t generation_;
  std::atomic<bool> shared_{false}, all_shared_{false}, uploaded_{false};
  std::atomic<std::uint64_t> replays_{0};
  mutable std::mutex mutex_;  // of body_->exec and body_->last
};

}  // namespace reprise::detail
