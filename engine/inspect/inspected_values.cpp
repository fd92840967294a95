#include "inspect/inspected_values.hpp"

#include <algorithm>
#include <map>
#include <string_view>

namespace reprise::detail {

namespace {

// The bytes of each memory whose values are known.
class KnownBytes {
 public:
  [[nodiscard]] bool contain(const BufferAccess& access) const {
    const auto found = ends_.find(access.buffer);
    if (found == ends_.end()) return false;
    auto range = found->second.upper_bound(access.begin);
    return range != found->second.begin() && std::prev(range)->second >= access.end;
  }
  void add(const BufferAccess& access) {
    auto& ends = ends_[access.buffer];
    std::uint64_t begin = access.begin, end = access.end;
    auto range = ends.upper_bound(begin);
    if (range != ends.begin() && std::prev(range)->second >= begin) --range;
    while (range != ends.end() && range->first <= end) {
      begin = std::min(begin, range->first);
      end = std::max(end, range->second);
      range = ends.erase(range);
    }
    ends[begin] = end;
  }

 private:
  std::map<std::uint32_t, std::map<std::uint64_t, std::uint64_t>> ends_;  // by memory, by begin
};

bool has_values(BufferKind kind) {
  switch (kind) {
    case BufferKind::Device:
    case BufferKind::Transient:
    case BufferKind::PinnedHost: return true;
    case BufferKind::BorrowedHost:
    case BufferKind::Condition: return false;
  }
  return false;
}

// The element types of the recording's buffers, by the arguments of kernels and ops.
class BufferTypes {
 public:
  explicit BufferTypes(const Recording& recording)
      : recording_(recording), types_(recording.buffers.size(), ContentType::Bytes) {
    for (std::uint32_t i = 0; i < recording.commands.size(); ++i) {
      for_each_typed(i, [&](std::uint32_t buffer, ContentType type) {
        if (types_[buffer] == ContentType::Bytes) types_[buffer] = type;
      });
    }
  }

  // As the command itself types the buffer, otherwise as the first command that does.
  [[nodiscard]] ContentType operator()(std::uint32_t command, std::uint32_t buffer) const {
    ContentType own = ContentType::Bytes;
    for_each_typed(command, [&](std::uint32_t typed, ContentType type) {
      if (typed == buffer && own == ContentType::Bytes) own = type;
    });
    return own != ContentType::Bytes ? own : types_[buffer];
  }

 private:
  template <class Visit>
  void for_each_typed(std::uint32_t index, Visit&& visit) const {
    const Command& command = recording_.commands[index];
    if (command.kind == CommandKind::Dispatch) {
      const auto& dispatch = recording_.payload<DispatchPayload>(index);
      const auto& parameters = recording_.kernels[dispatch.kernel]->parameters;
      for (std::uint32_t i = 0; i < dispatch.buffer_argument_count; ++i) {
        const BufferArgument& argument = dispatch.buffer_arguments[i];
        for (const KernelParameter& parameter : parameters) {
          if (parameter.offset == argument.parameter_offset && parameter.type != nullptr)
            visit(argument.buffer, content_type_of(*parameter.type));
        }
      }
    } else if (command.kind == CommandKind::Op) {
      const auto& op = recording_.payload<OpPayload>(index);
      const auto& views = recording_.ops[op.op]->views;
      for (std::size_t i = 0; i < views.size() && i < op.buffer_count; ++i)
        if (views[i].type != nullptr) visit(op.buffers[i], content_type_of(*views[i].type));
    }
  }

  const Recording& recording_;
  std::vector<ContentType> types_;  // by buffer
};

class Collector {
 public:
  Collector(const Recording& recording, std::span<const std::uint32_t> order)
      : recording_(recording), order_(order), type_of_(recording) {}

  InspectedValues run() {
    found_.inputs.resize(order_.size());
    for (std::uint32_t position = 0; position < order_.size(); ++position) {
      for_each_access(position, [&](const BufferAccess& access) {
        if (reads(access.access)) add_input(position, access);
      });
      for_each_access(position, [&](const BufferAccess& access) {
        if (writes(access.access)) add(position, access, false);
      });
    }
    return std::move(found_);
  }

 private:
  template <class Visit>
  void for_each_access(std::uint32_t position, Visit&& visit) const {
    const Command& command = recording_.commands[order_[position]];
    for (std::uint32_t a = 0; a < command.access_count; ++a) {
      const BufferAccess& access = recording_.accesses[command.first_access + a];
      if (access.begin < access.end && has_values(recording_.buffers[access.buffer]->kind))
        visit(access);
    }
  }

