#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>

#include "base/atomic_file.hpp"
#include "cli/commands.hpp"
#include "cli/json_text.hpp"
#include "cli/lifetime_table.hpp"
#include "cli/progress_line.hpp"
#include "cli/text.hpp"

namespace reprise::cli {

namespace {

struct PlanOptions {
  std::string file, output;
  std::optional<std::uint64_t> capacity;
  double budget = 10;
  bool json = false;
};

struct Planned {
  MemoryPlan plan;
  double seconds = 0;
};

LifetimeTable read(const PlanOptions& options) {
  if (options.file == "-") return read_lifetimes(std::cin, "standard input");
  if (std::filesystem::is_directory(options.file))
    throw std::runtime_error(options.file + ": it is a folder");
  std::ifstream in(options.file, std::ios::binary);
  if (!in) throw std::runtime_error(options.file + ": " + std::strerror(errno));
  return read_lifetimes(in, options.file);
}

Planned plan(const PlanOptions& options, const LifetimeTable& table) {
  ProgressLine line("planning " + counted(table.buffers.size(), "buffer"));
  const auto began = std::chrono::steady_clock::now();
  Planned planned;
  planned.plan = plan_memory(
      table.buffers,
      {.budget = std::chrono::nanoseconds(static_cast<std::int64_t>(options.budget * 1e9)),
       .capacity = options.capacity,
       .progress = [&](const MemoryPlanProgress& at) {
         line.update(static_cast<std::uint64_t>(at.budget_fraction * 1000), 1000);
       }});
  planned.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return planned;
}

void write(const std::string& path, const LifetimeTable& table, const MemoryPlan& plan) {
  std::ostringstream out;
  write_offsets(out, table, plan.offsets);
  detail::write_file_atomically(path, out.view());
}

void print(const PlanOptions& options, const LifetimeTable& table, const Planned& planned) {
  const MemoryPlan& plan = planned.plan;
  const double above =
      plan.lower_bound == 0
          ? 0
          : static_cast<double>(plan.peak_bytes) / static_cast<double>(plan.lower_bound) - 1;
  std::printf("%s in %s\n", counted(table.buffers.size(), "buffer").c_str(),
              duration(planned.seconds * 1e9).c_str());
  std::printf("height %s bytes%s\n", with_separators(plan.peak_bytes).c_str(),
              plan.peak_bytes == plan.lower_bound ? ", the bound"
              : plan.is_optimal                   ? ", the least there is"
                                                  : "");
  std::printf("bound  %s bytes live at once", with_separators(plan.lower_bound).c_str());
  if (plan.peak_bytes != plan.lower_bound)
    std::printf("; the height is %s above", percent(above).c_str());
  std::printf("\n");
  if (options.capacity) {
    std::printf("capacity %s bytes: %s\n", with_separators(*options.capacity).c_str(),
                plan.peak_bytes <= *options.capacity ? "it fits" : "it does not fit");
  }
  if (table.buffers.empty()) return;
  Table rows(1, {"id", "lower", "upper", "size", "offset"});
  for (std::size_t i = 0; i < table.buffers.size(); ++i) {
    const BufferLifetime& buffer = table.buffers[i];
    rows.add({printable(table.ids[i]), std::to_string(buffer.lower), std::to_string(buffer.upper),
              std::to_string(buffer.size), std::to_string(plan.offsets[i])});
  }
  std::printf("\n%s", rows.text().c_str());
}

void print_json(const PlanOptions& options, const LifetimeTable& table, const Planned& planned) {
  nlohmann::ordered_json json = {{"buffers", table.buffers.size()},
                                 {"height", planned.plan.peak_bytes},
                                 {"bound", planned.plan.lower_bound},
                                 {"least", planned.plan.is_optimal},
                                 {"seconds", planned.seconds}};
  if (options.capacity) {
    json["capacity"] = *options.capacity;
    json["fits"] = planned.plan.peak_bytes <= *options.capacity;
  }
  json["offsets"] = planned.plan.offsets;
  std::fputs(json_text(json).c_str(), stdout);
}

int run(const PlanOptions& options) {
  const LifetimeTable table = read(options);
  const Planned planned = plan(options, table);
  if (!options.output.empty()) write(options.output, table, planned.plan);
  if (options.json) {
    print_json(options, table, planned);
  } else {
    print(options, table, planned);
  }
  return options.capacity && planned.plan.peak_bytes > *options.capacity ? kDoesNotFit : kDone;
}

}  // namespace

Command add_plan(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "plan", "Place buffers with known lifetimes in as little memory as they need");
  auto options = std::make_shared<PlanOptions>();
  app->add_option("FILE", options->file,
                  "CSV with columns id, lower, upper, size, and alignment if there is one, in any "
                  "order; - reads standard input")
      ->required();
  app->add_option("--capacity", options->capacity,
                  "bytes that there are: exit code 3 if the plan needs more")
      ->check(CLI::Validator(
          [](const std::string& text) {
            return text.starts_with('-') ? "Value " + text + " is below 0" : std::string();
          },
          ""));
  app->add_option("--budget", options->budget,
                  "seconds for a search, if quick ways do not reach the bound; 0: those alone")
      ->check(CLI::Range(0.0, 86400.0))
      ->capture_default_str();
  app->add_flag("--json", options->json,
                "write JSON: height, bound, seconds, offsets in the order of the rows");
  app->add_option("-o,--output", options->output,
                  "also write the rows with a last column offset to this file; it is replaced only "
                  "by a whole one");
  app->footer(
      "A buffer lives from lower until just before upper. The bound is the most bytes that live at "
      "once: no plan is lower.\n"
      "Exit codes: as every command's, and 3 where the plan does not fit --capacity.\n"
      "Examples:\n  reprise plan buffers.csv --capacity 1048576\n  reprise plan buffers.csv "
      "--budget 60 --json | jq .height\n"
      "  reprise plan - -o placed.csv < buffers.csv");
  return {app, [options] { return run(*options); }};
}

}  // namespace reprise::cli
