// Public recording API: each method forwards to its RecorderCore.
#include <reprise/command_buffer.hpp>
#include <utility>

#include "base/enum_names.hpp"
#include "base/failure.hpp"
#include "base/handle_access.hpp"
#include "record/command_buffer_core.hpp"

namespace reprise::inline REPRISE_ABI {

namespace {

template <class Core>
Core& checked(const std::shared_ptr<Core>& core) {
  return detail::require_handle(core, "CommandBuffer or Recorder", "record", Stage::Record);
}

}  // namespace

REPRISE_TO_STRING(CommandBufferState, Initial, Recording, Executable, Pending, Invalid)

LabelScope::~LabelScope() {
  if (recorder_) recorder_->close_label(ticket_);
}

CommandRef Recorder::dispatch_arguments(const CalledKernel& kernel, const DispatchDesc& desc,
                                        std::span<const detail::Argument> args) {
  return checked(recorder_).dispatch(kernel, desc, args);
}

CommandRef Recorder::dispatch(CalledKernel kernel, const DispatchDesc& desc,
                              const LaunchArgs& args) {
  detail::RecorderCore& core = checked(recorder_);
  core.reserve_owners(args.owners().size());
  const CommandRef command = core.dispatch(kernel, desc, args.arguments());
  core.keep(args.owners());
  return command;
}

CommandRef Recorder::copy(const BufferView& source, const BufferView& destination,
                          SourceLocation where) {
  return checked(recorder_).copy({.view = &source}, {.view = &destination}, where);
}
CommandRef Recorder::copy(const HostBytes& source, const BufferView& destination,
                          SourceLocation where) {
  return checked(recorder_).copy({.host = &source}, {.view = &destination}, where);
}
CommandRef Recorder::copy(const BufferView& source, const HostBytes& destination,
                          SourceLocation where) {
  return checked(recorder_).copy({.view = &source}, {.host = &destination}, where);
}
CommandRef Recorder::copy(const BufferView& source, const BufferView& destination,
                          const CopyDesc& desc, SourceLocation where) {
  return checked(recorder_).copy({.view = &source}, {.view = &destination}, desc, where);
}
CommandRef Recorder::copy(const HostBytes& source, const BufferView& destination,
                          const CopyDesc& desc, SourceLocation where) {
  return checked(recorder_).copy({.host = &source}, {.view = &destination}, desc, where);
}
CommandRef Recorder::copy(const BufferView& source, const HostBytes& destination,
                          const CopyDesc& desc, SourceLocation where) {
  return checked(recorder_).copy({.view = &source}, {.host = &destination}, desc, where);
}

CommandRef Recorder::fill_bits(const BufferView& destination, std::uint32_t bits,
                               std::uint32_t element_bytes, Extent extent, Pitch pitch,
                               SourceLocation where) {
  return checked(recorder_).fill(destination, bits, element_bytes, extent, pitch, where);
}

CommandRef Recorder::update(const BufferView& destination, std::span<const std::byte> bytes,
                            SourceLocation where) {
  return checked(recorder_).update(destination, bytes, where);
}

CommandRef Recorder::host(std::function<void()> function,
                          std::initializer_list<AccessedView> accesses, SourceLocation where) {
  return host(std::move(function), std::span(accesses.begin(), accesses.size()), where);
}
CommandRef Recorder::host(std::function<void()> function, std::span<const AccessedView> accesses,
                          SourceLocation where) {
  return checked(recorder_).host(std::move(function), accesses, where);
}

CommandRef Recorder::add(std::shared_ptr<const GraphOp> op, SourceLocation where) {
  return checked(recorder_).add(std::move(op), where);
}

void Recorder::barrier(const BarrierDesc& desc, SourceLocation where) {
  checked(recorder_).barrier(desc, where);
}

void Recorder::edge(CommandRef before, CommandRef after, SourceLocation where) {
  edge(before, after, Dependency::Full, where);
}
void Recorder::edge(CommandRef before, CommandRef after, Dependency dependency,
                    SourceLocation where) {
  checked(recorder_).edge(before, after, dependency, where);
}

LabelScope Recorder::label(std::string_view name, Color color) {
  const std::uint64_t ticket = checked(recorder_).begin_label(name, color);
  return {recorder_, ticket};
}
void Recorder::begin_label(std::string_view name, Color color) {
  static_cast<void>(checked(recorder_).begin_label(name, color));
}
void Recorder::end_label() { checked(recorder_).end_label(); }

namespace {

// The frozen recording of an executable secondary.
std::shared_ptr<const detail::Recording> executable(const detail::RecorderCore& recorder,
                                                    const detail::Verb& verb,
                                                    const CommandBuffer& secondary) {
  recorder.require_recording(verb);
  const detail::CommandBufferCore& core = checked(detail::core_of(secondary));
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
  detail::RecorderCore& recorder = checked(recorder_);
  recorder.execute(executable(recorder, {"execute", where}, secondary), where);
}

CommandRef Recorder::execute(const CommandBuffer& secondary, NestedExecution,
                             SourceLocation where) {
  detail::RecorderCore& recorder = checked(recorder_);
  return recorder.nested(executable(recorder, {"execute", where}, secondary), where);
}

CommandRef Recorder::execute_if(const Condition& condition, const CommandBuffer& then,
                                SourceLocation where) {
  detail::RecorderCore& recorder = checked(recorder_);
  const auto body = executable(recorder, {"execute_if", where}, then);
  return recorder.conditional({detail::Branch::If, &condition.view()}, std::span(&body, 1), where);
}

CommandRef Recorder::execute_if(const Condition& condition, const CommandBuffer& then,
                                const CommandBuffer& otherwise, SourceLocation where) {
  detail::RecorderCore& recorder = checked(recorder_);
  const detail::Verb verb{"execute_if", where};
  const std::shared_ptr<const detail::Recording> bodies[] = {executable(recorder, verb, then),
                                                             executable(recorder, verb, otherwise)};
  return recorder.conditional({detail::Branch::If, &condition.view()}, bodies, where);
}

CommandRef Recorder::execute_while(const Condition& condition, const CommandBuffer& body,
                                   const WhileDesc& desc, SourceLocation where) {
  detail::RecorderCore& recorder = checked(recorder_);
  const auto recording = executable(recorder, {"execute_while", where}, body);
  return recorder.conditional(
      {detail::Branch::While, &condition.view(), desc.max_iterations.value_or(0)},
      std::span(&recording, 1), where);
}

CommandRef Recorder::execute_switch(
    const Condition& condition,
    std::initializer_list<std::reference_wrapper<const CommandBuffer>> cases,
    SourceLocation where) {
  detail::RecorderCore& recorder = checked(recorder_);
  const detail::Verb verb{"execute_switch", where};
  recorder.require_recording(verb);
  std::vector<std::shared_ptr<const detail::Recording>> bodies;
  bodies.reserve(cases.size());
  for (const CommandBuffer& secondary : cases)
    bodies.push_back(executable(recorder, verb, secondary));
  return recorder.conditional({detail::Branch::Switch, &condition.view()}, bodies, where);
}

std::uint32_t Recorder::command_count() const noexcept {
  return recorder_ ? recorder_->command_count() : 0;
}

CommandBuffer::CommandBuffer(std::shared_ptr<detail::CommandBufferCore> core) noexcept
    : Recorder(core ? core->recorder() : nullptr), core_(std::move(core)) {}

void CommandBuffer::begin() { checked(core_).begin(); }
void CommandBuffer::end() { checked(core_).end(); }
void CommandBuffer::reset() { checked(core_).reset(); }

std::vector<Recorder> CommandBuffer::split(std::uint32_t count) {
  auto cores = checked(core_).split(count);
  std::vector<Recorder> recorders;
  recorders.reserve(cores.size());
  for (auto& core : cores) recorders.push_back(Recorder(std::move(core)));
  return recorders;
}

CommandBufferState CommandBuffer::state() const noexcept {
  return core_ ? core_->state() : CommandBufferState::Invalid;
}
std::string_view CommandBuffer::label() const noexcept {
  return core_ ? std::string_view(core_->label()) : std::string_view();
}
Ordering CommandBuffer::ordering() const noexcept {
  return core_ ? core_->ordering() : Ordering::Inferred;
}
Level CommandBuffer::level() const noexcept { return core_ ? core_->level() : Level::Primary; }

}  // namespace reprise::inline REPRISE_ABI
