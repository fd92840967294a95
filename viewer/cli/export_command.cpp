#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>

#include "cli/commands.hpp"
#include "cli/progress_line.hpp"
#include "cli/text.hpp"
#include "trace/export/exporter.hpp"

namespace reprise::cli {

namespace {

struct ExportOptions {
  std::string file, format, output, graph;
  std::uint64_t arrows = trace::ExportDesc{}.flow_replays;
};

int run(const ExportOptions& options) {
  // The reader would go on reading what the export replaces.
  std::error_code ignored;
  if (std::filesystem::equivalent(options.file, options.output, ignored))
    throw UsageError("-o names the trace itself: " + options.output);
  const trace::TraceReader reader(options.file);
  trace::ExportDesc desc{
      .output = options.output, .graph = options.graph, .flow_replays = options.arrows};
  const trace::ExportReport report = [&] {
    ProgressLine line("writing " + options.output);
    desc.progress = [&](std::uint64_t done, std::uint64_t total) { line.update(done, total); };
    return trace::export_trace(*trace::format_from(options.format), reader, desc);
  }();
  std::printf("%s: %s, %s", printable(options.output).c_str(),
              counted(report.replays, "replay").c_str(),
              counted(report.samples, "node sample").c_str());
  if (report.left_out != 0)
    std::printf("; %s without a time left out", counted(report.left_out, "item").c_str());
  std::printf("\n");
  if (!reader.damage().empty())
    std::fprintf(stderr, "reprise: %s: only what was whole is exported: %s\n", options.file.c_str(),
                 reader.damage().c_str());
  return kDone;
}

}  // namespace

Command add_export(CLI::App& program) {
  CLI::App* app = program.add_subcommand("export", "Write a trace for other programs");
  auto options = std::make_shared<ExportOptions>();
  app->add_option("FILE", options->file, "a trace")->required();
  app->add_option("--format", options->format,
                  "perfetto: for ui.perfetto.dev; chrome: JSON for chrome://tracing; csv: a line a "
                  "sample; sqlite: a database; "
                  "dot: a graph with median times and its critical path, for Graphviz")
      ->required()
      ->check([](const std::string& name) {
        return trace::format_from(name)
                   ? ""
                   : "\"" + name + "\" is none of perfetto, chrome, csv, sqlite, dot";
      });
  app->add_option("-o,--output", options->output,
                  "the file to write; it is replaced only by a whole one")
      ->required();
  app->add_option("--graph", options->graph, "only this graph: its number or its label");
  app->add_option("--arrows", options->arrows, "perfetto and chrome: draw edges in so many replays")
      ->capture_default_str();
  app->footer(
      "Examples:\n  reprise export run.reprise --format perfetto -o run.perfetto-trace\n"
      "  reprise export run.reprise --format sqlite -o run.db && sqlite3 run.db 'SELECT name, "
      "count(*) FROM replays JOIN graphs USING (graph, "
      "version)'\n"
      "  reprise export run.reprise --format dot --graph step -o step.dot && dot -Tsvg step.dot -o "
      "step.svg");
  return {app, [options] { return run(*options); }};
}

}  // namespace reprise::cli
