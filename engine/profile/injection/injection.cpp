// What a program loads that `reprise run` started: CUDA calls InitializeInjection when it starts, NVTX the other one. From here on the program's
// graphs are watched and a trace of them is written. Whatever happens here, the program goes on as without us: nothing is thrown into it, and
// nothing printed. A process that it forks has no part in this; one that it starts has a trace of its own.
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include <dlfcn.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/text.hpp"
#include "profile/injection/node_recorder.hpp"
#include "profile/injection/program_callbacks.hpp"
#include "profile/injection/run_environment.hpp"
#include "profile/injection/run_trace.hpp"
#include "profile/process_info.hpp"

namespace reprise::detail {
namespace {

// CUPTI, for whoever of the two comes first.
const CuptiLibrary::Loaded& cupti() {
  static const auto* const loaded = [] {
    CuptiLibrary::Search search = CuptiLibrary::usual_places();
    search.present = CuptiLibrary::Search::Present::IsShared;
    return new CuptiLibrary::Loaded(CuptiLibrary::load(search));
  }();
  return *loaded;
}

class Injection {
 public:
  explicit Injection(const RunEnvironment& environment) : environment_(environment) {
    RunTrace::Desc desc;
    desc.application = program_invocation_short_name;
    desc.options = environment.trace;
    desc.collect = [this](RunTrace::Last last, std::vector<trace::Record>& records) { collect(last, records); };
    desc.take_hooks = [this] { return watch_.take_hooks(); };
    desc.watch = [this](std::optional<trace::LiveProfile> wanted) { look_closer(wanted); };
    trace_ = std::make_unique<RunTrace>(std::move(desc));
    listen();
    trace_->start();
  }

  void finish() noexcept {
    if (!is_on_.exchange(false)) return;
    if (recorder_) {
      recorder_->flush(NodeRecorder::Wait::ForAll);
      recorder_->stop();
    }
    trace_->finish();
  }

  // In a child that was forked: none of it is there but the memory.
  void forget() noexcept { is_on_.store(false); }

 private:
  void listen() {
    switch (environment_.cupti) {
      case RunEnvironment::Cupti::IsTheirs:
        trace_->say(trace::Severity::Warning, "run.cupti", "CUPTI is left to the program: without it no graph of another program can be seen, and none is in this trace");
        return;
      case RunEnvironment::Cupti::IsOurs: break;
    }
    if (cupti().library == nullptr) return trace_->say(trace::Severity::Error, "run.cupti", concat("no graph can be seen: ", cupti().why_not));
    const CuptiLibrary& library = *cupti().library;
    callbacks_ = std::make_unique<ProgramCallbacks>(watch_, ProgramCallbacks::Sources{library, &DriverCalls::load, [] { end_with_the_driver(); }});
    recorder_ = std::make_unique<NodeRecorder>(library, watch_);
    static_cast<void>(library.register_clock(&host_clock));
    if (const CUptiResult result = library.subscribe(&subscriber_, &on_callback, this); result != CUPTI_SUCCESS) {
      trace_->say(trace::Severity::Error, "run.cupti", concat("no graph can be seen: ", library.said("cuptiSubscribe", result)));
      return;
    }
    trace_->say(trace::Severity::Info, "run.cupti",
                "CUPTI serves one at a time, and here it is this trace: a profile that the program takes of itself by CUPTI (torch.profiler's CUDA part is one) stays empty");
    for (const WantedCallback& one : ProgramCallbacks::wanted()) {
      const CUptiResult result = library.enable_callback(1, subscriber_, one.domain, one.id);
      if (result == CUPTI_SUCCESS) continue;
      trace_->say(trace::Severity::Warning, "run.cupti", concat("not everything is seen: ", library.said("cuptiEnableCallback", result), " (", static_cast<int>(one.domain), "/", one.id, ")"));
    }
    if (environment_.nodes == ProgramWatch::Nodes::Recorded) record(ProgramWatch::Nodes::Recorded);
  }

  void record(ProgramWatch::Nodes nodes) {
    switch (nodes) {
      case ProgramWatch::Nodes::Recorded:
        if (const std::string why = recorder_->start(); !why.empty()) return trace_->say(trace::Severity::Error, "run.nodes", concat("nodes are not timed: ", why));
        break;
      case ProgramWatch::Nodes::Unrecorded: break;
    }
    callbacks_->record_nodes(nodes);
    if (nodes == ProgramWatch::Nodes::Unrecorded) {
      recorder_->flush(NodeRecorder::Wait::ForWhatIsOver);
      recorder_->stop();
    }
  }

