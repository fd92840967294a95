#include "trace/record_names.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

using namespace reprise;

TEST_CASE("record names: a process has the name of its program, its number and its rank") {
  trace::Session session;
  CHECK(trace::process_name(session).empty());
  session.pid = 4711;
  CHECK(trace::process_name(session) == "process 4711");
  session.application = "digits";
  CHECK(trace::process_name(session) == "digits 4711");
  session.rank = 2;
  CHECK(trace::process_name(session) == "digits 4711, rank 2");
  session.host = "node7";
  CHECK(trace::rank_process_name(session) == "rank 2 (digits 4711 on node7)");
}

TEST_CASE("record names: a pool without a label is named by its number") {
  CHECK(trace::pool_name(3, "weights") == "weights");
  CHECK(trace::pool_name(1'234, "") == "pool 1234");
}

TEST_CASE("record names: devices of the same name get distinct names") {
  trace::ById<trace::Device> devices;
  for (std::uint32_t id = 0; id < 3; ++id) {
    trace::Device& device = devices[id];
    device.id = id;
    device.name = id == 2 ? "small" : "large";
    device.selector = "cuda:" + std::to_string(id);
  }
  CHECK(trace::device_name(devices, 0) == "large [cuda:0]");
  CHECK(trace::device_name(devices, 1) == "large [cuda:1]");
  CHECK(trace::device_name(devices, 2) == "small");
  CHECK(trace::device_name(devices, 3).empty());
}

TEST_CASE("record names: every enumerator has a name of its own") {
  const auto are_distinct = [](auto last, auto name) {
    std::set<std::string> all;
    for (int i = 0; i <= static_cast<int>(last); ++i) all.insert(name(decltype(last)(i)));
    return all.size() == static_cast<std::size_t>(last) + 1;
  };
  CHECK(are_distinct(trace::NodeKind::Other, trace::kind_name));
  CHECK(are_distinct(trace::SampleSource::Cupti, trace::source_name));
  CHECK(are_distinct(trace::Severity::Error, trace::severity_name));
  CHECK(are_distinct(trace::CollectiveKind::Group, trace::collective_kind_name));
  CHECK(are_distinct(trace::EdgeCause::Captured, trace::cause_name));
  CHECK(are_distinct(trace::Hazard::WriteAfterWrite, trace::hazard_name));
  CHECK(are_distinct(trace::BufferKind::Foreign, trace::buffer_kind_name));
}
