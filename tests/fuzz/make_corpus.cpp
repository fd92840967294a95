// Writes the initial corpora: make_corpus FOLDER creates FOLDER/reader, FOLDER/handshake and
// FOLDER/control. Run it again after a change of the format, the handshake or the frames of ranks.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "collectives/control/control_frame.hpp"
#include "trace/chunk.hpp"
#include "trace/live/live_request.hpp"
#include "unit/trace/trace_samples.hpp"

using namespace reprise::trace;
namespace detail = reprise::detail;
namespace test = reprise::test;

namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes operator+(Bytes a, const auto& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

void write(const std::filesystem::path& path, std::uint8_t where, const Bytes& bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream out(path, std::ios::binary);
  out.put(static_cast<char>(where));
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
}

Bytes chunk(ChunkKind kind, const Records& records, std::uint64_t sequence) {
  const Chunk made = make_chunk(kind, records, sequence);
  return Bytes() + encode_header(made.header) + made.payload;
}

void reader(const std::filesystem::path& folder) {
  Records graph, samples, long_block, empty_graph;
  graph.graph_versions = {test::sample_graph(3, 4)};
  samples.sample_blocks = {test::sample_block(1, 12), test::sample_block(2, 0)};
  long_block.sample_blocks = {test::sample_block(1, 200)};
  empty_graph.graph_versions = {test::sample_graph(0, 0)};
  const Records all = test::one_of_each();
  const std::pair<const char*, const Records*> sets[] = {{"all", &all},
                                                         {"graph", &graph},
                                                         {"samples", &samples},
                                                         {"long_block", &long_block},
                                                         {"empty_graph", &empty_graph}};
  for (const auto& [name, records] : sets)
    write(folder / (std::string("codec_") + name), 0, encode(*records));
  const Chunk one = make_chunk(ChunkKind::Events, all, 0);
  const std::uint32_t raw = one.header.raw_bytes;
  write(folder / "payload", 1,
        Bytes{static_cast<std::uint8_t>(raw), static_cast<std::uint8_t>(raw >> 8),
              static_cast<std::uint8_t>(raw >> 16)} +
            one.payload);
  write(folder / "chunk", 1, chunk(ChunkKind::Samples, samples, 3));
  const Bytes file = Bytes() + encode_preamble() + chunk(ChunkKind::Topology, graph, 0) +
                     chunk(ChunkKind::Samples, samples, 1) + chunk(ChunkKind::Events, all, 2);
  write(folder / "file", 2, file);
  write(folder / "file_cut", 2, Bytes(file.begin(), file.end() - 7));
  write(folder / "file_empty", 2, Bytes() + encode_preamble());
}

void handshake(const std::filesystem::path& folder) {
  const Bytes requests = Bytes() +
                         encode_request({LiveRequest::Kind::SetProfile, LiveProfile::Every}) +
                         encode_request({LiveRequest::Kind::Flush});
  write(folder / "path", 0, Bytes() + encode_hello("") + requests);
  write(folder / "path_token", 0, Bytes() + encode_hello("anything"));
  write(folder / "path_unknown", 0,
        Bytes() + encode_hello("") + Bytes{2, 0, 0, 0, 99, 0} + Bytes{255, 255, 255, 255});
  write(folder / "tcp", 1, Bytes() + encode_hello("secret") + requests);
  write(folder / "tcp_wrong", 1, Bytes() + encode_hello("wrong!"));
  write(folder / "tcp_half", 1, Bytes{'R', 'V', 'W', '1', 6});
  Records topology;
  topology.graph_versions = {test::sample_graph(3, 2)};
  const Bytes welcome =
      Bytes() +
      encode_answer(LiveAnswer::Welcome, LiveProfile::Sampled, {4711, "digits", "node7"}) +
      encode_preamble();
  write(folder / "session", 2, welcome + chunk(ChunkKind::Topology, topology, 0));
  write(folder / "session_refuses", 2, encode_answer(LiveAnswer::WrongToken, {}, {}));
  const Bytes word[] = {{'4', '7', '1', '1', '-', 'a', '.', '2', '.', 's', 'o', 'c', 'k'},
                        {'[', ':', ':', '1', ']', ':', '8', '0'},
                        {'1', '\t', 'a', '\t', 'h'},
                        {1, 0, 3}};
  for (std::size_t i = 0; i < std::size(word); ++i)
    write(folder / ("words_" + std::to_string(i)), 3, word[i]);
}

// As control_fuzz.cpp reads them.
Bytes frame(const detail::FrameWriter& writer) {
  const std::string bytes = *detail::FrameWriter(writer).finish();
  const std::size_t length = bytes.size() - detail::kFrameHeaderBytes;
  return Bytes{static_cast<std::uint8_t>(bytes[0]), static_cast<std::uint8_t>(length),
               static_cast<std::uint8_t>(length >> 8)} +
         bytes.substr(detail::kFrameHeaderBytes);
}

void control(const std::filesystem::path& folder) {
  using detail::FrameType;
  using detail::FrameWriter;
  const auto start = [](FrameType type) {
    return FrameWriter(type).u64(detail::kControlMagic).u32(detail::kControlVersion);
  };
  const std::string nonce(32, 'n');
  write(folder / "unknown_rank", 0,
        frame(start(FrameType::Hello).u32(1).u32(4).text(nonce)) +
            frame(FrameWriter(FrameType::Proof).text(nonce).text("node7")));
  write(folder / "unknown_hub", 1, frame(start(FrameType::Challenge).text(nonce).text(nonce)));
  const FrameWriter gather = FrameWriter(FrameType::Gather).u64(7).u64(0);
  write(folder / "rank_gathers", 2, frame(FrameWriter(gather).u32(2).u32(0).u32(1).text("theirs")));
  write(folder / "rank_differs", 2, frame(FrameWriter(gather).u32(1).u32(1).text("alone")));
  write(folder / "rank_reports", 2,
        frame(FrameWriter(FrameType::Report).text("1 5;2 7!").u64(99)) +
            frame(FrameWriter(FrameType::Abort).text("enough")));
  write(folder / "rank_leaves", 2, frame(FrameWriter(FrameType::Goodbye)));
  const FrameWriter gathered = FrameWriter(FrameType::Gathered).u64(7).u64(0);
  write(folder / "hub_gathered", 3, frame(FrameWriter(gathered).u32(2).text("a").text("b")));
  write(folder / "hub_short", 3, frame(FrameWriter(gathered).u32(1).text("a")));
  write(folder / "hub_failed", 3,
        frame(FrameWriter(FrameType::Failed).u64(7).u64(0).u32(1).text("different members")));
  write(folder / "hub_table", 3,
        frame(FrameWriter(FrameType::Table)
                  .u32(0)
                  .u32(5)
                  .u32(1)
                  .u32(1)
                  .u32(1)
                  .text("node7")
                  .text("1 5;")) +
            frame(FrameWriter(FrameType::Time).u64(1).u64(2)));
  const std::string list =
                        "1\x1f"
                        "0,1,2,\x1f"
                        "0,0,0,0,8;6,2,0,1,8;\x1fstep/sum\x1ftrain.cpp:42\n",
                    report = "1 5;2 7!";
  write(folder / "list", 4, Bytes(list.begin(), list.end()));
  write(folder / "report", 4, Bytes(report.begin(), report.end()));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]), 2;
  reader(std::filesystem::path(argv[1]) / "reader");
  handshake(std::filesystem::path(argv[1]) / "handshake");
  control(std::filesystem::path(argv[1]) / "control");
  return 0;
}
