// CapturedGraph::inspect: one replay by an inspection clone.
#include <algorithm>
#include <cstring>
#include <exception>
#include <optional>
#include <utility>

#include <reprise/captured_graph.hpp>
#include <reprise/device.hpp>

#include "base/aligned_up.hpp"
#include "base/failure.hpp"
#include "base/handle_access.hpp"
#include "base/text.hpp"
#include "compile/stages.hpp"
#include "inspect/inspection_recording.hpp"
#include "inspect/statistics.hpp"
#include "inspect/trace_inspection.hpp"
#include "plan/timing_layout.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/graph/compiled_graph.hpp"
#include "runtime/graph/replica_snapshot.hpp"
#include "runtime/memory/pool_core.hpp"
#include "runtime/queue/queue_core.hpp"

namespace reprise::detail {

namespace {

constexpr std::uint64_t kAlignment = 256;  // of each range's results

class Inspector {
 public:
  Inspector(GraphReplica& replica, std::shared_ptr<QueueCore> queue, const InspectDesc& desc)
      : replica_(replica),
        queue_(std::move(queue)),
        desc_(desc),
        plan_(replica.executable().plan()),
        current_(current_bindings(replica)) {}

  Inspection run() {
    for (std::uint32_t node = 0; node < plan_->lowered.nodes.size(); ++node) {
      const std::uint32_t command = plan_->command_of(node);
      if (command == kNone || current_.is_disabled(node) ||
          recording().commands[command].kind == CommandKind::Barrier)
        continue;
      order_.push_back(command);
      nodes_.push_back(node);
    }
    values_ = inspected_values(recording(), order_);
    readings_.resize(values_.ranges.size());
    describe();
    choose_contents();
    if (desc_.effect == InspectDesc::Effect::Restored) {
      require_repeatable();
      save();
    }
    const std::uint32_t passes = count_passes();
    try {
      for (std::uint32_t pass = 0; pass < passes; ++pass) {
        if (pass != 0) snapshot_->restore();
        run_pass(pass);
        ++found_.passes;
        if (desc_.on_progress) desc_.on_progress(pass + 1, passes);
      }
    } catch (...) {
      restore_if_wanted();
      throw;
    }
    restore_if_wanted();
    if (replica_.device()->trace() != nullptr) trace_inspection(replica_, found_, nodes_, values_);
    return std::move(found_);
  }

 private:
  [[nodiscard]] const Recording& recording() const noexcept { return *plan_->recording; }

  [[nodiscard]] static Bindings current_bindings(GraphReplica& replica) {
    const GraphReplica::Edit edit(replica);
    return edit.executable().bindings.current();
  }

  // Why the commands run once; empty: they can run again after the memory was restored.
  [[nodiscard]] std::string why_not_repeatable() const {
    if (find_recording(recording(), [](const Recording& one) { return !one.functions.empty(); }))
      return "host callbacks";
    if (!replica_.executable().spec().collectives.ranks.empty()) return "collectives";
    return {};
  }
  void require_repeatable() const {
    const std::string what = why_not_repeatable();
    if (what.empty()) return;
    fail(ErrorCode::Unsupported, Stage::Launch, replica_.label(),
         concat("inspect: graph ", replica_.label(), " has ", what,
                ", whose effects cannot be undone; use InspectDesc::Effect::Kept"));
  }
  void restore_if_wanted() {
    if (desc_.effect != InspectDesc::Effect::Restored) return;
    snapshot_->restore();
    wait_for_launches(replica_);
  }
  void save() {
    snapshot_.emplace(replica_, queue_, BufferKind::PinnedHost, "inspect",
                      "use InspectDesc::Effect::Kept");
  }

  // --- The report, without results ---
  void describe() {
    const Recording& of = recording();
    found_.graph = replica_.label();
    found_.replays = replica_.replays();
    for (std::uint32_t position = 0; position < order_.size(); ++position) {
      const Command& command = of.commands[order_[position]];
      found_.commands.push_back({order_[position], of.command_name(order_[position]),
                                 of.label_path(command.label), command.where,
                                 values_.inputs[position]});
    }
    for (const InspectedValues::Range& range : values_.ranges) {
      InspectedRange& into = found_.ranges.emplace_back();
      if (!range.is_before) into.command = order_[range.position];
      into.buffer = display_name(*of.buffers[range.buffer]);
      into.begin = range.begin;
      into.end = range.end;
      into.extent = range.extent;
      into.pitch = range.pitch;
      into.type = range.type;
    }
  }

  // --- The contents that each pass reads ---
  [[nodiscard]] bool is_wanted(const InspectedValues::Range& range) const {
    if (desc_.contents == InspectDesc::Contents::StatisticsOnly || desc_.budget == 0) return false;
    if (desc_.buffers.empty()) return true;
    return std::any_of(desc_.buffers.begin(), desc_.buffers.end(), [&](const BufferView& view) {
      return core_of(view) == recording().buffers[range.buffer];
    });
  }

