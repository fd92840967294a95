#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/atomic_file.hpp"
#include "cli/commands.hpp"
#include "cli/progress_line.hpp"
#include "cli/text.hpp"
#include "trace/trace_reader.hpp"

namespace reprise::cli {

namespace {

struct StripOptions {
  std::string input, output;
  bool statistics = false;
};

int run(const StripOptions& options) {
  std::error_code ignored;
  if (std::filesystem::equivalent(options.input, options.output, ignored))
    throw std::runtime_error(options.output + " is both the input and the output");
  const trace::TraceReader reader(options.input);
  if (reader.trailing_bytes() != 0)
    throw std::runtime_error(options.input + " is incomplete: " + reader.damage());
  detail::AtomicFile file(options.output, {.sources = {reader.access()}});
  const auto write = [&](const auto& part) { file.write(std::as_bytes(std::span(part))); };
  write(trace::encode_preamble());
  ProgressLine line("reading " + options.input);
  std::uint64_t done = 0, removed = 0, sequence = 0;
  for (const trace::ChunkEntry& entry : reader.chunks()) {
    line.update(done++, reader.chunks().size());
    trace::Records records = reader.read(entry);
    for (const trace::ContentBlock& block : records.content_blocks) removed += block.bytes.size();
    if (entry.header.kind == trace::ChunkKind::Contents) continue;
    for (trace::InspectedRange& range : records.inspected_ranges) {
      if (range.state == trace::ContentState::Stored) range.state = trace::ContentState::Removed;
    }
    if (options.statistics) {
      records.inspections.clear();
      records.inspected_ranges.clear();
    }
    const trace::Chunk chunk = trace::make_chunk(entry.header.kind, records, sequence++);
    write(trace::encode_header(chunk.header));
    write(chunk.payload);
  }
  file.commit();
  report_written(options.output, "without " + bytes(removed) + " of contents");
  return kDone;
}

}  // namespace

Command add_strip(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "strip", "Copy a trace without the data of the program that inspections stored in it");
  auto options = std::make_shared<StripOptions>();
  app->add_option("TRACE", options->input, "trace to read")->required();
  app->add_option("-o,--output", options->output,
                  "trace to write; an existing file is replaced atomically")
      ->required();
  app->add_flag("--statistics", options->statistics,
                "remove the statistics of inspections too, such as minima and counts of NaNs");
  app->footer("Example:\n  reprise strip run.reprise -o shared.reprise");
  return {app, [options] { return run(*options); }};
}

}  // namespace reprise::cli
