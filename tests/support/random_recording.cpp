#include "support/random_recording.hpp"

#include <algorithm>
#include <vector>

#include "base/text.hpp"

namespace reprise::test {

using namespace detail;

std::uint64_t Random::next() {
  state_ += 0x9e3779b97f4a7c15ull;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

namespace {

// Commands that each write their own buffer.
class Shape {
 public:
  explicit Shape(const ShapeDesc& desc) : desc_(desc), builder_({.ordering = desc.ordering}) {}

  // Adds a command that reads the buffers of `parents_`, and clears `parents_`.
  std::uint32_t add() {
    const std::uint32_t own =
        builder_.add_buffer(concat("b", builder_.command_count()), desc_.bytes, desc_.kind);
    accesses_.clear();
    for (const std::uint32_t parent : parents_) accesses_.push_back(builder_.read(parent));
    accesses_.push_back(builder_.write(own));
    parents_.clear();
    return builder_.dispatch("work", accesses_);
  }
  Shape& reads(std::uint32_t parent) {
    parents_.push_back(parent);
    return *this;
  }
  [[nodiscard]] RecordingPtr finish() { return builder_.finish(); }

 private:
  ShapeDesc desc_;
  RecordingBuilder builder_;
  std::vector<std::uint32_t> parents_;
  std::vector<BufferAccess> accesses_;
};

}  // namespace

RecordingPtr chain(std::uint32_t commands, const ShapeDesc& desc) {
  RecordingBuilder builder({.ordering = desc.ordering});
  const std::uint32_t buffer = builder.add_buffer("x", desc.bytes, desc.kind);
  for (std::uint32_t i = 0; i < commands; ++i)
    builder.dispatch("work", {builder.read_write(buffer)});
  return builder.finish();
}

RecordingPtr wide(std::uint32_t commands, const ShapeDesc& desc) {
  Shape shape(desc);
  for (std::uint32_t i = 0; i < commands; ++i) shape.add();
  return shape.finish();
}

RecordingPtr binary_tree(std::uint32_t commands, const ShapeDesc& desc) {
  Shape shape(desc);
  for (std::uint32_t i = 0; i < commands; ++i) {
    if (i != 0) shape.reads((i - 1) / 2);
    shape.add();
  }
  return shape.finish();
}

RecordingPtr reverse_tree(std::uint32_t commands, const ShapeDesc& desc) {
  Shape shape(desc);
  for (std::uint32_t i = 0; i < commands; ++i) {
    const std::uint32_t n = commands - 1 - i;  // tree node of command i, counted from the leaves
    for (const std::uint64_t child : {2 * std::uint64_t{n} + 2, 2 * std::uint64_t{n} + 1}) {
      if (child < commands) shape.reads(commands - 1 - static_cast<std::uint32_t>(child));
    }
    shape.add();
  }
  return shape.finish();
}

RecordingPtr layers(std::uint32_t commands, std::uint32_t width, std::uint32_t parents,
                    const ShapeDesc& desc) {
  Shape shape(desc);
  const std::uint32_t count = parents == 0 ? width : std::min(parents, width);
  for (std::uint32_t i = 0; i < commands; ++i) {
    const std::uint32_t layer = i / width;
    for (std::uint32_t p = 0; layer != 0 && p < count; ++p)
      shape.reads((layer - 1) * width + (i + p) % width);
    shape.add();
  }
  return shape.finish();
}

RecordingPtr fork_join(std::uint32_t width, std::uint32_t repetitions, const ShapeDesc& desc) {
  Shape shape(desc);
  std::uint32_t last = kNone;
  for (std::uint32_t repetition = 0; repetition < repetitions; ++repetition) {
    if (last != kNone) shape.reads(last);
    const std::uint32_t fork = shape.add();
    for (std::uint32_t i = 0; i < width; ++i) shape.reads(fork).add();
    for (std::uint32_t i = 0; i < width; ++i) shape.reads(fork + 1 + i);
    last = shape.add();
  }
  return shape.finish();
}

RecordingPtr wavefront(std::uint32_t side, const ShapeDesc& desc) {
  Shape shape(desc);
  for (std::uint32_t row = 0; row < side; ++row) {
    for (std::uint32_t column = 0; column < side; ++column) {
      if (row != 0) shape.reads((row - 1) * side + column);
      if (column != 0) shape.reads(row * side + column - 1);
      shape.add();
    }
  }
  return shape.finish();
}

RecordingPtr cholesky(std::uint32_t tiles, const ShapeDesc& desc) {
  RecordingBuilder builder({.ordering = desc.ordering});
  std::vector<std::uint32_t> tile(std::size_t{tiles} * tiles);
  for (std::uint32_t i = 0; i < tiles; ++i) {
    for (std::uint32_t j = 0; j <= i; ++j) {
      tile[i * tiles + j] = builder.add_buffer(concat("a", i, "_", j), desc.bytes, desc.kind);
    }
  }
  for (std::uint32_t k = 0; k < tiles; ++k) {
    builder.dispatch("potrf", {builder.read_write(tile[k * tiles + k])});
    for (std::uint32_t i = k + 1; i < tiles; ++i) {
      builder.dispatch(
          "trsm", {builder.read(tile[k * tiles + k]), builder.read_write(tile[i * tiles + k])});
    }
    for (std::uint32_t i = k + 1; i < tiles; ++i) {
      builder.dispatch(
          "syrk", {builder.read(tile[i * tiles + k]), builder.read_write(tile[i * tiles + i])});
      for (std::uint32_t j = k + 1; j < i; ++j) {
        builder.dispatch("gemm",
                         {builder.read(tile[i * tiles + k]), builder.read(tile[j * tiles + k]),
                          builder.read_write(tile[i * tiles + j])});
      }
    }
  }
  return builder.finish();
}

RecordingPtr random_dag(const RandomDagDesc& desc, const ShapeDesc& shape_desc) {
  Shape shape(shape_desc);
  Random random(desc.seed);
  for (std::uint32_t i = 0; i < desc.commands; ++i) {
    const std::uint32_t window = std::min(i, desc.window);
    for (std::uint32_t p = 0; window != 0 && p < desc.parents; ++p)
      shape.reads(i - 1 - random.below(window));
    shape.add();
  }
  return shape.finish();
}

RecordingPtr random_recording(const RandomDesc& desc) {
  Random random(desc.seed);
  RecordingBuilder builder({.label = "random", .ordering = desc.ordering});
  for (std::uint32_t b = 0; b < desc.buffers; ++b)
    builder.add_buffer(concat("b", b), desc.bytes, desc.kind);
  if (desc.shared_percent != 0) {
    std::vector<MemoryPlace>& places = builder.recording().places;
    for (std::uint32_t b = 0; b < desc.buffers; ++b) {
      const bool is_shared = b != 0 && random.percent(desc.shared_percent);
      places.push_back(is_shared ? MemoryPlace{places[b - 1].memory,
                                               places[b - 1].offset + random.below(desc.bytes)}
                                 : MemoryPlace{b, 0});
    }
  }

  const auto any_access = [&] {
    constexpr Access kAll[] = {Access::Read, Access::Write, Access::ReadWrite};
    return kAll[random.below(3)];
  };
  const auto any_dependency = [&] {
    return desc.programmatic_percent != 0 && random.percent(desc.programmatic_percent)
               ? Dependency::Programmatic
               : Dependency::Full;
  };
  const auto any_range = [&](Access access) {
    const std::uint64_t begin = random.below(desc.bytes);
    const std::uint64_t end = begin + 1 + random.below(desc.bytes - begin);
    return RecordingBuilder::range(access, random.below(desc.buffers), begin, end);
  };
  std::vector<BufferAccess> accesses;
  for (std::uint32_t i = 0; i < desc.commands; ++i) {
    if (random.percent(desc.barrier_percent)) {
      BarrierPayload barrier;
      if (!random.percent(25)) {
        const BufferAccess range = any_range(Access::Read);
        barrier.buffer = range.buffer;
        barrier.begin = range.begin;
        barrier.end = range.end;
      }
      barrier.before = any_access();
      barrier.after = any_access();
      barrier.dependency = any_dependency();
      builder.barrier(barrier);
      continue;
    }
    accesses.clear();
    const std::uint32_t count = 1 + random.below(desc.max_accesses);
    for (std::uint32_t a = 0; a < count; ++a) {
      const Access access = !random.percent(desc.write_percent) ? Access::Read
                            : random.percent(50)                ? Access::Write
                                                                : Access::ReadWrite;
      if (random.percent(desc.rows_percent)) {
        const std::uint64_t pitch = 8, width = 1 + random.below(4), height = desc.bytes / pitch;
        accesses.push_back(builder.rows(access, random.below(desc.buffers),
                                        random.below(pitch - width + 1), {width, height, 1},
                                        {pitch, 0}));
      } else if (random.percent(desc.whole_percent)) {
        accesses.push_back({random.below(desc.buffers), access, 0, 0, desc.bytes});
      } else {
        accesses.push_back(any_range(access));
      }
    }
    DispatchPayload dispatch;
    if (desc.programmatic_percent != 0 && random.percent(50))
      dispatch.start = DispatchDesc::Start::Programmatic;
    builder.dispatch(concat("k", i % 7), dispatch, accesses);
  }
  for (std::uint32_t e = 0; e < desc.user_edges + desc.backward_edges && desc.commands >= 2; ++e) {
    const std::uint32_t earlier = random.below(desc.commands - 1);
    const std::uint32_t later = earlier + 1 + random.below(desc.commands - 1 - earlier);
    if (builder.recording().commands[earlier].kind == CommandKind::Barrier) continue;
    if (builder.recording().commands[later].kind == CommandKind::Barrier) continue;
    const bool is_forward = e < desc.user_edges;
    builder.edge(is_forward ? earlier : later, is_forward ? later : earlier, any_dependency());
  }
  return builder.finish();
}

}  // namespace reprise::test
