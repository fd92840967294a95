#include "viewer/serve/frame_decoder.hpp"

#include <cstring>

#include <doctest/doctest.h>

namespace reprise::test {

namespace {

class Bytes {
 public:
  explicit Bytes(std::string_view all) : rest_(all) {}
  template <class T>
  T take() {
    REQUIRE(rest_.size() >= sizeof(T));
    T value;
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    return value;
  }
  [[nodiscard]] bool empty() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

std::int64_t unzigzag(std::uint32_t word) {
  return (word & 1) != 0 ? -static_cast<std::int64_t>(word >> 1) - 1
                         : static_cast<std::int64_t>(word >> 1);
}

struct DecodedRun {
  bool is_copy = false;
  std::uint32_t count = 0, source = 0;
  std::int32_t dx = 0, dy = 0;
};

struct DecodedRuns {
  std::uint32_t count = 0, literals = 0;
  std::vector<DecodedRun> runs;
};

DecodedRuns take_runs(Bytes& bytes) {
  DecodedRuns out;
  out.count = bytes.take<std::uint32_t>();
  const auto runs = bytes.take<std::uint32_t>();
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < runs; ++i) {
    const auto word = bytes.take<std::uint32_t>();
    DecodedRun run{.is_copy = word >> 31 != 0, .count = word & 0x7fffffff};
    if (run.is_copy) {
      run.source = bytes.take<std::uint32_t>();
      run.dx = bytes.take<std::int32_t>();
      run.dy = bytes.take<std::int32_t>();
    } else {
      out.literals += run.count;
    }
    sum += run.count;
    out.runs.push_back(run);
  }
  REQUIRE(sum == out.count);
  return out;
}

// The differences of `planes` byte planes.
std::vector<std::int64_t> take_differences(Bytes& bytes, std::uint32_t count, int planes) {
  std::vector<std::uint32_t> words(count);
  for (int plane = 0; plane < planes; ++plane) {
    for (std::uint32_t& word : words)
      word |= static_cast<std::uint32_t>(bytes.take<std::uint8_t>()) << (8 * plane);
  }
  std::vector<std::int64_t> sums;
  std::int64_t sum = 0;
  for (const std::uint32_t word : words) sums.push_back(sum += unzigzag(word));
  return sums;
}

void take_vertices(Bytes& bytes, const DecodedList& from, DecodedList& to) {
  const DecodedRuns runs = take_runs(bytes);
  const auto x = take_differences(bytes, runs.literals, 4),
             y = take_differences(bytes, runs.literals, 4);
  std::vector<std::uint16_t> uv(2 * runs.literals);
  std::vector<std::uint32_t> colours(runs.literals);
  for (auto& each : uv) each = bytes.take<std::uint16_t>();
  for (auto& each : colours) each = bytes.take<std::uint32_t>();
  std::size_t next = 0;
  for (const DecodedRun& run : runs.runs) {
    if (run.is_copy) REQUIRE(run.source + run.count <= from.x.size());
    for (std::uint32_t i = 0; i < run.count; ++i) {
      const std::size_t source = run.source + i;
      to.x.push_back(run.is_copy ? from.x[source] + run.dx : static_cast<std::int32_t>(x[next]));
      to.y.push_back(run.is_copy ? from.y[source] + run.dy : static_cast<std::int32_t>(y[next]));
      to.u.push_back(run.is_copy ? from.u[source] : uv[2 * next]);
      to.v.push_back(run.is_copy ? from.v[source] : uv[2 * next + 1]);
      to.colours.push_back(run.is_copy ? from.colours[source] : colours[next]);
      if (!run.is_copy) ++next;
    }
  }
}

void take_indices(Bytes& bytes, const DecodedList& from, DecodedList& to) {
  const DecodedRuns runs = take_runs(bytes);
  const auto literals = take_differences(bytes, runs.literals, 2);
  std::size_t next = 0;
  for (const DecodedRun& run : runs.runs) {
    if (run.is_copy) REQUIRE(run.source + run.count <= from.indices.size());
    for (std::uint32_t i = 0; i < run.count; ++i) {
      to.indices.push_back(static_cast<std::uint16_t>(
          run.is_copy ? from.indices[run.source + i] + run.dx : literals[next]));
      if (!run.is_copy) ++next;
    }
  }
}

}  // namespace

DecodedVertex DecodedList::vertex(std::size_t at) const {
  return {static_cast<float>(x[at]) / 64, static_cast<float>(y[at]) / 64,
          static_cast<float>(u[at]) / 65535, static_cast<float>(v[at]) / 65535, colours[at]};
}

void FrameDecoder::decode(std::string_view message) {
  Bytes bytes(message);
  REQUIRE(bytes.take<std::uint8_t>() == 1);
  REQUIRE(bytes.take<std::uint8_t>() == 0);
  const auto count = bytes.take<std::uint16_t>();
  frame = bytes.take<std::uint32_t>();
  width = bytes.take<float>();
  height = bytes.take<float>();
  scale = bytes.take<float>();
  std::vector<DecodedList> now;
  kept = patched = 0;
  for (std::uint16_t i = 0; i < count; ++i) {
    const auto change = bytes.take<std::uint8_t>();
    static_cast<void>(bytes.take<std::uint8_t>());
    const auto from = bytes.take<std::uint16_t>();
    REQUIRE(change <= 2);
    if (change != 1) REQUIRE(from < lists.size());
    kept += change == 0 ? 1 : 0;
    patched += change == 2 ? 1 : 0;
    if (change == 0) {
      now.push_back(lists[from]);
      continue;
    }
    const DecodedList none;
    const DecodedList& base = change == 2 ? lists[from] : none;
    DecodedList list;
    take_vertices(bytes, base, list);
    take_indices(bytes, base, list);
    for (auto left = bytes.take<std::uint32_t>(); left > 0; --left) {
      DecodedCommand command;
      for (float& each : command.clip) each = bytes.take<float>();
      command.texture = bytes.take<std::uint32_t>();
      command.vertex_offset = bytes.take<std::uint32_t>();
      command.index_offset = bytes.take<std::uint32_t>();
      command.count = bytes.take<std::uint32_t>();
      list.commands.push_back(command);
    }
    now.push_back(std::move(list));
  }
  REQUIRE(bytes.empty());
  lists = std::move(now);
}

}  // namespace reprise::test
