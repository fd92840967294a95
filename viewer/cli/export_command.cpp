#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>

#include "cli/commands.hpp"
#include "cli/number.hpp"
#include "cli/progress_line.hpp"
#include "cli/text.hpp"
#include "export/exporter.hpp"

namespace reprise::cli {

namespace {

struct ExportOptions {
  std::string file, format, output, graph;
  std::uint64_t arrows = trace::ExportDesc{}.flow_replays;
};

int run(const ExportOptions& options) {
  // Replacing the input would change the file under its reader.
  std::error_code ignored;
  if (std::filesystem::equivalent(options.file, options.output, ignored))
    throw UsageError("-o is the trace itself: " + options.output);
  const trace::TraceReader reader(options.file);
  trace::ExportDesc desc{
      .output = options.output, .graph = options.graph, .flow_replays = options.arrows};
  const trace::ExportReport report = [&] {
    ProgressLine line("writing " + options.output);
    desc.progress = [&](std::uint64_t done, std::uint64_t total) { line.update(done, total); };
    return trace::export_trace(*trace::format_from(options.format), reader, desc);
  }();
  std::string written =
      counted(report.replays, "replay") + ", " + counted(report.samples, "node sample");
  if (report.left_out != 0) written += "; " + counted(report.left_out, "untimed item") + " omitted";
  report_written(options.output, written);
  if (!reader.damage().empty())
    print_message({options.file, ": the file is damaged or incomplete; exported the intact part: ",
                   reader.damage()});
  return kDone;
}

}  // namespace

Command add_export(CLI::App& program) {
  CLI::App* app = program.add_subcommand("export", "Convert a trace for other tools");
  auto options = std::make_shared<ExportOptions>();
  app->add_option("FILE", options->file, "trace file")->required();
  app->add_option(
         "--format", options->format,
         "perfetto: for ui.perfetto.dev; csv: one line per replay, sample, range and pool state; "
         "sqlite: a "
         "database; dot: a graph with median times, its critical path, ranges and pools, for "
         "Graphviz")
      ->required()
      ->check([](const std::string& name) {
        return trace::format_from(name)
                   ? ""
                   : "\"" + name + "\" is not one of perfetto, csv, sqlite, dot";
      });
  app->add_option("-o,--output", options->output,
                  "file to write; an existing file is replaced atomically")
      ->required();
  app->add_option("--graph", options->graph, "export only this graph, given by number or label");
  app->add_option("--arrows", options->arrows, "perfetto: number of replays with drawn edges")
      ->check(number<std::uint64_t>())
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
