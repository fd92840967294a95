// Instance: the way in. Lists and opens devices, carries the validation level and the message
// handler. Threads: every call may come from any thread.
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

namespace reprise {

namespace detail {
class InstanceCore;
}

// Whose CUDA graphs this process launches while the instance lives. CUPTI, which times the nodes of
// a few replays most closely, reaches into every graph of the process while it is at work, and
// graphs that were instantiated before may crash then unless they are uploaded again, which only
// their owner can do. So where some are not the engine's own, nodes are timed by stamps instead.
enum class CudaGraphs : std::uint8_t {
  Foreign,   // the application's, or a library's, too; the default, because it is always right
  Exclusive  // none but those that instances of this process compile or adopt
};

struct InstanceDesc {
  std::string_view application = "application";
  Validation validation =
      kDefaultValidation;          // $REPRISE_VALIDATION = off | basic | full wins over it
  MessageHandler on_message = {};  // empty: warnings and errors go to stderr, one line each
  std::vector<std::string> suppress =
      {};  // message ids that are neither reported nor kept; errors can't be suppressed
  TraceDesc trace = {};  // empty: none
  // Of a live trace. $REPRISE_REMOTE_PROFILE = nothing | replays | sampled | every wins over it.
  RemoteProfile remote_profile = RemoteProfile::Sampled;
  CudaGraphs cuda_graphs = CudaGraphs::Foreign;
};

// Which device to open: "host", "cuda:N", or "best" (the first GPU, the host device where there is
// none).
class DeviceSelector {
 public:
  // $REPRISE_DEVICE if set, else the first GPU, else the host device.
  [[nodiscard]] static DeviceSelector best() { return DeviceSelector("best", Source::Environment); }
  [[nodiscard]] static DeviceSelector named(std::string_view name) {
    return DeviceSelector(name, Source::Exact);
  }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] bool environment_wins() const noexcept { return source_ == Source::Environment; }

 private:
  enum class Source : std::uint8_t { Exact, Environment };
  DeviceSelector(std::string_view name, Source source) : name_(name), source_(source) {}
  std::string name_;
  Source source_;
};

class Instance {
 public:
  explicit Instance(const InstanceDesc& desc = {});
  explicit Instance(std::shared_ptr<detail::InstanceCore> core) noexcept : core_(std::move(core)) {}

  // Every device of this machine: GPUs in CUDA's order, then the host device.
  [[nodiscard]] std::vector<DeviceInfo> devices() const;
  // Why there is no GPU among devices(): empty if there is one; else "no CUDA driver ...", "built
  // without CUDA".
  [[nodiscard]] std::string gpu_unavailable_reason() const;
  // Throws UnknownDevice naming the devices there are, NoDriver, DriverTooOld.
  [[nodiscard]] Device open_device(const DeviceSelector& selector = DeviceSelector::best()) const;
  [[nodiscard]] std::string_view application() const noexcept;
  // How closely replays are looked at from now on, of all graphs of this instance, while they run
  // and those to come. No launch waits for it. What a viewer asks for goes before it as long as one
  // is there. Nothing where there is no trace.
  void set_profile(ProfileMode mode) const;
  // Blocks until all that was over before the call is in the trace: in its file, for whoever reads
  // it while the program goes on, and given to viewers. (Of replays whose nodes CUPTI times, what
  // it has told by then.) Nothing where there is no trace. Not in a host callback.
  void flush_trace() const;
  // The engine's own calls are ranges too: recording, compiling, uploading. Nothing where there is
  // no trace; `name` is copied.
  [[nodiscard]] TraceRange trace_range(std::string_view name) const;
  [[nodiscard]] const std::shared_ptr<detail::InstanceCore>& core() const noexcept { return core_; }

 private:
  std::shared_ptr<detail::InstanceCore> core_;
};

}  // namespace reprise
