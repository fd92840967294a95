// SampleSources: the clock behind each replay's samples.
#include <doctest/doctest.h>

#include <map>
#include <random>

#include "model/sample_sources.hpp"

using namespace reprise;
using model::SampleSources;
using trace::SampleSource;

TEST_CASE("sample sources: empty without samples, and a single source holds for all replays") {
  SampleSources sources;
  CHECK_FALSE(sources.of(7));
  sources.add(7, SampleSource::Timestamp);
  CHECK(sources.of(7) == SampleSource::Timestamp);
  CHECK(sources.of(8) == SampleSource::Timestamp);
  CHECK(sources.count(SampleSource::Timestamp) == 1);
  CHECK(sources.count(SampleSource::Cupti) == 0);
}

TEST_CASE("sample sources: every replay keeps its source, in any arrival order") {
  constexpr unsigned kSeed = 4711;
  CAPTURE(kSeed);
  std::mt19937 random(kSeed);
  for (int run = 0; run < 200; ++run) {
    SampleSources sources;
    std::map<std::uint64_t, SampleSource> expected;
    for (int i = 0; i < 60; ++i) {
      const std::uint64_t replay = 1 + random() % 40;
      const SampleSource source = model::kSampleSources[random() % 3];
      sources.add(replay, source);
      expected[replay] = source;
      for (const auto& [number, is] : expected) REQUIRE(sources.of(number) == is);
    }
  }
}
