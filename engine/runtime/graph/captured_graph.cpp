#include <reprise/captured_graph.hpp>

#include <algorithm>
#include <cstring>

#include "base/atomic_file.hpp"
#include "base/failure.hpp"
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

[[noreturn]] void fail_empty(Stage stage) {
  detail::fail(ErrorCode::InvalidState, stage, "",
               "the CapturedGraph is empty; Device::compile makes one");
}

detail::GraphCore& checked(const std::shared_ptr<detail::GraphCore>& core, Stage stage) {
  if (!core) fail_empty(stage);
  return *core;
}

void switch_command(detail::GraphCore& core, const CommandRef& command,
                    detail::GraphCore::Switch how) {
  core.replicas() != nullptr ? core.replicas()->switch_command(command, how)
                             : core.switch_command(command, how);
}

}  // namespace

Fence CapturedGraph::launch(const Queue& queue, const LaunchDesc& desc) {
  detail::GraphCore& core = checked(core_, Stage::Launch);
  if (auto* const all = core.replicas()) return all->launch(core_, queue.core(), desc);
  if (desc.instance != LaunchDesc::kAny && desc.instance != 0) {
    detail::fail(ErrorCode::OutOfRange, Stage::Launch, core.label(),
                 detail::concat("graph ", core.label(), " has no instance ", desc.instance,
                                "; it was compiled with one"));
  }
  return core.launch(core_, queue.core());
}

void CapturedGraph::upload(const Queue& queue) {
  detail::GraphCore& core = checked(core_, Stage::Upload);
  core.replicas() != nullptr ? core.replicas()->upload(queue.core()) : core.upload(queue.core());
}

void CapturedGraph::set_profile(ProfileMode mode) {
  detail::GraphCore& core = checked(core_, Stage::Launch);
  core.replicas() != nullptr ? core.replicas()->set_profile(mode) : core.set_profile(mode);
}

std::uint32_t CapturedGraph::find_scalar(std::string_view name) const {
  detail::GraphCore& core = checked(core_, Stage::Launch);
  return core.replicas() != nullptr ? core.replicas()->find_scalar(name) : core.find_scalar(name);
}

UpdateReport CapturedGraph::rebind(std::span<const BufferBinding> bindings,
                                   const UpdateDesc& desc) {
  detail::GraphCore& core = checked(core_, Stage::Launch);
  return core.replicas() != nullptr ? core.replicas()->rebind(bindings, desc)
                                    : core.rebind(bindings, desc);
}
UpdateReport CapturedGraph::rebind(const BufferView& recorded, const BufferView& buffer,
                                   const UpdateDesc& desc) {
  const BufferBinding one{recorded, buffer};
  return rebind(std::span(&one, 1), desc);
}

void CapturedGraph::disable(CommandRef command) {
  switch_command(checked(core_, Stage::Launch), command, detail::GraphCore::Switch::Disable);
}
void CapturedGraph::enable(CommandRef command) {
  switch_command(checked(core_, Stage::Launch), command, detail::GraphCore::Switch::Enable);
}
bool CapturedGraph::is_enabled(CommandRef command) const {
  return checked(core_, Stage::Launch).is_enabled(command);
}

UpdateReport CapturedGraph::update(const CommandBuffer& commands, const UpdateDesc& desc) {
  detail::GraphCore& core = checked(core_, Stage::Launch);
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
  return checked(core_, Stage::Launch).tune(queue.core(), desc);
}

void CapturedGraph::save_tuning(const std::filesystem::path& path) const {
  detail::GraphCore& core = checked(core_, Stage::Lanes);
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
  detail::GraphCore& core = checked(core_, Stage::Wait);
  return core.replicas() != nullptr ? core.replicas()->loops() : core.loops();
}

std::string CapturedGraph::to_dot(const DotOptions& options) const {
  return detail::to_dot(*checked(core_, Stage::Plan).current_plan(), options);
}
std::string CapturedGraph::to_text() const {
  return detail::to_text(*checked(core_, Stage::Plan).current_plan());
}

void CapturedGraph::export_dot(const std::filesystem::path& path, const DotOptions& options) const {
  try {
    detail::write_file_atomically(path, to_dot(options));
  } catch (const detail::FileError& error) {
    ErrorDetails details;
    details.code = ErrorCode::NativeFailure;
    details.stage = Stage::Plan;
    details.label = label();
    details.native_call = "write " + path.string();
    details.native_code = error.code().value();
    details.native_name = std::strerror(error.code().value());
    throw Error(std::move(details), detail::concat("the DOT of graph ", label(),
                                                   " could not be written to ", path.string()));
  }
}

}  // namespace reprise