  void add_input(std::uint32_t position, const BufferAccess& access) {
    if (!known_.contain(recording_.in_memory(access))) add(position, access, true);
    auto& inputs = found_.inputs[position];
    const auto& latest = latest_[recording_.in_memory(access).buffer];
    for (auto range = latest.rbegin(); range != latest.rend(); ++range) {
      if (!overlaps(recording_, recording_.in_memory(access), in_memory_[*range])) continue;
      if (std::find(inputs.begin(), inputs.end(), *range) == inputs.end()) inputs.push_back(*range);
      return;
    }
  }

  void add(std::uint32_t position, const BufferAccess& access, bool is_before) {
    InspectedValues::Range range{.position = position,
                                 .is_before = is_before,
                                 .buffer = access.buffer,
                                 .begin = access.begin,
                                 .end = access.end};
    const std::uint64_t bytes = access.end - access.begin;
    if (access.shape != 0) {
      range.extent = recording_.shapes[access.shape - 1].extent;
      range.pitch = recording_.shapes[access.shape - 1].pitch;
    } else {
      range.extent = {bytes, 1, 1};
      range.pitch = {bytes, bytes};
    }
    range.type = type_of_(order_[position], access.buffer);
    const std::uint32_t size = bytes_of(range.type);
    const bool has_rows = range.extent.height * range.extent.depth != 1;
    if (range.begin % size != 0 || range.extent.width % size != 0 ||
        (has_rows && (range.pitch.row % size != 0 || range.pitch.slice % size != 0)))
      range.type = ContentType::Bytes;
    const BufferAccess in_memory = recording_.in_memory(access);
    // A command may declare the same bytes twice.
    auto& latest = latest_[in_memory.buffer];
    for (auto last = latest.rbegin(); last != latest.rend(); ++last) {
      const InspectedValues::Range& other = found_.ranges[*last];
      if (other.position != position || other.is_before != is_before) break;
      if (other.buffer == range.buffer && other.begin == range.begin && other.end == range.end &&
          other.extent == range.extent && other.pitch == range.pitch)
        return;
    }
    known_.add(in_memory);
    latest.push_back(static_cast<std::uint32_t>(found_.ranges.size()));
    found_.ranges.push_back(range);
    in_memory_.push_back(in_memory);
  }

  const Recording& recording_;
  std::span<const std::uint32_t> order_;
  BufferTypes type_of_;
  KnownBytes known_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> latest_;  // ranges by memory, oldest first
  std::vector<BufferAccess> in_memory_;                         // by range
  InspectedValues found_;
};

}  // namespace

InspectedValues inspected_values(const Recording& recording, std::span<const std::uint32_t> order) {
  return Collector(recording, order).run();
}

ContentType content_type_of(const ValueType& type) noexcept {
  const auto by_size = [&](ContentType one, ContentType two, ContentType four, ContentType eight) {
    switch (type.size) {
      case 1: return one;
      case 2: return two;
      case 4: return four;
      case 8: return eight;
      default: return ContentType::Bytes;
    }
  };
  switch (type.number) {
    case ValueType::Number::Bool: return ContentType::U8;
    case ValueType::Number::Signed:
      return by_size(ContentType::I8, ContentType::I16, ContentType::I32, ContentType::I64);
    case ValueType::Number::Unsigned:
      return by_size(ContentType::U8, ContentType::U16, ContentType::U32, ContentType::U64);
    case ValueType::Number::Floating:
      return by_size(ContentType::Bytes, ContentType::F16, ContentType::F32, ContentType::F64);
    case ValueType::Number::None: break;
  }
  // CUDA's classes: halves, and vectors of two to four components.
  static constexpr struct {
    std::string_view name;
    ContentType type;
  } kClasses[] = {{"__half", ContentType::F16},         {"half", ContentType::F16},
                  {"__half2", ContentType::F16},        {"half2", ContentType::F16},
                  {"__nv_bfloat16", ContentType::BF16}, {"__nv_bfloat162", ContentType::BF16}};
  for (const auto& known : kClasses)
    if (type.name == known.name) return known.type;
  static constexpr struct {
    std::string_view name;
    ContentType type;
  } kVectors[] = {
      {"float", ContentType::F32}, {"double", ContentType::F64},   {"int", ContentType::I32},
      {"uint", ContentType::U32},  {"short", ContentType::I16},    {"ushort", ContentType::U16},
      {"char", ContentType::I8},   {"uchar", ContentType::U8},     {"long", ContentType::I64},
      {"ulong", ContentType::U64}, {"longlong", ContentType::I64}, {"ulonglong", ContentType::U64}};
  if (type.name.empty() || type.name.back() < '1' || type.name.back() > '4')
    return ContentType::Bytes;
  for (const auto& known : kVectors)
    if (type.name.substr(0, type.name.size() - 1) == known.name) return known.type;
  return ContentType::Bytes;
}

}  // namespace reprise::detail
