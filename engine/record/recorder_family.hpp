// RecorderFamily: the state that all recorders of one command buffer share during parallel
// recording. Threads: read by any thread; written by the thread that owns the command buffer.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include <reprise/command_buffer.hpp>
#include <reprise/graph_op.hpp>

#include "record/buffer_core.hpp"
#include "record/record_observer.hpp"

namespace reprise::detail {

// Recorder ids of one recording: [first, first + count). Ids are never reused, so a CommandRef
// identifies its recording.
struct RecorderIds {
  std::uint32_t first = 0, count = 0;
  const RecorderIds* earlier = nullptr;
};

struct RecorderFamily {
  std::string label;
  std::shared_ptr<DeviceStatus> device;
  KernelLoader load_kernel;                                            // on the device, for ops
  std::unique_ptr<RecordObserver> observer;                            // may be null
  std::atomic<CommandBufferState> state{CommandBufferState::Initial};  // never Pending or Invalid
  std::atomic<const RecorderIds*> ids{nullptr};                        // of the active recording

  [[nodiscard]] bool owns(std::uint32_t recorder) const noexcept {
    for (const RecorderIds* at = ids.load(std::memory_order_acquire); at != nullptr;
         at = at->earlier) {
      if (recorder - at->first < at->count) return true;
    }
    return false;
  }
};

}  // namespace reprise::detail
