// ProgramCallbacks: handles CUPTI's callbacks about the program's calls and reports them to an
// ObservedProgram. Runs on the program's threads, within its calls: it throws nothing, holds no
// lock during driver calls, and its cost at a launch does not depend on the number of nodes.
// Threads: any.
#pragma once

#include <cupti.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>

#include "injection/driver_calls.hpp"
#include "injection/driver_graph_reader.hpp"
#include "injection/kernel_cache.hpp"
#include "injection/observed_program.hpp"
#include "profile/activity/cupti_library.hpp"

namespace reprise::detail {

struct CallbackId {
  CUpti_CallbackDomain domain;
  CUpti_CallbackId id;
};

class ProgramCallbacks {
 public:
  struct Sources {
    const CuptiLibrary* cupti = nullptr;  // null: nodes and executables have no id of CUPTI
    std::function<DriverCalls::Loaded()> load_driver;  // called once, when the first graph is read
    std::function<void()> on_context;                  // a CUDA context was created
    // The call stack of this thread. Called while the driver may hold locks; empty: there is none.
    std::function<const CallFrame*()> stack = {};
    bool launch_stacks = false;     // read it at launches too
    ProgramWaits* waits = nullptr;  // null: waits are not observed
  };
  ProgramCallbacks(ObservedProgram& program, Sources sources);

  // The callbacks of CUPTI that take() handles, without those of waits.
  [[nodiscard]] static std::span<const CallbackId> wanted();
  void take(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) noexcept;

  // Applies from the next launch on.
  void record_nodes(ObservedProgram::Nodes nodes) noexcept {
    nodes_.store(nodes, std::memory_order_relaxed);
  }
  // The first error in callbacks since the last call; empty: none.
  [[nodiscard]] std::string take_error();
  // How often used memory was not read, to spare the program's time.
  [[nodiscard]] std::uint64_t unread_memory() const noexcept {
    return unread_memory_.load(std::memory_order_relaxed);
  }

 private:
  // State of the call in progress on one of the program's threads.
  struct Thread {
    trace::Time instantiation_start = 0, launch_start = 0, upload_start = 0;
    // Device memory before an instantiation, upload or first launch, in bytes.
    std::uint64_t used_before = 0;
    ObservedProgram::Instantiation::Launchers launchers =
        ObservedProgram::Instantiation::Launchers::Host;  // of the instantiation
    CUgraphExec created_exec = nullptr;                   // by the instantiation
    bool instantiates = false;
    std::uint64_t nodes_created = 0, nodes_before = 0;
    ObservedNode changed;  // its memory is reused
  };
  [[nodiscard]] static Thread& this_thread();
  void take_resource(CUpti_CallbackId id, const CUpti_ResourceData& data);
  void take_graph(CUpti_CallbackId id, const CUpti_GraphData& graph);
  void take_driver(CUpti_CallbackId id, const CUpti_CallbackData& data);
  void take_capture(CUpti_CallbackId id, const CUpti_CallbackData& data);
  void take_instantiation(CUpti_CallbackId id, const CUpti_CallbackData& data);
  void take_upload(const CUpti_CallbackData& data, CUgraphExec exec);
  enum class PerThread : std::uint8_t {
    No,
    Yes
  };  // whether stream 0 is the per-thread default stream
  // True if the call is a wait.
  bool take_wait(CUpti_CallbackId id, const CUpti_CallbackData& data);
  void take_memory(CUpti_CallbackId id, const void* parameters);
  void take_update(CUpti_CallbackId id, const CUpti_CallbackData& data);
  void take_launch(const CUpti_CallbackData& data, CUgraphExec exec, CUstream stream,
                   PerThread per_thread);
  void instantiated(const CUpti_GraphData& graph);
  void set_kernel_parameters(CUgraphExec exec, CUgraphNode node,
                             const CUDA_KERNEL_NODE_PARAMS& parameters);
  void set_parameters(CUgraphExec exec, CUgraphNode node, const CUgraphNodeParams& parameters);
  void allocated(std::uint64_t address, std::uint64_t bytes, ProgramMemory::Source source);
  [[nodiscard]] std::uint32_t current_device();
  // Memory of the current device that all programs use, in bytes; 0: unknown, or not read because
  // it would slow down the program.
  [[nodiscard]] std::uint64_t used_memory();
  [[nodiscard]] std::uint64_t queue_of(CUstream stream, std::uint32_t device, PerThread per_thread);
  [[nodiscard]] const DriverCalls* driver();
  [[nodiscard]] const CallFrame* stack() const {
    return sources_.stack ? sources_.stack() : nullptr;
  }
  [[nodiscard]] ObservedGraph read(CUgraph graph);
  void record_error(const std::string& text) noexcept;

  ObservedProgram& program_;
  const Sources sources_;
  GraphKnowledge knowledge_;
  KernelCache kernels_;
  std::once_flag driver_once_;
  DriverCalls::Loaded driver_;
  std::atomic<ObservedProgram::Nodes> nodes_{ObservedProgram::Nodes::Unrecorded};
  const trace::Time began_;
  std::atomic<trace::Time> memory_time_{0};  // that reading used memory took
  std::atomic<std::uint64_t> unread_memory_{0};
  std::mutex mutex_;  // guards the members below
  std::string error_;
};

}  // namespace reprise::detail
