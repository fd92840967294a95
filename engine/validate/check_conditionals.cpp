#include "validate/check_conditionals.hpp"

#include <algorithm>
#include <unordered_map>

#include "base/text.hpp"
#include "record/payload.hpp"

namespace reprise::detail {

namespace {

// Where a condition is set and what it decides, by commands of the outermost recording.
struct Use {
  const BufferCore* condition = nullptr;
  std::uint32_t set_by = kNone;  // the first that sets it
  std::uint32_t decides = kNone;
};

class ConditionalCheck {
 public:
  ConditionalCheck(const Recording& recording, const DeviceLimits& limits, Findings& findings)
      : recording_(recording), limits_(limits), findings_(findings) {}

  void run() {
    for (std::uint32_t i = 0; i < recording_.commands.size(); ++i) visit(recording_, i, i);
    for (const Use& use : uses_) {
      if (use.decides != kNone || use.set_by == kNone) continue;
      findings_.add(Rule::ConditionDecidesNothing, use.set_by,
                    concat("it sets condition ", display_name(*use.condition),
                           ", which decides nothing. Give it to execute_if, execute_while or "
                           "execute_switch, or leave it out"));
    }
  }

 private:
  // `outermost`: the command of the outermost recording that `command` is or is inside of.
  void visit(const Recording& recording, std::uint32_t command, std::uint32_t outermost) {
    const Command& c = recording.commands[command];
    const std::span<const Body> bodies = bodies_of(c);
    if (c.kind == CommandKind::Conditional)
      decide(recording, recording.payload<ConditionalPayload>(command), outermost);
    if (bodies.empty()) note_sets(recording, c, outermost);
    for (const Body& body : bodies) {
      const Recording& inside = *recording.bodies[body.index];
      for (std::uint32_t i = 0; i < inside.commands.size(); ++i) visit(inside, i, outermost);
    }
  }

  Use& use_of(const BufferCore* condition) {
    const auto [at, is_new] = place_.try_emplace(condition, uses_.size());
    if (is_new) uses_.push_back({condition});
    return uses_[at->second];
  }

  void note_sets(const Recording& recording, const Command& command, std::uint32_t outermost) {
    for (std::uint32_t a = 0; a < command.access_count; ++a) {
      const BufferCore* const buffer =
          recording.buffers[recording.accesses[command.first_access + a].buffer].get();
      if (buffer->kind != BufferKind::Condition) continue;
      Use& use = use_of(buffer);
      if (use.set_by == kNone) use.set_by = outermost;
    }
  }

  void decide(const Recording& recording, const ConditionalPayload& conditional,
              std::uint32_t outermost) {
    const BufferCore* const condition = recording.buffers[conditional.condition].get();
    Use& use = use_of(condition);
    if (use.decides != kNone) {
      findings_.add(Rule::ConditionDecidesSeveral, outermost,
                    concat("condition ", display_name(*condition), " decides command ", use.decides,
                           use.decides == outermost ? " more than once" : " already",
                           ". Make a condition for each conditional"));
    }
    use.decides = outermost;
    const bool is_basic = conditional.branch == Branch::While ||
                          (conditional.branch == Branch::If && conditional.body_count == 1);
    const auto needed =
        is_basic ? DeviceLimits::Conditionals::Basic : DeviceLimits::Conditionals::All;
    if (limits_.conditionals >= needed) return;
    findings_.add(
        Rule::ConditionalUnsupported, outermost,
        limits_.conditionals == DeviceLimits::Conditionals::None
            ? std::string("the device has no conditionals. Decide on the host, between launches")
            : std::string("the device has no else and no switch. Use execute_if for each case, "
                          "with a condition of its own"));
  }

  const Recording& recording_;
  const DeviceLimits& limits_;
  Findings& findings_;
  std::vector<Use> uses_;  // in order of first use
  std::unordered_map<const BufferCore*, std::size_t> place_;
};

}  // namespace

bool has_condition(const Recording& recording) noexcept {
  return std::any_of(recording.buffers.begin(), recording.buffers.end(),
                     [](const auto& buffer) { return buffer->kind == BufferKind::Condition; });
}

void check_conditionals(const Recording& recording, const DeviceLimits& limits,
                        Findings& findings) {
  ConditionalCheck(recording, limits, findings).run();
}

}  // namespace reprise::detail
