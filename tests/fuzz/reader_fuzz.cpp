// Fuzzes the reading of traces: arbitrary bytes either cause a TraceError or give records whose
// indices are all valid and which survive a round trip. The first byte selects the layer that
// receives the rest: the codec, without compression and checksums; a chunk with a matching header;
// or a file. ctest runs it for half a minute (fuzz.reader). To run it longer:
//   bin/reprise_fuzz_reader -max_total_time=3600 -fork=2 FOLDER tests/fuzz/corpus/reader
// FOLDER receives new inputs. Crashing inputs are written to crash-*; run them again with
// "bin/reprise_fuzz_reader crash-*".
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "trace/codec.hpp"
#include "trace/trace_error.hpp"
#include "trace/trace_reader.hpp"

using namespace reprise::trace;

namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

void use(const GraphVersion& g) {
  const auto is_text = [&](std::uint32_t index) { return index < g.strings.size(); };
  const auto is_or_none = [](std::uint32_t index, std::size_t size) {
    return index == kNone || index < size;
  };
  require(!g.strings.empty() && !g.labels.empty(), "a graph has a first string and a root label");
  for (const Label& l : g.labels) require(is_text(l.name) && l.parent < g.labels.size(), "labels");
  for (const Kernel& k : g.kernels) require(is_text(k.name) && is_text(k.full_name), "kernels");
  for (const Buffer& b : g.buffers) require(is_text(b.name), "buffers");
  for (const NodeAccess& a : g.accesses)
    require(a.buffer < g.buffers.size() && a.begin <= a.end, "accesses");
  for (const Barrier& b : g.barriers)
    require(is_text(b.file) && b.label < g.labels.size() && is_or_none(b.buffer, g.buffers.size()),
            "barriers");
  for (const Node& n : g.nodes) {
    require(is_text(n.name) && is_text(n.file) && n.label < g.labels.size() &&
                is_or_none(n.kernel, g.kernels.size()),
            "nodes");
    require(
        n.first_access <= g.accesses.size() && n.access_count <= g.accesses.size() - n.first_access,
        "accesses of nodes");
  }
  for (const Edge& e : g.edges) {
    require(e.from < e.to && e.to < g.nodes.size() && is_or_none(e.buffer, g.buffers.size()) &&
                is_or_none(e.barrier, g.barriers.size()),
            "edges");
  }
}

void use(const Records& records) {
  for (const GraphVersion& graph : records.graph_versions) use(graph);
  require(decode(encode(records)) == records, "what was read can be written and read again");
}

void read_codec(std::span<const std::uint8_t> bytes) {
  // Like read_chunk: from aligned memory that ends with the data.
  const std::vector<std::uint8_t> copy(bytes.begin(), bytes.end());
  use(decode(copy));
}

// The input starts with the chunk's header, or with the decompressed size of its payload.
void read_one_chunk(std::span<const std::uint8_t> bytes) {
  ChunkHeader header;
  try {
    if (bytes.size() < ChunkHeader::kBytes) return;
    header = decode_header(bytes.first<ChunkHeader::kBytes>());
    bytes = bytes.subspan(ChunkHeader::kBytes);
  } catch (const TraceError&) {
    header.raw_bytes = bytes[0] | static_cast<std::uint32_t>(bytes[1]) << 8 |
                       static_cast<std::uint32_t>(bytes[2]) << 16;
    bytes = bytes.subspan(3);
  }
  header.compressed_bytes = static_cast<std::uint32_t>(bytes.size());
  use(read_chunk(header, bytes));
}

void read_file(std::span<const std::uint8_t> bytes) {
  const int file = ::memfd_create("reprise-fuzz", MFD_CLOEXEC);
  require(
      file >= 0 && ::write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
      "a file in memory");
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  try {
    TraceReader reader(path);
    for (const ChunkEntry& chunk : reader.chunks()) {
      try {
        use(reader.read(chunk));
      } catch (const TraceError&) {
        // Other chunks may be intact.
      }
    }
    require(reader.refresh() == 0, "a file that does not grow has no new chunks");
    require(reader.trailing_bytes() == 0 || !reader.damage().empty(),
            "trailing bytes have a reason");
  } catch (const TraceError&) {
    // Not a trace.
  }
  ::close(file);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::span<const std::uint8_t> bytes(data + 1, size - 1);
  try {
    switch (data[0] % 3) {
      case 0: read_codec(bytes); break;
      case 1: read_one_chunk(bytes); break;
      default: read_file(bytes); break;
    }
  } catch (const TraceError&) {
    // Rejected as expected.
  }
  return 0;
}
