#include "backend/cuda/graph/staged_bytes.hpp"

#include <cstring>
#include <string_view>
#include <utility>

#include "base/aligned_up.hpp"
#include "record/geometry.hpp"

namespace reprise::detail {
namespace {

constexpr std::uint64_t kStagedAlignment = 256;
constexpr std::string_view kObject = "bytes copied while recording";

std::uint64_t staged_bytes_of(const Recording& recording, std::uint32_t command) {
  switch (recording.commands[command].kind) {
    case CommandKind::Update: return recording.payload<UpdatePayload>(command).bytes;
    case CommandKind::Copy: {
      const auto& copy = recording.payload<CopyPayload>(command);
      return copy.source.is_snapshot() && !copy.is_pitched() ? copy.extent.width : 0;
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
    bytes += aligned_up(staged_bytes_of(recording, i), kStagedAlignment);
  for (const auto& body : recording.bodies) bytes += staged_bytes_of(*body);
  return bytes;
}

}  // namespace

StagedBytes::StagedBytes(std::shared_ptr<const CudaContext> context, const Recording& recording,
                         const StagedBytes* before)
    : context_(std::move(context)), size_(staged_bytes_of(recording)) {
  if (before != nullptr) pitched_ = before->pitched_;
  if (size_ == 0) return;
  memory_.emplace(context_, BufferKind::PinnedHost, size_, Stage::Instantiate, kObject);
}

const std::byte* StagedBytes::add(std::uint32_t key, const void* bytes, std::uint64_t size) {
  const auto [at, is_new] = offsets_.try_emplace(key, used_);
  if (is_new) {
    std::memcpy(memory_->bytes() + used_, bytes, size);
    used_ += aligned_up(size, kStagedAlignment);
  }
  return memory_->bytes() + at->second;
}

const std::byte* StagedBytes::add(std::uint32_t key, const CopyPayload& copy) {
  const void* const bytes = copy.source.host;
  const std::uint64_t size = *span_bytes(copy.extent, copy.source_pitch);
  if (!copy.is_pitched()) return add(key, bytes, size);
  Pitched& pitched = pitched_[key];
  if (!pitched.memory || pitched.size != size ||
      std::memcmp(pitched.memory->bytes(), bytes, size) != 0) {
    pitched = {std::make_shared<const CudaMemory>(context_, BufferKind::PinnedHost, size,
                                                  Stage::Instantiate, kObject),
               size};
    std::memcpy(pitched.memory->bytes(), bytes, size);
  }
  return pitched.memory->bytes();
}

}  // namespace reprise::detail
