#include "record/linear_writer.hpp"

#include <array>
#include <utility>

#include "record/payload.hpp"

namespace reprise::detail {

LinearWriter::LinearWriter(const Recording& from, std::vector<std::shared_ptr<BufferCore>> buffers)
    : from_(from), into_(std::make_shared<Recording>(from)) {
  into_->ordering = Ordering::Linear;
  into_->buffers = std::move(buffers);
  into_->places.clear();  // the order is linear
  into_->commands.clear();
  into_->runs.clear();
  into_->edges.clear();
  into_->arenas.push_back(arena_);
}

void LinearWriter::append(CommandKind kind, const void* payload,
                          std::span<const BufferAccess> accesses) {
  Command command;
  command.kind = kind;
  command.first_access = static_cast<std::uint32_t>(into_->accesses.size());
  command.access_count = static_cast<std::uint32_t>(accesses.size());
  command.payload = payload;
  into_->accesses.insert(into_->accesses.end(), accesses.begin(), accesses.end());
  into_->commands.push_back(command);
}

void LinearWriter::fill(std::uint32_t buffer, const ByteRange& range, std::uint8_t value) {
  if (range.begin == range.end) return;
  const std::uint64_t bytes = range.end - range.begin;
  const bool words = (range.begin | bytes) % 4 == 0;
  auto* const payload = arena_->make<FillPayload>();
  payload->buffer = buffer;
  payload->offset = range.begin;
  payload->bits = words ? value * 0x01010101u : value;
  payload->element_bytes = words ? 4 : 1;
  payload->extent = {bytes, 1, 1};
  payload->pitch = {bytes, bytes};
  append(CommandKind::Fill, payload,
         std::array{BufferAccess{buffer, Access::Write, 0, range.begin, range.end}});
}

void LinearWriter::copy(std::uint32_t buffer, const ByteRange& range, std::uint32_t into,
                        std::uint64_t offset) {
  if (range.begin == range.end) return;
  const std::uint64_t bytes = range.end - range.begin;
  auto* const payload = arena_->make<CopyPayload>();
  payload->source = {.buffer = buffer, .offset = range.begin};
  payload->destination = {.buffer = into, .offset = offset};
  payload->extent = {bytes, 1, 1};
  payload->source_pitch = payload->destination_pitch = {bytes, bytes};
  append(CommandKind::Copy, payload,
         std::array{BufferAccess{buffer, Access::Read, 0, range.begin, range.end},
                    BufferAccess{into, Access::Write, 0, offset, offset + bytes}});
}

std::uint32_t LinearWriter::add_kernel(std::shared_ptr<const KernelCore> kernel) {
  into_->kernels.push_back(std::move(kernel));
  return static_cast<std::uint32_t>(into_->kernels.size() - 1);
}

void LinearWriter::dispatch(const DispatchPayload& dispatch,
                            std::span<const BufferAccess> accesses) {
  append(CommandKind::Dispatch, clone_payload(CommandKind::Dispatch, &dispatch, *arena_), accesses);
}

}  // namespace reprise::detail