  // On the trace's thread.
  void look_closer(std::optional<trace::LiveProfile> wanted) {
    if (subscriber_ == nullptr) return;
    ProgramWatch::Nodes nodes = environment_.nodes;
    if (wanted) nodes = *wanted >= trace::LiveProfile::Sampled ? ProgramWatch::Nodes::Recorded : ProgramWatch::Nodes::Unrecorded;
    if ((nodes == ProgramWatch::Nodes::Recorded) != recorder_->is_on()) record(nodes);
  }

  void collect(RunTrace::Last last, std::vector<trace::Record>& records) {
    if (recorder_ && recorder_->is_on() && last == RunTrace::Last::No) recorder_->flush(NodeRecorder::Wait::ForWhatIsOver);
    watch_.collect(trace_now(), last == RunTrace::Last::Yes ? SeenExec::Rest::IsHere : SeenExec::Rest::IsToCome, records);
    if (recorder_) {
      if (const std::uint64_t dropped = recorder_->take_dropped(); dropped != 0) {
        records.emplace_back(trace::Loss{trace_now(), trace::LossKind::DeviceRecords, dropped, "CUPTI had no room for them"});
      }
    }
    if (!callbacks_) return;
    if (std::string complaint = callbacks_->take_complaint(); !complaint.empty()) {
      records.emplace_back(trace::Message{trace_now(), trace::Severity::Warning, "run.callback", concat("something of the program was not understood: ", complaint)});
    }
  }

  static std::uint64_t CUPTIAPI host_clock() { return static_cast<std::uint64_t>(trace_now()); }
  static void CUPTIAPI on_callback(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
    auto& injection = *static_cast<Injection*>(self);
    if (injection.is_on_.load(std::memory_order_relaxed)) injection.callbacks_->take(domain, id, data);
  }
  static void end_with_the_driver();

  const RunEnvironment environment_;
  std::atomic<bool> is_on_{true};
  ProgramWatch watch_;
  std::unique_ptr<ProgramCallbacks> callbacks_;
  std::unique_ptr<NodeRecorder> recorder_;
  std::unique_ptr<RunTrace> trace_;
  CUpti_SubscriberHandle subscriber_ = nullptr;
};

std::atomic<Injection*> the_injection{nullptr};  // never destroyed: threads of the program may come here until the very end

void finish_injection() {
  if (Injection* const injection = the_injection.load()) injection->finish();
}

// What ends first was begun last: called once the driver is up, this runs before it goes down.
void Injection::end_with_the_driver() {
  static const int registered = std::atexit(&finish_injection);
  static_cast<void>(registered);
}

void begin() noexcept {
  try {
    const std::optional<RunEnvironment> environment = read_run_environment();
    if (!environment) return;
    the_injection.store(new Injection(*environment));
    ::pthread_atfork(nullptr, nullptr, [] {
      if (Injection* const injection = the_injection.load()) injection->forget();
    });
    static_cast<void>(std::atexit(&finish_injection));
  } catch (...) {  // there is no trace then, which `reprise run` tells
  }
}

// NVTX gives its ranges to one library: CUPTI, which hands them on.
int begin_nvtx(void* get_table) {
  const std::optional<RunEnvironment> environment = read_run_environment();
  if (!environment || environment->cupti == RunEnvironment::Cupti::IsTheirs || cupti().library == nullptr) return 0;
  Dl_info where{};
  if (::dladdr(reinterpret_cast<void*>(cupti().library->subscribe), &where) == 0) return 0;
  void* const library = ::dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return 0;
  const auto initialize = reinterpret_cast<int (*)(void*)>(::dlsym(library, "InitializeInjectionNvtx2"));
  return initialize == nullptr ? 0 : initialize(get_table);
}

}  // namespace
}  // namespace reprise::detail

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  static std::once_flag once;
  std::call_once(once, &reprise::detail::begin);
  return 1;
}

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(void* get_table) {
  try {
    return reprise::detail::begin_nvtx(get_table);
  } catch (...) {
    return 0;
  }
}
