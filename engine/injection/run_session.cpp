#include "injection/run_session.hpp"

#include <utility>

#include "base/text.hpp"
#include "injection/gpu_dump.hpp"
#include "injection/python_stacks.hpp"
#include "profile/process_info.hpp"

namespace reprise::detail {
namespace {

// The number of all sessions of the process.
std::uint64_t dropped_stacks() {
  return PythonCalls::of_process().calls == nullptr ? 0 : PythonStacks::of_process().dropped();
}

std::uint64_t CUPTIAPI host_clock() { return static_cast<std::uint64_t>(trace_now()); }

}  // namespace

RunSession::RunSession(Desc session_desc)
    : desc_(std::move(session_desc)),
      waits_(desc_.environment.faults || desc_.environment.hang_after != 0
                 ? std::make_unique<ProgramWaits>()
                 : nullptr),
      program_({.followed = desc_.environment.followed}, waits_.get()) {
  RunTrace::Desc desc;
  desc.application = desc_.application;
  desc.options = desc_.environment.trace;
  desc.collect = [this](RunTrace::Last last, std::vector<trace::Record>& records) {
    collect(last, records);
  };
  desc.take_hooks = [this] { return program_.take_hooks(); };
  desc.on_viewer_level = [this](std::optional<trace::LiveProfile> level) {
    apply_requested_level(level);
  };
  desc.on_error = [this](const std::string& text) {
    report_run_error(desc_.environment, concat(text, "; the trace ends there"));
  };
  trace_ = std::make_unique<RunTrace>(std::move(desc));
  if (!desc_.environment.cost.empty())
    trace_->add_message(trace::Severity::Info, "run.cost", desc_.environment.cost);
  try {
    listen();
    trace_->start();
  } catch (...) {
    if (subscriber_ != nullptr)
      static_cast<void>(desc_.load_cupti().library->unsubscribe(subscriber_));
    throw;
  }
  if (set_hook_ != nullptr) set_hook_(&on_call, this);  // the program calls it from now on
}

void RunSession::finish() noexcept {
  if (is_on_.exchange(false)) trace_->finish();
}

void RunSession::finish_in_signal() noexcept {
  if (is_on_.exchange(false)) trace_->finish_in_signal();
}

void RunSession::communicator_created(const NcclCommunicator& communicator) {
  if (is_on_.load(std::memory_order_relaxed)) program_.communicator_created(communicator);
}

void RunSession::listen() {
  switch (desc_.environment.cupti) {
    case RunEnvironment::Cupti::ByProgram:
      trace_->add_message(trace::Severity::Warning, "run.cupti",
                          "CUPTI is left to the program, so this trace contains no graphs");
      return;
    case RunEnvironment::Cupti::ByReprise: break;
  }
  if (waits_) return listen_to_interposer();
  const CuptiLibrary::Loaded cupti = desc_.load_cupti();
  if (cupti.library == nullptr)
    return trace_->add_message(trace::Severity::Error, "run.cupti",
                               concat("no graphs are observed: ", cupti.why_not));
  const CuptiLibrary& library = *cupti.library;
  callbacks_ = std::make_unique<ProgramCallbacks>(
      program_, ProgramCallbacks::Sources{&library, desc_.load_driver, desc_.on_context, stacks(),
                                          desc_.environment.launch_stacks});
  recorder_ = std::make_unique<NodeRecorder>(library, program_);
  static_cast<void>(library.register_clock(&host_clock));
  if (const CUptiResult result = library.subscribe(&subscriber_, &on_callback, this);
      result != CUPTI_SUCCESS) {
    subscriber_ = nullptr;
    trace_->add_message(
        trace::Severity::Error, "run.cupti",
        concat("no graphs are observed: ", library.describe_error("cuptiSubscribe", result)));
    return;
  }
  trace_->add_message(
      trace::Severity::Info, "run.cupti",
      "CUPTI supports one client, which is this trace: profilers in the program that use "
      "CUPTI (such as the CUDA part of torch.profiler) get no data");
  for (const CallbackId& one : ProgramCallbacks::wanted()) {
    const CUptiResult result = library.enable_callback(1, subscriber_, one.domain, one.id);
    if (result == CUPTI_SUCCESS) continue;
    trace_->add_message(
        trace::Severity::Warning, "run.cupti",
        concat("observation is incomplete: ", library.describe_error("cuptiEnableCallback", result),
               " (", static_cast<int>(one.domain), "/", one.id, ")"));
  }
  if (desc_.environment.nodes == ObservedProgram::Nodes::Recorded)
    record(ObservedProgram::Nodes::Recorded);
}

void RunSession::listen_to_interposer() {
  const DriverCalls::Loaded driver = desc_.load_driver();
  const SetCallHook set_hook = desc_.find_interposer();
  if (driver.calls == nullptr || set_hook == nullptr) {
    return trace_->add_message(
        trace::Severity::Error, "run.cupti",
        concat("no graphs are observed: ",
               driver.calls == nullptr
                   ? driver.why_not
                   : "the dynamic linker did not load the interposer that LD_AUDIT names"));
  }
  callbacks_ = std::make_unique<ProgramCallbacks>(
      program_, ProgramCallbacks::Sources{nullptr, [driver] { return driver; }, desc_.on_context,
                                          stacks(), desc_.environment.launch_stacks, waits_.get()});
  interposed_ = std::make_unique<InterposedCalls>(*callbacks_, *driver.calls);
  set_hook_ = set_hook;
  trace_->add_message(trace::Severity::Info, "run.cupti",
                      "observed without CUPTI, beside which the driver writes no GPU core dumps: "
                      "replays and nodes have no times of the device");
}

// Loads what the callbacks use, so that they do not wait for the dynamic linker.
std::function<const CallFrame*()> RunSession::stacks() {
  switch (desc_.environment.stacks) {
    case RunEnvironment::Stacks::Python: {
      const PythonCalls::Loaded& python = PythonCalls::of_process();
      if (!python.why_not.empty())
        trace_->add_message(trace::Severity::Warning, "run.stacks",
                            concat("call stacks are not recorded: ", python.why_not));
      if (python.calls == nullptr) return {};
      static_cast<void>(PythonStacks::of_process());
      return [] { return PythonStacks::of_process().read(); };
    }
    case RunEnvironment::Stacks::Native: static_cast<void>(native_stack()); return &native_stack;
    case RunEnvironment::Stacks::None: break;
  }
  return {};
}

void RunSession::record(ObservedProgram::Nodes nodes) {
  switch (nodes) {
    case ObservedProgram::Nodes::Recorded:
      if (const std::string why = recorder_->start(); !why.empty())
        return trace_->add_message(trace::Severity::Error, "run.nodes",
                                   concat("node times are unavailable: ", why));
      callbacks_->record_nodes(nodes);
      return trace_->add_message(trace::Severity::Info, "run.nodes",
                                 "recording the times of nodes and replays");
    case ObservedProgram::Nodes::Unrecorded:
      callbacks_->record_nodes(nodes);
      recorder_->flush(NodeRecorder::Wait::ForCompleted);
      recorder_->stop();
      return trace_->add_message(trace::Severity::Info, "run.nodes",
                                 "recording the times of replays only");
  }
}

// Runs on the trace's thread.
void RunSession::apply_requested_level(std::optional<trace::LiveProfile> level) {
  if (subscriber_ == nullptr) return;
  ObservedProgram::Nodes nodes = desc_.environment.nodes;
  if (level)
    nodes = *level >= trace::LiveProfile::Sampled ? ObservedProgram::Nodes::Recorded
                                                  : ObservedProgram::Nodes::Unrecorded;
  if ((nodes == ObservedProgram::Nodes::Recorded) != recorder_->is_on()) record(nodes);
}

// Runs on the trace's thread; the last call runs on the thread that calls finish().
void RunSession::collect(RunTrace::Last last, std::vector<trace::Record>& records) {
  ObservedExec::Outstanding outstanding = ObservedExec::Outstanding::Expected;
  switch (last) {
    case RunTrace::Last::No:
      if (recorder_ && recorder_->is_on()) recorder_->flush(NodeRecorder::Wait::ForCompleted);
      break;
    case RunTrace::Last::Yes:
      outstanding = ObservedExec::Outstanding::Complete;
      if (recorder_) {
        recorder_->flush(NodeRecorder::Wait::ForAll);
        recorder_->stop();
      }
      break;
    case RunTrace::Last::Aborted: outstanding = ObservedExec::Outstanding::Complete; break;
  }
  program_.collect(trace_now(), outstanding, records);
  if (waits_) waits_->collect(records);
  if (desc_.environment.hang_after != 0 && last == RunTrace::Last::No) report_hang(records);
  if (recorder_) {
    if (const std::uint64_t dropped = recorder_->take_dropped(); dropped != 0) {
      records.emplace_back(trace::Loss{trace_now(), trace::LossKind::DeviceRecords, dropped,
                                       "CUPTI had no free buffer"});
    }
  }
  if (!callbacks_) return;
  if (const std::uint64_t unread = callbacks_->unread_memory();
      last == RunTrace::Last::Yes && unread != 0) {
    records.emplace_back(
        trace::Message{trace_now(), trace::Severity::Info, "run.memory",
                       concat("the device memory in use was not read ", unread,
                              " times around captures, instantiations and first launches, because "
                              "reading it would slow down the program")});
  }
  if (const std::uint64_t dropped = last == RunTrace::Last::Yes ? dropped_stacks() : 0;
      dropped != 0) {
    records.emplace_back(
        trace::Message{trace_now(), trace::Severity::Info, "run.stacks",
                       concat("the call stacks of ", dropped,
                              " nodes and graphs were not read, because another thread held the "
                              "GIL of Python, or waiting for it would slow down the program")});
  }
  if (std::string error = callbacks_->take_error(); !error.empty()) {
    records.emplace_back(
        trace::Message{trace_now(), trace::Severity::Warning, "run.callback",
                       concat("a CUDA call of the program was not recorded: ", error)});
  }
}

void RunSession::report_hang(std::vector<trace::Record>& records) {
  const trace::Time now = trace_now();
  const auto hang = waits_->take_hang(desc_.environment.hang_after, now);
  if (!hang) return;
  constexpr trace::Time kSecond = 1'000'000'000;
  const std::string why = request_gpu_dump();
  trace::Message message{now, trace::Severity::Warning, "run.wait",
                         concat(hang->call, " of thread ", hang->thread, " has taken ",
                                (now - hang->started) / kSecond, " s; ",
                                why.empty() ? "a GPU core dump was requested"
                                            : concat("no GPU core dump was requested: ", why))};
  if (hang->graph != trace::kNone) {
    message.graph = hang->graph;
    message.version = kObservedVersion;
  }
  records.emplace_back(std::move(message));
}

void RunSession::on_call(void* self, CUpti_CallbackId call, const void* parameters,
                         const CUresult* result) {
  auto& session = *static_cast<RunSession*>(self);
  if (session.is_on_.load(std::memory_order_relaxed))
    session.interposed_->take(call, parameters, result);
}

void CUPTIAPI RunSession::on_callback(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                      const void* data) {
  auto& session = *static_cast<RunSession*>(self);
  if (session.is_on_.load(std::memory_order_relaxed)) session.callbacks_->take(domain, id, data);
}

}  // namespace reprise::detail
