#include "serve/frame_encoder.hpp"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <unordered_map>

#include "serve/protocol.hpp"

namespace reprise::viewer {

namespace {

constexpr float kMaxUnits = 1 << 29;  // differences are 32-bit numbers
constexpr std::size_t kBlock = 16;    // items that are looked up together; the shortest copy
constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15u;
constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

struct Move {
  std::int32_t dx = 0, dy = 0;
};

std::int32_t units(float points) {
  const float value = std::round(points * kUnitsPerPoint);
  return std::isnan(value) ? 0
                           : static_cast<std::int32_t>(std::clamp(value, -kMaxUnits, kMaxUnits));
}

std::uint16_t normalised(float value) {
  return static_cast<std::uint16_t>(std::lround(std::clamp(value, 0.0f, 1.0f) * 65535));
}

std::uint32_t zigzag(std::int32_t value) {
  return (static_cast<std::uint32_t>(value) << 1) ^ static_cast<std::uint32_t>(value >> 31);
}

// Of both kinds of items: how far `to` is from `from`, an item at another place, and the words that
// two neighbours have in common wherever they are.
Move move_between(const FrameVertex& from, const FrameVertex& to) {
  return {to.x - from.x, to.y - from.y};
}
bool is_moved(FrameVertex from, Move by, const FrameVertex& to) {
  from.x += by.dx;
  from.y += by.dy;
  return from == to;
}
std::uint64_t step(const FrameVertex& before, const FrameVertex& at) {
  const auto [dx, dy] = move_between(before, at);
  return ((static_cast<std::uint64_t>(static_cast<std::uint32_t>(dx)) << 32 |
           static_cast<std::uint32_t>(dy)) *
              kFactor ^
          (static_cast<std::uint64_t>(at.u) << 48 | static_cast<std::uint64_t>(at.v) << 32 |
           at.colour)) *
         kFactor;
}

Move move_between(std::uint16_t from, std::uint16_t to) {
  return {static_cast<std::uint16_t>(to - from), 0};
}
bool is_moved(std::uint16_t from, Move by, std::uint16_t to) {
  return static_cast<std::uint16_t>(from + by.dx) == to;
}
std::uint64_t step(std::uint16_t before, std::uint16_t at) {
  return (static_cast<std::uint16_t>(at - before) + 1u) * kFactor;
}

struct Run {
  std::size_t count = 0, source = kNowhere;  // kNowhere: new
  Move by = {};
};

// Finds the runs of `to` that are those of `from`, moved or not.
template <class Item>
class Matcher {
 public:
  Matcher(std::span<const Item> from, std::span<const Item> to) : from_(from), to_(to) {}

  std::vector<Run> runs() {
    std::size_t at = 0, ahead = 0;  // what stays in place is at at + ahead, modulo its range
    while (at < to_.size()) {
      if (!extend(at, at + ahead) && !look_up(at)) {
        ++at;
        continue;
      }
      at = end_;
      ahead = runs_.back().source + runs_.back().count - at;
    }
    add_new(to_.size());
    return std::move(runs_);
  }

 private:
  // Copies what is equal from `source`, if that is at least a block.
  bool extend(std::size_t at, std::size_t source) {
    if (source >= from_.size()) return false;
    const Move by = move_between(from_[source], to_[at]);
    std::size_t count = 0;
    const std::size_t most = std::min(from_.size() - source, to_.size() - at);
    while (count < most && is_moved(from_[source + count], by, to_[at + count])) ++count;
    if (count < kBlock && at + count != to_.size()) return false;
    if (count == 0) return false;
    // also what is equal before
    while (at > end_ && source > 0 && is_moved(from_[source - 1], by, to_[at - 1])) {
      --at;
      --source;
      ++count;
    }
    add_new(at);
    runs_.push_back({count, source, by});
    end_ = at + count;
    return true;
  }

  bool look_up(std::size_t at) {
    if (to_.size() - at <= kBlock || from_.size() <= kBlock) return false;
    if (table_.empty()) fill_table();
    const auto found = table_.find(hash_of(to_, at));
    return found != table_.end() && extend(at, found->second);
  }

  // Of the steps of the block at `at`.
  static std::uint64_t hash_of(std::span<const Item> items, std::size_t at) {
    std::uint64_t hash = 0;
    for (std::size_t i = at + 1; i <= at + kBlock; ++i)
      hash = hash * kFactor + step(items[i - 1], items[i]);
    return hash;
  }
  void fill_table() {
    table_.reserve(from_.size() / kBlock);
    for (std::size_t i = 0; i + kBlock < from_.size(); i += kBlock)
      table_.try_emplace(hash_of(from_, i), i);
  }
  void add_new(std::size_t to) {
    if (to > end_) runs_.push_back({.count = to - end_});
    end_ = std::max(end_, to);
  }