  // Sets pass_of_ and the states of ranges.
  void choose_contents() {
    using State = InspectedRange::State;
    const std::string unrepeatable = why_not_repeatable();
    std::uint64_t all = 0, in_pass = 0, over_limit = 0, not_repeated = 0;
    std::uint32_t pass = 0;
    pass_of_.assign(values_.ranges.size(), kNone);
    for (std::size_t i = 0; i < values_.ranges.size(); ++i) {
      const InspectedValues::Range& range = values_.ranges[i];
      InspectedRange& into = found_.ranges[i];
      if (!is_wanted(range)) continue;
      const std::uint64_t bytes = aligned_up(range.end - range.begin, kAlignment);
      const bool needs_pass = in_pass != 0 && in_pass + bytes > desc_.budget;
      if (bytes > desc_.budget || bytes > desc_.max_contents - std::min(all, desc_.max_contents)) {
        into.state = State::OverLimit;
        ++over_limit;
      } else if (needs_pass && !unrepeatable.empty()) {
        into.state = State::NotRepeatable;
        ++not_repeated;
      } else {
        if (needs_pass) {
          ++pass;
          in_pass = 0;
        }
        into.state = State::Stored;
        pass_of_[i] = pass;
        in_pass += bytes;
        all += bytes;
      }
    }
    if (over_limit != 0) {
      found_.note = concat(over_limit, " ranges have no contents: a pass stores at most ",
                           desc_.budget, " bytes and all passes ", desc_.max_contents,
                           " (InspectDesc::budget, max_contents)");
    } else if (not_repeated != 0) {
      found_.note =
          concat(not_repeated, " ranges have no contents: the graph has ", unrepeatable,
                 ", so it runs once, and InspectDesc::budget is ", desc_.budget, " bytes");
    }
  }

  // Saves the memory if there is more than one.
  [[nodiscard]] std::uint32_t count_passes() {
    std::uint32_t passes = 1;
    for (const std::uint32_t pass : pass_of_)
      if (pass != kNone) passes = std::max(passes, pass + 1);
    if (passes == 1 || snapshot_) return passes;
    try {
      save();
    } catch (const Error& error) {
      if (!lacks_memory(error)) throw;
      for (std::size_t i = 0; i < pass_of_.size(); ++i) {
        if (pass_of_[i] == kNone || pass_of_[i] == 0) continue;
        found_.ranges[i].state = InspectedRange::State::OverLimit;
        pass_of_[i] = kNone;
      }
      found_.note =
          concat("contents beyond the first ", desc_.budget,
                 " bytes are missing: the memory cannot be saved for another pass: ", error.what());
      return 1;
    }
    return passes;
  }

  // --- Passes ---
  void run_pass(std::uint32_t pass) {
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < readings_.size(); ++i) {
      ValueReading& reading = readings_[i] = {};
      const InspectedValues::Range& range = values_.ranges[i];
      if (pass == 0) {
        reading.partials = bytes;
        bytes += aligned_up(parts_of(range) * sizeof(PartialStatistics), kAlignment);
      }
      if (pass_of_[i] != pass) continue;
      reading.contents = bytes;
      bytes += aligned_up(range.end - range.begin, kAlignment);
    }
    const Device device = make_handle<Device>(replica_.device());
    const auto pool = device.create_pool({.label = "inspection"});
    const HostRef<std::byte> results =
        pool->host<std::byte>(std::max<std::uint64_t>(bytes, 1), "inspected values");
    replay(core_of(results), results.data());
    for (std::size_t i = 0; i < readings_.size(); ++i) {
      const InspectedValues::Range& range = values_.ranges[i];
      InspectedRange& into = found_.ranges[i];
      if (readings_[i].partials != ValueReading::kNowhere) {
        std::vector<PartialStatistics> parts(parts_of(range));
        std::memcpy(static_cast<void*>(parts.data()), results.data() + readings_[i].partials,
                    parts.size() * sizeof(PartialStatistics));
        into.statistics = combine(parts);
      }
      if (readings_[i].contents == ValueReading::kNowhere) continue;
      const std::byte* const first = results.data() + readings_[i].contents;
      into.contents.assign(first, first + (range.end - range.begin));
    }
  }
  [[nodiscard]] static std::size_t parts_of(const InspectedValues::Range& range) {
    return statistics_dispatch(rows_of(range), range.type).grid.x;
  }

  void replay(const std::shared_ptr<BufferCore>& results, std::byte* address) {
    DeviceCore& device = *replica_.device();
    auto recorded =
        inspection_recording(recording(), {.order = order_,
                                           .values = values_,
                                           .readings = readings_,
                                           .statistics = device.load_kernel(statistics_kernel()),
                                           .results = results});
    const auto plan = make_plan(
        concat("inspection of ", replica_.label()), std::move(recorded),
        {.lowering = Lowering::Faithful, .alignment = device.info().limits.buffer_alignment});
    Bindings bindings;
    bindings.address = current_.address;
    bindings.address.push_back(address);
    bindings.scalars = scalars_for(*plan);
    bindings.disabled = disabled_in_bodies(*plan);
    const auto exec = device.backend().instantiate(plan, bindings, Instrumentation::None);
    const LaunchedCollectives& collectives = replica_.executable().spec().collectives;
    for (RankAgreement* const ranks : collectives.ranks)
      ranks->record_launch(collectives.hash, 0, 0, nullptr);
    replica_.launch_uncounted(queue_, *exec);
    try {
      wait_for_launches(replica_);
    } catch (const Error& error) {
      throw with_context(error, replica_.label(),
                         concat("in an inspection of graph ", replica_.label()));
    }
    if (const std::exception_ptr thrown = exec->callback_error(1)) std::rethrow_exception(thrown);
  }

