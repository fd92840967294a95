// Names of the public enumerators, as they are spelled.
#include <string>
#include <string_view>

#include <reprise/reprise.hpp>

#include "base/enum_names.hpp"

namespace reprise::inline REPRISE_ABI {

REPRISE_TO_STRING(Access, Read, Write, ReadWrite)
REPRISE_TO_STRING(Ordering, Inferred, Explicit, Linear)
REPRISE_TO_STRING(Dependency, Full, Programmatic)
REPRISE_TO_STRING(Level, Primary, Secondary)
REPRISE_TO_STRING(Validation, Off, Basic, Full)
REPRISE_TO_STRING(Lowering::Mode, Auto, Faithful, Lanes, Persistent)
REPRISE_TO_STRING(BufferKind, Device, Transient, PinnedHost, Condition, BorrowedHost)
REPRISE_TO_STRING(HostBytes::Lifetime, Snapshot, Borrowed)
REPRISE_TO_STRING(DispatchDesc::Launch, Normal, Cooperative)
REPRISE_TO_STRING(DispatchDesc::Start, Ordered, Programmatic)
REPRISE_TO_STRING(GraphCosts::TimedBy, HostClock, Timestamps, Profiler)
REPRISE_TO_STRING(DeviceKind, Host, Cuda)
REPRISE_TO_STRING(DeviceLimits::Conditionals, None, Basic, All)
REPRISE_TO_STRING(DeviceState::Phase, Working, Lost, ShutDown)
REPRISE_TO_STRING(RaceDesc::Compare, Pools, Declared)
REPRISE_TO_STRING(RaceFinding::Kind, Order, Undefined, Undeclared)
REPRISE_TO_STRING(CudaGraphs, Foreign, Exclusive)
REPRISE_TO_STRING(MemoryGoal, Speed, Balanced, Minimum)
REPRISE_TO_STRING(SlabSharing, None, OneAtATime)
REPRISE_TO_STRING(ProfileMode, Off, Replays, Sampled, Every)
REPRISE_TO_STRING(RemoteProfile, Nothing, Replays, Sampled, Every)
REPRISE_TO_STRING(TuneDesc::Contents, Restored, Repeatable)

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

}  // namespace reprise::inline REPRISE_ABI
