// Calls of warp functions that end the program, each in a child process.
#include <doctest/doctest.h>

#include <signal.h>

#include <string>

#include <block_kernels.shaders.hpp>

#include "support/dying_child.hpp"
#include "unit/host/hand_made_graph.hpp"
#include "unit/host/host_fixture.hpp"

using namespace reprise;
using namespace reprise::test;

namespace {

// The text that a block of 64 threads with this fault writes to stderr before it aborts.
std::string message_of_fault(int fault) {
  return message_before_signal(SIGABRT, [fault] {
    HostFixture host;
    HandMadeGraph graph(*host.backend);
    graph.dispatch(shaders::warp_faults, {1, 64}, fault);
    host.run(*graph.instantiate());
  });
}

void check_contains(const std::string& text, const char* part) {
  INFO("text: ", text);
  CHECK(text.find(part) != std::string::npos);
}

}  // namespace

TEST_CASE("host warps: a mask without the caller is reported") {
  const std::string text = message_of_fault(0);
  check_contains(text, "kernel warp_faults on the host device, block (0, 0, 0)");
  check_contains(text, "thread 7, lane 7 of its warp, calls __syncwarp with mask 0x0000000f");
}

TEST_CASE("host warps: different functions with one mask are reported") {
  const std::string text = message_of_fault(1);
  check_contains(text, "thread 4, lane 4 of its warp, calls __shfl_sync with mask 0x000000ff");
  check_contains(text, "lanes 0-3 of the mask called __ballot_sync");
}

TEST_CASE("host warps: lanes that wait for each other for ever are reported") {
  const std::string text = message_of_fault(2);
  check_contains(text, "wait for each other for ever");
  check_contains(text, "lanes 0-15 of warp 0: in __shfl_down_sync with mask 0xffffffff");
  check_contains(text, "32 threads: at a barrier of the block");
}
