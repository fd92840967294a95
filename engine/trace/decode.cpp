#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>
#include <utility>

#include "trace/codec_generated.hpp"
#include "trace/sample_columns.hpp"
#include "trace/trace_error.hpp"

namespace reprise::trace {

namespace {

// The index of the body that holds the node; kNone: the outermost graph.
std::uint32_t body_of(const GraphVersion& g, std::uint32_t node) {
  const auto after =
      std::upper_bound(g.bodies.begin(), g.bodies.end(), node,
                       [](std::uint32_t n, const Body& body) { return n < body.first_node; });
  return static_cast<std::uint32_t>(after - g.bodies.begin()) - 1;
}

// Every index of a graph version must be within its vector; parents and edge sources must precede.
void check_indices(const GraphVersion& g) {
  const std::string where =
      "graph " + std::to_string(g.graph) + " version " + std::to_string(g.version) + ": ";
  const auto inside = [&](std::uint64_t index, std::size_t size, const char* what) {
    if (index >= size)
      throw_corrupt(where + what + ": index " + std::to_string(index) + " of " +
                    std::to_string(size));
  };
  const auto inside_or_none = [&](std::uint32_t index, std::size_t size, const char* what) {
    if (index != kNone) inside(index, size, what);
  };
  inside(0, g.strings.size(), "string");
  inside(0, g.labels.size(), "label");
  for (std::size_t i = 0; i < g.labels.size(); ++i) {
    inside(g.labels[i].name, g.strings.size(), "name of a label");
    if (i == 0 ? g.labels[i].parent != 0 : g.labels[i].parent >= i)
      throw_corrupt(where + "a label that does not follow its parent");
  }
  for (const Kernel& k : g.kernels) {
    inside(k.name, g.strings.size(), "name of a kernel");
    inside(k.full_name, g.strings.size(), "full name of a kernel");
  }
  for (const Buffer& b : g.buffers) inside(b.name, g.strings.size(), "name of a buffer");
  for (const NodeAccess& a : g.accesses) {
    inside(a.buffer, g.buffers.size(), "buffer of an access");
    if (a.end < a.begin) throw_corrupt(where + "an access whose end precedes its start");
  }
  for (const Barrier& b : g.barriers) {
    inside_or_none(b.buffer, g.buffers.size(), "buffer of a barrier");
    inside(b.label, g.labels.size(), "label of a barrier");
    inside(b.file, g.strings.size(), "file of a barrier");
  }
  std::uint64_t accesses = 0;  // of all nodes; no two nodes share one
  for (const Node& n : g.nodes) {
    inside(n.name, g.strings.size(), "name of a node");
    inside(n.label, g.labels.size(), "label of a node");
    inside(n.file, g.strings.size(), "file of a node");
    inside_or_none(n.kernel, g.kernels.size(), "kernel of a node");
    if (std::uint64_t{n.first_access} + n.access_count > g.accesses.size())
      throw_corrupt(where + "accesses of a node that are not in the graph");
    accesses += n.access_count;
  }
  if (accesses > g.accesses.size()) throw_corrupt(where + "accesses that belong to several nodes");
  for (const Edge& e : g.edges) {
    inside(e.to, g.nodes.size(), "end of an edge");
    inside(e.from, g.nodes.size(), "start of an edge");
    if (e.from >= e.to)
      throw_corrupt(where + "an edge from node " + std::to_string(e.from) + " to node " +
                    std::to_string(e.to) + ", which does not follow it");
    inside_or_none(e.buffer, g.buffers.size(), "buffer of an edge");
    inside_or_none(e.barrier, g.barriers.size(), "barrier of an edge");
  }
  std::uint64_t next = g.bodies.empty() ? g.nodes.size() : g.bodies.front().first_node;
  for (const Body& body : g.bodies) {
    if (body.first_node != next || body.parent >= body.first_node)
      throw_corrupt(where + "a body that does not follow its parent and the previous body");
    next += body.nodes;
  }
  if (next != g.nodes.size()) throw_corrupt(where + "bodies that do not cover all nodes");
  std::uint64_t end = 0;
  const std::size_t own_nodes = g.bodies.empty() ? g.nodes.size() : g.bodies.front().first_node;
  for (const Segment& segment : g.segments) {
    if (segment.first_node < end || segment.nodes == 0)
      throw_corrupt(where + "a segment that does not follow the previous one");
    end = std::uint64_t{segment.first_node} + segment.nodes;
    inside(end - 1, own_nodes, "end of a segment");
  }
  auto segment = g.segments.begin();
  for (std::size_t i = 0; i < g.block_relations.size(); ++i) {
    const BlockRelation& relation = g.block_relations[i];
    if (relation.from >= relation.to || relation.divisor < 0)
      throw_corrupt(where + "a block relation from node " + std::to_string(relation.from) +
                    " to node " + std::to_string(relation.to) + " with the divisor " +
                    std::to_string(relation.divisor));
    if (i != 0 && std::pair(relation.to, relation.from) <=
                      std::pair(g.block_relations[i - 1].to, g.block_relations[i - 1].from))
      throw_corrupt(where + "a block relation that does not follow the previous one");
    while (segment != g.segments.end() && relation.to >= segment->first_node + segment->nodes)
      ++segment;
    if (segment == g.segments.end() || relation.from < segment->first_node)
      throw_corrupt(where + "a block relation between nodes that are not in one segment");
  }
  for (std::size_t i = 0; i < g.collectives.size(); ++i) {
    inside(g.collectives[i].node, g.nodes.size(), "node of a collective");
    if (i != 0 && g.collectives[i].node <= g.collectives[i - 1].node)
      throw_corrupt(where + "a collective that does not follow the previous one");
  }
  for (std::size_t i = 0; i < g.changes.size(); ++i) {
    inside(g.changes[i].node, g.nodes.size(), "changed node");
    if (i != 0 && g.changes[i].node <= g.changes[i - 1].node)
      throw_corrupt(where + "a changed node that does not follow the previous one");
  }
  for (std::size_t i = 0; i < g.frames.size(); ++i) {
    inside(g.frames[i].function, g.strings.size(), "function of a frame");
    inside(g.frames[i].file, g.strings.size(), "file of a frame");
    if (g.frames[i].caller != kNone && g.frames[i].caller >= i)
      throw_corrupt(where + "a frame that does not follow its caller");
  }
  for (std::size_t i = 0; i < g.stacks.size(); ++i) {
    inside(g.stacks[i].node, g.nodes.size(), "node of a stack");
    inside(g.stacks[i].frame, g.frames.size(), "innermost frame of a stack");
    if (i != 0 && g.stacks[i].node <= g.stacks[i - 1].node)
      throw_corrupt(where + "a stack that does not follow the previous one");
  }
  inside_or_none(g.stack, g.frames.size(), "innermost frame of the graph's stack");
  for (const LaunchStack& stack : g.launch_stacks) {
    inside(stack.frame, g.frames.size(), "innermost frame of a launch's stack");
    inside(stack.file, g.strings.size(), "file of a launch");
  }
  for (const Edge& e : g.edges) {
    if (body_of(g, e.from) != body_of(g, e.to))
      throw_corrupt(where + "an edge between nodes of different bodies");
  }
}

// Without a limit, a small chunk whose records all refer to one long string would fill the memory.
class Decoder {
 public:
  // `max_bytes`: what the records, and consumers of them, may allocate; less for few bytes.
  Decoder(std::size_t raw_bytes, std::uint64_t max_bytes)
      : limit_(std::min(budget_of(raw_bytes), max_bytes)), budget_(limit_) {}

