// Instance: the entry point of the library. Enumerates and opens devices; holds the validation
// level, the message handler and the trace. Threads: all calls are safe from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/device.hpp>
#include <reprise/message.hpp>
#include <reprise/trace.hpp>
#include <reprise/types.hpp>

namespace reprise::detail {
class InstanceCore;
}  // namespace reprise::detail

namespace reprise::inline REPRISE_ABI {

// Whose CUDA graphs this process launches while the instance exists. CUPTI times nodes most
// precisely but affects every graph of the process: graphs that were instantiated before a CUPTI
// window may crash unless their owner uploads them again. With Foreign, nodes are therefore timed
// by timestamp kernels.
enum class CudaGraphs : std::uint8_t {
  Foreign,   // the application or a library may launch CUDA graphs of its own; always safe
  Exclusive  // all CUDA graphs of the process are compiled or adopted by instances of it
};
[[nodiscard]] REPRISE_API std::string_view to_string(CudaGraphs graphs) noexcept;

struct InstanceDesc {
  std::string_view application = "application";  // shown in traces and by the viewer
  // $REPRISE_VALIDATION = off | basic | full overrides it.
  Validation validation = kDefaultValidation;
  MessageHandler on_message = {};          // empty: warnings go to stderr, one line each
  std::vector<std::string> suppress = {};  // ids of messages to drop; errors cannot be dropped
  TraceDesc trace = {};                    // default: no trace
  // The maximum that a viewer of a live trace may request. $REPRISE_REMOTE_PROFILE = nothing |
  // replays | sampled | every overrides it.
  RemoteProfile remote_profile = RemoteProfile::Sampled;
  CudaGraphs cuda_graphs = CudaGraphs::Foreign;
};

// Selects the device that Instance::open_device opens.
class REPRISE_API DeviceSelector {
 public:
  // $REPRISE_DEVICE if it is set, otherwise the first GPU, otherwise the host device.
  [[nodiscard]] static DeviceSelector best() { return DeviceSelector("best", Source::Environment); }
  // "host", "cuda:N", or "best": the first GPU, or the host device if there is none.
  [[nodiscard]] static DeviceSelector named(std::string_view name) {
    return DeviceSelector(name, Source::Exact);
  }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  // True if $REPRISE_DEVICE overrides name().
  [[nodiscard]] bool environment_wins() const noexcept { return source_ == Source::Environment; }

 private:
  enum class Source : std::uint8_t { Exact, Environment };
  DeviceSelector(std::string_view name, Source source) : name_(name), source_(source) {}
  std::string name_;
  Source source_;
};

// A reference-counted handle. Devices keep their instance alive.
class REPRISE_API Instance {
 public:
  // Throws InvalidArgument for a malformed environment variable or trace target, NativeFailure if
  // the trace cannot be opened.
  explicit Instance(const InstanceDesc& desc = {});

  // All devices of this machine: GPUs in CUDA's order, then the host device.
  [[nodiscard]] std::vector<DeviceInfo> devices() const;
  // Why devices() contains no GPU: "no CUDA driver ...", "built without CUDA". Empty if it has one.
  [[nodiscard]] std::string gpu_unavailable_reason() const;
  // Throws UnknownDevice with the names of the existing devices, NoDriver, DriverTooOld,
  // InvalidState in a host callback.
  [[nodiscard]] Device open_device(const DeviceSelector& selector = DeviceSelector::best()) const;
  [[nodiscard]] std::string_view application() const noexcept;
  // Sets the profile mode of all existing and future graphs of this instance. A viewer's request
  // takes precedence while the viewer is attached. Launches do not wait. No effect without a trace.
  void set_profile(ProfileMode mode);
  // Blocks until everything that completed before the call is in the trace file and has been sent
  // to viewers. Nodes that CUPTI times are included as far as CUPTI has delivered their records.
  // No effect without a trace. Throws InvalidState in a host callback.
  void flush_trace();
  // Adds a host range to the trace, from this call until the result is destroyed. The engine adds
  // ranges for its own calls (record, compile, upload). `name` is copied. An empty range without
  // a trace.
  [[nodiscard]] TraceRange trace_range(std::string_view name) const;

 private:
  friend struct detail::HandleAccess;
  explicit Instance(std::shared_ptr<detail::InstanceCore> core) noexcept : core_(std::move(core)) {}

  std::shared_ptr<detail::InstanceCore> core_;
};

}  // namespace reprise::inline REPRISE_ABI
