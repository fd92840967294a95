// Names of the public enumerators, as they are spelled.
#include <string>
#include <string_view>

#include <reprise/reprise.hpp>

namespace reprise {

std::string_view to_string(Access value) noexcept {
  switch (value) {
    case Access::Read: return "Read";
    case Access::Write: return "Write";
    case Access::ReadWrite: return "ReadWrite";
  }
  return "unknown";
}

std::string_view to_string(Ordering value) noexcept {
  switch (value) {
    case Ordering::Inferred: return "Inferred";
    case Ordering::Explicit: return "Explicit";
    case Ordering::Linear: return "Linear";
  }
  return "unknown";
}

std::string_view to_string(Dependency value) noexcept {
  switch (value) {
    case Dependency::Full: return "Full";
    case Dependency::Programmatic: return "Programmatic";
  }
  return "unknown";
}

std::string_view to_string(Level value) noexcept {
  switch (value) {
    case Level::Primary: return "Primary";
    case Level::Secondary: return "Secondary";
  }
  return "unknown";
}

std::string_view to_string(Validation value) noexcept {
  switch (value) {
    case Validation::Off: return "Off";
    case Validation::Basic: return "Basic";
    case Validation::Full: return "Full";
  }
  return "unknown";
}

std::string_view to_string(Lowering::Mode value) noexcept {
  switch (value) {
    case Lowering::Mode::Auto: return "Auto";
    case Lowering::Mode::Faithful: return "Faithful";
    case Lowering::Mode::Lanes: return "Lanes";
    case Lowering::Mode::Persistent: return "Persistent";
  }
  return "unknown";
}

std::string_view to_string(BufferKind value) noexcept {
  switch (value) {
    case BufferKind::Device: return "Device";
    case BufferKind::Transient: return "Transient";
    case BufferKind::PinnedHost: return "PinnedHost";
    case BufferKind::Condition: return "Condition";
    case BufferKind::BorrowedHost: return "BorrowedHost";
  }
  return "unknown";
}

std::string_view to_string(HostBytes::Lifetime value) noexcept {
  switch (value) {
    case HostBytes::Lifetime::Snapshot: return "Snapshot";
    case HostBytes::Lifetime::Borrowed: return "Borrowed";
  }
  return "unknown";
}

std::string_view to_string(DispatchDesc::Launch value) noexcept {
  switch (value) {
    case DispatchDesc::Launch::Normal: return "Normal";
    case DispatchDesc::Launch::Cooperative: return "Cooperative";
  }
  return "unknown";
}

std::string_view to_string(DispatchDesc::Start value) noexcept {
  switch (value) {
    case DispatchDesc::Start::Ordered: return "Ordered";
    case DispatchDesc::Start::Programmatic: return "Programmatic";
  }
  return "unknown";
}

std::string_view to_string(GraphCosts::TimedBy value) noexcept {
  switch (value) {
    case GraphCosts::TimedBy::HostClock: return "HostClock";
    case GraphCosts::TimedBy::Timestamps: return "Timestamps";
    case GraphCosts::TimedBy::Profiler: return "Profiler";
  }
  return "unknown";
}

std::string_view to_string(DeviceKind value) noexcept {
  switch (value) {
    case DeviceKind::Host: return "Host";
    case DeviceKind::Cuda: return "Cuda";
  }
  return "unknown";
}

std::string_view to_string(DeviceLimits::Conditionals value) noexcept {
  switch (value) {
    case DeviceLimits::Conditionals::None: return "None";
    case DeviceLimits::Conditionals::Basic: return "Basic";
    case DeviceLimits::Conditionals::All: return "All";
  }
  return "unknown";
}

std::string_view to_string(DeviceState::Phase value) noexcept {
  switch (value) {
    case DeviceState::Phase::Working: return "Working";
    case DeviceState::Phase::Lost: return "Lost";
    case DeviceState::Phase::ShutDown: return "ShutDown";
  }
  return "unknown";
}

std::string_view to_string(RaceDesc::Compare value) noexcept {
  switch (value) {
    case RaceDesc::Compare::Pools: return "Pools";
    case RaceDesc::Compare::Declared: return "Declared";
  }
  return "unknown";
}

std::string_view to_string(RaceFinding::Kind value) noexcept {
  switch (value) {
    case RaceFinding::Kind::Order: return "Order";
    case RaceFinding::Kind::Undefined: return "Undefined";
    case RaceFinding::Kind::Undeclared: return "Undeclared";
  }
  return "unknown";
}

std::string_view to_string(CudaGraphs value) noexcept {
  switch (value) {
    case CudaGraphs::Foreign: return "Foreign";
    case CudaGraphs::Exclusive: return "Exclusive";
  }
  return "unknown";
}

std::string_view to_string(MemoryGoal value) noexcept {
  switch (value) {
    case MemoryGoal::Speed: return "Speed";
    case MemoryGoal::Balanced: return "Balanced";
    case MemoryGoal::Minimum: return "Minimum";
  }
  return "unknown";
}

std::string_view to_string(SlabSharing value) noexcept {
  switch (value) {
    case SlabSharing::None: return "None";
    case SlabSharing::OneAtATime: return "OneAtATime";
  }
  return "unknown";
}

std::string_view to_string(ProfileMode value) noexcept {
  switch (value) {
    case ProfileMode::Off: return "Off";
    case ProfileMode::Replays: return "Replays";
    case ProfileMode::Sampled: return "Sampled";
    case ProfileMode::Every: return "Every";
  }
  return "unknown";
}

std::string_view to_string(RemoteProfile value) noexcept {
  switch (value) {
    case RemoteProfile::Nothing: return "Nothing";
    case RemoteProfile::Replays: return "Replays";
    case RemoteProfile::Sampled: return "Sampled";
    case RemoteProfile::Every: return "Every";
  }
  return "unknown";
}

std::string_view to_string(TuneDesc::Contents value) noexcept {
  switch (value) {
    case TuneDesc::Contents::Restored: return "Restored";
    case TuneDesc::Contents::Repeatable: return "Repeatable";
  }
  return "unknown";
}

std::string to_string(DotFlags flags) {
  static constexpr std::string_view kNames[] = {"Verbose",
                                                "RuntimeTypes",
                                                "KernelNodeParams",
                                                "MemcpyNodeParams",
                                                "MemsetNodeParams",
                                                "HostNodeParams",
                                                "EventNodeParams",
                                                "ExtSemasSignalNodeParams",
                                                "ExtSemasWaitNodeParams",
                                                "KernelNodeAttributes",
                                                "Handles",
                                                "MemAllocNodeParams",
                                                "MemFreeNodeParams",
                                                "BatchMemOpNodeParams",
                                                "ExtraTopoInfo",
                                                "ConditionalNodeParams",
                                                "Accesses",
                                                "Causes",
                                                "AddedEdges",
                                                "Locations"};
  std::string text;
  for (std::uint32_t bit = 0; bit < std::size(kNames); ++bit) {
    if ((static_cast<std::uint32_t>(flags) >> bit & 1u) == 0) continue;
    if (!text.empty()) text += " | ";
    text += kNames[bit];
  }
  return text.empty() ? "None" : text;
}

}  // namespace reprise