  std::span<const Item> from_, to_;
  std::vector<Run> runs_;
  std::size_t end_ = 0;  // of the runs
  std::unordered_map<std::uint64_t, std::size_t> table_;
};

// Planes of bytes of the differences between neighbours, which compress better than the values.
template <class Item, class Value>
void put_planes(std::string& out, const std::vector<Item>& items, Value value_of) {
  using Word = decltype(value_of(items.front()));
  const std::size_t at = out.size(), count = items.size();
  out.resize(at + sizeof(Word) * count);
  Word before = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Word now = value_of(items[i]);
    const std::uint32_t word = zigzag(static_cast<Word>(now - before));
    before = now;
    for (std::size_t plane = 0; plane < sizeof(Word); ++plane)
      out[at + plane * count + i] = static_cast<char>(word >> (8 * plane));
  }
}

void put_literals(std::string& out, const std::vector<FrameVertex>& literals) {
  put_planes(out, literals, [](const FrameVertex& vertex) { return vertex.x; });
  put_planes(out, literals, [](const FrameVertex& vertex) { return vertex.y; });
  for (const FrameVertex& vertex : literals) {
    put(out, vertex.u);
    put(out, vertex.v);
  }
  for (const FrameVertex& vertex : literals) put(out, vertex.colour);
}

void put_literals(std::string& out, const std::vector<std::uint16_t>& literals) {
  put_planes(out, literals, [](std::uint16_t index) { return static_cast<std::int16_t>(index); });
}

template <class Item>
void put_patch(std::string& out, const std::vector<Item>& from, const std::vector<Item>& to) {
  const std::vector<Run> runs = Matcher<Item>(from, to).runs();
  put(out, static_cast<std::uint32_t>(to.size()));
  put(out, static_cast<std::uint32_t>(runs.size()));
  std::vector<Item> literals;
  std::size_t at = 0;
  for (const Run& run : runs) {
    const auto count = static_cast<std::uint32_t>(run.count);
    if (run.source == kNowhere) {
      put(out, count);
      literals.insert(literals.end(), to.begin() + static_cast<std::ptrdiff_t>(at),
                      to.begin() + static_cast<std::ptrdiff_t>(at + run.count));
    } else {
      put(out, count | kCopiedRun);
      put(out, static_cast<std::uint32_t>(run.source));
      put(out, run.by.dx);
      put(out, run.by.dy);
    }
    at += run.count;
  }
  put_literals(out, literals);
}

void put_list(std::string& out, const FrameList& from, const FrameList& to) {
  put_patch(out, from.vertices, to.vertices);
  put_patch(out, from.indices, to.indices);
  put(out, static_cast<std::uint32_t>(to.commands.size()));
  for (const FrameCommand& command : to.commands) put(out, command);
}

}  // namespace

FrameList frame_list_of(const ImDrawList& list) {
  FrameList out;
  out.name = list._OwnerName ? list._OwnerName : "";
  out.vertices.reserve(static_cast<std::size_t>(list.VtxBuffer.Size));
  for (const ImDrawVert& vertex : list.VtxBuffer)
    out.vertices.push_back({units(vertex.pos.x), units(vertex.pos.y), normalised(vertex.uv.x),
                            normalised(vertex.uv.y), vertex.col});
  out.indices.assign(list.IdxBuffer.begin(), list.IdxBuffer.end());
  for (const ImDrawCmd& command : list.CmdBuffer) {
    if (command.UserCallback || command.ElemCount == 0) continue;
    const ImVec4& clip = command.ClipRect;
    out.commands.push_back(
        {{clip.x, clip.y, clip.z, clip.w},
         static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(command.TextureId)),
         command.VtxOffset,
         command.IdxOffset,
         command.ElemCount});
  }
  return out;
}

std::string FrameEncoder::encode(const ImDrawData& data, std::uint32_t frame) {
  const std::array size{data.DisplaySize.x, data.DisplaySize.y, data.FramebufferScale.x};
  std::vector<FrameList> lists;
  for (int i = 0; i < data.CmdListsCount; ++i) {
    FrameList list = frame_list_of(*data.CmdLists[i]);
    if (!list.commands.empty()) lists.push_back(std::move(list));
  }
  if (lists == previous_ && size == size_) return {};
  std::string out;
  put(out, kFrameMessage);
  put(out, std::uint8_t{0});
  put(out, static_cast<std::uint16_t>(lists.size()));
  put(out, frame);
  for (const float each : size) put(out, each);
  for (std::size_t i = 0; i < lists.size(); ++i) {
    const FrameList& list = lists[i];
    const auto is_same = [&](const FrameList& other) { return other.name == list.name; };
    const auto same = i < previous_.size() && is_same(previous_[i])
                          ? previous_.begin() + static_cast<std::ptrdiff_t>(i)
                          : std::find_if(previous_.begin(), previous_.end(), is_same);
    const bool is_new = same == previous_.end();
    const bool is_equal = !is_new && *same == list;
    put(out, is_new ? ListChange::New : is_equal ? ListChange::None : ListChange::Patch);
    put(out, std::uint8_t{0});
    put(out, static_cast<std::uint16_t>(is_new ? 0 : same - previous_.begin()));
    if (!is_equal) put_list(out, is_new ? FrameList() : *same, list);
  }
  previous_ = std::move(lists);
  size_ = size;
  return out;
}

}  // namespace reprise::viewer
