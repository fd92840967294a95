#include <reprise/captured_graph.hpp>
#include <reprise/dot.hpp>

#include <algorithm>
#include <cstring>

#include "base/atomic_file.hpp"
#include "base/failure.hpp"
#include "base/handle_access.hpp"
#include "base/text.hpp"
#include "plan/dot_parameters.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/graph/compiled_graph.hpp"
#include "runtime/queue/queue_core.hpp"

namespace reprise::inline REPRISE_ABI {

namespace {

// Buffers that the application allocated or adopted. Memory that an adopted graph names without a
// buffer, and workspaces of ops, do not count.
std::size_t count_pool_buffers(const detail::Plan& plan) {
  const auto& buffers = plan.recording->buffers;
  return static_cast<std::size_t>(
      std::count_if(buffers.begin(), buffers.end(),
                    [](const auto& buffer) { return detail::PoolBuffer::of(buffer) != nullptr; }));
}

detail::CompiledGraph& checked(const std::shared_ptr<detail::CompiledGraph>& core,
                               std::string_view call, Stage stage) {
  return detail::require_handle(core, "CapturedGraph", call, stage);
}

// As checked(); throws InvalidState in a host callback.
detail::CompiledGraph& checked_outside_callback(const std::shared_ptr<detail::CompiledGraph>& core,
                                                std::string_view call, Stage stage) {
  detail::CompiledGraph& graph = checked(core, call, stage);
  detail::require_outside_callback("CapturedGraph", call, stage, graph.label());
  return graph;
}

const std::shared_ptr<detail::QueueCore>& checked_queue(const detail::CompiledGraph& graph,
                                                        const Queue& queue, std::string_view call,
                                                        Stage stage) {
  if (!queue)
    detail::fail_empty("Queue", detail::concat(call, " of graph ", graph.label()), stage,
                       graph.label());
  return detail::core_of(queue);
}

void check_methods(const detail::CompiledGraph& graph, const UpdateDesc& desc) {
  detail::require_enumerator("UpdateDesc::first", desc.first, Stage::Launch, graph.label());
  detail::require_enumerator("UpdateDesc::last", desc.last, Stage::Launch, graph.label());
}

}  // namespace

Fence CapturedGraph::launch(const Queue& queue, const LaunchDesc& desc) {
  detail::CompiledGraph& core = checked_outside_callback(core_, "launch", Stage::Launch);
  return core.launch(checked_queue(core, queue, "launch", Stage::Launch), desc);
}

void CapturedGraph::upload(const Queue& queue) {
  detail::CompiledGraph& core = checked_outside_callback(core_, "upload", Stage::Upload);
  core.upload(checked_queue(core, queue, "upload", Stage::Upload));
}

void CapturedGraph::set_profile(ProfileMode mode) {
  detail::CompiledGraph& core = checked(core_, "set_profile", Stage::Launch);
  detail::require_enumerator("the profile mode", mode, Stage::Profile, core.label());
  core.set_profile(mode);
}

std::uint32_t CapturedGraph::find_scalar(std::string_view name) const {
  return checked(core_, "scalar", Stage::Launch).find_scalar(name);
}

UpdateReport CapturedGraph::rebind(std::span<const BufferBinding> bindings,
                                   const UpdateDesc& desc) {
  detail::CompiledGraph& core = checked_outside_callback(core_, "rebind", Stage::Launch);
  check_methods(core, desc);
  if (bindings.data() == nullptr && !bindings.empty()) {
    detail::fail(ErrorCode::InvalidArgument, Stage::Launch, core.label(),
                 detail::concat("rebind in graph ", core.label(), ": ", bindings.size(),
                                " bindings at a null address"));
  }
  return core.rebind(bindings, desc);
}
UpdateReport CapturedGraph::rebind(const BufferView& recorded, const BufferView& buffer,
                                   const UpdateDesc& desc) {
  const BufferBinding one{recorded, buffer};
  return rebind(std::span(&one, 1), desc);
}

void CapturedGraph::disable(CommandRef command) {
  checked_outside_callback(core_, "disable", Stage::Launch)
      .switch_command(command, detail::CommandSwitch::Disable);
}
void CapturedGraph::enable(CommandRef command) {
  checked_outside_callback(core_, "enable", Stage::Launch)
      .switch_command(command, detail::CommandSwitch::Enable);
}
bool CapturedGraph::is_enabled(CommandRef command) const {
  return checked(core_, "is_enabled", Stage::Launch).is_enabled(command);
}

UpdateReport CapturedGraph::update(const CommandBuffer& commands, const UpdateDesc& desc) {
  detail::CompiledGraph& core = checked_outside_callback(core_, "update", Stage::Launch);
  check_methods(core, desc);
  return core.update(commands, desc);
}
UpdateReport CapturedGraph::exec_update(const CommandBuffer& commands) {
  return update(commands, {.first = UpdateMethod::WholeGraph, .last = UpdateMethod::WholeGraph});
}

std::uint64_t CapturedGraph::replay_count() const noexcept { return core_ ? core_->replays() : 0; }
std::uint32_t CapturedGraph::replicas() const noexcept {
  return core_ ? core_->replicas_in_use() : 0;
}
bool CapturedGraph::is_uploaded() const noexcept { return core_ && core_->is_uploaded(); }
std::size_t CapturedGraph::pool_buffer_count() const noexcept {
  return core_ ? count_pool_buffers(*core_->current_plan()) : 0;
}
bool CapturedGraph::has_pool() const noexcept { return core_ && core_->pool(); }
std::shared_ptr<CapturePool> CapturedGraph::pool() const noexcept {
  return core_ ? core_->pool() : nullptr;
}
std::uint32_t CapturedGraph::node_count() const noexcept {
  return core_ ? core_->report()->nodes : 0;
}
std::string_view CapturedGraph::label() const noexcept {
  return core_ ? std::string_view(core_->label()) : std::string_view();
}

CompileReport CapturedGraph::report() const {
  return core_ ? CompileReport(*core_->report()) : CompileReport();
}

std::vector<LoopReport> CapturedGraph::loops() const {
  return checked_outside_callback(core_, "loops", Stage::Wait).loops();
}

std::string CapturedGraph::to_dot(DotFlags flags) const {
  const detail::CompiledGraph& core = checked(core_, "to_dot", Stage::Plan);
  detail::require_flags(flags, core.label());
  return detail::to_dot(*core.current_plan(), flags);
}
std::string CapturedGraph::to_text() const {
  return detail::to_text(*checked(core_, "to_text", Stage::Plan).current_plan());
}

void CapturedGraph::export_dot(const std::filesystem::path& path, DotFlags flags) const {
  try {
    detail::write_file_atomically(path, to_dot(flags));
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

}  // namespace reprise::inline REPRISE_ABI
