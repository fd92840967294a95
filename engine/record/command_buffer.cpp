// Public recording API: each method forwards to its RecorderCore.
#include <reprise/command_buffer.hpp>
#include <utility>

#include "record/command_buffer_core.hpp"

namespace reprise {

namespace {

template <class Core>
Core& checked(const std::shared_ptr<Core>& core) {
  if (!core)
    throw Error({.code = ErrorCode::InvalidState},
                "the recorder was moved from; use the object it was moved to");
  return *core;
}

}  // namespace

std::string_view to_string(CommandBufferState state) noexcept {
  switch (state) {
    case CommandBufferState::Initial: return "Initial";
    case CommandBufferState::Recording: return "Recording";
    case CommandBufferState::Executable: return "Executable";
    case CommandBufferState::Pending: return "Pending";
    case CommandBufferState::Invalid: return "Invalid";
  }
  return "unknown";
}

LabelScope::~LabelScope() {
  if (recorder_) recorder_->close_label(ticket_);
}

CommandRef Recorder::dispatch_arguments(const Kernel& kernel, const DispatchDesc& desc,
                                        std::span<const detail::Argument> args) {
  return checked(core_).dispatch(kernel, desc, args);
}

CommandRef Recorder::dispatch_arguments(const Kernel& kernel, const DispatchDesc& desc,
                                        std::span<const detail::Argument> args,
                                        std::span<const std::shared_ptr<const void>> owners) {
  detail::RecorderCore& core = checked(core_);
  core.reserve_owners(owners.size());
  const CommandRef command = core.dispatch(kernel, desc, args);
  core.keep(owners);
  return command;
}

CommandRef Recorder::copy(const BufferView& source, const BufferView& destination,
                          SourceLocation where) {
  return checked(core_).copy({.view = &source}, {.view = &destination}, where);
}
CommandRef Recorder::copy(const HostBytes& source, const BufferView& destination,
                          SourceLocation where) {
  return checked(core_).copy({.host = &source}, {.view = &destination}, where);
}
CommandRef Recorder::copy(const BufferView& source, const HostBytes& destination,
                          SourceLocation where) {
  return checked(core_).copy({.view = &source}, {.host = &destination}, where);
}
CommandRef Recorder::copy(const BufferView& source, const BufferView& destination,
                          const CopyDesc& desc, SourceLocation where) {
  return checked(core_).copy({.view = &source}, {.view = &destination}, desc, where);
}
CommandRef Recorder::copy(const HostBytes& source, const BufferView& destination,
                          const CopyDesc& desc, SourceLocation where) {
  return checked(core_).copy({.host = &source}, {.view = &destination}, desc, where);
}
CommandRef Recorder::copy(const BufferView& source, const HostBytes& destination,
                          const CopyDesc& desc, SourceLocation where) {
  return checked(core_).copy({.view = &source}, {.host = &destination}, desc, where);
}

CommandRef Recorder::fill_bits(const BufferView& destination, std::uint32_t bits,
                               std::uint32_t element_bytes, Extent extent, Pitch pitch,
                               SourceLocation where) {
  return checked(core_).fill(destination, bits, element_bytes, extent, pitch, where);
}

CommandRef Recorder::update(const BufferView& destination, std::span<const std::byte> bytes,
                            SourceLocation where) {
  return checked(core_).update(destination, bytes, where);
}

CommandRef Recorder::host(std::function<void()> function,
                          std::initializer_list<AccessedView> accesses, SourceLocation where) {
  return host(std::move(function), std::span(accesses.begin(), accesses.size()), where);
}
CommandRef Recorder::host(std::function<void()> function, std::span<const AccessedView> accesses,
                          SourceLocation where) {
  return checked(core_).host(std::move(function), accesses, where);
}

CommandRef Recorder::add(std::shared_ptr<const GraphOp> op, SourceLocation where) {
  return checked(core_).add(std::move(op), where);
}

void Recorder::barrier(const BarrierDesc& desc, SourceLocation where) {
  checked(core_).barrier(desc, where);
}

void Recorder::edge(CommandRef before, CommandRef after, SourceLocation where) {
  edge(before, after, Dependency::Full, where);
}
void Recorder::edge(CommandRef before, CommandRef after, Dependency dependency,
                    SourceLocation where) {
  checked(core_).edge(before, after, dependency, where);
}

LabelScope Recorder::label(std::string_view name, Color color) {
  const std::uint64_t ticket = checked(core_).begin_label(name, color);
  return {core_, ticket};
}
void Recorder::begin_label(std::string_view name, Color color) {
  static_cast<void>(checked(core_).begin_label(name, color));
}
void Recorder::end_label() { checked(core_).end_label(); }

namespace {

// The frozen recording of an executable secondary.
std::shared_ptr<const detail::Recording> executable(const detail::RecorderCore& recorder,
                                                    const detail::Verb& verb,
                                                    const CommandBuffer& secondary) {
  recorder.require_recording(verb);
  const detail::CommandBufferCore& core = checked(secondary.core());
  if (core.level() != Level::Secondary) {
    recorder.fail(verb, ErrorCode::InvalidArgument,
                  "command buffer " + core.label() +
                      " is a primary; create it with .level = Level::Secondary");
  }
  auto recording = core.recording();
  if (!recording) {
    recorder.fail(verb, ErrorCode::InvalidState,
                  "secondary " + core.label() + " is in state " +
                      std::string(to_string(core.state())) + "; end() it first");
  }
  return recording;
}

}  // namespace

void Recorder::execute(const CommandBuffer& secondary, SourceLocation where) {
  detail::RecorderCore& recorder = checked(core_);
  recorder.execute(executable(recorder, {"execute", where}, secondary), where);
}

CommandRef Recorder::execute(const CommandBuffer& secondary, NestedExecution,
                             SourceLocation where) {
  detail::RecorderCore& recorder = checked(core_);
  return recorder.nested(executable(recorder, {"execute", where}, secondary), where);
}

CommandRef Recorder::execute_if(const Condition& condition, const CommandBuffer& then,
                                SourceLocation where) {
  detail::RecorderCore& recorder = checked(core_);
  const auto body = executable(recorder, {"execute_if", where}, then);
  return recorder.conditional({detail::Branch::If, &condition.view()}, std::span(&body, 1), where);
}

CommandRef Recorder::execute_if(const Condition& condition, const CommandBuffer& then,
                                const CommandBuffer& otherwise, SourceLocation where) {
  detail::RecorderCore& recorder = checked(core_);
  const detail::Verb verb{"execute_if", where};
  const std::shared_ptr<const detail::Recording> bodies[] = {executable(recorder, verb, then),
                                                             executable(recorder, verb, otherwise)};
  return recorder.conditional({detail::Branch::If, &condition.view()}, bodies, where);
}

CommandRef Recorder::execute_while(const Condition& condition, const CommandBuffer& body,
                                   const WhileDesc& desc, SourceLocation where) {
  detail::RecorderCore& recorder = checked(core_);
  const auto recording = executable(recorder, {"execute_while", where}, body);
  return recorder.conditional({detail::Branch::While, &condition.view(), desc.max_iterations},
                              std::span(&recording, 1), where);
}

CommandRef Recorder::execute_switch(
    const Condition& condition,
    std::initializer_list<std::reference_wrapper<const CommandBuffer>> cases,
    SourceLocation where) {
  detail::RecorderCore& recorder = checked(core_);
  const detail::Verb verb{"execute_switch", where};
  recorder.require_recording(verb);
  std::vector<std::shared_ptr<const detail::Recording>> bodies;
  bodies.reserve(cases.size());
  for (const CommandBuffer& secondary : cases)
    bodies.push_back(executable(recorder, verb, secondary));
  return recorder.conditional({detail::Branch::Switch, &condition.view()}, bodies, where);
}

std::uint32_t Recorder::command_count() const noexcept {
  return core_ ? core_->command_count() : 0;
}

CommandBuffer::CommandBuffer(std::shared_ptr<detail::CommandBufferCore> core) noexcept
    : Recorder(core ? core->recorder() : nullptr), buffer_(std::move(core)) {}

void CommandBuffer::begin() { checked(buffer_).begin(); }
void CommandBuffer::end() { checked(buffer_).end(); }
void CommandBuffer::reset() { checked(buffer_).reset(); }

std::vector<Recorder> CommandBuffer::split(std::uint32_t count) {
  std::vector<Recorder> recorders;
  recorders.reserve(count);
  for (auto& core : checked(buffer_).split(count)) recorders.push_back(Recorder(std::move(core)));
  return recorders;
}

CommandBufferState CommandBuffer::state() const noexcept {
  return buffer_ ? buffer_->state() : CommandBufferState::Invalid;
}
std::string_view CommandBuffer::label_name() const noexcept {
  return buffer_ ? std::string_view(buffer_->label()) : std::string_view();
}
Ordering CommandBuffer::ordering() const noexcept {
  return buffer_ ? buffer_->ordering() : Ordering::Inferred;
}
Level CommandBuffer::level() const noexcept { return buffer_ ? buffer_->level() : Level::Primary; }

}  // namespace reprise
