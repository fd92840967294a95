#include "injection/node_recorder.hpp"

#include <exception>
#include <vector>

#include "profile/activity/cupti_records.hpp"
#include "profile/process_info.hpp"

namespace reprise::detail {
namespace {

constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                         CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET};

std::atomic<NodeRecorder*> the_recorder{nullptr};

}  // namespace

NodeRecorder::NodeRecorder(const CuptiLibrary& cupti, ObservedProgram& program)
    : cupti_(cupti), program_(program) {
  the_recorder.store(this);
}

std::string NodeRecorder::start() {
  if (on_) return {};
  if (!registered_) {
    const CUptiResult result = cupti_.register_buffers(&on_buffer_requested, &on_buffer_completed);
    if (result != CUPTI_SUCCESS)
      return cupti_.describe_error("cuptiActivityRegisterCallbacks", result);
    registered_ = true;
  }
  on_ = true;
  for (const CUpti_ActivityKind kind : kKinds) {
    const CUptiResult result = cupti_.enable(kind);
    if (result == CUPTI_SUCCESS) continue;
    stop();
    return cupti_.describe_error("cuptiActivityEnable", result);
  }
  return {};
}

void NodeRecorder::stop() noexcept {
  if (!on_) return;
  on_ = false;
  for (const CUpti_ActivityKind kind : kKinds) static_cast<void>(cupti_.disable(kind));
}

void NodeRecorder::flush(Wait wait) noexcept {
  if (!registered_) return;
  switch (wait) {
    case Wait::ForCompleted: static_cast<void>(cupti_.flush_all(0)); return;
    case Wait::ForAll:
      static_cast<void>(cupti_.flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
      return;
  }
}

void NodeRecorder::on_buffer_requested(std::uint8_t** buffer, std::size_t* size,
                                       std::size_t* records) {
  *records = 0;  // no limit
  *buffer = the_recorder.load()->buffers_.take();
  *size = *buffer == nullptr ? 0 : ActivityBuffers::kBytes;
}

void NodeRecorder::on_buffer_completed(CUcontext context, std::uint32_t stream,
                                       std::uint8_t* buffer, std::size_t /*size*/,
                                       std::size_t valid) {
  NodeRecorder& self = *the_recorder.load();
  self.take(buffer, valid);
  std::size_t dropped = 0;
  if (self.cupti_.dropped_records(context, stream, &dropped) == CUPTI_SUCCESS)
    self.dropped_.fetch_add(dropped, std::memory_order_relaxed);
  self.buffers_.release(buffer);
}

void NodeRecorder::take(std::uint8_t* buffer, std::size_t valid) noexcept {
  std::uint64_t count = 0;
  try {
    std::vector<ObservedRun> runs;
    for (CUpti_Activity* activity = nullptr;
         cupti_.next_record(buffer, valid, &activity) == CUPTI_SUCCESS;) {
      const auto record = node_record(*activity);
      if (!record) continue;  // not a graph node
      ++count;
      runs.push_back(
          {record->node, record->correlation, record->stream,
           static_cast<trace::Time>(record->started), static_cast<trace::Time>(record->ended),
           record->kernel == nullptr ? std::string_view() : std::string_view(record->kernel)});
    }
    program_.ran(runs, trace_now());
  } catch (const std::exception&) {
    dropped_.fetch_add(count, std::memory_order_relaxed);
  }
}

}  // namespace reprise::detail
