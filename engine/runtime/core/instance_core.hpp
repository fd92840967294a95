// InstanceCore: device discovery, the validation level, the trace session and the message handler.
// Knows backends through their interface only. Threads: any thread; immutable after construction.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <reprise/device_info.hpp>
#include <reprise/instance.hpp>

#include "backend/backend.hpp"
#include "profile/profile_switch.hpp"
#include "profile/trace_session.hpp"

namespace reprise::detail {

class DeviceCore;

// The providers compiled into this build, GPUs first.
[[nodiscard]] std::vector<BackendProvider*> all_providers();

// An instance over `providers`, which outlive everything made from it.
[[nodiscard]] Instance make_instance(const InstanceDesc& desc,
                                     std::vector<BackendProvider*> providers);

class InstanceCore : public std::enable_shared_from_this<InstanceCore> {
 public:
  // Throws InvalidArgument for an unknown value of $REPRISE_VALIDATION, and the errors of
  // trace_options() and TraceSession::open().
  InstanceCore(const InstanceDesc& desc, std::vector<BackendProvider*> providers);

  [[nodiscard]] std::string_view application() const noexcept { return application_; }
  [[nodiscard]] Validation validation() const noexcept { return validation_; }
  // False: no graph has relations of blocks.
  [[nodiscard]] bool has_block_relations() const noexcept { return has_block_relations_; }
  [[nodiscard]] CudaGraphs cuda_graphs() const noexcept { return cuda_graphs_; }
  // Null without a trace.
  [[nodiscard]] const std::shared_ptr<TraceSession>& trace() const noexcept { return trace_; }
  // Profile mode of all graphs of this instance's devices; null without a trace.
  [[nodiscard]] const std::shared_ptr<ProfileSwitch>& profile() const noexcept { return profile_; }
  [[nodiscard]] std::vector<DeviceInfo> devices() const;
  [[nodiscard]] std::string gpu_unavailable_reason() const;
  [[nodiscard]] std::shared_ptr<DeviceCore> open(const DeviceSelector& selector);
  // Destroys the objects of all devices that the application has dropped, except those that pending
  // launches use.
  void collect_completed() noexcept;

  // True for a message that is neither reported nor kept in a CompileReport.
  [[nodiscard]] bool suppresses(const Message& message) const;
  // Calls the handler; without one, writes warnings and errors to stderr. Rethrows the handler's
  // exceptions.
  void report(const Message& message) const;

 private:
  struct Found {
    BackendProvider* provider;
    std::uint32_t index;  // in provider->devices()
    DeviceInfo info;
  };
  [[nodiscard]] std::vector<Found> find_devices() const;

  std::string application_;
  Validation validation_;
  bool has_block_relations_;
  CudaGraphs cuda_graphs_;
  MessageHandler on_message_;
  std::unordered_set<std::string> suppressed_;
  std::vector<BackendProvider*> providers_;
  std::shared_ptr<TraceSession> trace_;
  std::shared_ptr<ProfileSwitch> profile_;
  std::mutex devices_mutex_;
  std::vector<std::weak_ptr<DeviceCore>> devices_;  // guarded by devices_mutex_
};

}  // namespace reprise::detail
