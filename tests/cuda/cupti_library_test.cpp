// The search for libcupti, and the launch gate. Needs no GPU.
#include <doctest/doctest.h>

#include <atomic>
#include <string_view>
#include <thread>
#include <vector>

#include "profile/activity/cupti_library.hpp"
#include "profile/activity/launch_gate.hpp"
#include "support/contains.hpp"

namespace reprise::detail {
namespace {

using test::contains;

std::string why_not(const CuptiLibrary::Search& search) {
  const CuptiLibrary::Loaded loaded = CuptiLibrary::load(search);
  CHECK(loaded.library == nullptr);
  return loaded.why_not;
}
}  // namespace

TEST_CASE("cupti library: a disabled, missing or wrong library is refused with a reason") {
  CHECK(contains(why_not({}), "REPRISE_CUPTI is off"));
  const std::string nowhere = why_not({{"libreprise-has-no-such-library.so"}});
  CHECK(contains(nowhere, "was not found"));
  CHECK(contains(nowhere, "libreprise-has-no-such-library.so"));
  CHECK(contains(why_not({{"libanl.so.1"}}), "has no cuptiGetVersion"));
}

TEST_CASE("cupti library: a library that the process has already loaded belongs to other code") {
  CHECK(contains(why_not({{"libc.so.6"}}), "has loaded libc.so.6 already"));
}

TEST_CASE("cupti library: a shared search uses the loaded library and loads no second one") {
  CHECK(contains(why_not({{"libreprise-has-no-such-library.so", "libc.so.6"},
                          CuptiLibrary::Search::Present::Shared}),
                 "has no cuptiGetVersion"));
}

TEST_CASE(
    "launch gate: no thread is inside while the gate is closed, and every thread passes "
    "afterwards") {
  LaunchGate gate;
  std::atomic<int> inside{0}, seen_inside{0}, passed{0};
  constexpr int kThreads = 3, kPasses = 20'000;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int pass = 0; pass < kPasses; ++pass) {
        const GatePass guard(&gate);
        inside.fetch_add(1);
        inside.fetch_sub(1);
        passed.fetch_add(1);
      }
    });
  }
  for (int i = 0; i < 50; ++i) {
    gate.close();
    if (inside.load() != 0) seen_inside.fetch_add(1);
    gate.open();
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(seen_inside.load() == 0);
  CHECK(passed.load() == kThreads * kPasses);
}

}  // namespace reprise::detail
