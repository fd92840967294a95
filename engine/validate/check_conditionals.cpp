#include "validate/check_conditionals.hpp"

#include <algorithm>
#include <unordered_map>

#include "base/text.hpp"
#include "record/condition_core.hpp"
#include "record/payload.hpp"

namespace reprise::detail {

namespace {

// Commands of the outermost recording that set a condition and that depend on it.
struct Use {
  const BufferCore* condition = nullptr;
  std::uint32_t set_by = kNone;    // the first command that sets it
  std::uint32_t controls = kNone;  // the conditional that depends on it
  bool is_counted = false;         // by a loop with a limit, which may rely on the initial value
};

class ConditionalCheck {
 public:
  ConditionalCheck(const Recording& recording, const DeviceLimits& limits, Findings& findings)
      : recording_(recording), limits_(limits), findings_(findings) {}

  void run() {
    for (std::uint32_t i = 0; i < recording_.commands.size(); ++i) visit(recording_, i, i);
    for (const Use& use : uses_) {
      if (use.set_by == kNone && !use.is_counted) report_never_set(use);
      if (use.controls != kNone || use.set_by == kNone) continue;
      findings_.add(
          Rule::ConditionDecidesNothing, use.set_by,
          concat("it sets condition ", display_name(*use.condition),
                 ", which controls no conditional. Pass it to execute_if, execute_while or "
                 "execute_switch, or remove it"));
    }
  }

 private:
  void report_never_set(const Use& use) {
    if (!findings_.checks(Validation::Full)) return;
    findings_.add(Rule::ConditionNeverSet, use.controls,
                  concat("no kernel sets condition ", display_name(*use.condition),
                         ", which therefore keeps its initial value ",
                         ConditionCore::of(*use.condition).initial,
                         ". Pass it to a kernel as a reprise_condition"));
  }

  // `outermost`: the command of the outermost recording that is or contains `command`.
  void visit(const Recording& recording, std::uint32_t command, std::uint32_t outermost) {
    const Command& c = recording.commands[command];
    const std::span<const Body> bodies = bodies_of(c);
    if (c.kind == CommandKind::Conditional)
      check_conditional(recording, recording.payload<ConditionalPayload>(command), outermost);
    if (bodies.empty()) add_setters(recording, c, outermost);
    for (const Body& body : bodies) {
      const Recording& inner = *recording.bodies[body.index];
      for (std::uint32_t i = 0; i < inner.commands.size(); ++i) visit(inner, i, outermost);
    }
  }

  Use& use_of(const BufferCore* condition) {
    const auto [entry, is_new] = index_of_.try_emplace(condition, uses_.size());
    if (is_new) uses_.push_back({condition});
    return uses_[entry->second];
  }

  void add_setters(const Recording& recording, const Command& command, std::uint32_t outermost) {
    for (std::uint32_t a = 0; a < command.access_count; ++a) {
      const BufferCore* const buffer =
          recording.buffers[recording.accesses[command.first_access + a].buffer].get();
      if (buffer->kind != BufferKind::Condition) continue;
      Use& use = use_of(buffer);
      if (use.set_by == kNone) use.set_by = outermost;
    }
  }

  void check_conditional(const Recording& recording, const ConditionalPayload& conditional,
                         std::uint32_t outermost) {
    const BufferCore* const condition = recording.buffers[conditional.condition].get();
    Use& use = use_of(condition);
    if (use.controls != kNone) {
      findings_.add(Rule::ConditionDecidesSeveral, outermost,
                    concat("condition ", display_name(*condition), " controls command ",
                           use.controls, use.controls == outermost ? " more than once" : " already",
                           ". Create one condition per conditional"));
    }
    use.controls = outermost;
    use.is_counted = conditional.max_iterations != 0;
    const bool is_basic = conditional.branch == Branch::While ||
                          (conditional.branch == Branch::If && conditional.body_count == 1);
    const auto needed =
        is_basic ? DeviceLimits::Conditionals::Basic : DeviceLimits::Conditionals::All;
    if (limits_.conditionals >= needed) return;
    findings_.add(
        Rule::ConditionalUnsupported, outermost,
        limits_.conditionals == DeviceLimits::Conditionals::None
            ? std::string(
                  "the device supports no conditionals. Branch on the host, between launches")
            : std::string(
                  "the device supports neither else nor switch. Use one execute_if with its "
                  "own condition per case"));
  }

  const Recording& recording_;
  const DeviceLimits& limits_;
  Findings& findings_;
  std::vector<Use> uses_;  // in order of first use
  std::unordered_map<const BufferCore*, std::size_t> index_of_;
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
