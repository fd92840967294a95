#include "record/recorder_core.hpp"

#include <algorithm>
#include <utility>

#include "base/handle_access.hpp"
#include "base/text.hpp"

namespace reprise::detail {

void RecorderCore::start(std::shared_ptr<Arena> arena, std::uint32_t recorder,
                         const LocalLabel* outer) {
  RecordedLists initial;
  initial.recorder = recorder;
  initial.arena = std::move(arena);
  LocalLabel* const root = initial.labels.reserve(*initial.arena, 1);
  *root = {outer, {}, {}, 0, outer == nullptr ? 0 : outer->depth, 0};
  initial.labels.commit(1);
  lists_ = std::move(initial);
  index_of_ = {};
  borrowed_.clear();
  label_ = root;
  device_ = family_->device.get();
  active_ = true;
}

void RecorderCore::leave_label() noexcept {
  if (RecordObserver* const observer = family_->observer.get())
    observer->label_ended(label_->observed);
  label_ = label_->parent;
}

RecordedLists RecorderCore::stop(std::uint32_t commands) noexcept {
  while (has_open_label()) leave_label();
  active_ = false;
  stopped_count_ = commands;
  label_ = nullptr;
  index_of_ = {};
  borrowed_.clear();
  return std::exchange(lists_, {});
}

std::uint32_t RecorderCore::intern(const HostBytes& borrowed) {
  std::shared_ptr<BufferCore>& buffer = borrowed_[{borrowed.data, borrowed.bytes}];
  if (!buffer) {
    buffer = std::make_shared<BufferCore>();
    buffer->kind = BufferKind::BorrowedHost;
    buffer->bytes = borrowed.bytes;
    buffer->device = family_->device;
    buffer->generation = family_->device->generation.load(std::memory_order_acquire);
    buffer->address = static_cast<std::byte*>(borrowed.data);
    buffer->is_adopted = true;
  }
  return intern(buffer);
}

std::uint32_t RecorderCore::intern_new(const std::shared_ptr<BufferCore>& buffer) {
  index_of_.reserve_one(*lists_.arena);
  const auto index = static_cast<std::uint32_t>(lists_.buffers.size());
  lists_.buffers.add(buffer);
  index_of_.insert(buffer.get(), index);
  return index;
}

std::uint32_t RecorderCore::intern_new(const std::shared_ptr<const KernelCore>& kernel) {
  index_of_.reserve_one(*lists_.arena);
  const auto index = static_cast<std::uint32_t>(lists_.kernels.size());
  lists_.kernels.push_back(kernel);
  index_of_.insert(kernel.get(), index);
  return index;
}

void RecorderCore::roll_back(const Mark& to) noexcept {
  for (std::size_t i = to.buffers; i < lists_.buffers.size(); ++i)
    index_of_.erase(lists_.buffers.list()[i].get());
  for (std::size_t i = to.kernels; i < lists_.kernels.size(); ++i)
    index_of_.erase(lists_.kernels[i].get());
  lists_.buffers.truncate(to.buffers);
  lists_.kernels.resize(to.kernels);
  lists_.functions.resize(to.functions);
  lists_.ops.resize(to.ops);
  lists_.bodies.resize(to.bodies);
}

void RecorderCore::write_access(BufferAccess* at, std::uint32_t buffer, Access access,
                                std::uint64_t begin, const Extent& extent, const Pitch& pitch) {
  *at = {buffer, access, 0, begin, begin + span_bytes(extent, pitch).value_or(0)};
  if (is_dense(extent, pitch)) return;
  *lists_.shapes.reserve(*lists_.arena, 1) = {extent, pitch};
  lists_.shapes.commit(1);
  at->shape = lists_.shapes.size();
}

std::string RecorderCore::label_path() const {
  std::string path;
  for (const LocalLabel* at = label_; at != nullptr; at = at->parent) {
    if (at->name.empty()) continue;
    path = path.empty() ? std::string(at->name) : concat(at->name, '/', path);
  }
  return path;
}

void RecorderCore::fail(const Verb& verb, ErrorCode code, const std::string& text) const {
  ErrorDetails details;
  details.code = code;
  details.stage = Stage::Record;
  details.command = command_count();
  details.label = label_path();
  if (verb.where.line == 0 || verb.where.file == nullptr)
    throw Error(std::move(details), concat(verb.name, ": ", text));
  throw Error(std::move(details),
              concat(verb.name, " at ", verb.where.file, ':', verb.where.line, ": ", text));
}

void RecorderCore::fail_state(const Verb& verb) const {
  if (active_) {
    fail(verb, ErrorCode::InvalidArgument,
         "the SourceLocation has a null file; leave the default, SourceLocation::current()");
  }
  const CommandBufferState state = family_->state.load(std::memory_order_acquire);
  const std::string_view fix =
      state == CommandBufferState::Recording
          ? ", and this recorder belongs to an earlier recording; call split() for a new one"
      : state == CommandBufferState::Executable
          ? "; begin() discards its recording and starts a new one"
          : "; begin() it first";
  fail(verb, ErrorCode::InvalidState,
       concat("command buffer ", family_->label, " is in state ", to_string(state), fix));
}

void RecorderCore::fail_view(const Verb& verb, const BufferView& view,
                             std::string_view role) const {
  const BufferCore* const core = core_of(view).get();
  if (core == nullptr) {
    fail(verb, ErrorCode::NotInitialized,
         concat("the ", role,
                " is an empty buffer; create one with CapturePool::allocate, host or transient"));
  }
  const std::string name = display_name(*core);
  if (core->device.get() != device_) {
    fail(verb, ErrorCode::WrongDevice,
         concat("the ", role, ' ', name, " belongs to ", name_beside(*core->device, *device_),
                ", and this command buffer records for ", family_->device->selector,
                "; use a buffer from a pool of the same Device"));
  }
  std::string_view fix = "; take the new handle from Device::rebuild()";
  if (core->cleared.load(std::memory_order_acquire)) fix = "; allocate it again";
  if (core->device->shut_down.load(std::memory_order_acquire))
    fix = "; open it again with Instance::open_device";
  fail(verb, ErrorCode::StaleHandle,
       concat("the ", role, ' ', name, " is stale: ", why_stale(*core), fix));
}

void RecorderCore::fail_memory(const Verb& verb, const BufferView& view,
                               std::string_view role) const {
  check_view(verb, view, role);
  fail(verb, ErrorCode::InvalidArgument,
       concat("the ", role, ' ', display_name(*core_of(view)),
              " is a condition, which has no memory; pass it to a kernel as a reprise_condition"));
}

}  // namespace reprise::detail
