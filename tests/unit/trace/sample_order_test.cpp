#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "trace/sample_order.hpp"

using namespace reprise::trace;

namespace {

// `span`: range of the starts, ns; a small span gives many equal starts.
std::vector<Sample> random_samples(std::uint64_t seed, std::uint32_t count, std::uint64_t span) {
  std::mt19937_64 random(seed);
  std::vector<Sample> samples;
  for (std::uint32_t n = 0; n < count; ++n)
    samples.push_back({n, 0, 1'000'000 + static_cast<Time>(random() % span), n, 0});
  return samples;
}

std::vector<Sample> expected(std::vector<Sample> samples) {
  std::stable_sort(samples.begin(), samples.end(),
                   [](const Sample& a, const Sample& b) { return a.started < b.started; });
  return samples;
}

}  // namespace

TEST_CASE("sample order: samples are sorted by start, and equal starts keep their order") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    for (const std::uint32_t count : {0u, 1u, 2u, 63u, 64u, 1'000u}) {
      for (const std::uint64_t span :
           {1ull, 7ull, 300ull, 2'000'000ull, 0xffffffffull, 0x100000001ull, 1ull << 60}) {
        CAPTURE(seed);
        CAPTURE(count);
        CAPTURE(span);
        std::vector<Sample> samples = random_samples(seed, count, span);
        const std::vector<Sample> sorted = expected(samples);
        sort_by_start(samples);
        CHECK(samples == sorted);
      }
    }
  }
}

TEST_CASE("sample order: starts may be arbitrarily far apart") {
  std::vector<Sample> samples = random_samples(1, 100, 1'000);
  samples[50].started = std::numeric_limits<Time>::max();
  samples[70].started = std::numeric_limits<Time>::min();
  const std::vector<Sample> sorted = expected(samples);
  sort_by_start(samples);
  CHECK(samples == sorted);
}
