// GraphReplica's failures: exceptions of callbacks, commands that did not end, lost ranks.
#include <algorithm>
#include <exception>
#include <utility>

#include "base/text.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/core/instance_core.hpp"
#include "runtime/graph/graph_replica.hpp"
#include "runtime/graph/unfinished_commands.hpp"

namespace reprise::detail {

void GraphReplica::require_all_ranks() const {
  std::lock_guard lock(mutex_);
  for (const RankAgreement* const ranks : executable_->spec().collectives.ranks)
    ranks->require_all_ranks();
}

namespace {

std::string text_of_exception(const std::exception_ptr& exception) {
  if (!exception) return "unknown";
  try {
    std::rethrow_exception(exception);
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "not a std::exception";
  }
}

}  // namespace

std::optional<Message> unseen_errors_message(std::string_view graph,
                                             const CallbackErrors::Unseen& unseen) {
  if (unseen.replays == 0) return std::nullopt;
  Message message;
  message.id = "callback-exception-lost";
  message.text = concat(
      "graph ", graph, ": host callbacks threw in ", unseen.replays,
      unseen.replays == 1 ? " replay" : " replays",
      " whose fences were not waited for; the last exception: ", text_of_exception(unseen.last),
      ". Fence::wait() rethrows what the callbacks of its replay throw");
  return message;
}

std::optional<Message> GraphReplica::take_unseen_errors() {
  CallbackErrors::Unseen unseen;
  const auto take = [&](const GraphExecutable& executable) {
    const CallbackErrors::Unseen more = executable.exec->take_unseen_errors();
    unseen.replays += more.replays;
    if (more.last) unseen.last = more.last;
  };
  {
    std::lock_guard lock(mutex_);
    for (const auto& before : replaced_executables_) take(*before);
    take(*executable_);
  }
  return unseen_errors_message(label_, unseen);
}

Error GraphReplica::add_unfinished(const Error& error) const {
  std::lock_guard lock(mutex_);
  return detail::add_unfinished(error, *executable_->plan(), *executable_->exec);
}

std::string GraphReplica::unfinished() const {
  std::lock_guard lock(mutex_);
  const Plan& plan = *executable_->plan();
  return plan.lowered.fault_markers ? unfinished_commands(plan, *executable_->exec).text
                                    : std::string();
}

void GraphReplica::report_wait(std::uint64_t replay, std::chrono::milliseconds time) const {
  if (!is_pending()) return;
  const std::string commands = unfinished();
  Message message;
  message.id = "replay-waits";
  message.text = concat(
      "replay ", replay, " of graph ", label_, " has not completed ", time.count(),
      " ms after its launch; ",
      commands.empty()
          ? "Lowering::with_fault_markers() adds the commands that started and did not complete"
          : commands);
  device_->instance().report(message);
}

void GraphReplica::report_timeout(std::uint64_t replay, std::chrono::nanoseconds timeout,
                                  const std::string& queue) const {
  Message message;
  {
    std::lock_guard lock(mutex_);
    const Plan& plan = *executable_->plan();
    if (!plan.lowered.fault_markers || std::exchange(timed_out_replay_, replay) == replay) return;
    message.text = concat("replay ", replay, " of graph ", label_, " on queue ", queue,
                          " has not completed after ",
                          std::chrono::duration_cast<std::chrono::milliseconds>(timeout).count(),
                          " ms; ", unfinished_commands(plan, *executable_->exec).text);
  }
  message.id = "fence-timeout";
  device_->instance().report(message);
}

}  // namespace reprise::detail
