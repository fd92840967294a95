// Inspections as values: their text, and what they are searched for.
#include <algorithm>
#include <cstdio>
#include <utility>

#include <reprise/inspection.hpp>

#include "base/content_difference.hpp"
#include "base/content_statistics.hpp"
#include "base/failure.hpp"
#include "base/text.hpp"

namespace reprise::inline REPRISE_ABI {

namespace {

using detail::concat;

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

std::vector<std::byte> packed(const InspectedRange& range) {
  return detail::packed(range.contents, {range.extent.width, range.extent.height,
                                         range.extent.depth, range.pitch.row, range.pitch.slice});
}

const InspectedCommand* command_of(const Inspection& inspection, const InspectedRange& range) {
  for (const InspectedCommand& command : inspection.commands)
    if (command.index == range.command) return &command;
  return nullptr;
}

std::string describe(const Inspection& inspection, const InspectedRange& range) {
  const InspectedCommand* const command = command_of(inspection, range);
  if (command == nullptr) return concat("before the first command, ", range.buffer);
  const std::string label = command->label.empty() ? std::string() : concat(" in ", command->label);
  return concat("command ", command->index, ", ", command->name, label, " (", command->where.file,
                ':', command->where.line, "), ", range.buffer);
}

std::string kind_of(const InspectedRange& range) {
  return concat(range.extent.width * range.extent.height * range.extent.depth, " bytes of ",
                to_string(range.type),
                range.command == InspectedRange::kBefore ? " that a command reads"
                                                         : " that a command writes");
}

// What the command of a range read at `index`, in both inspections.
std::string inputs_at(const Inspection& a, const Inspection& b, const InspectedRange& range_a,
                      const InspectedRange& range_b, std::uint64_t index) {
  const InspectedCommand* const reader_a = command_of(a, range_a);
  const InspectedCommand* const reader_b = command_of(b, range_b);
  if (reader_a == nullptr || reader_b == nullptr) return {};
  std::string text;
  const std::size_t inputs = std::min(reader_a->inputs.size(), reader_b->inputs.size());
  for (std::size_t i = 0; i < inputs; ++i) {
    const InspectedRange& input_a = a.ranges[reader_a->inputs[i]];
    const InspectedRange& input_b = b.ranges[reader_b->inputs[i]];
    if (input_a.contents.empty() || input_b.contents.empty() || input_a.type != input_b.type)
      continue;
    const std::uint64_t at = index * bytes_of(input_a.type);
    const std::vector<std::byte> bytes_a = packed(input_a), bytes_b = packed(input_b);
    if (at >= std::min(bytes_a.size(), bytes_b.size())) continue;
    text += concat("\n  input ", input_a.buffer, '[', index,
                   "]: ", detail::value_text(bytes_a.data() + at, input_a.type), " and ",
                   detail::value_text(bytes_b.data() + at, input_b.type));
  }
  return text;
}

template <class Has>
const InspectedRange* first_with(const Inspection& inspection, const Has& has) noexcept {
  const auto found = std::find_if(inspection.ranges.begin(), inspection.ranges.end(), has);
  return found == inspection.ranges.end() ? nullptr : &*found;
}

}  // namespace

std::string_view to_string(InspectDesc::Contents contents) noexcept {
  switch (contents) {
    case InspectDesc::Contents::Stored: return "stored";
    case InspectDesc::Contents::StatisticsOnly: return "statistics only";
  }
  return "unknown";
}

std::string_view to_string(InspectDesc::Effect effect) noexcept {
  switch (effect) {
    case InspectDesc::Effect::Kept: return "kept";
    case InspectDesc::Effect::Restored: return "restored";
  }
  return "unknown";
}

std::string_view to_string(InspectedRange::State state) noexcept {
  switch (state) {
    case InspectedRange::State::Stored: return "stored";
    case InspectedRange::State::NotWanted: return "not wanted";
    case InspectedRange::State::OverLimit: return "over the limit";
    case InspectedRange::State::NotRepeatable: return "not repeatable";
    case InspectedRange::State::Removed: return "removed";
  }
  return "unknown";
}

const InspectedRange* Inspection::first_nan() const noexcept {
  return first_with(*this, [](const InspectedRange& range) { return range.statistics.nans != 0; });
}
const InspectedRange* Inspection::first_infinity() const noexcept {
  return first_with(*this,
                    [](const InspectedRange& range) { return range.statistics.infinities != 0; });
}

std::string to_text(const Inspection& inspection) {
  std::string text = concat("graph ", inspection.graph, " after ", inspection.replays,
                            " replays: ", inspection.commands.size(), " commands, ",
                            inspection.ranges.size(), " ranges, passes: ", inspection.passes, '\n');
  for (const InspectedRange& range : inspection.ranges) {
    const ContentStatistics& of = range.statistics;
    text += concat(describe(inspection, range), '[', range.begin, ", ", range.end, "): ", of.count,
                   " x ", to_string(range.type));
    if (of.min <= of.max)
      text += concat(", ", number(of.min), " to ", number(of.max), ", mean ", number(of.mean));
    if (of.nans != 0) text += concat(", ", of.nans, " NaN from [", of.first_nan, "] on");
    if (of.infinities != 0)
      text += concat(", ", of.infinities, " infinite from [", of.first_infinity, "] on");
    if (range.state != InspectedRange::State::Stored)
      text += concat(", contents ", to_string(range.state));
    text += '\n';
  }
  if (!inspection.note.empty()) text += concat(inspection.note, '\n');
  return text;
}

std::optional<InspectionDifference> compare(const Inspection& a, const Inspection& b,
                                            const Tolerance& tolerance) {
  for (std::size_t i = 0; i < std::max(a.ranges.size(), b.ranges.size()); ++i) {
    const auto refuse = [&](const std::string& text) {
      detail::fail(ErrorCode::InvalidArgument, Stage::Validate, a.graph,
                   concat("compare: the commands of ", a.graph, " and ", b.graph,
                          " do not correspond: ", text));
    };
    if (i >= a.ranges.size() || i >= b.ranges.size()) {
      const bool has_a = i < a.ranges.size();
      refuse(concat(has_a ? a.graph : b.graph, " has ", has_a ? a.ranges.size() : b.ranges.size(),
                    " ranges and the other one ", i, "; the first without a counterpart: ",
                    has_a ? describe(a, a.ranges[i]) : describe(b, b.ranges[i])));
    }
    const InspectedRange& of_a = a.ranges[i];
    const InspectedRange& of_b = b.ranges[i];
    if (kind_of(of_a) != kind_of(of_b))
      refuse(concat(describe(a, of_a), " has ", kind_of(of_a), ", ", describe(b, of_b), " has ",
                    kind_of(of_b)));
    InspectionDifference found{.range_a = static_cast<std::uint32_t>(i),
                               .range_b = static_cast<std::uint32_t>(i)};
    if (of_a.contents.empty() || of_b.contents.empty()) {
      if (of_a.statistics.hash == of_b.statistics.hash) continue;
      found.has_values = false;
      found.text = concat(describe(a, of_a),
                          ": the hashes of the values differ; contents were not "
                          "stored");
      return found;
    }
    const std::vector<std::byte> bytes_a = packed(of_a), bytes_b = packed(of_b);
    const auto difference = detail::first_difference(bytes_a, bytes_b, of_a.type, tolerance);
    if (!difference) continue;
    const std::uint64_t at = difference->index * bytes_of(of_a.type);
    found.index = difference->index;
    found.count = difference->count;
    found.value_a = detail::value_at(bytes_a.data() + at, of_a.type);
    found.value_b = detail::value_at(bytes_b.data() + at, of_a.type);
    found.text =
        concat(describe(a, of_a), '[', found.index,
               "]: ", detail::value_text(bytes_a.data() + at, of_a.type), " and ",
               detail::value_text(bytes_b.data() + at, of_a.type), "; ", found.count, " of ",
               of_a.statistics.count, " values differ", inputs_at(a, b, of_a, of_b, found.index));
    return found;
  }
  return std::nullopt;
}

}  // namespace reprise::inline REPRISE_ABI
