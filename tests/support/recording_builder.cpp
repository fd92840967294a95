#include "support/recording_builder.hpp"

#include <utility>

namespace reprise::test {

using namespace detail;

RecordingBuilder::RecordingBuilder(const RecordingDesc& desc)
    : recording_(std::make_shared<Recording>()), arena_(std::make_shared<Arena>()) {
  recording_->label = desc.label;
  recording_->ordering = desc.ordering;
  recording_->device = std::make_shared<DeviceStatus>();
  recording_->device->selector = "host";
  recording_->labels.push_back({});
}

std::uint32_t RecordingBuilder::add_buffer(std::string_view name, std::uint64_t bytes,
                                           BufferKind kind, std::uint32_t alignment) {
  const auto index = static_cast<std::uint32_t>(recording_->buffers.size());
  auto buffer = std::make_shared<BufferCore>();
  buffer->id = {index, 1};
  buffer->kind = kind;
  buffer->bytes = bytes;
  buffer->alignment = alignment;
  buffer->name = name;
  buffer->device = recording_->device;
  recording_->buffers.push_back(std::move(buffer));
  return index;
}

BufferAccess RecordingBuilder::rows(Access access, std::uint32_t buffer, std::uint64_t begin,
                                    Extent extent, Pitch pitch) {
  if (pitch.row == 0) pitch.row = extent.width;
  if (pitch.slice == 0) pitch.slice = pitch.row * extent.height;
  recording_->shapes.push_back({extent, pitch});
  const std::uint64_t end =
      begin + (extent.depth - 1) * pitch.slice + (extent.height - 1) * pitch.row + extent.width;
  return {buffer, access, static_cast<std::uint32_t>(recording_->shapes.size()), begin, end};
}

std::uint32_t RecordingBuilder::kernel_index(std::string_view name, std::size_t parameters) {
  const std::string key = std::string(name) + '/' + std::to_string(parameters);
  const auto [entry, is_new] =
      kernels_.try_emplace(key, static_cast<std::uint32_t>(recording_->kernels.size()));
  if (is_new) {
    auto kernel = std::make_shared<KernelCore>();
    kernel->name = name;
    for (std::uint32_t i = 0; i < parameters; ++i) kernel->parameters.push_back({i * 8, 8, true});
    kernel->parameter_bytes = static_cast<std::uint32_t>(parameters * 8);
    kernel->max_dynamic_shared_bytes = 1u << 20;
    kernel->device = recording_->device;
    recording_->kernels.push_back(std::move(kernel));
  }
  return entry->second;
}

std::uint32_t RecordingBuilder::add_command(CommandKind kind, const void* payload,
                                            std::span<const BufferAccess> accesses) {
  const std::uint32_t index = command_count();
  Command command;
  command.kind = kind;
  command.label = label_;
  command.first_access = static_cast<std::uint32_t>(recording_->accesses.size());
  command.access_count = static_cast<std::uint32_t>(accesses.size());
  command.payload = payload;
  command.where = {"app.cpp", index + 1};
  recording_->accesses.insert(recording_->accesses.end(), accesses.begin(), accesses.end());
  recording_->commands.push_back(command);
  return index;
}

std::uint32_t RecordingBuilder::dispatch(std::string_view kernel, const DispatchPayload& desc,
                                         std::span<const BufferAccess> accesses) {
  auto* payload = arena_->make<DispatchPayload>(desc);
  payload->kernel = kernel_index(kernel, accesses.size());
  payload->parameter_bytes = static_cast<std::uint32_t>(accesses.size() * 8);
  payload->buffer_argument_count = static_cast<std::uint32_t>(accesses.size());
  auto* parameters = arena_->make_array<std::byte>(accesses.size() * 8);
  if (!accesses.empty()) std::memset(parameters, 0, accesses.size() * 8);
  payload->parameters = parameters;
  payload->buffer_arguments = arena_->make_array<BufferArgument>(accesses.size());
  for (std::uint32_t i = 0; i < accesses.size(); ++i)
    payload->buffer_arguments[i] = {i * 8, accesses[i].buffer, accesses[i].begin};
  return add_command(CommandKind::Dispatch, payload, accesses);
}

AccessShape RecordingBuilder::shape_of(const BufferAccess& access) const {
  if (access.shape != 0) return recording_->shapes[access.shape - 1];
  const std::uint64_t bytes = access.end - access.begin;
  return {{bytes, 1, 1}, {bytes, bytes}};
}

std::uint32_t RecordingBuilder::copy(const BufferAccess& source, const BufferAccess& destination) {
  auto* payload = arena_->make<CopyPayload>();
  payload->source = {source.buffer, source.begin};
  payload->destination = {destination.buffer, destination.begin};
  payload->extent = shape_of(source).extent;
  payload->source_pitch = shape_of(source).pitch;
  payload->destination_pitch = shape_of(destination).pitch;
  BufferAccess accesses[2] = {source, destination};
  accesses[0].access = Access::Read;
  accesses[1].access = Access::Write;
  return add_command(CommandKind::Copy, payload, accesses);
}

std::uint32_t RecordingBuilder::copy_from_host(void* source, HostBytes::Lifetime lifetime,
                                               const BufferAccess& destination) {
  auto* payload = arena_->make<CopyPayload>();
  payload->source.host = source;
  payload->source.lifetime = lifetime;
  payload->destination = {destination.buffer, destination.begin};
  payload->extent = shape_of(destination).extent;
  payload->source_pitch = {payload->extent.width, payload->extent.width * payload->extent.height};
  payload->destination_pitch = shape_of(destination).pitch;
  BufferAccess access = destination;
  access.access = Access::Write;
  return add_command(CommandKind::Copy, payload, {&access, 1});
}

std::uint32_t RecordingBuilder::fill(const BufferAccess& destination, std::uint32_t bits,
                                     std::uint32_t element_bytes) {
  const AccessShape shape = shape_of(destination);
  auto* payload = arena_->make<FillPayload>();
  payload->buffer = destination.buffer;
  payload->offset = destination.begin;
  payload->bits = bits;
  payload->element_bytes = element_bytes;
  payload->extent = shape.extent;
  payload->pitch = shape.pitch;
  BufferAccess access = destination;
  access.access = Access::Write;
  return add_command(CommandKind::Fill, payload, {&access, 1});
}

std::uint32_t RecordingBuilder::update(const BufferAccess& destination) {
  const std::uint64_t bytes = destination.end - destination.begin;
  auto* data = arena_->make_array<std::byte>(bytes);
  if (bytes != 0) std::memset(data, 0, bytes);
  auto* payload = arena_->make<UpdatePayload>();
  payload->buffer = destination.buffer;
  payload->offset = destination.begin;
  payload->bytes = bytes;
  payload->data = data;
  BufferAccess access = destination;
  access.access = Access::Write;
  return add_command(CommandKind::Update, payload, {&access, 1});
}

std::uint32_t RecordingBuilder::host(std::initializer_list<BufferAccess> accesses) {
  auto* payload = arena_->make<HostPayload>();
  payload->function = static_cast<std::uint32_t>(recording_->functions.size());
  recording_->functions.push_back(std::make_shared<const std::function<void()>>([] {}));
  return add_command(CommandKind::Host, payload, std::span(accesses.begin(), accesses.size()));
}

std::uint32_t RecordingBuilder::barrier(const BarrierPayload& barrier) {
  return add_command(CommandKind::Barrier, arena_->make<BarrierPayload>(barrier), {});
}

void RecordingBuilder::edge(std::uint32_t before, std::uint32_t after, Dependency dependency) {
  recording_->edges.push_back(
      {before,
       after,
       {"app.cpp", 1000000 + static_cast<std::uint32_t>(recording_->edges.size())},
       dependency});
}

void RecordingBuilder::begin_label(std::string_view name, Color color) {
  recording_->labels.push_back({label_, std::string(name), color});
  label_ = static_cast<std::uint32_t>(recording_->labels.size() - 1);
}

void RecordingBuilder::end_label() { label_ = recording_->labels[label_].parent; }

RecordingPtr RecordingBuilder::finish() {
  recording_->arenas.push_back(std::move(arena_));
  RecordingPtr recording = std::move(recording_);
  *this = RecordingBuilder();
  return recording;
}

}  // namespace reprise::test