  // The current values of scalar slots; their order depends on that of the commands.
  [[nodiscard]] std::vector<std::byte> scalars_for(const Plan& plan) const {
    if (current_.scalars.empty()) return {};
    std::vector<std::byte> values = plan.slots.first_values;
    for (const ScalarSlots::Slot& slot : plan.slots.slots) {
      const std::uint32_t own = plan_->slots.find(slot.name);
      std::memcpy(values.data() + slot.offset,
                  current_.scalars.data() + plan_->slots.slots[own].offset, slot.type->size);
    }
    return values;
  }

  // Disabled commands in bodies; the others are not in the recording. Bodies of both plans have
  // the same order, but their nodes may not.
  [[nodiscard]] std::vector<std::uint8_t> disabled_in_bodies(const Plan& plan) const {
    if (current_.disabled.empty() || plan_->bodies.empty()) return {};
    std::vector<std::uint8_t> disabled(plan.total_nodes, 0);
    const TimingLayout from = timing_layout(*plan_), to = timing_layout(plan);
    const std::vector<const Plan*> from_plans = body_plans(*plan_), to_plans = body_plans(plan);
    for (std::size_t b = 0; b < from.bodies.size(); ++b) {
      for (std::uint32_t node = 0; node < from.bodies[b].nodes; ++node) {
        if (!current_.is_disabled(from.bodies[b].first_node + node)) continue;
        const std::uint32_t command = from_plans[b]->command_of(node);
        for (std::uint32_t other = 0; other < to.bodies[b].nodes; ++other)
          if (to_plans[b]->command_of(other) == command)
            disabled[to.bodies[b].first_node + other] = 1;
      }
    }
    return disabled;
  }

  GraphReplica& replica_;
  const std::shared_ptr<QueueCore> queue_;
  const InspectDesc& desc_;
  const std::shared_ptr<const Plan> plan_;
  const Bindings current_;
  std::vector<std::uint32_t> order_;  // commands
  std::vector<std::uint32_t> nodes_;  // of order_, in the plan
  InspectedValues values_;
  std::vector<ValueReading> readings_;  // of the current pass
  std::vector<std::uint32_t> pass_of_;  // by range; kNone: contents are not read
  std::optional<ReplicaSnapshot> snapshot_;
  Inspection found_;
};

Inspection inspect(CompiledGraph& graph, const std::shared_ptr<QueueCore>& queue,
                   const InspectDesc& desc) {
  const std::string& label = graph.label();
  if (!queue) fail_empty("Queue", concat("inspect of graph ", label), Stage::Launch, label);
  require_enumerator("InspectDesc::contents", desc.contents, Stage::Launch, label);
  require_enumerator("InspectDesc::effect", desc.effect, Stage::Launch, label);
  for (const BufferView& view : desc.buffers)
    if (!view) fail_empty("buffer", concat("inspect of graph ", label), Stage::Launch, label);
  if (desc.replica >= graph.replicas().size()) {
    fail(ErrorCode::OutOfRange, Stage::Launch, label,
         concat("inspect: graph ", label, " has ", graph.replicas().size(),
                " replicas, so there is no replica ", desc.replica));
  }
  const auto lock = graph.lock_updates();
  GraphReplica& replica = *graph.replicas()[desc.replica];
  replica.require_updatable("inspect");
  replica.require_launchable(*queue, Stage::Launch);
  const ResidencyPin pin(replica);
  return Inspector(replica, queue, desc).run();
}

}  // namespace

}  // namespace reprise::detail

namespace reprise::inline REPRISE_ABI {

Inspection CapturedGraph::inspect(const Queue& queue, const InspectDesc& desc) {
  detail::CompiledGraph& graph =
      detail::require_handle(core_, "CapturedGraph", "inspect", Stage::Launch);
  detail::require_outside_callback("CapturedGraph", "inspect", Stage::Launch, graph.label());
  return detail::inspect(graph, detail::core_of(queue), desc);
}

std::optional<InspectionDifference> compare_devices(
    const std::function<CommandBuffer(const Device&)>& record, const Device& a, const Device& b,
    const Tolerance& tolerance) {
  const auto inspect = [&](const Device& device) {
    const CommandBuffer commands = record(device);
    CapturedGraph graph = device.compile(commands);
    return graph.inspect(device.create_queue({.label = "compare_devices"}));
  };
  const Inspection of_a = inspect(a);
  return compare(of_a, inspect(b), tolerance);
}

}  // namespace reprise::inline REPRISE_ABI
