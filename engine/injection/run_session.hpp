// RunSession: observes a program from within: callbacks until the process ends (CUPTI's, or the
// interposer's where GPU core dumps are wanted), node records on demand, and the trace of both. One
// per process, because CUPTI's buffer callbacks have no user data. Threads: finish() and forget()
// on any; callbacks run on the program's threads and return immediately after finish().
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "injection/interposed_calls.hpp"
#include "injection/node_recorder.hpp"
#include "injection/program_callbacks.hpp"
#include "injection/program_waits.hpp"
#include "injection/run_environment.hpp"
#include "injection/run_trace.hpp"
#include "profile/activity/cupti_library.hpp"

namespace reprise::detail {

class RunSession {
 public:
  struct Desc {
    RunEnvironment environment;
    std::string application;
    std::function<CuptiLibrary::Loaded()>
        load_cupti;  // not called if CUPTI is left to the program; the library is never unloaded
    std::function<DriverCalls::Loaded()>
        load_driver;  // called once: for the interposer, or when the first graph is read
    std::function<void()> on_context = [] {};          // a CUDA context was created
    std::function<SetCallHook()> find_interposer = &detail::find_interposer;
  };
  // Starts observing. Throws trace::TraceError and std::system_error; CUPTI errors become messages
  // in the trace.
  explicit RunSession(Desc desc);
  RunSession(const RunSession&) = delete;
  RunSession& operator=(const RunSession&) = delete;
  ~RunSession() = default;

  // Writes all remaining data. Idempotent.
  void finish() noexcept;
  void communicator_created(const NcclCommunicator& communicator);
  // Called in a forked child, which has none of the threads: disables the session.
  void forget() noexcept { is_on_.store(false); }
  // The process aborts: as RunTrace::finish_in_signal().
  void finish_in_signal() noexcept;

 private:
  void listen();
  void listen_to_interposer();
  // How callbacks read the call stack of their thread; empty: they do not.
  [[nodiscard]] std::function<const CallFrame*()> stacks();
  void record(ObservedProgram::Nodes nodes);
  void report_hang(std::vector<trace::Record>& records);
  void apply_requested_level(std::optional<trace::LiveProfile> level);
  void collect(RunTrace::Last last, std::vector<trace::Record>& records);
  static void on_call(void* self, CUpti_CallbackId call, const void* parameters,
                      const CUresult* result);
  static void CUPTIAPI on_callback(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                   const void* data);

  const Desc desc_;
  std::atomic<bool> is_on_{true};
  std::unique_ptr<ProgramWaits> waits_;  // null: waits are not observed
  ObservedProgram program_;
  std::unique_ptr<ProgramCallbacks> callbacks_;
  std::unique_ptr<InterposedCalls> interposed_;  // null: CUPTI makes the callbacks
  SetCallHook set_hook_ = nullptr;               // null: the same
  std::unique_ptr<NodeRecorder> recorder_;  // used by the trace's thread after RunTrace::start()
  CUpti_SubscriberHandle subscriber_ = nullptr;
  std::unique_ptr<RunTrace> trace_;  // last member: its thread uses the others
};

}  // namespace reprise::detail
