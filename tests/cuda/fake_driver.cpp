#include "cuda/fake_driver.hpp"

#include <algorithm>
#include <condition_variable>
#include <limits>
#include <memory>
#include <mutex>
#include <vector>

// CUDA's handles point to types that only a driver defines; these are the fake's.
struct CUstream_st {
  std::uint64_t launched = 0, finished = 0;
  bool is_destroyed = false;
};
struct CUevent_st {
  CUstream stream = nullptr;
  std::uint64_t after = 0;  // launches of the stream
};

namespace reprise::test {
namespace {

struct State {
  std::mutex mutex;
  std::condition_variable changed;
  FakeDriver::Counts counts;
  bool always_finished = false, capturing = false;
  CUresult launch_result = CUDA_SUCCESS, event_result = CUDA_SUCCESS;
  std::vector<std::unique_ptr<CUstream_st>> destroyed;  // their work still completes

  void note_use(CUstream stream) {
    if (stream->is_destroyed) ++counts.destroyed_streams_used;
  }
};
State* state = nullptr;
thread_local CUcontext current_context = nullptr;

const CUcontext kContext = reinterpret_cast<CUcontext>(0x1000);

bool is_complete(const CUevent_st& event) {
  return state->always_finished || event.stream == nullptr || event.stream->finished >= event.after;
}

CUresult get_current(CUcontext* context) {
  *context = current_context;
  return CUDA_SUCCESS;
}
CUresult push_current(CUcontext context) {
  const std::lock_guard lock(state->mutex);
  current_context = context;
  ++state->counts.pushed_contexts;
  return CUDA_SUCCESS;
}
CUresult pop_current(CUcontext* context) {
  const std::lock_guard lock(state->mutex);
  *context = current_context;
  current_context = nullptr;
  --state->counts.pushed_contexts;
  return CUDA_SUCCESS;
}
CUresult exchange_mode(CUstreamCaptureMode* mode) {
  thread_local CUstreamCaptureMode now = CU_STREAM_CAPTURE_MODE_GLOBAL;
  std::swap(now, *mode);
  return CUDA_SUCCESS;
}
CUresult create_stream(CUstream* stream, unsigned) {
  const std::lock_guard lock(state->mutex);
  *stream = new CUstream_st;
  ++state->counts.streams_alive;
  return CUDA_SUCCESS;
}
CUresult create_stream_with_priority(CUstream* stream, unsigned flags, int) {
  return create_stream(stream, flags);
}
CUresult destroy_stream(CUstream stream) {
  const std::lock_guard lock(state->mutex);
  state->note_use(stream);
  stream->is_destroyed = true;
  state->destroyed.emplace_back(stream);
  --state->counts.streams_alive;
  return CUDA_SUCCESS;
}
CUresult stream_context(CUstream, CUcontext* context) {
  *context = kContext;
  return CUDA_SUCCESS;
}
CUresult is_capturing(CUstream stream, CUstreamCaptureStatus* status) {
  const std::lock_guard lock(state->mutex);
  state->note_use(stream);
  *status = state->capturing ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}
CUresult wait_event(CUstream stream, CUevent, unsigned) {
  const std::lock_guard lock(state->mutex);
  state->note_use(stream);
  ++state->counts.stream_waits;
  return CUDA_SUCCESS;
}
CUresult create_event(CUevent* event, unsigned) {
  const std::lock_guard lock(state->mutex);
  *event = new CUevent_st;
  ++state->counts.events_alive;
  return CUDA_SUCCESS;
}
CUresult destroy_event(CUevent event) {
  const std::lock_guard lock(state->mutex);
  delete event;
  --state->counts.events_alive;
  return CUDA_SUCCESS;
}
CUresult record_event(CUevent event, CUstream stream) {
  const std::lock_guard lock(state->mutex);
  state->note_use(stream);
  *event = {stream, stream->launched};
  return CUDA_SUCCESS;
}
CUresult query_event(CUevent event) {
  const std::lock_guard lock(state->mutex);
  if (state->event_result != CUDA_SUCCESS) return state->event_result;
  return is_complete(*event) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}
CUresult synchronize_event(CUevent event) {
  std::unique_lock lock(state->mutex);
  if (state->event_result != CUDA_SUCCESS) return state->event_result;
  const CUevent_st waited = *event;  // as in CUDA: the record at the start of the wait
  if (!is_complete(waited)) ++state->counts.synchronised;
  state->changed.notify_all();
  state->changed.wait(lock, [&] { return is_complete(waited); });
  return CUDA_SUCCESS;
}
CUresult launch(CUgraphExec, CUstream stream) {
  const std::lock_guard lock(state->mutex);
  if (state->launch_result != CUDA_SUCCESS) return state->launch_result;
  state->note_use(stream);
  ++stream->launched;
  ++state->counts.launches;
  return CUDA_SUCCESS;
}

const detail::CudaDriver& table() {
  static const detail::CudaDriver driver = [] {
    detail::CudaDriver d;
    d.cuCtxGetCurrent = &get_current;
    d.cuCtxPushCurrent = &push_current;
    d.cuCtxPopCurrent = &pop_current;
    d.cuThreadExchangeStreamCaptureMode = &exchange_mode;
    d.cuStreamCreate = &create_stream;
    d.cuStreamCreateWithPriority = &create_stream_with_priority;
    d.cuStreamDestroy = &destroy_stream;
    d.cuStreamGetCtx = &stream_context;
    d.cuStreamIsCapturing = &is_capturing;
    d.cuStreamWaitEvent = &wait_event;
    d.cuEventCreate = &create_event;
    d.cuEventDestroy = &destroy_event;
    d.cuEventRecord = &record_event;
    d.cuEventQuery = &query_event;
    d.cuEventSynchronize = &synchronize_event;
    d.cuGraphLaunch = &launch;
    return d;
  }();
  return driver;
}

}  // namespace

FakeDriver::FakeDriver() {
  state = new State;
  auto status = std::make_shared<detail::DeviceStatus>();
  status->selector = "cuda:0";
  context_ = std::make_shared<const detail::CudaContext>(
      detail::CudaContext{table(), 0, kContext, std::move(status), {}});
}

FakeDriver::~FakeDriver() {
  delete state;
  state = nullptr;
}

void FakeDriver::finish(CUstream stream, std::uint64_t launches) {
  const std::lock_guard lock(state->mutex);
  stream->finished = std::max(stream->finished, launches);
  state->changed.notify_all();
}

void FakeDriver::finish_all(bool always) {
  const std::lock_guard lock(state->mutex);
  state->always_finished = always;
  state->changed.notify_all();
}

void FakeDriver::set_capturing(bool capturing) {
  const std::lock_guard lock(state->mutex);
  state->capturing = capturing;
}

void FakeDriver::fail_launches(CUresult result) {
  const std::lock_guard lock(state->mutex);
  state->launch_result = result;
}

void FakeDriver::fail_events(CUresult result) {
  const std::lock_guard lock(state->mutex);
  state->event_result = result;
}

FakeDriver::Counts FakeDriver::counts() const {
  const std::lock_guard lock(state->mutex);
  return state->counts;
}

}  // namespace reprise::test
