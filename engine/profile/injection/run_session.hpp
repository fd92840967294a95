// RunSession: a program that is watched from within: CUPTI's callbacks for as long as it runs,
// records of its graphs' nodes while somebody wants them, and the trace of both. One at a time in a
// process, because CUPTI's calls for records carry no object. Threads: finish() and forget() any;
// callbacks come on the program's own, and return at once when it is over.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "profile/activity/cupti_library.hpp"
#include "profile/injection/node_recorder.hpp"
#include "profile/injection/program_callbacks.hpp"
#include "profile/injection/run_environment.hpp"
#include "profile/injection/run_trace.hpp"

namespace reprise::detail {

class RunSession {
 public:
  struct Desc {
    RunEnvironment environment;
    std::string application;
    std::function<CuptiLibrary::Loaded()>
        load_cupti;  // not asked where CUPTI is left to the program; stays
    std::function<DriverCalls::Loaded()> load_driver;  // once, when a graph is to be read
    std::function<void()> on_context = [] {};          // the driver is up: a context was made
  };
  // Listens from now on. Throws trace::TraceError and std::system_error; what is wrong with CUPTI
  // stands in the trace.
  explicit RunSession(Desc desc);
  RunSession(const RunSession&) = delete;
  RunSession& operator=(const RunSession&) = delete;
  ~RunSession() = default;

  // Writes all that there is; once is enough.
  void finish() noexcept;
  // In a child that was forked: none of it is there but the memory.
  void forget() noexcept { is_on_.store(false); }

 private:
  void listen();
  void record(ObservedProgram::Nodes nodes);
  void look_closer(std::optional<trace::LiveProfile> wanted);
  void collect(RunTrace::Last last, std::vector<trace::Record>& records);
  static void CUPTIAPI on_callback(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                   const void* data);

  const Desc desc_;
  std::atomic<bool> is_on_{true};
  ObservedProgram watch_;
  std::unique_ptr<ProgramCallbacks> callbacks_;
  std::unique_ptr<NodeRecorder> recorder_;  // of the trace's thread, once that runs
  CUpti_SubscriberHandle subscriber_ = nullptr;
  std::unique_ptr<RunTrace> trace_;  // last: its thread ends before the rest
};

}  // namespace reprise::detail
