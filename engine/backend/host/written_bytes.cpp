#include "backend/host/written_bytes.hpp"

#include <algorithm>

namespace reprise::detail {

void WrittenBytes::set(std::span<std::uint8_t> flags, std::uint8_t value) noexcept {
  for (std::uint8_t& flag : flags) std::atomic_ref(flag).store(value, std::memory_order_relaxed);
}

bool WrittenBytes::is_any_set(std::span<std::uint8_t> flags) noexcept {
  return std::any_of(flags.begin(), flags.end(), [](std::uint8_t& flag) {
    return std::atomic_ref(flag).load(std::memory_order_relaxed) != 0;
  });
}

std::uint8_t* WrittenBytes::track(const BufferCore& buffer) {
  if (buffer.kind != BufferKind::Transient) return nullptr;
  const std::lock_guard lock(mutex_);
  std::vector<std::uint8_t>& flags = flags_[&buffer];
  if (flags.empty()) flags.resize(buffer.bytes);
  is_tracking_.store(true, std::memory_order_relaxed);
  return flags.data();
}

void WrittenBytes::begin_replay() noexcept {
  const std::lock_guard lock(mutex_);
  for (auto& [buffer, flags] : flags_) set(flags, 0);
}

void WrittenBytes::mark(const Recording& recording, std::uint32_t command) noexcept {
  const Command& of = recording.commands[command];
  const std::lock_guard lock(mutex_);
  for (std::uint32_t i = of.first_access; i < of.first_access + of.access_count; ++i) {
    const BufferAccess& access = recording.accesses[i];
    if (access.access == Access::Read) continue;
    const auto found = flags_.find(recording.buffers[access.buffer].get());
    if (found == flags_.end()) continue;
    set(std::span(found->second).subspan(access.begin, access.end - access.begin));
  }
}

}  // namespace reprise::detail