  // Maps an unknown enumerator to `last`, which is the kind's catch-all or its most conservative
  // value.
  template <class Enum, class Wire>
  [[nodiscard]] static Enum enumerator(Wire value, Enum last) noexcept {
    return static_cast<std::uint8_t>(value) <= static_cast<std::uint8_t>(last)
               ? static_cast<Enum>(value)
               : last;
  }
  // Rejects what is beyond kMaxTime.
  [[nodiscard]] static Time time(Time t) {
    if (t < -kMaxTime || t > kMaxTime)
      throw_corrupt("a time of " + std::to_string(t) + " ns is out of range");
    return t;
  }
  [[nodiscard]] std::string text(const flatbuffers::String* text) {
    if (text == nullptr) return {};
    spend(text->size());
    return text->str();
  }
  void spend(std::uint64_t bytes) {
    if (bytes > budget_) {
      throw TraceError(TraceErrorCode::TooLarge, "a chunk decodes to more than " +
                                                     std::to_string(limit_) +
                                                     " bytes, the limit for its size");
    }
    budget_ -= bytes;
  }

  template <class T, std::uint16_t count>
  static void copy(const flatbuffers::Array<T, count>* from, T (&to)[count]) {
    std::copy(from->begin(), from->end(), to);
  }
  // A vector of another size is ignored.
  template <std::size_t count>
  static void copy(const flatbuffers::Vector<std::uint8_t>* from,
                   std::array<std::uint8_t, count>& to) {
    if (from != nullptr && from->size() == count) std::copy(from->begin(), from->end(), to.begin());
  }
  void convert(const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>* from,
               std::vector<std::string>& to) {
    if (from == nullptr) return;
    spend(std::uint64_t{from->size()} * sizeof(std::string));
    to.reserve(from->size());
    for (const flatbuffers::String* one : *from) to.push_back(text(one));
  }
  void convert(const flatbuffers::Vector<std::uint8_t>* from, std::vector<std::uint8_t>& to) {
    if (from == nullptr) return;
    spend(from->size());
    to.assign(from->begin(), from->end());
  }
  template <class Vector, class Record>
  void convert(const Vector* from, std::vector<Record>& to) {
    if (from == nullptr) return;
    using Wire = std::remove_cv_t<std::remove_pointer_t<decltype(from->Get(0))>>;
    // The verifier checks the alignment of a vector's length, but not of its structs.
    if constexpr (!std::is_base_of_v<flatbuffers::Table, Wire>) {
      if (from->size() != 0 && reinterpret_cast<std::uintptr_t>(from->Data()) % alignof(Wire) != 0)
        throw_corrupt("a vector is not aligned to " + std::to_string(alignof(Wire)) + " bytes");
    }
    spend(std::uint64_t{from->size()} * sizeof(Record));
    to.reserve(from->size());
    for (const auto* one : *from) from_wire(*this, *one, to.emplace_back());
  }

