#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include "base/atomic_file.hpp"
#include "base/content_statistics.hpp"
#include "cli/commands.hpp"
#include "cli/inspections.hpp"
#include "cli/json_text.hpp"
#include "cli/number.hpp"
#include "cli/progress_line.hpp"
#include "cli/text.hpp"

namespace reprise::cli {

namespace {

struct InspectOptions {
  std::string file, graph, compare, buffer, type, save;
  std::uint32_t inspection = 0;  // from 1; 0: the last
  bool first_nan = false, first_inf = false, history = false, json = false;
  Tolerance tolerance;
};

std::string statistic_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

// Inspection `number` of the graph; 0: the last. Empty `graph`: of any.
TracedInspection select(const std::string& file, const std::string& graph, std::uint32_t number) {
  const trace::TraceReader reader(file);
  ProgressLine line("reading " + file);
  auto all = read_inspections(
      reader, [&](std::uint64_t done, std::uint64_t chunks) { line.update(done, chunks); });
  if (all.empty()) {
    throw std::runtime_error(file + " contains no inspection; CapturedGraph::inspect() adds one");
  }
  if (!graph.empty()) {
    std::string names;
    for (const auto& one : all) {
      if (names.find(one.values.graph) == std::string::npos)
        names += (names.empty() ? "" : ", ") + one.values.graph;
    }
    std::erase_if(all, [&](const auto& one) { return one.values.graph != graph; });
    if (all.empty())
      throw std::runtime_error(file + " has no inspection of graph " + graph + ", only of " +
                               names);
  }
  if (number > all.size())
    throw std::runtime_error(file + " has " + counted(all.size(), "inspection") +
                             ", so there is no inspection " + std::to_string(number));
  return std::move(all[number == 0 ? all.size() - 1 : number - 1]);
}

const InspectedCommand* command_of(const Inspection& in, const InspectedRange& range) {
  for (const InspectedCommand& command : in.commands)
    if (command.index == range.command) return &command;
  return nullptr;
}

std::string name_of(const InspectedCommand* command) {
  if (command == nullptr) return "before the first command";
  return command->label.empty() ? command->name : command->label + " / " + command->name;
}

std::string place_of(const InspectedCommand* command) {
  if (command == nullptr || command->where.line == 0) return {};
  return std::string(command->where.file) + ":" + std::to_string(command->where.line);
}

// "y[1234]" or "y".
struct Element {
  std::string buffer;
  std::optional<std::uint64_t> index;
};
Element parse_element(const std::string& text) {
  const std::size_t open = text.rfind('[');
  if (open == std::string::npos || text.back() != ']') return {text, {}};
  const std::string number = text.substr(open + 1, text.size() - open - 2);
  if (number.empty() || number.size() > 18 ||
      number.find_first_not_of("0123456789") != std::string::npos)
    throw UsageError("--buffer: \"" + number + "\" in \"" + text + "\" is not an index");
  return {text.substr(0, open), std::stoull(number)};
}

std::optional<ContentType> type_named(const std::string& name) {
  for (int i = 0; i <= static_cast<int>(ContentType::F64); ++i)
    if (to_string(static_cast<ContentType>(i)) == name) return static_cast<ContentType>(i);
  return std::nullopt;
}

// The ranges of a buffer, in order of execution.
std::vector<const InspectedRange*> ranges_of(const Inspection& in, const std::string& buffer) {
  std::vector<const InspectedRange*> found;
  std::string names;
  for (const InspectedRange& range : in.ranges) {
    if (range.buffer == buffer) found.push_back(&range);
    if (("," + names + ",").find("," + range.buffer + ",") == std::string::npos)
      names += (names.empty() ? "" : ",") + range.buffer;
  }
  if (found.empty())
    throw std::runtime_error("the inspection has no values of buffer " + buffer +
                             "; its buffers: " + names);
  return found;
}

std::vector<std::byte> packed(const InspectedRange& range) {
  return detail::packed(range.contents, {range.extent.width, range.extent.height,
                                         range.extent.depth, range.pitch.row, range.pitch.slice});
}

// Whether `size` bytes from byte `at` of the range on are in one row.
bool is_in_row(const InspectedRange& range, std::uint64_t at, std::uint64_t size) {
  const Extent& extent = range.extent;
  if (extent.depth > 1) {
    if (at / range.pitch.slice >= extent.depth) return false;
    at %= range.pitch.slice;
  }
  if (extent.height > 1) {
    if (at / range.pitch.row >= extent.height) return false;
    at %= range.pitch.row;
  }
  return at < extent.width && size <= extent.width - at;
}

// The value of an element, counted from the start of the buffer; empty: not in the range.
std::string value_in(const InspectedRange& range, std::uint64_t index, ContentType type) {
  const std::uint64_t size = bytes_of(type);
  if (index >= range.end / size || index * size < range.begin) return {};
  const std::uint64_t at = index * size - range.begin;
  if (!is_in_row(range, at, size)) return {};
  if (range.contents.empty()) return "(" + std::string(to_string(range.state)) + ")";
  return detail::value_text(range.contents.data() + at, type);
}

// The value with this index in the order of rows; empty: not stored, or there is none.
std::string nth_value(const InspectedRange& range, std::uint64_t index) {
  const std::vector<std::byte> values = packed(range);
  const std::uint64_t size = bytes_of(range.type);
  return index < values.size() / size ? detail::value_text(values.data() + index * size, range.type)
                                      : std::string();
}

nlohmann::ordered_json index_of(const InspectedCommand* command) {
  if (command == nullptr) return nullptr;
  return command->index;
}

nlohmann::ordered_json json_of(const Inspection& in, const InspectedRange& range) {
  const InspectedCommand* const command = command_of(in, range);
  const ContentStatistics& of = range.statistics;
  return {{"command", index_of(command)},
          {"name", name_of(command)},
          {"where", place_of(command)},
          {"buffer", range.buffer},
          {"begin", range.begin},
          {"end", range.end},
          {"type", to_string(range.type)},
          {"count", of.count},
          {"min", of.min},
          {"max", of.max},
          {"mean", of.mean},
          {"norm", of.norm},
          {"zeros", of.zeros},
          {"denormals", of.denormals},
          {"infinities", of.infinities},
          {"nans", of.nans},
          {"first_nan", of.first_nan},
          {"first_infinity", of.first_infinity},
          {"hash", hex(of.hash)},
          {"contents", to_string(range.state)}};
}

void print_table(const Inspection& in) {
  write_out("graph %s after %s, %s, passes: %u\n", printable(in.graph).c_str(),
            counted(in.replays, "replay").c_str(), counted(in.ranges.size(), "range").c_str(),
            in.passes);
  Table table(4, {"command", "name", "buffer", "type", "first", "values", "min", "max", "mean",
                  "norm", "zeros", "NaN", "inf", "contents"});
  for (const InspectedRange& range : in.ranges) {
    const InspectedCommand* const command = command_of(in, range);
    const ContentStatistics& of = range.statistics;
    const bool is_finite = of.min <= of.max;
    table.add({command == nullptr ? "" : std::to_string(command->index), name_of(command),
               range.buffer, std::string(to_string(range.type)),
               with_separators(range.begin / bytes_of(range.type)), with_separators(of.count),
               is_finite ? statistic_text(of.min) : "", is_finite ? statistic_text(of.max) : "",
               is_finite ? statistic_text(of.mean) : "", is_finite ? statistic_text(of.norm) : "",
               with_separators(of.zeros), with_separators(of.nans), with_separators(of.infinities),
               std::string(to_string(range.state))});
  }
  write_out("%s", table.text().c_str());
  if (!in.note.empty()) write_out("%s\n", printable(in.note).c_str());
}

// The first range with a NaN or an infinity, with the values that its command read there.
void print_first(const InspectOptions& options, const Inspection& in) {
  const InspectedRange* const range = options.first_nan ? in.first_nan() : in.first_infinity();
  if (range == nullptr) {
    if (options.json) return write_out("null\n");
    return write_out("no %s in %s\n", options.first_nan ? "NaN" : "infinity",
                     counted(in.ranges.size(), "range").c_str());
  }
  if (options.json) return write_out("%s", json_text(json_of(in, *range)).c_str());
  const std::uint64_t index =
      options.first_nan ? range->statistics.first_nan : range->statistics.first_infinity;
  const InspectedCommand* const command = command_of(in, *range);
  write_out(
      "%s %s\n  %s[%s]: %s of %s values are %s, first value %s of the range\n",
      printable(name_of(command)).c_str(), printable(place_of(command)).c_str(),
      printable(range->buffer).c_str(),
      with_separators(range->begin / bytes_of(range->type)).c_str(),
      with_separators(options.first_nan ? range->statistics.nans : range->statistics.infinities)
          .c_str(),
      with_separators(range->statistics.count).c_str(), options.first_nan ? "NaN" : "infinite",
      with_separators(index).c_str());
  if (command == nullptr) return;
  for (const std::uint32_t i : command->inputs) {
    const InspectedRange& input = in.ranges[i];
    const std::string value = input.contents.empty() ? "" : nth_value(input, index);
    write_out("  input %s: %s NaN, %s infinite; value %s: %s\n", printable(input.buffer).c_str(),
              with_separators(input.statistics.nans).c_str(),
              with_separators(input.statistics.infinities).c_str(), with_separators(index).c_str(),
              value.empty() ? "none" : value.c_str());
  }
}

void print_history(const InspectOptions& options, const Inspection& in) {
  const Element element = parse_element(options.buffer);
  if (!element.index)
    throw UsageError("--history needs one element: --buffer '" + element.buffer + "[INDEX]'");
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  Table table(4, {"command", "name", "source", "value"});
  std::uint64_t end = 0;
  for (const InspectedRange* range : ranges_of(in, element.buffer)) {
    const ContentType type = options.type.empty() ? range->type : *type_named(options.type);
    end = std::max(end, range->end / bytes_of(type));
    const std::string value = value_in(*range, *element.index, type);
    if (value.empty()) continue;
    const InspectedCommand* const command = command_of(in, *range);
    table.add({command == nullptr ? "" : std::to_string(command->index), name_of(command),
               place_of(command), value});
    rows.push_back({{"command", index_of(command)},
                    {"name", name_of(command)},
                    {"where", place_of(command)},
                    {"value", value}});
  }
  if (table.empty())
    throw std::runtime_error("no range of " + element.buffer + " contains element " +
                             std::to_string(*element.index) + "; the last one ends at " +
                             std::to_string(end));
  write_out("%s", options.json ? json_text(rows).c_str() : table.text().c_str());
}

void print_difference(const InspectOptions& options, const Inspection& in) {
  const TracedInspection other = select(options.compare, options.graph, 0);
  const auto found = compare(in, other.values, options.tolerance);
  if (options.json) {
    if (!found) return write_out("null\n");
    const InspectedRange& range = in.ranges[found->range_a];
    return write_out("%s", json_text({{"range", json_of(in, range)},
                                      {"index", found->index},
                                      {"count", found->count},
                                      {"a", found->value_a},
                                      {"b", found->value_b},
                                      {"has_values", found->has_values}})
                               .c_str());
  }
  write_out("%s\n", found ? found->text.c_str() : "no difference");
}

// NumPy's name of the type: "<f4".
std::string numpy_type(ContentType type) {
  switch (type) {
    case ContentType::Bytes:
    case ContentType::U8: return "|u1";
    case ContentType::I8: return "|i1";
    case ContentType::I16: return "<i2";
    case ContentType::U16:
    case ContentType::BF16: return "<u2";  // NumPy has no bfloat16
    case ContentType::I32: return "<i4";
    case ContentType::U32: return "<u4";
    case ContentType::I64: return "<i8";
    case ContentType::U64: return "<u8";
    case ContentType::F16: return "<f2";
    case ContentType::F32: return "<f4";
    case ContentType::F64: return "<f8";
  }
  return "|u1";
}

// Writes the last values of a buffer.
void save(const InspectOptions& options, const Inspection& in) {
  const std::string buffer = parse_element(options.buffer).buffer;
  const InspectedRange& range = *ranges_of(in, buffer).back();
  if (range.contents.empty())
    throw std::runtime_error("the contents of " + buffer +
                             " are not in the trace: " + std::string(to_string(range.state)));
  const ContentType type = options.type.empty() ? range.type : *type_named(options.type);
  const std::vector<std::byte> values = packed(range);
  const std::uint64_t size = bytes_of(type), count = values.size() / size;
  // As private as the trace.
  detail::AtomicFile file(options.save, {.sources = {trace::TraceReader(options.file).access()}});
  if (options.save.ends_with(".npy")) {
    // The format's version 1.0: the header ends at a multiple of 64 bytes.
    std::string header = "{'descr': '" + numpy_type(type) +
                         "', 'fortran_order': False, 'shape': (" + std::to_string(count) + ",), }";
    header.append(63 - (10 + header.size()) % 64, ' ');
    header += '\n';
    const char start[] = {'\x93',
                          'N',
                          'U',
                          'M',
                          'P',
                          'Y',
                          1,
                          0,
                          static_cast<char>(header.size() & 0xff),
                          static_cast<char>(header.size() >> 8)};
    file.write(std::string_view(start, sizeof start));
    file.write(std::string_view(header));
    file.write(std::span(values).first(count * size));
  } else {
    std::string text;
    for (std::uint64_t i = 0; i < count; ++i) {
      text += detail::value_text(values.data() + i * size, type) + '\n';
      if (text.size() < 1u << 20 && i + 1 < count) continue;
      file.write(std::string_view(text));
      text.clear();
    }
  }
  file.commit();
  report_written(options.save,
                 counted(count, "value") + " of " + buffer + ", " + std::string(to_string(type)));
}

int run(const InspectOptions& options) {
  if (!options.type.empty() && !type_named(options.type))
    throw UsageError("--type: \"" + options.type +
                     "\" is none of bytes, i8, u8, ..., f16, bf16, f32, f64");
  if (options.buffer.empty() && (options.history || !options.save.empty()))
    throw UsageError("--history and --save need --buffer");
  if (!options.save.empty() && !options.save.ends_with(".npy") && !options.save.ends_with(".csv"))
    throw UsageError("--save: the name of the file ends with .npy or .csv");
  const TracedInspection selected = select(options.file, options.graph, options.inspection);
  const Inspection& in = selected.values;
  if (options.first_nan || options.first_inf) {
    print_first(options, in);
  } else if (options.history) {
    print_history(options, in);
  } else if (!options.compare.empty()) {
    print_difference(options, in);
  } else if (!options.save.empty()) {
    save(options, in);
  } else if (options.json) {
    nlohmann::ordered_json ranges = nlohmann::ordered_json::array();
    for (const InspectedRange& range : in.ranges) ranges.push_back(json_of(in, range));
    write_out("%s", json_text({{"graph", in.graph},
                               {"replays", in.replays},
                               {"passes", in.passes},
                               {"note", in.note},
                               {"ranges", std::move(ranges)}})
                        .c_str());
  } else {
    print_table(in);
  }
  return kDone;
}

}  // namespace

Command add_inspect(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "inspect",
      "Show the values that each command of an inspected replay wrote, and find a wrong one");
  auto options = std::make_shared<InspectOptions>();
  app->add_option("TRACE", options->file, "trace with an inspection")->required();
  app->add_option("--graph", options->graph, "name of the graph");
  app->add_option("--inspection", options->inspection,
                  "number of the inspection, from 1 (default: the last)")
      ->check(number<std::uint32_t>(1));
  CLI::Option* const nan = app->add_flag("--first-nan", options->first_nan,
                                         "the first command that wrote a NaN, and its inputs");
  CLI::Option* const inf =
      app->add_flag("--first-inf", options->first_inf,
                    "the first command that wrote an infinity, and its inputs");
  app->add_option("--buffer", options->buffer, "a buffer, y, or one element of it, 'y[1234]'");
  CLI::Option* const history = app->add_flag(
      "--history", options->history, "every write of the element of --buffer, with its value");
  CLI::Option* const compared = app->add_option(
      "--compare", options->compare,
      "the first command whose values differ in the last inspection of another trace");
  app->add_option("--ulps", options->tolerance.ulps,
                  "tolerance: representable values between two floats")
      ->check(number<std::uint64_t>());
  app->add_option("--absolute", options->tolerance.absolute, "tolerance: difference")
      ->check(number<double>(0));
  app->add_option("--relative", options->tolerance.relative,
                  "tolerance: difference to the larger magnitude")
      ->check(number<double>(0));
  app->add_option("--type", options->type,
                  "read values as f32, i16, ... instead of the stored type");
  CLI::Option* const saved = app->add_option(
      "--save", options->save, "write the last values of --buffer to FILE.npy or FILE.csv");
  nan->excludes(inf, history, compared, saved);
  inf->excludes(history, compared, saved);
  history->excludes(compared, saved);
  compared->excludes(saved);
  app->add_flag("--json", options->json, "print JSON");
  app->footer(
      "Without an option: one line for each range of values, in order of execution.\n"
      "Examples:\n  reprise inspect run.reprise --first-nan\n"
      "  reprise inspect run.reprise --buffer 'loss[0]' --history\n"
      "  reprise inspect run.reprise --compare other.reprise --ulps 4");
  return {app, [options] { return run(*options); }};
}

}  // namespace reprise::cli
