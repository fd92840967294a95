#include <reprise/captured_graph.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/failure.hpp"
#include "base/handle_access.hpp"
#include "base/text.hpp"
#include "compile/tuning_file.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/graph/graph_core.hpp"
#include "runtime/graph/graph_replicas.hpp"
#include "runtime/queue/queue_core.hpp"

namespace reprise {

namespace {

// Those that somebody made or adopted: what stands for memory of others in an adopted graph, or is
// the graph's own, is none.
std::size_t held_buffers(const detail::Plan& plan) {
  const auto& buffers = plan.recording->buffers;
  return static_cast<std::size_t>(
      std::count_if(buffers.begin(), buffers.end(),
                    [](const auto& buffer) { return detail::PoolBuffer::of(buffer) != nullptr; }));
}

detail::GraphCore& checked(const std::shared_ptr<detail::GraphCore>& core, std::string_view call,
                           Stage stage) {
  return detail::require_handle(core, "CapturedGraph", call, stage);
}

const std::shared_ptr<detail::QueueCore>& checked_queue(const detail::GraphCore& graph,
                                                        const Queue& queue, std::string_view call,
                                                        Stage stage) {
  if (!queue)
    detail::fail_empty("Queue", detail::concat(call, " of graph ", graph.label()), stage,
                       graph.label());
  return detail::core_of(queue);
}

void switch_command(detail::GraphCore& core, const CommandRef& command,
                    detail::GraphCore::Switch how) {
  core.replicas() != nullptr ? core.replicas()->switch_command(command, how)
                             : core.switch_command(command, how);
}

}  // namespace

Fence CapturedGraph::launch(const Queue& queue, const LaunchDesc& desc) {
  detail::GraphCore& core = checked(core_, "launch", Stage::Launch);
  const auto& on = checked_queue(core, queue, "launch", Stage::Launch);
  if (auto* const all = core.replicas()) return all->launch(core_, on, desc);
  if (desc.replica.value_or(0) != 0) {
    detail::fail(ErrorCode::OutOfRange, Stage::Launch, core.label(),
                 detail::concat("graph ", core.label(), " has no replica ", *desc.replica,
                                "; it was compiled with one"));
  }
  return core.launch(core_, on);
}

void CapturedGraph::upload(const Queue& queue) {
  detail::GraphCore& core = checked(core_, "upload", Stage::Upload);
  const auto& on = checked_queue(core, queue, "upload", Stage::Upload);
  core.replicas() != nullptr ? core.replicas()->upload(on) : core.upload(on);
}

void CapturedGraph::set_profile(ProfileMode mode) {
  detail::GraphCore& core = checked(core_, "set_profile", Stage::Launch);
  core.replicas() != nullptr ? core.replicas()->set_profile(mode) : core.set_profile(mode);
}

std::uint32_t CapturedGraph::find_scalar(std::string_view name) const {
  detail::GraphCore& core = checked(core_, "scalar", Stage::Launch);
  return core.replicas() != nullptr ? core.replicas()->find_scalar(name) : core.find_scalar(name);
}

UpdateReport CapturedGraph::rebind(std::span<const BufferBinding> bindings,
                                   const UpdateDesc& desc) {
  detail::GraphCore& core = checked(core_, "rebind", Stage::Launch);
  return core.replicas() != nullptr ? core.replicas()->rebind(bindings, desc)
                                    : core.rebind(bindings, desc);
}
UpdateReport CapturedGraph::rebind(const BufferView& recorded, const BufferView& buffer,
                                   const UpdateDesc& desc) {
  const BufferBinding one{recorded, buffer};
  return rebind(std::span(&one, 1), desc);
}

void CapturedGraph::disable(CommandRef command) {
  switch_command(checked(core_, "disable", Stage::Launch), command,
                 detail::GraphCore::Switch::Disable);
}
void CapturedGraph::enable(CommandRef command) {
  switch_command(checked(core_, "enable", Stage::Launch), command,
                 detail::GraphCore::Switch::Enable);
}
bool CapturedGraph::is_enabled(CommandRef command) const {
  return checked(core_, "is_enabled", Stage::Launch).is_enabled(command);
}

UpdateReport CapturedGraph::update(const CommandBuffer& commands, const UpdateDesc& desc) {
  detail::GraphCore& core = checked(core_, "update", Stage::Launch);
  return core.replicas() != nullptr ? core.replicas()->update(core_, commands, desc)
                                    : core.update(core_, commands, desc);
}
UpdateReport CapturedGraph::exec_update(const CommandBuffer& commands) {
  return update(commands, {.first = UpdateMethod::WholeGraph, .last = UpdateMethod::WholeGraph});
}
UpdateReport exec_update(CapturedGraph& graph, const CommandBuffer& commands) {
  return graph.exec_update(commands);
}

TuneReport CapturedGraph::tune(const Queue& queue, const TuneDesc& desc) {
  detail::GraphCore& core = checked(core_, "tune", Stage::Launch);
  return core.tune(checked_queue(core, queue, "tune", Stage::Launch), desc);
}

void CapturedGraph::save_tuning(const std::filesystem::path& path) const {
  detail::GraphCore& core = checked(core_, "save_tuning", Stage::Lanes);
  const std::optional<detail::LoweringConfig> choice = core.tuned();
  if (!choice) {
    detail::fail(ErrorCode::InvalidState, Stage::Lanes, core.label(),
                 detail::concat("graph ", core.label(),
                                " is lowered as it was compiled: no other lowering was tuned for "
                                "it that could be saved"));
  }
  detail::write_tuning(path, {core.device()->info().name, core.current_plan()->plan_hash}, *choice);
}

std::uint64_t CapturedGraph::num_replays() const noexcept {
  if (!core_) return 0;
  return core_->replicas() != nullptr ? core_->replicas()->replays() : core_->replays();
}
std::uint32_t CapturedGraph::replicas() const noexcept {
  if (!core_) return 0;
  return core_->replicas() != nullptr ? core_->replicas()->count() : 1;
}
bool CapturedGraph::is_uploaded() const noexcept {
  return core_ &&
         (core_->replicas() != nullptr ? core_->replicas()->is_uploaded() : core_->is_uploaded());
}
std::size_t CapturedGraph::pool_buffer_count() const noexcept {
  return core_ ? held_buffers(*core_->current_plan()) : 0;
}
bool CapturedGraph::has_pool() const noexcept { return core_ && core_->pool(); }
std::shared_ptr<CapturePool> CapturedGraph::pool() const noexcept {
  return core_ ? core_->pool() : nullptr;
}
std::uint32_t CapturedGraph::node_count() const noexcept {
  return core_ ? core_->report().nodes : 0;
}
std::string_view CapturedGraph::label() const noexcept {
  return core_ ? std::string_view(core_->label()) : std::string_view();
}

const CompileReport& CapturedGraph::report() const noexcept {
  static const CompileReport none;
  return core_ ? core_->report() : none;
}

std::vector<LoopReport> CapturedGraph::loops() const {
  detail::GraphCore& core = checked(core_, "loops", Stage::Wait);
  return core.replicas() != nullptr ? core.replicas()->loops() : core.loops();
}

std::string CapturedGraph::to_dot(const DotOptions& options) const {
  return detail::to_dot(*checked(core_, "to_dot", Stage::Plan).current_plan(), options);
}
std::string CapturedGraph::to_text() const {
  return detail::to_text(*checked(core_, "to_text", Stage::Plan).current_plan());
}

void CapturedGraph::export_dot(const std::filesystem::path& path, const DotOptions& options) const {
  const std::string text = to_dot(options);
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (file) return;
  const int reason = errno;
  ErrorDetails details;
  details.code = ErrorCode::NativeFailure;
  details.stage = Stage::Plan;
  details.label = label();
  details.native_call = "write " + path.string();
  details.native_code = reason;
  details.native_name = std::strerror(reason);
  throw Error(std::move(details), detail::concat("the DOT of graph ", label(),
                                                 " could not be written to ", path.string()));
}

}  // namespace reprise