  static void check(const ClockAlignment& alignment) {
    // No clock gains or loses a thousandth.
    if (!(std::abs(alignment.drift) <= 1e-3))
      throw_corrupt("a clock drifts by " + std::to_string(alignment.drift) +
                    "; the limit is 0.001");
  }
  static void check(const InspectedRange& range) {
    // Rows that do not overlap, within [begin, end).
    const std::uint64_t bytes = range.end - range.begin;
    const auto fits = [](std::uint64_t count, std::uint64_t pitch, std::uint64_t first,
                         std::uint64_t limit) {
      return first <= limit &&
             (count == 1 || (pitch >= first && count - 1 <= (limit - first) / pitch));
    };
    const bool has_rows = range.begin <= range.end && range.width != 0 && range.height != 0 &&
                          range.depth != 0 &&
                          fits(range.height, range.row_pitch, range.width, bytes) &&
                          fits(range.depth, range.slice_pitch,
                               (range.height - 1) * range.row_pitch + range.width, bytes);
    if (!has_rows)
      throw_corrupt("inspected range " + std::to_string(range.index) +
                    " has rows outside of bytes " + std::to_string(range.begin) + " to " +
                    std::to_string(range.end));
  }
  void check(const GraphVersion& graph) {
    check_indices(graph);
    spend_names(graph);
  }

 private:
  static std::uint64_t budget_of(std::size_t raw_bytes) {
    constexpr std::uint64_t kBase = 16u << 20, kPerByte = 64, kMax = std::uint64_t{2} << 30;
    return std::min(kBase + kPerByte * raw_bytes, kMax);
  }
  // Consumers write out the name and the label path of each node, and each frame.
  void spend_names(const GraphVersion& graph);

  const std::uint64_t limit_;
  std::uint64_t budget_;
};

void Decoder::spend_names(const GraphVersion& g) {
  std::vector<std::uint64_t> path_bytes(g.labels.size(), 0);
  for (std::size_t i = 1; i < g.labels.size(); ++i) {
    constexpr std::uint64_t kSeparator = 3;
    path_bytes[i] =
        path_bytes[g.labels[i].parent] + g.strings[g.labels[i].name].size() + kSeparator;
  }
  for (const Node& n : g.nodes) spend(g.strings[n.name].size() + path_bytes[n.label]);
  for (const Frame& f : g.frames) spend(g.strings[f.function].size() + g.strings[f.file].size());
}

void from_wire(Decoder& in, const wire::SampleBlock& w, SampleBlock& r) {
  r.graph = w.graph();
  r.version = w.version();
  r.exec = w.exec();
  r.replay = w.replay();
  r.source = Decoder::enumerator(w.source(), SampleSource::Cupti);
  if (w.columns() != nullptr) {
    // More samples than bytes: decode_samples() reports it.
    in.spend(std::uint64_t{std::min(w.count(), w.columns()->size())} * sizeof(Sample));
    r.samples = decode_samples({w.columns()->data(), w.columns()->size()}, w.count());
    for (const Sample& sample : r.samples) static_cast<void>(Decoder::time(sample.started));
  } else if (w.count() != 0) {
    throw_corrupt("a block of " + std::to_string(w.count()) + " samples has no columns");
  }
}

}  // namespace

Records decode(std::span<const std::uint8_t> bytes, std::uint64_t max_bytes) {
  // The limits on depth and table count bound the verifier's work on hostile input.
  flatbuffers::Verifier verifier(bytes.data(), bytes.size(), 16, 4'000'000);
  if (!wire::VerifyChunkBuffer(verifier)) throw_corrupt("a chunk does not match the schema");
  Decoder in(bytes.size(), max_bytes);
  Records records;
  from_wire(in, *wire::GetChunk(bytes.data()), records);
  return records;
}

}  // namespace reprise::trace
