#include "support/lifetime_shapes.hpp"

#include <algorithm>

#include "support/random_recording.hpp"

namespace reprise::test {

namespace {

// [t0, t1) by [b0, b1), bytes in units.
struct Piece {
  std::int64_t t0 = 0, t1 = 0;
  std::uint64_t b0 = 0, b1 = 0;
  [[nodiscard]] double area() const {
    return static_cast<double>(t1 - t0) * static_cast<double>(b1 - b0);
  }
};

class Cutter {
 public:
  Cutter(Random& random, double shape, std::uint32_t pinwheel_percent)
      : random_(random), shape_(shape), pinwheel_percent_(pinwheel_percent) {}

  // Replaces a piece by two, or by a pinwheel of five.
  bool cut(std::vector<Piece>& pieces, std::size_t index) {
    const Piece p = pieces[index];
    const std::int64_t time = p.t1 - p.t0;
    const std::uint64_t bytes = p.b1 - p.b0;
    if (time >= 3 && bytes >= 3 && random_.percent(pinwheel_percent_)) {
      const std::int64_t t1 = p.t0 + 1 + random_.below(static_cast<std::uint64_t>(time - 2)),
                         t2 = t1 + 1 + random_.below(static_cast<std::uint64_t>(p.t1 - t1 - 1));
      const std::uint64_t b1 = p.b0 + 1 + random_.below(bytes - 2),
                          b2 = b1 + 1 + random_.below(p.b1 - b1 - 1);
      pieces[index] = {p.t0, t2, p.b0, b1};
      pieces.push_back({t2, p.t1, p.b0, b2});
      pieces.push_back({t1, p.t1, b2, p.b1});
      pieces.push_back({p.t0, t1, b1, p.b1});
      pieces.push_back({t1, t2, b1, b2});
      return true;
    }
    const bool in_time =
        bytes < 2 ||
        (time >= 2 && static_cast<double>(time) > shape_ * static_cast<double>(bytes) &&
         random_.percent(70));
    if (in_time ? time < 2 : bytes < 2) return false;
    if (in_time) {
      const std::int64_t t = p.t0 + 1 + random_.below(static_cast<std::uint64_t>(time - 1));
      pieces[index].t1 = t;
      pieces.push_back({t, p.t1, p.b0, p.b1});
    } else {
      const std::uint64_t b = p.b0 + 1 + random_.below(bytes - 1);
      pieces[index].b1 = b;
      pieces.push_back({p.t0, p.t1, b, p.b1});
    }
    return true;
  }

 private:
  Random& random_;
  double shape_;  // time units per byte unit of a square
  std::uint32_t pinwheel_percent_;
};

}  // namespace

std::vector<BufferLifetime> cut_lifetimes(const CutDesc& desc) {
  Random random(desc.seed);
  const std::uint64_t units = desc.capacity / desc.unit;
  std::vector<Piece> pieces = {{0, desc.time, 0, units}};
  Cutter cutter(random, static_cast<double>(desc.time) / static_cast<double>(units),
                desc.pinwheel_percent);
  for (std::uint32_t tries = 0; pieces.size() < desc.pieces && tries < 20 * desc.pieces; ++tries) {
    // The largest of a few random pieces: sizes vary, but no piece dominates.
    std::size_t index = random.below(pieces.size());
    for (int other = 0; other < 3; ++other) {
      const std::size_t candidate = random.below(pieces.size());
      if (pieces[candidate].area() > pieces[index].area()) index = candidate;
    }
    static_cast<void>(cutter.cut(pieces, index));
  }
  const auto full_time =
      static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(desc.time)));
  std::vector<BufferLifetime> buffers;
  for (const Piece& p : pieces) {
    const bool is_at_full_time = p.t0 <= full_time && full_time < p.t1;
    if (!is_at_full_time && random.percent(desc.removed_percent)) continue;
    buffers.push_back({p.t0, p.t1, (p.b1 - p.b0) * desc.unit});
  }
  for (std::size_t i = buffers.size(); i > 1; --i)
    std::swap(buffers[i - 1], buffers[random.below(i)]);
  return buffers;
}

std::vector<BufferLifetime> random_lifetimes(const RandomLifetimesDesc& desc) {
  Random random(desc.seed);
  std::vector<BufferLifetime> buffers;
  for (std::uint32_t i = 0; i < desc.buffers; ++i) {
    const std::int64_t lower = random.below(static_cast<std::uint64_t>(desc.time));
    const std::int64_t max_length = random.percent(90) ? std::max<std::int64_t>(desc.time / 200, 1)
                                                       : std::max<std::int64_t>(desc.time / 10, 1);
    BufferLifetime buffer{lower, lower + 1 + random.below(static_cast<std::uint64_t>(max_length)),
                          1 + random.below(desc.most_bytes), desc.alignment};
    if (desc.mixed_alignment) {
      buffer.alignment = 1;
      while (buffer.alignment < desc.alignment && random.percent(60)) buffer.alignment *= 2;
    }
    buffers.push_back(buffer);
  }
  return buffers;
}

std::vector<BufferLifetime> training_lifetimes(std::uint64_t seed, std::uint32_t layers) {
  Random random(seed);
  std::vector<BufferLifetime> buffers;
  const std::int64_t end = 16 * std::int64_t{layers};
  const auto bytes = [&] { return 4096 * (1 + random.below(8) * random.below(8)); };
  for (std::uint32_t layer = 0; layer < layers; ++layer) {
    const std::int64_t forward = 8 * std::int64_t{layer}, backward = end - 8 * std::int64_t{layer};
    for (std::uint32_t saved = 0; saved < 3; ++saved)
      buffers.push_back({forward + saved, backward - saved, bytes()});
    for (std::uint32_t i = 0; i < 3; ++i)
      buffers.push_back({forward + i, forward + i + 1 + random.below(4), bytes()});
    for (std::uint32_t i = 0; i < 3; ++i)
      buffers.push_back({backward - 8 + i, backward - 8 + i + 1 + random.below(6), bytes()});
  }
  return buffers;
}

}  // namespace reprise::test
