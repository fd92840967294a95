#include <memory>

#include "cli/commands.hpp"
#include "cli/merge_report.hpp"
#include "cli/text.hpp"

namespace reprise::cli {

namespace {

struct MergeOptions {
  std::vector<std::string> files;
  std::string output;
};

int run(const MergeOptions& options) {
  const trace::MergeReport report = merge_with_progress(options.files, options.output);
  report_written(options.output, counted(report.replays, "replay") + ", " +
                                     counted(report.samples, "node sample") + "\n" +
                                     printable(alignment_text(report.sessions, report.alignments)));
  return kDone;
}

}  // namespace

Command add_merge(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "merge", "Merge the traces of the ranks of a distributed job, with aligned clocks");
  auto options = std::make_shared<MergeOptions>();
  app->add_option("FILES", options->files, "trace of each rank")->required();
  app->add_option("-o,--output", options->output,
                  "trace to write; an existing file is replaced atomically")
      ->required();
  app->footer(
      "Times of all ranks are converted to the clock of the lowest rank. Ranks on one host share a "
      "clock; those of other hosts are\n"
      "aligned by exchanges of clocks and by collectives, which no rank ends before every rank has "
      "started them. The error bound is\n"
      "printed and stored in the trace.\n"
      "Examples:\n  reprise merge -o all.reprise run.rank*.reprise\n"
      "  reprise merge -o all.reprise run.rank*.reprise && reprise stats all.reprise\n"
      "  reprise view run.rank*.reprise");
  return {app, [options] { return run(*options); }};
}

}  // namespace reprise::cli
