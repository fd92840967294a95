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
#include "cli/number.hpp"
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

struct PlanResult {
  MemoryPlan plan;
  double seconds = 0;
};

LifetimeTable read(const PlanOptions& options) {
  if (options.file == "-") return read_lifetimes(std::cin, "standard input");
  if (std::filesystem::is_directory(options.file))
    throw std::runtime_error(options.file + ": is a directory");
  std::ifstream in(options.file, std::ios::binary);
  if (!in) throw std::runtime_error(options.file + ": " + std::strerror(errno));
  return read_lifetimes(in, options.file);
}

PlanResult plan(const PlanOptions& options, const LifetimeTable& table) {
  ProgressLine line("planning " + counted(table.buffers.size(), "buffer"));
  const auto start = std::chrono::steady_clock::now();
  PlanResult result;
  result.plan = plan_memory(
      table.buffers,
      {.budget = std::chrono::nanoseconds(static_cast<std::int64_t>(options.budget * 1e9)),
       .capacity = options.capacity,
       .progress = [&](const MemoryPlanProgress& at) {
         line.update(static_cast<std::uint64_t>(at.budget_fraction * 1000), 1000);
       }});
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

// Replaces the file atomically: writes a temporary file and renames it.
void write(const std::string& path, const LifetimeTable& table, const MemoryPlan& plan) {
  std::ostringstream out;
  write_offsets(out, table, plan.offsets);
  detail::write_file_atomically(path, out.view());
}

void print(const PlanOptions& options, const LifetimeTable& table, const PlanResult& result) {
  const MemoryPlan& plan = result.plan;
  const double gap =
      plan.lower_bound == 0
          ? 0
          : static_cast<double>(plan.peak_bytes) / static_cast<double>(plan.lower_bound) - 1;
  write_out("%s in %s\n", counted(table.buffers.size(), "buffer").c_str(),
            duration(result.seconds * 1e9).c_str());
  write_out("peak        %s bytes%s\n", with_separators(plan.peak_bytes).c_str(),
            plan.is_optimal ? ", optimal" : "");
  write_out("lower bound %s bytes", with_separators(plan.lower_bound).c_str());
  if (plan.peak_bytes != plan.lower_bound)
    write_out("; the peak is %s above it", percent(gap).c_str());
  write_out("\n");
  if (options.capacity) {
    write_out("capacity    %s bytes: %s\n", with_separators(*options.capacity).c_str(),
              plan.peak_bytes <= *options.capacity ? "the plan fits" : "the plan does not fit");
  }
  if (table.buffers.empty()) return;
  Table rows(1, {"id", "lower", "upper", "size", "offset"});
  for (std::size_t i = 0; i < table.buffers.size(); ++i) {
    const BufferLifetime& buffer = table.buffers[i];
    rows.add({table.ids[i], std::to_string(buffer.lower), std::to_string(buffer.upper),
              std::to_string(buffer.size), std::to_string(plan.offsets[i])});
  }
  write_out("\n%s", rows.text().c_str());
}

void print_json(const PlanOptions& options, const LifetimeTable& table, const PlanResult& result) {
  nlohmann::ordered_json json = {{"buffers", table.buffers.size()},
                                 {"peak_bytes", result.plan.peak_bytes},
                                 {"lower_bound", result.plan.lower_bound},
                                 {"optimal", result.plan.is_optimal},
                                 {"seconds", result.seconds}};
  if (options.capacity) {
    json["capacity"] = *options.capacity;
    json["fits"] = result.plan.peak_bytes <= *options.capacity;
  }
  json["offsets"] = result.plan.offsets;
  write_out("%s", json_text(json).c_str());
}

int run(const PlanOptions& options) {
  const LifetimeTable table = read(options);
  const PlanResult result = plan(options, table);
  if (!options.output.empty()) write(options.output, table, result.plan);
  if (options.json) {
    print_json(options, table, result);
  } else {
    print(options, table, result);
  }
  return options.capacity && result.plan.peak_bytes > *options.capacity ? kDoesNotFit : kDone;
}

}  // namespace

Command add_plan(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "plan", "Place buffers with known lifetimes in as little memory as possible");
  auto options = std::make_shared<PlanOptions>();
  app->add_option(
         "FILE", options->file,
         "CSV file with the columns id, lower, upper, size and optionally alignment, in any "
         "order; - reads standard input")
      ->required();
  app->add_option("--capacity", options->capacity,
                  "available bytes; exit code 3 if the plan needs more")
      ->check(number<std::uint64_t>());
  app->add_option(
         "--budget", options->budget,
         "seconds for a search if the fast methods do not reach the lower bound; 0: no search")
      ->check(number(0.0, 86400.0))
      ->capture_default_str();
  app->add_flag("--json", options->json,
                "write JSON: peak_bytes, lower_bound, optimal, seconds, and offsets in row order");
  app->add_option("-o,--output", options->output,
                  "also write the rows with an additional last column offset to this file; an "
                  "existing file is replaced atomically");
  app->footer(
      "A buffer is alive from lower until just before upper. The lower bound is the maximum number "
      "of bytes alive at one time.\n"
      "Exit codes: as for every command, and 3 if the plan does not fit in --capacity.\n"
      "Examples:\n  reprise plan buffers.csv --capacity 1048576\n  reprise plan buffers.csv "
      "--budget 60 --json | jq .peak_bytes\n"
      "  reprise plan - -o placed.csv < buffers.csv");
  return {app, [options] { return run(*options); }};
}

}  // namespace reprise::cli
