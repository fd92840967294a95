#include "profile/injection/run_session.hpp"

#include <utility>

#include "base/text.hpp"
#include "profile/process_info.hpp"

namespace reprise::detail {
namespace {

std::uint64_t CUPTIAPI host_clock() { return static_cast<std::uint64_t>(trace_now()); }

}  // namespace

RunSession::RunSession(Desc desc) : desc_(std::move(desc)) {
  RunTrace::Desc told;
  told.application = desc_.application;
  told.options = desc_.environment.trace;
  told.collect = [this](RunTrace::Last last, std::vector<trace::Record>& records) {
    collect(last, records);
  };
  told.take_hooks = [this] { return watch_.take_hooks(); };
  told.watch = [this](std::optional<trace::LiveProfile> wanted) { look_closer(wanted); };
  trace_ = std::make_unique<RunTrace>(std::move(told));
  listen();
  trace_->start();
}

void RunSession::finish() noexcept {
  if (is_on_.exchange(false)) trace_->finish();
}

void RunSession::listen() {
  switch (desc_.environment.cupti) {
    case RunEnvironment::Cupti::IsTheirs:
      trace_->say(trace::Severity::Warning, "run.cupti",
                  "CUPTI is left to the program: without it no graph of another program can be "
                  "seen, and none is in this trace");
      return;
    case RunEnvironment::Cupti::IsOurs: break;
  }
  const CuptiLibrary::Loaded cupti = desc_.load_cupti();
  if (cupti.library == nullptr)
    return trace_->say(trace::Severity::Error, "run.cupti",
                       concat("no graph can be seen: ", cupti.why_not));
  const CuptiLibrary& library = *cupti.library;
  callbacks_ = std::make_unique<ProgramCallbacks>(
      watch_, ProgramCallbacks::Sources{library, desc_.load_driver, desc_.on_context});
  recorder_ = std::make_unique<NodeRecorder>(library, watch_);
  static_cast<void>(library.register_clock(&host_clock));
  if (const CUptiResult result = library.subscribe(&subscriber_, &on_callback, this);
      result != CUPTI_SUCCESS) {
    subscriber_ = nullptr;
    trace_->say(trace::Severity::Error, "run.cupti",
                concat("no graph can be seen: ", library.describe_error("cuptiSubscribe", result)));
    return;
  }
  trace_->say(trace::Severity::Info, "run.cupti",
              "CUPTI serves one at a time, and here it is this trace: a profile that the program "
              "takes of itself by CUPTI (torch.profiler's CUDA part is one) stays empty");
  for (const WantedCallback& one : ProgramCallbacks::wanted()) {
    const CUptiResult result = library.enable_callback(1, subscriber_, one.domain, one.id);
    if (result == CUPTI_SUCCESS) continue;
    trace_->say(
        trace::Severity::Warning, "run.cupti",
        concat("not everything is seen: ", library.describe_error("cuptiEnableCallback", result),
               " (", static_cast<int>(one.domain), "/", one.id, ")"));
  }
  if (desc_.environment.nodes == ObservedProgram::Nodes::Recorded)
    record(ObservedProgram::Nodes::Recorded);
}

void RunSession::record(ObservedProgram::Nodes nodes) {
  switch (nodes) {
    case ObservedProgram::Nodes::Recorded:
      if (const std::string why = recorder_->start(); !why.empty())
        return trace_->say(trace::Severity::Error, "run.nodes",
                           concat("nodes are not timed: ", why));
      callbacks_->record_nodes(nodes);
      return trace_->say(trace::Severity::Info, "run.nodes",
                         "from now on the nodes of every replay are timed");
    case ObservedProgram::Nodes::Unrecorded:
      callbacks_->record_nodes(nodes);
      recorder_->flush(NodeRecorder::Wait::ForWhatIsOver);
      recorder_->stop();
      return trace_->say(trace::Severity::Info, "run.nodes",
                         "from now on replays are timed, and their nodes are not");
  }
}

// Runs on the trace's thread.
void RunSession::look_closer(std::optional<trace::LiveProfile> wanted) {
  if (subscriber_ == nullptr) return;
  ObservedProgram::Nodes nodes = desc_.environment.nodes;
  if (wanted)
    nodes = *wanted >= trace::LiveProfile::Sampled ? ObservedProgram::Nodes::Recorded
                                                   : ObservedProgram::Nodes::Unrecorded;
  if ((nodes == ObservedProgram::Nodes::Recorded) != recorder_->is_on()) record(nodes);
}

// Runs on the trace's thread; the last call runs on the thread that calls finish().
void RunSession::collect(RunTrace::Last last, std::vector<trace::Record>& records) {
  ObservedExec::Rest rest = ObservedExec::Rest::IsToCome;
  switch (last) {
    case RunTrace::Last::No:
      if (recorder_ && recorder_->is_on()) recorder_->flush(NodeRecorder::Wait::ForWhatIsOver);
      break;
    case RunTrace::Last::Yes:
      rest = ObservedExec::Rest::IsHere;
      if (recorder_) {
        recorder_->flush(NodeRecorder::Wait::ForAll);
        recorder_->stop();
      }
      break;
  }
  watch_.collect(trace_now(), rest, records);
  if (recorder_) {
    if (const std::uint64_t dropped = recorder_->take_dropped(); dropped != 0) {
      records.emplace_back(trace::Loss{trace_now(), trace::LossKind::DeviceRecords, dropped,
                                       "CUPTI had no room for them"});
    }
  }
  if (!callbacks_) return;
  if (std::string complaint = callbacks_->take_complaint(); !complaint.empty()) {
    records.emplace_back(
        trace::Message{trace_now(), trace::Severity::Warning, "run.callback",
                       concat("something of the program was not understood: ", complaint)});
  }
}

void CUPTIAPI RunSession::on_callback(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                      const void* data) {
  auto& session = *static_cast<RunSession*>(self);
  if (session.is_on_.load(std::memory_order_relaxed)) session.callbacks_->take(domain, id, data);
}

}  // namespace reprise::detail
