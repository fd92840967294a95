#include "backend/cuda/staged_bytes.hpp"

#include <cstring>

#include "record/geometry.hpp"

namespace reprise::detail {
namespace {

constexpr std::uint64_t kAlignment = 256;

std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

std::uint64_t staged_bytes_of(const Recording& recording, std::uint32_t command) {
  switch (recording.commands[command].kind) {
    case CommandKind::Update: return recording.payload<UpdatePayload>(command).bytes;
    case CommandKind::Copy: {
      const auto& copy = recording.payload<CopyPayload>(command);
      const bool snapshot =
          copy.source.buffer == kNone && copy.source.lifetime == HostBytes::Lifetime::Snapshot;
      return snapshot ? *span_bytes(copy.extent, copy.source_pitch) : 0;
    }
    case CommandKind::Dispatch:
    case CommandKind::Fill:
    case CommandKind::Host:
    case CommandKind::Op:
    case CommandKind::Barrier:
    case CommandKind::Nested:
    case CommandKind::Conditional: return 0;
  }
  return 0;
}

std::uint64_t staged_bytes_of(const Recording& recording) {
  std::uint64_t bytes = 0;
  for (std::uint32_t i = 0; i < recording.commands.size(); ++i)
    bytes += aligned(staged_bytes_of(recording, i));
  for (const auto& body : recording.bodies) bytes += staged_bytes_of(*body);
  return bytes;
}

}  // namespace

StagedBytes::StagedBytes(std::shared_ptr<const CudaContext> context, const Recording& recording)
    : size_(staged_bytes_of(recording)) {
  if (size_ == 0) return;
  memory_.emplace(std::move(context), BufferKind::PinnedHost, size_, Stage::Instantiate,
                  "bytes copied while recording");
}

const std::byte* StagedBytes::add(std::uint32_t key, const void* bytes, std::uint64_t size) {
  const auto [at, is_new] = offsets_.try_emplace(key, used_);
  if (is_new) {
    std::memcpy(memory_->bytes() + used_, bytes, size);
    used_ += aligned(size);
  }
  return memory_->bytes() + at->second;
}

}  // namespace reprise::detail
