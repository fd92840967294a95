#include <doctest/doctest.h>

#include <reprise/reprise.hpp>

using namespace reprise;

TEST_CASE("to_string: names are the enumerators as they are spelled") {
  CHECK(to_string(Access::ReadWrite) == "ReadWrite");
  CHECK(to_string(Ordering::Inferred) == "Inferred");
  CHECK(to_string(Dependency::Programmatic) == "Programmatic");
  CHECK(to_string(Level::Secondary) == "Secondary");
  CHECK(to_string(Validation::Basic) == "Basic");
  CHECK(to_string(Lowering::Mode::Lanes) == "Lanes");
  CHECK(to_string(Lowering::Mode::Persistent) == "Persistent");
  CHECK(to_string(BufferKind::PinnedHost) == "PinnedHost");
  CHECK(to_string(ErrorCode::SlabExhausted) == "SlabExhausted");
  CHECK_FALSE(to_string(Stage::Instantiate).empty());
  CHECK_FALSE(to_string(Severity::Warning).empty());
  CHECK(to_string(HostBytes::Lifetime::Borrowed) == "Borrowed");
  CHECK(to_string(DispatchDesc::Launch::Cooperative) == "Cooperative");
  CHECK(to_string(DispatchDesc::Start::Programmatic) == "Programmatic");
  CHECK(to_string(CommandBufferState::Executable) == "Executable");
  CHECK(to_string(GraphExecUpdateOutcome::TopologyChanged) == "TopologyChanged");
  CHECK_FALSE(to_string(UpdateMethod::WholeGraph).empty());
  CHECK(to_string(GraphCosts::TimedBy::Profiler) == "Profiler");
  CHECK(to_string(DeviceKind::Host) == "Host");
  CHECK(to_string(DeviceLimits::Conditionals::Basic) == "Basic");
  CHECK(to_string(DeviceState::Phase::ShutDown) == "ShutDown");
  CHECK(to_string(RaceDesc::Compare::Declared) == "Declared");
  CHECK(to_string(RaceFinding::Kind::Undefined) == "Undefined");
  CHECK(to_string(RaceFinding::Kind::Undeclared) == "Undeclared");
  CHECK(to_string(CudaGraphs::Exclusive) == "Exclusive");
  CHECK(to_string(MemoryGoal::Minimum) == "Minimum");
  CHECK(to_string(SlabSharing::OneAtATime) == "OneAtATime");
  CHECK(to_string(ProfileMode::Sampled) == "Sampled");
  CHECK(to_string(RemoteProfile::Nothing) == "Nothing");
  CHECK(to_string(TuneDesc::Contents::Repeatable) == "Repeatable");
  CHECK(to_string(CaptureMode::Relaxed) == "Relaxed");
  CHECK(to_string(CaptureStatus::Active) == "Active");
  CHECK(to_string(MemcpyDirection::HostToDevice) == "HostToDevice");
}

TEST_CASE("to_string: DotFlags are the names of the set bits") {
  CHECK(to_string(DotFlags::None) == "None");
  CHECK(to_string(DotFlags::Verbose) == "Verbose");
  CHECK(to_string(DotFlags::Locations) == "Locations");
  CHECK(to_string(DotFlags::Default) == "Accesses | Causes | AddedEdges");
}
