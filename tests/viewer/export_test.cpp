// Output handling of all exporters, and the contents of CSV and DOT.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>

#include "base/atomic_file.hpp"
#include "export/export_error.hpp"
#include "support/contains.hpp"
#include "support/paths.hpp"
#include "trace/trace_error.hpp"
#include "trace/trace_file.hpp"
#include "trace/trace_reader.hpp"
#include "viewer/hand_made_exports.hpp"

using namespace reprise;
using test::HandMadeTrace;
using trace::ExportFormat;

using test::contains;

namespace {

constexpr ExportFormat kFormats[] = {ExportFormat::Perfetto, ExportFormat::Csv,
                                     ExportFormat::Sqlite, ExportFormat::Dot};

std::size_t files_in(const std::filesystem::path& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

template <class Error, class Function>
std::string error_of(const Function& function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// A field of a line without quoted commas.
std::string field(const std::string& line, int number) {
  std::istringstream in(line);
  std::string text;
  for (int i = 0; i <= number; ++i) std::getline(in, text, ',');
  return text;
}

}  // namespace

TEST_CASE("export: formats have names") {
  for (const ExportFormat format : kFormats)
    CHECK(trace::format_from(trace::format_name(format)) == format);
  CHECK_FALSE(trace::format_from("xml").has_value());
}

TEST_CASE("export: the output is replaced atomically and leaves no temporary file") {
  const std::filesystem::path folder = test::scratch_folder() / "beside";
  std::filesystem::create_directories(folder);
  for (const ExportFormat format : kFormats) {
    const std::string name = std::string("beside/") + trace::format_name(format);
    std::ofstream(test::scratch_folder() / name) << "what was there before";
    const test::Exported e = test::export_hand_made(format, name, "step");
    CHECK_FALSE(contains(test::text_of_file(e.output), "what was there before"));
  }
  CHECK(files_in(folder) == std::size(kFormats));
}

TEST_CASE("export: progress increases up to the total") {
  const test::Exported e = test::export_hand_made(ExportFormat::Csv, "progress.csv");
  for (const ExportFormat format : kFormats) {
    std::uint64_t done = 0, total = 1;
    (void)trace::export_trace(format, trace::TraceReader(e.trace),
                              {.output = test::scratch_folder() / "progress",
                               .graph = "step",
                               .progress = [&](std::uint64_t d, std::uint64_t t) {
                                 CHECK(d >= done);
                                 done = d;
                                 total = t;
                               }});
    CHECK(done == total);
  }
}

TEST_CASE("export: an unwritable output is named in the error, and an existing file is unchanged") {
  const test::Exported e = test::export_hand_made(ExportFormat::Csv, "kept.csv");
  const trace::TraceReader reader(e.trace);
  const std::filesystem::path missing = test::scratch_folder() / "no" / "such" / "folder";
  for (const ExportFormat format : kFormats) {
    const auto write_to = [&](const std::filesystem::path& path) {
      return error_of<detail::FileError>(
          [&] { (void)trace::export_trace(format, reader, {.output = path, .graph = "step"}); });
    };
    CHECK(contains(write_to(missing), "cannot write " + missing.string()));
    if (format == ExportFormat::Sqlite)
      CHECK(contains(write_to("/dev/null"), "requires a regular file"));
    CHECK(contains(write_to(test::scratch_folder()), "not a regular file"));
  }
  CHECK(std::filesystem::is_character_file("/dev/null"));
}

TEST_CASE("export: an error in a damaged trace leaves the output unchanged") {
  const test::Exported e = test::export_hand_made(ExportFormat::Csv, "before.csv");
  const std::filesystem::path damaged = test::scratch_folder() / "damaged.reprise";
  std::string bytes = test::text_of_file(e.trace);
  bytes[bytes.size() - 3] = static_cast<char>(bytes[bytes.size() - 3] ^ 0x55);
  std::ofstream(damaged, std::ios::binary) << bytes;
  const trace::TraceReader reader(damaged);
  for (const ExportFormat format : kFormats) {
    const std::filesystem::path output = test::scratch_folder() / "untouched";
    std::ofstream(output) << "as it was";
    CHECK_THROWS_AS((void)trace::export_trace(format, reader, {.output = output, .graph = "step"}),
                    trace::TraceError);
    CHECK(test::text_of_file(output) == "as it was");
  }
}

TEST_CASE(
    "export: a graph is selected by number or label, and an error lists the available graphs") {
  const test::Exported by_label = test::export_hand_made(ExportFormat::Csv, "label.csv", "other");
  const test::Exported by_number = test::export_hand_made(ExportFormat::Csv, "number.csv", "8");
  CHECK(by_label.report.samples == HandMadeTrace::kOtherReplays * HandMadeTrace::kNodes);
  // The traces are written separately, and their chunks can interleave differently.
  const auto sorted_lines = [](const test::Exported& e) {
    std::vector<std::string> lines = lines_of(test::text_of_file(e.output));
    std::sort(lines.begin(), lines.end());
    return lines;
  };
  CHECK(sorted_lines(by_label) == sorted_lines(by_number));
  const std::string error = error_of<trace::ExportError>(
      [] { (void)test::export_hand_made(ExportFormat::Csv, "unknown.csv", "nonsense"); });
  CHECK(contains(error, "no graph \"nonsense\""));
  CHECK(contains(error, "3 (step), 8 (other)"));
}

TEST_CASE(
    "csv: one line per replay, sample, range and pool state, a header, quotes where needed and an "
    "empty "
    "field for a lost time") {
  const test::Exported e = test::export_hand_made(ExportFormat::Csv, "all.csv");
  const std::vector<std::string> lines = lines_of(test::text_of_file(e.output));
  const std::uint64_t samples =
      (HandMadeTrace::kStepReplays + HandMadeTrace::kOtherReplays) * HandMadeTrace::kNodes;
  CHECK(e.report.samples == samples);
  const auto of_kind = [&](const char* kind) {
    return static_cast<std::uint64_t>(std::count_if(
        lines.begin(), lines.end(),
        [&](const std::string& line) { return contains(line, std::string(",,") + kind + ",,"); }));
  };
  CHECK(of_kind("range") == 2 * HandMadeTrace::kStepReplays);
  CHECK(of_kind("pool") == 2);
  REQUIRE(lines.size() == samples + 1 + of_kind("replay") + of_kind("range") + of_kind("pool"));
  CHECK(contains(test::text_of_file(e.output), "3,step,,,1,,batch,,range,,77,1,host,"));
  CHECK(contains(test::text_of_file(e.output), ",,,,,,step,,pool,,,,host," +
                                                   std::to_string(HandMadeTrace::kBegin + 11'000) +
                                                   ",,14680064,,,,,\r"));
  CHECK(lines[0] ==
        "graph,graph_name,version,exec,replay,node,node_name,label,kind,lane,worker,occurrence,"
        "source,started_ns,duration_ns,bytes,rank,launched_ns,launch_returned_ns,queue,kernel_"
        "kind\r");
  const auto sample = std::find_if(lines.begin(), lines.end(), [](const std::string& line) {
    return line.starts_with("3,step,1,0,1,0,");
  });
  REQUIRE(sample != lines.end());
  CHECK(*sample == "3,step,1,0,1,0,load,,copy,0,0,0,host," +
                       std::to_string(HandMadeTrace::kBegin + 10'000) + ",1001,,,,,,\r");
  CHECK(contains(sample[1], ",\"saxpy \"\"a, b\"\"\",epoch / forward,dispatch,0,0,0,host,"));
  CHECK(sample[1].ends_with(",,,,,,elementwise\r"));
  CHECK(std::count_if(lines.begin(), lines.end(), [](const std::string& line) {
          return line.ends_with(",host,,,,,,,,elementwise\r") || line.ends_with(",host,,,,,,,,\r");
        }) == 1);
}

TEST_CASE("csv: rows have the rank of their graph, thread or device") {
  const test::Exported e = test::export_ranks(ExportFormat::Csv, "ranks.csv");
  std::map<std::string, std::size_t> rows;  // by rank
  for (const std::string& line : lines_of(test::text_of_file(e.output))) {
    const std::string rank = field(line, 16);
    ++rows[rank];
    if (line.starts_with("2,step,")) CHECK(rank == "2");
  }
  // 10 replays, each with 6 samples and a range, and the state of a pool.
  CHECK(rows == std::map<std::string, std::size_t>{
                    {"rank", 1}, {"0", 81}, {"1", 81}, {"2", 81}, {"3", 81}});
}

TEST_CASE("csv: each replay has a row with its device time, launch and queue") {
  const test::Exported e = test::export_hand_made(ExportFormat::Csv, "replays.csv", "step");
  std::vector<std::string> replays;
  for (const std::string& line : lines_of(test::text_of_file(e.output))) {
    if (field(line, 8) == "replay") replays.push_back(line);
  }
  REQUIRE(replays.size() == HandMadeTrace::kStepReplays);
  CHECK(e.report.replays == HandMadeTrace::kStepReplays);
  const std::string& first = replays.front();
  CHECK(first.starts_with("3,step,1,0,1,,,,replay,,77,,,"));
  const long long started = std::stoll(field(first, 13)), launched = std::stoll(field(first, 17));
  CHECK(started - launched == 2'500);
  CHECK(std::stoll(field(first, 18)) - launched == 901);
  CHECK(std::stoll(field(first, 14)) >= 14'000);
  CHECK(first.ends_with(",main,\r"));
}

TEST_CASE("csv: the capture and the first launch of a graph have their durations and memory") {
  const test::Exported e = test::export_captured(ExportFormat::Csv, "captured.csv");
  const std::vector<std::string> lines = lines_of(test::text_of_file(e.output));
  REQUIRE(lines.size() == 4);
  CHECK(lines[1] == "3,step,,,,,,,capture,,,,host,,40,4096,,,,,\r");
  CHECK(lines[2] == "3,step,,,,,,,first launch,,,,host,,7,-64,,,,,\r");
  CHECK(lines[3] == "4,spare,,,,,,,capture,,,,host,,,2048,,,,,\r");
  for (const std::string& line : lines)
    CHECK(std::count(line.begin(), line.end(), ',') ==
          std::count(lines[0].begin(), lines[0].end(), ','));
}

TEST_CASE("dot: Graphviz accepts it, with median times and the critical path") {
  const test::Exported e = test::export_hand_made(ExportFormat::Dot, "step.dot", "step");
  const std::string text = test::text_of_file(e.output);
  CHECK(contains(text, "digraph \"step\""));
  CHECK(contains(text, "40 sampled replays"));
  CHECK(contains(text, "median 1.003 us, 6.7 %"));
  CHECK(contains(text, "saxpy \\\"a, b\\\""));
  CHECK(contains(text, "RAW x<&>"));
  CHECK(contains(text, "\"trace ranges\\niteration: 40, median "));
  CHECK(contains(text, "\\nbatch: 40, median "));
  CHECK(contains(text, "\"device memory of pools\\nstep: 6.0 MiB, peak 14.0 MiB\""));
  // load, blur (slower than saxpy beside it), sum, store: 1 + 3 + 4 + 5 us and the medians of what
  // is added.
  const std::vector<std::string> lines = lines_of(text);
  std::string bold;
  for (const std::string& line : lines) {
    if (contains(line, " -> ") && contains(line, "penwidth"))
      bold += line.substr(2, line.find(" [") - 2) + ';';
  }
  CHECK(bold == "n0 -> n2;n2 -> n3;n3 -> n4;");

  const std::filesystem::path svg = test::scratch_folder() / "step.svg";
  const std::string command = std::string(REPRISE_DOT_PROGRAM) + " -Tsvg -o '" + svg.string() +
                              "' '" + e.output.string() + "'";
  REQUIRE(std::system(command.c_str()) == 0);
  const std::string picture = test::text_of_file(svg);
  CHECK(contains(picture, "median 3.00"));
  CHECK(contains(picture, "saxpy"));
  CHECK(contains(picture, "iteration: 40"));
}

TEST_CASE("dot: long lists of ranges are shortened, and ranges of other graphs are left out") {
  trace::Records topology, events;
  topology.graph_versions.resize(1);
  topology.graph_versions[0].graph = topology.graph_versions[0].version = 1;
  topology.graph_versions[0].strings = {""};
  topology.graph_versions[0].labels = {{}};
  for (trace::Time i = 1; i <= 23; ++i)
    events.host_ranges.push_back({7, 0, 100, 100 + i * 1'000, "step " + std::to_string(i), 1, 0});
  events.host_ranges.push_back({7, 0, 100, 900'000, "of another graph", 2, 0});
  events.host_ranges.push_back({7, 0, 0, 900'000, "without a start", 1, 0});
  const std::filesystem::path trace = test::scratch_folder() / "ranges.reprise",
                              output = test::scratch_folder() / "ranges.dot";
  {
    trace::TraceFile file({.path = trace});
    file.write(std::make_shared<const trace::Chunk>(
        trace::make_chunk(trace::ChunkKind::Topology, topology, 0)));
    file.write(std::make_shared<const trace::Chunk>(
        trace::make_chunk(trace::ChunkKind::Events, events, 1)));
  }
  (void)trace::export_trace(ExportFormat::Dot, trace::TraceReader(trace), {.output = output});
  const std::string text = test::text_of_file(output);
  CHECK(contains(text, "\"trace ranges\\nstep 23: 1, median 23.000 us\\nstep 22"));
  CHECK(contains(text, "\\nstep 4: 1, median 4.000 us\\n... 3 more\""));
  CHECK_FALSE(contains(text, "another graph"));
  CHECK_FALSE(contains(text, "without a start"));
  CHECK_FALSE(contains(text, "pools"));
}

TEST_CASE("dot: a trace with several graphs requires a selection") {
  const std::string error = error_of<trace::ExportError>(
      [] { (void)test::export_hand_made(ExportFormat::Dot, "several.dot"); });
  CHECK(contains(error, "several graphs"));
  CHECK(contains(error, "3 (step), 8 (other)"));
}

TEST_CASE("csv: a name that a spreadsheet would execute as a formula becomes a text") {
  trace::GraphVersion graph;
  graph.graph = graph.version = 1;
  graph.label = "=HYPERLINK(1)";
  graph.strings = {"", "+1"};
  graph.labels = {{}};
  graph.nodes.resize(1);
  graph.nodes[0].name = 1;
  trace::SampleBlock block;
  block.graph = block.version = 1;
  block.samples = {{.node = 0, .started = 100, .duration = 5}};
  trace::Records topology, samples;
  topology.sessions.emplace_back();
  topology.graph_versions = {graph};
  samples.sample_blocks = {block};
  const std::filesystem::path trace = test::scratch_folder() / "formula.reprise",
                              output = test::scratch_folder() / "formula.csv";
  {
    trace::TraceFile file({.path = trace});
    file.write(std::make_shared<const trace::Chunk>(
        trace::make_chunk(trace::ChunkKind::Topology, topology, 0)));
    file.write(std::make_shared<const trace::Chunk>(
        trace::make_chunk(trace::ChunkKind::Samples, samples, 1)));
  }
  (void)trace::export_trace(ExportFormat::Csv, trace::TraceReader(trace), {.output = output});
  const std::vector<std::string> lines = lines_of(test::text_of_file(output));
  REQUIRE(lines.size() == 2);
  CHECK(lines[1].starts_with("1,'=HYPERLINK(1),1,0,0,0,'+1,"));
}

TEST_CASE("export: the output is no more public than the trace, and a link to it stays") {
  using std::filesystem::perms;
  const test::Exported e = test::export_hand_made(ExportFormat::Csv, "first.csv");
  const auto permissions_of = [](const std::filesystem::path& path) {
    return std::filesystem::status(path).permissions();
  };
  constexpr perms kOwner = perms::owner_read | perms::owner_write;
  REQUIRE(permissions_of(e.trace) == kOwner);
  const std::filesystem::path output = test::scratch_folder() / "private",
                              link = test::scratch_folder() / "private-link";
  std::filesystem::remove(link);
  std::filesystem::create_symlink("private", link);
  for (const ExportFormat format : kFormats) {
    std::ofstream(output) << "public before";
    std::filesystem::permissions(output, kOwner | perms::group_read | perms::others_read);
    (void)trace::export_trace(format, trace::TraceReader(e.trace),
                              {.output = link, .graph = "step"});
    CHECK(permissions_of(output) == kOwner);
    CHECK(std::filesystem::is_symlink(link));
  }
}

TEST_CASE("export: a small trace whose samples share a long name is not expanded without limit") {
  const std::filesystem::path path = test::scratch_folder() / "long-name.reprise";
  trace::Records topology, samples;
  trace::GraphVersion graph;
  graph.label = "g";
  graph.strings = {"", std::string(500'000, 'x')};
  graph.labels = {{}};
  graph.nodes.resize(1);
  graph.nodes[0].name = 1;
  topology.graph_versions = {graph};
  trace::SampleBlock block;
  for (std::uint32_t i = 0; i < 2'000; ++i) block.samples.push_back({0, i * 10 + 1, 5});
  samples.sample_blocks = {block};
  {
    trace::TraceFile file({.path = path});
    file.write(std::make_shared<const trace::Chunk>(
        trace::make_chunk(trace::ChunkKind::Topology, topology, 0)));
    file.write(std::make_shared<const trace::Chunk>(
        trace::make_chunk(trace::ChunkKind::Samples, samples, 1)));
  }
  REQUIRE(std::filesystem::file_size(path) < 20'000);
  const std::filesystem::path output = test::scratch_folder() / "long-name.csv";
  std::filesystem::remove(output);
  const std::string error = error_of<detail::FileError>([&] {  // 1 GB of rows
    (void)trace::export_trace(ExportFormat::Csv, trace::TraceReader(path), {.output = output});
  });
  CHECK(contains(error, "the limit of the export of a trace of"));
  CHECK_FALSE(std::filesystem::exists(output));
}
