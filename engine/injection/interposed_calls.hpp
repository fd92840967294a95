// InterposedCalls: reports a program's calls to ProgramCallbacks as CUPTI would, for a process with
// the interposer and without CUPTI. Kernels that are captured and kernel nodes that are added have
// their origin; copies, fills, and nodes of cloned and child graphs have none. Threads: any.
#pragma once

#include <atomic>
#include <cstdint>

#include "injection/driver_calls.hpp"
#include "injection/interposer.hpp"
#include "injection/program_callbacks.hpp"

namespace reprise::detail {

class InterposedCalls {
 public:
  // Both outlive it.
  InterposedCalls(ProgramCallbacks& callbacks, const DriverCalls& driver)
      : callbacks_(callbacks), driver_(driver) {}

  // As for CallHook.
  void take(CUpti_CallbackId call, const void* parameters, const CUresult* result) noexcept;

 private:
  void created(CUpti_CallbackId call, const void* parameters);
  void destroyed(CUpti_CallbackId call, const void* parameters);
  // A call for a stream returned: if the stream is being captured, it added a node.
  void captured(CUstream stream);
  void resource(CUpti_CallbackId id, CUpti_GraphData graph);

  ProgramCallbacks& callbacks_;
  const DriverCalls& driver_;
  // In progress, or ended by an error, after which each kernel costs a further call of the driver.
  std::atomic<std::int64_t> captures_{0};
};

// Of this process, whose driver is loaded. Null: it has no interposer.
[[nodiscard]] SetCallHook find_interposer();

}  // namespace reprise::detail
