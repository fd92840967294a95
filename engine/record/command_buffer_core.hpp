// CommandBufferCore: the state machine of a command buffer, its recorders, and the recording that
// end() freezes. run/ makes one with make_command_buffer, reads recording(), and says with a
// PendingSource when graphs of it are replayed. Threads: begin, end, reset and split by the thread
// that records; everything else by any.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <reprise/command_buffer.hpp>

#include "base/arena_cache.hpp"
#include "record/merge.hpp"
#include "record/recorder_core.hpp"

namespace reprise::detail {

// A graph compiled from a command buffer. Any thread.
class PendingSource {
 public:
  virtual ~PendingSource() = default;
  [[nodiscard]] virtual bool is_pending() const noexcept = 0;  // a replay of it has not completed
};

using RebindBuffer = std::function<std::shared_ptr<BufferCore>(const std::shared_ptr<BufferCore>&)>;
using RebindKernel =
    std::function<std::shared_ptr<const KernelCore>(const std::shared_ptr<const KernelCore>&)>;

class CommandBufferCore {
 public:
  // `observer` may be null.
  CommandBufferCore(std::shared_ptr<DeviceStatus> device, const CommandBufferDesc& desc,
                    std::unique_ptr<RecordObserver> observer);
  CommandBufferCore(const CommandBufferCore&) = delete;
  CommandBufferCore& operator=(const CommandBufferCore&) = delete;

  // The verbs' end points (see CommandBuffer).
  void begin();
  void end();
  void reset();
  [[nodiscard]] std::vector<std::shared_ptr<RecorderCore>> split(std::uint32_t count);
  [[nodiscard]] const std::shared_ptr<RecorderCore>& recorder() const noexcept { return main_; }

  // Executable, and Pending or Invalid where that is how it is.
  [[nodiscard]] CommandBufferState state() const noexcept;
  [[nodiscard]] const std::string& label() const noexcept { return family_->label; }
  [[nodiscard]] Ordering ordering() const noexcept { return ordering_; }
  [[nodiscard]] Level level() const noexcept { return level_; }
  [[nodiscard]] const std::shared_ptr<DeviceStatus>& device() const noexcept {
    return family_->device;
  }

  // What end() froze; null unless the state is Executable, Pending or Invalid.
  [[nodiscard]] std::shared_ptr<const Recording> recording() const;
  // The recording, where `call` may use it: else InvalidState, or StaleHandle naming the buffer or
  // kernel that is stale.
  [[nodiscard]] std::shared_ptr<const Recording> executable(std::string_view call) const;
  // While `source` is alive and pending, state() is Pending. It is forgotten when it dies or the
  // recording is dropped.
  void add_pending_source(std::weak_ptr<const PendingSource> source);

  // Device::rebuild(): the frozen recording names other buffers and kernels from now on, payloads
  // and indices staying. A function may give its argument back. Graphs keep the recording they were
  // compiled from.
  void rebind(const RebindBuffer& buffer, const RebindKernel& kernel);

 private:
  using PendingSources = std::vector<std::weak_ptr<const PendingSource>>;
  struct SplitPoint {
    std::uint32_t after = 0;  // commands of the main recorder before it
    std::vector<std::shared_ptr<RecorderCore>> recorders;
  };

  [[noreturn]] void fail(std::string_view call, ErrorCode code, const std::string& text) const;
  [[noreturn]] void fail_state(std::string_view call, std::string_view fix) const;
  void drop_recorded();
  [[nodiscard]] std::uint32_t new_recorder_ids(std::uint32_t count);
  [[nodiscard]] std::vector<Segment> segments() const;
  void check_labels_closed(const RecorderCore& recorder, std::string_view which) const;

  const std::shared_ptr<RecorderFamily> family_;
  const Ordering ordering_;
  const Level level_;
  const std::shared_ptr<ArenaCache> arenas_ = std::make_shared<ArenaCache>();
  std::shared_ptr<RecorderCore> main_;
  std::vector<SplitPoint> splits_;
  std::deque<RecorderIds> ids_;

  mutable std::mutex mutex_;  // guards what follows
  std::shared_ptr<const Recording> recording_;
  HeldBuffers
      held_;  // counts recording_'s buffers in BufferCore::recorded; graphs count for themselves
  std::shared_ptr<const PendingSources>
      pending_;  // replaced, never changed: sources are asked outside the lock
};

[[nodiscard]] std::shared_ptr<CommandBufferCore> make_command_buffer(
    std::shared_ptr<DeviceStatus> device, const CommandBufferDesc& desc,
    std::unique_ptr<RecordObserver> observer = nullptr);

}  // namespace reprise::detail
