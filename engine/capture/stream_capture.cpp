#include <reprise/stream_capture.hpp>

#include <utility>
#include <vector>

#include "base/failure.hpp"
#include "base/handle_access.hpp"
#include "base/text.hpp"
#include "capture/pointer_resolver.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/queue/queue_core.hpp"

namespace reprise::detail {

// The recording and the queue of a capture. The destructor releases the queue for other captures.
class StreamCaptureCore {
 public:
  StreamCaptureCore(const Queue& queue, CaptureMode mode, std::string_view label)
      : queue_(detail::core_of(queue)),
        device_(make_handle<Device>(queue_->device())),
        capture_(std::make_shared<QueueCapture>(CaptureSource::Calls, mode, label)),
        commands_(device_.create_command_buffer({.label = label, .ordering = Ordering::Linear})),
        pointers_(device_) {
    commands_.begin();
    queue_->captures().open(capture_, queue_->label());
  }
  StreamCaptureCore(const StreamCaptureCore&) = delete;
  StreamCaptureCore& operator=(const StreamCaptureCore&) = delete;
  ~StreamCaptureCore() { queue_->captures().close(*capture_); }

  [[nodiscard]] const QueueCapture& capture() const noexcept { return *capture_; }
  [[nodiscard]] CommandBuffer& commands() noexcept { return commands_; }

  void kernel(const CalledKernel& called, const DispatchDesc& desc,
              std::span<const CapturedArgument> args) {
    queue_->require_current(Stage::Record);
    std::vector<BufferView> views;
    views.reserve(args.size());  // arguments point into it
    std::vector<Argument> arguments;
    arguments.reserve(args.size());
    for (const CapturedArgument& arg : args) {
      if (arg.kind != CapturedArgument::Kind::Address) {
        arguments.push_back(arg.argument);
        continue;
      }
      views.push_back(pointers_.resolve(
          arg.address, concat("argument ", arguments.size(), " of kernel ", called.kernel.name())));
      arguments.push_back(
          {.view = &views.back(), .access = Access::ReadWrite, .is_declared = false});
    }
    commands_.dispatch_arguments(called, desc, arguments);
  }

  void memcpy(MemcpyDirection direction, void* destination, const void* source, std::size_t bytes,
              SourceLocation where) {
    queue_->require_current(Stage::Record);
    const bool from_host = direction == MemcpyDirection::HostToDevice,
               to_host = direction == MemcpyDirection::DeviceToHost;
    const BufferView from = from_host ? pinned(source, bytes)
                                      : pointers_.resolve(source, bytes, "the source of a copy");
    const BufferView to = to_host
                              ? pinned(destination, bytes)
                              : pointers_.resolve(destination, bytes, "the destination of a copy");
    if (from && to) {
      commands_.copy(from, to, where);
    } else if (to) {
      commands_.copy(borrowed(std::span(static_cast<const std::byte*>(source), bytes)), to, where);
    } else {
      commands_.copy(from, borrowed(std::span(static_cast<std::byte*>(destination), bytes)), where);
    }
  }

  void memset(void* destination, std::uint8_t value, std::size_t bytes, SourceLocation where) {
    queue_->require_current(Stage::Record);
    const BufferView to = pointers_.resolve(destination, bytes, "the destination of a memset");
    commands_.fill_bits(to, value, 1, {to.bytes(), 1, 1}, {}, where);
  }

  [[nodiscard]] CapturedGraph end(const CompileDesc& desc) {
    capture_->require_valid();
    queue_->require_current(Stage::Record);
    commands_.end();
    queue_->captures().close(*capture_);
    return device_.compile(commands_, desc);
  }

 private:
  // Pinned host memory of this device's pools; empty for other memory.
  [[nodiscard]] BufferView pinned(const void* address, std::size_t bytes) {
    const BufferView remaining = address == nullptr ? BufferView() : pointers_.find(address);
    if (!remaining || remaining.kind() != BufferKind::PinnedHost || bytes > remaining.bytes())
      return {};
    return remaining.subview(0, bytes);
  }

  const std::shared_ptr<QueueCore> queue_;
  const Device device_;
  const std::shared_ptr<QueueCapture> capture_;
  CommandBuffer commands_;
  PointerResolver pointers_;
};

}  // namespace reprise::detail

namespace reprise::inline REPRISE_ABI {

StreamCapture StreamCapture::begin(const Queue& queue, CaptureMode mode, std::string_view label) {
  static_cast<void>(detail::require_handle(detail::core_of(queue), "Queue", "StreamCapture::begin",
                                           Stage::Record));
  detail::require_enumerator("the CaptureMode", mode, Stage::Record, label);
  detail::core_of(queue)->require_usable(Stage::Record);
  return StreamCapture(std::make_unique<detail::StreamCaptureCore>(queue, mode, label));
}

StreamCapture::StreamCapture(std::unique_ptr<detail::StreamCaptureCore> core) noexcept
    : core_(std::move(core)) {}
StreamCapture::StreamCapture(StreamCapture&&) noexcept = default;
StreamCapture& StreamCapture::operator=(StreamCapture&&) noexcept = default;
StreamCapture::~StreamCapture() = default;

detail::StreamCaptureCore& StreamCapture::checked(std::string_view call) const {
  if (core_) return *core_;
  detail::fail(ErrorCode::CaptureUnmatched, Stage::Record, "",
               detail::concat(call, ": the capture has ended or was moved from; begin a new one"));
}

void StreamCapture::record_kernel_arguments(const CalledKernel& kernel, const DispatchDesc& desc,
                                            std::span<const detail::CapturedArgument> args) {
  checked("record_kernel").kernel(kernel, desc, args);
}

void StreamCapture::record_memcpy(MemcpyDirection direction, void* destination, const void* source,
                                  std::size_t bytes, SourceLocation where) {
  detail::StreamCaptureCore& core = checked("record_memcpy");
  detail::require_enumerator("the MemcpyDirection", direction, Stage::Record);
  core.memcpy(direction, destination, source, bytes, where);
}

void StreamCapture::record_memset(void* destination, std::uint8_t value, std::size_t bytes,
                                  SourceLocation where) {
  checked("record_memset").memset(destination, value, bytes, where);
}

std::size_t StreamCapture::recorded_count() const {
  return checked("recorded_count").commands().command_count();
}
CaptureStatus StreamCapture::status() const noexcept {
  return core_ ? core_->capture().status() : CaptureStatus::None;
}
CaptureMode StreamCapture::mode() const { return checked("mode").capture().mode(); }

CapturedGraph StreamCapture::end(const CompileDesc& desc) {
  const detail::QueueCapture& capture = checked("end").capture();
  detail::require_outside_callback("StreamCapture", "end", Stage::Record, capture.label());
  capture.require_thread();
  const std::unique_ptr<detail::StreamCaptureCore> core = std::move(core_);
  return core->end(desc);
}

}  // namespace reprise::inline REPRISE_ABI
