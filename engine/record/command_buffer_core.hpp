// CommandBufferCore: the state machine of a command buffer, its recorders, and the recording that
// end() freezes. runtime/ creates it with make_command_buffer, reads recording(), and reports
// pending replays through a PendingSource. Threads: begin, end, reset and split on the recording
// thread; all other methods on any thread.
#pragma once

#include <array>
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

// A graph compiled from a command buffer. Threads: any.
class PendingSource {
 public:
  virtual ~PendingSource() = default;
  // True while a replay has not completed.
  [[nodiscard]] virtual bool is_pending() const noexcept = 0;
};

using RebindBuffer = std::function<std::shared_ptr<BufferCore>(const std::shared_ptr<BufferCore>&)>;
using RebindKernel =
    std::function<std::shared_ptr<const KernelCore>(const std::shared_ptr<const KernelCore>&)>;

class CommandBufferCore {
 public:
  // `observer` may be null.
  CommandBufferCore(std::shared_ptr<DeviceStatus> device, const CommandBufferDesc& desc,
                    KernelLoader load_kernel, std::unique_ptr<RecordObserver> observer);
  CommandBufferCore(const CommandBufferCore&) = delete;
  CommandBufferCore& operator=(const CommandBufferCore&) = delete;

  // The implementation of the CommandBuffer methods.
  void begin();
  void end();
  void reset();
  [[nodiscard]] std::vector<std::shared_ptr<RecorderCore>> split(std::uint32_t count);
  [[nodiscard]] const std::shared_ptr<RecorderCore>& recorder() const noexcept { return main_; }

  // The stored state; Executable becomes Pending while a replay runs and Invalid if a buffer or
  // kernel is stale.
  [[nodiscard]] CommandBufferState state() const noexcept;
  [[nodiscard]] const std::string& label() const noexcept { return family_->label; }
  [[nodiscard]] Ordering ordering() const noexcept { return ordering_; }
  [[nodiscard]] Level level() const noexcept { return level_; }
  [[nodiscard]] const std::shared_ptr<DeviceStatus>& device() const noexcept {
    return family_->device;
  }

  // The frozen recording; null unless the state is Executable, Pending or Invalid.
  [[nodiscard]] std::shared_ptr<const Recording> recording() const;
  // The recording, for use by `call`. Throws InvalidState without a recording, and StaleHandle
  // naming the stale buffer or kernel.
  [[nodiscard]] std::shared_ptr<const Recording> executable(std::string_view call) const;
  // state() is Pending while `source` is alive and pending. The source is dropped when it expires
  // or the recording is released.
  void add_pending_source(std::weak_ptr<const PendingSource> source);

  // For Device::rebuild(): replaces the buffers and kernels of the frozen recording. Payloads and
  // indices stay valid. A function may return its argument. Graphs keep the recording that they
  // were compiled from.
  void rebind(const RebindBuffer& buffer, const RebindKernel& kernel);

 private:
  using PendingSources = std::vector<std::weak_ptr<const PendingSource>>;
  struct SplitPoint {
    std::uint32_t after = 0;  // commands of the main recorder before the split
    std::vector<std::shared_ptr<RecorderCore>> recorders;
  };

  [[noreturn]] void fail(std::string_view call, ErrorCode code, const std::string& text) const;
  [[noreturn]] void fail_state(std::string_view call, std::string_view fix) const;
  void drop_recorded();
  [[nodiscard]] std::uint32_t new_recorder_ids(std::uint32_t count);
  [[nodiscard]] std::vector<CommandRun> command_runs() const;
  void check_labels_closed(const RecorderCore& recorder, std::string_view which) const;

  const std::shared_ptr<RecorderFamily> family_;
  const Ordering ordering_;
  const Level level_;
  const std::shared_ptr<ArenaCache> arenas_ = std::make_shared<ArenaCache>();
  std::shared_ptr<RecorderCore> main_;
  std::vector<SplitPoint> splits_;
  std::deque<RecorderIds> ids_;

  mutable std::mutex mutex_;  // guards the members below
  std::shared_ptr<const Recording> recording_;
  HeldBuffers held_;  // recording_'s buffers; graphs count their own
  // Sources are queried outside the lock: `pending_` is replaced, never modified, and
  // `new_pending_` is copied. The latter is added to the former when it is full.
  static constexpr std::size_t kNewPending = 32;
  std::shared_ptr<const PendingSources> pending_;
  std::array<std::weak_ptr<const PendingSource>, kNewPending> new_pending_;
  std::size_t new_pending_count_ = 0;
};

[[nodiscard]] std::shared_ptr<CommandBufferCore> make_command_buffer(
    std::shared_ptr<DeviceStatus> device, const CommandBufferDesc& desc,
    KernelLoader load_kernel = {}, std::unique_ptr<RecordObserver> observer = nullptr);

}  // namespace reprise::detail
