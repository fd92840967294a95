#include "collectives/job_rank.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <map>
#include <utility>

#include "base/background_thread.hpp"
#include "base/failure.hpp"
#include "base/handle_access.hpp"
#include "base/text.hpp"
#include "collectives/agreement.hpp"
#include "collectives/call_rules.hpp"
#include "collectives/communicator_core.hpp"
#include "trace/records.hpp"

namespace reprise::detail {
namespace {

// Traces have the same values.
static_assert(static_cast<int>(trace::CollectiveKind::AllReduce) ==
              static_cast<int>(CollectiveKind::AllReduce));
static_assert(static_cast<int>(trace::CollectiveKind::AllToAll) ==
              static_cast<int>(CollectiveKind::AllToAll));
static_assert(static_cast<int>(trace::CollectiveKind::Receive) ==
              static_cast<int>(CollectiveKind::Receive));
static_assert(static_cast<int>(trace::CollectiveKind::Group) == RankAgreement::Traced{}.kind);

constexpr char kPart = '\x1e';

const CommunicatorCore& core_of_op(const RankAgreement::Collective& collective) {
  return *core_of(static_cast<const CollectiveOp&>(*collective.op).communicator());
}

std::string location_of(const SourceLocation& where) {
  std::string_view file = where.file;
  if (file.empty()) return {};
  file = file.substr(file.rfind('/') + 1);
  return concat(file, ":", where.line);
}

std::vector<ComparedCommand> compared(std::span<const RankAgreement::Collective> collectives) {
  std::vector<ComparedCommand> commands;
  for (const RankAgreement::Collective& collective : collectives) {
    const CommunicatorCore& of = core_of_op(collective);
    ComparedCommand& command = commands.emplace_back();
    command.communicator = of.id();
    command.members = of.members();
    command.label = collective.label;
    command.location = location_of(collective.where);
    for (const CollectiveDesc& desc :
         static_cast<const CollectiveOp&>(*collective.op).operations()) {
      command.calls.push_back({desc.kind, desc.type,
                               is_reduction(desc.kind) ? desc.reduce : ReduceOperator::Sum,
                               has_peer(desc.kind) ? of.members()[desc.peer] : 0, desc.count});
    }
  }
  return commands;
}

// FNV-1a of what has to be equal on all ranks of `communicator`; 0: of all communicators.
std::uint64_t hash_of(const std::vector<ComparedCommand>& commands, std::uint64_t communicator) {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&hash](std::uint64_t value) { hash = (hash ^ value) * 0x100000001b3; };
  for (const ComparedCommand& command : commands) {
    if (communicator != 0 && command.communicator != communicator) continue;
    add(command.communicator);
    for (const ComparedCall& call : command.calls) {
      add(static_cast<std::uint64_t>(call.kind));
      if (is_point_to_point(call.kind)) continue;
      add(static_cast<std::uint64_t>(call.type) << 8 | static_cast<std::uint64_t>(call.reduce));
      add(call.peer);
      add(call.count);
    }
  }
  return hash;
}

bool has_point_to_point(const std::vector<ComparedCommand>& commands) {
  return std::any_of(commands.begin(), commands.end(), [](const ComparedCommand& command) {
    return std::any_of(command.calls.begin(), command.calls.end(),
                       [](const ComparedCall& call) { return is_point_to_point(call.kind); });
  });
}

// Two lists "0 step\n1 step\n" of launches, of which the first lines may be missing.
std::string launch_mismatch(std::uint32_t rank_a, std::string_view a, std::uint32_t rank_b,
                            std::string_view b) {
  const auto parse = [](std::string_view text) {
    std::map<std::uint64_t, std::string_view> lines;
    for (std::size_t end; (end = text.find('\n')) != std::string_view::npos;
         text.remove_prefix(end + 1)) {
      const std::string_view line = text.substr(0, end);
      const std::size_t space = line.find(' ');
      std::uint64_t number = 0;
      std::from_chars(line.data(), line.data() + std::min(space, line.size()), number);
      if (space != std::string_view::npos) lines[number] = line.substr(space + 1);
    }
    return lines;
  };
  const auto ours = parse(a), theirs = parse(b);
  for (const auto& [number, label] : ours) {
    const auto other = theirs.find(number);
    if (other == theirs.end() || other->second == label) continue;
    return concat("launch ", number, " of graphs with collectives of ranks ", rank_a, " and ",
                  rank_b, " differs: rank ", rank_a, " launched ", label, "; rank ", rank_b,
                  " launched ", other->second);
  }
  const std::uint64_t last_a = ours.empty() ? 0 : ours.rbegin()->first,
                      last_b = theirs.empty() ? 0 : theirs.rbegin()->first;
  return last_a == last_b ? concat("ranks ", rank_a, " and ", rank_b,
                                   " have launched graphs with collectives in different orders")
                          : concat("rank ", rank_a, " has launched ", last_a,
                                   " graphs with collectives, and rank ", rank_b, " ", last_b);
}

// An id of a communicator that no other job has; 0: the ranks share a process.
std::uint64_t traced_id(std::uint64_t job, std::uint64_t communicator) {
  return job == 0 ? 0 : (job ^ communicator * 0x9e3779b97f4a7c15) | 1;
}

// Counts the graphs of a communicator that were compared, over all Communicators of its ranks in
// this process.
std::uint64_t next_number(std::uint64_t communicator) {
  static std::mutex mutex;
  static std::map<std::uint64_t, std::uint64_t> numbers;
  const std::lock_guard lock(mutex);
  return ++numbers[communicator];
}

}  // namespace

CollectiveOrder::CollectiveOrder(const Device& device)
    : pool_(device.create_pool({.label = "collectives"})),
      buffer_(pool_->allocate<std::uint32_t>(1, "order of collectives")) {}

HostRef<std::uint32_t> CollectiveOrder::make_word() const {
  auto word = pool_->host<std::uint32_t>(1, "rank lost");
  word[0] = 0;
  return word;
}

std::shared_ptr<CollectiveOrder> CollectiveOrder::of(const Device& device) {
  static std::mutex mutex;
  static std::map<const void*, std::weak_ptr<CollectiveOrder>> known;
  const std::lock_guard lock(mutex);
  std::erase_if(known, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<CollectiveOrder>& slot = known[core_of(device).get()];
  std::shared_ptr<CollectiveOrder> order = slot.lock();
  if (!order || order->buffer().is_stale())
    slot = order = std::make_shared<CollectiveOrder>(device);
  return order;
}

std::string JobRank::launches_text(const Launches& launches) const {
  std::string text;
  const std::uint64_t first = launches.count > kKeptLaunches ? launches.count - kKeptLaunches : 0;
  for (std::uint64_t i = first; i < launches.count; ++i) {
    const Launch& launch = launches.kept[i % kKeptLaunches];
    const auto graph = graphs_.find(launch.hash);
    text += concat(i + 1, launch.replica == 0 ? "" : concat(" replica ", launch.replica, " of"),
                   " graph ", graph == graphs_.end() ? "" : graph->second.label, "\n");
  }
  return text;
}

void JobRank::compare(std::string_view graph, std::uint64_t hash,
                      std::span<const Collective> collectives) {
  for (const Collective& collective : collectives) {
    const std::string exclusion =
        collective.is_conditional ? core_of_op(collective).backend().loop_exclusion() : "";
    if (exclusion.empty()) continue;
    fail(ErrorCode::Unsupported, Stage::Validate, graph,
         concat("graph ", graph, ": ", collective.op->op_name(), ", ",
                location_of(collective.where), ", cannot run in a conditional: ", exclusion));
  }
  const std::vector<ComparedCommand> commands = compared(collectives);
  // The largest communicator first, so that all ranks compare in the same order.
  std::vector<const CommunicatorCore*> communicators;
  for (const Collective& collective : collectives) communicators.push_back(&core_of_op(collective));
  std::sort(communicators.begin(), communicators.end(),
            [](const CommunicatorCore* a, const CommunicatorCore* b) {
              return std::pair(b->size(), a->id()) < std::pair(a->size(), b->id());
            });
  communicators.erase(std::unique(communicators.begin(), communicators.end(),
                                  [](const auto* a, const auto* b) { return a->id() == b->id(); }),
                      communicators.end());
  const bool has_pairs = has_point_to_point(commands);
  const CommunicatorCore& largest = *communicators.front();
  const RankCommands own{largest.members()[largest.rank()], &commands};
  const std::string own_verdict = find_mismatch(own, own);
  for (const CommunicatorCore* of : communicators) {
    if (!control_ || of->size() == 1) continue;
    std::string launched, history;
    {
      const std::lock_guard lock(mutex_);
      const Launches& launches = launches_[of->id()];
      launched = concat(launches.count, " ", launches.hash);
      history = launches_text(launches);
    }
    const std::string digest = concat(hash_of(commands, 0), " ", has_pairs, " ", launched);
    const std::vector<std::uint32_t>& members = of->members();
    const std::vector<std::string> digests = control_->all_gather(of->id(), members, digest);
    const bool is_same = std::all_of(digests.begin(), digests.end(),
                                     [&](const std::string& other) { return other == digest; });
    if (is_same && !has_pairs) continue;

    const std::vector<std::string> lists = control_->all_gather(
        of->id(), members, concat(launched, kPart, history, kPart, encode(commands)));
    std::string verdict = own_verdict;
    std::vector<std::vector<ComparedCommand>> commands_of(members.size());
    std::vector<RankCommands> all;
    for (std::size_t i = 0; i < members.size() && verdict.empty(); ++i) {
      const std::string_view list = lists[i];
      const std::size_t first = list.find(kPart), second = list.find(kPart, first + 1);
      if (second == std::string_view::npos) {
        static_cast<void>(decode("?"));  // refuses it
      } else if (list.substr(0, first) != launched) {
        verdict = launch_mismatch(control_->rank(), history, members[i],
                                  list.substr(first + 1, second - first - 1));
      } else {
        commands_of[i] = decode(list.substr(second + 1));
        all.push_back({members[i], &commands_of[i]});
        if (members[i] != control_->rank()) verdict = find_mismatch(own, all.back());
      }
    }
    if (verdict.empty()) verdict = find_deadlock(all);
    // Ranks that agree with all others must not go on either.
    for (const std::string& found : control_->all_gather(of->id(), members, verdict)) {
      if (!found.empty())
        fail(ErrorCode::RankMismatch, Stage::Validate, graph, concat("graph ", graph, ": ", found));
    }
  }
  if (!own_verdict.empty())
    fail(ErrorCode::RankMismatch, Stage::Validate, graph,
         concat("graph ", graph, ": ", own_verdict));
  const std::lock_guard lock(mutex_);
  KnownGraph& known = graphs_[hash];
  known.label = graph;
  known.communicators.clear();
  for (const CommunicatorCore* of : communicators) {
    Launches& launches = launches_[of->id()];
    launches.members = of->members();
    launches.id = of->id();
    launches.traced_id = control_ ? traced_id(control_->job_id(), of->id()) : 0;
    known.communicators.push_back(
        {&launches, hash_of(commands, of->id()), next_number(launches.traced_id)});
  }
}

void JobRank::compare_outcomes(std::uint64_t hash, const std::string& error) {
  if (!control_) return;
  KnownGraph known;
  {
    const std::lock_guard lock(mutex_);
    known = graphs_.at(hash);
  }
  std::string failure =
      error.empty() ? error : concat("rank ", control_->rank(), " cannot compile it: ", error);
  // A failure in one communicator is passed on to the next one.
  for (const KnownGraph::InCommunicator& in : known.communicators) {
    const std::vector<std::uint32_t>& members = in.launches->members;
    if (members.size() == 1) continue;
    const auto failures = control_->all_gather(in.launches->id, members, failure);
    const auto first = std::find_if(failures.begin(), failures.end(),
                                    [](const std::string& one) { return !one.empty(); });
    if (failure.empty() && first != failures.end()) failure = *first;
  }
  if (error.empty() && !failure.empty())
    fail(ErrorCode::RankLost, Stage::Instantiate, known.label,
         concat("graph ", known.label, ": ", failure));
}

std::vector<RankAgreement::Message> JobRank::exchange(std::uint64_t hash, std::string message) {
  std::string graph;
  std::uint64_t group = 0;
  std::vector<std::uint32_t> members;
  {
    const std::lock_guard lock(mutex_);
    const KnownGraph& known = graphs_.at(hash);
    graph = known.label;
    const Launches& largest = *known.communicators.front().launches;
    group = largest.id;
    members = largest.members;
    for (const KnownGraph::InCommunicator& in : known.communicators) {
      for (const std::uint32_t rank : in.launches->members) {
        if (std::binary_search(members.begin(), members.end(), rank)) continue;
        fail(ErrorCode::Unsupported, Stage::Launch, graph,
             concat("graph ", graph, ": its ranks must decide together, and rank ", rank,
                    " is not in its largest communicator; use one communicator of all ranks"));
      }
    }
  }
  if (members.size() == 1) return {{members.front(), std::move(message)}};
  if (!control_) {
    fail(ErrorCode::Unsupported, Stage::Launch, graph,
         concat("graph ", graph,
                ": its ranks must decide together, and the ranks of an adopted communicator cannot "
                "exchange messages; create the communicator from the environment"));
  }
  const std::vector<std::string> texts = control_->all_gather(group, members, std::move(message));
  std::vector<Message> messages;
  for (std::size_t i = 0; i < members.size(); ++i) messages.push_back({members[i], texts[i]});
  return messages;
}

void JobRank::record_launch(std::uint64_t hash, std::uint64_t replay, std::uint32_t replica,
                            const std::shared_ptr<const Graph>& graph) {
  require_all_ranks();
  const std::lock_guard lock(mutex_);
  const auto known = graphs_.find(hash);
  if (known == graphs_.end()) return;
  for (const auto& [launches, own_hash, number] : known->second.communicators) {
    launches->kept[launches->count++ % kKeptLaunches] = {hash, replay, replica, graph,
                                                         std::chrono::steady_clock::now()};
    launches->hash = (launches->hash ^ (own_hash + replica)) * 0x100000001b3;
  }
}

void JobRank::require_all_ranks() const {
  if (!control_) return;
  if (const std::string reason = control_->abort_reason(); !reason.empty())
    fail(ErrorCode::RankLost, Stage::Wait, "", reason);
}

RankAgreement::Traced JobRank::traced(const GraphOp& op, std::uint64_t hash) const {
  const auto& collective = static_cast<const CollectiveOp&>(op);
  const CommunicatorCore& of = *core_of(collective.communicator());
  // The traces of ranks of one process are one file.
  if (of.size() == 1 || (control_ && control_->job_id() == 0)) return {};
  Traced traced;
  traced.size = of.size();
  traced.rank = of.rank();
  for (const CollectiveDesc& one : collective.operations())
    traced.bytes += one.count * size_of(one.type);
  if (collective.operations().size() == 1) {
    const CollectiveDesc& only = collective.operations().front();
    traced.kind = static_cast<std::uint8_t>(only.kind);
    if (has_peer(only.kind)) traced.peer = only.peer;
  }
  const std::lock_guard lock(mutex_);
  const auto known = graphs_.find(hash);
  if (known == graphs_.end()) return {};
  for (const KnownGraph::InCommunicator& in : known->second.communicators) {
    if (in.launches != &launches_.at(of.id())) continue;
    traced.communicator = in.launches->traced_id;
    traced.number = in.number;
  }
  return traced;
}

JobRank::JobRank(std::shared_ptr<CollectiveOrder> order, std::shared_ptr<RankControl> control,
                 std::chrono::milliseconds stall_limit)
    : order_(std::move(order)),
      control_(std::move(control)),
      stall_limit_(stall_limit),
      lost_(order_->make_word()),
      lost_word_(control_ ? lost_.data() : nullptr) {
  if (control_) {
    on_abort_ = control_->on_abort([word = lost_word_](const std::string&) {
      std::atomic_ref(*word).store(1, std::memory_order_release);
    });
  }
  if (control_ && control_->size() > 1)
    watch_ = start_background_thread("rp-ranks", [this] { watch(); });
}

JobRank::~JobRank() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  ended_.notify_all();
  if (watch_.joinable()) watch_.join();
}

}  // namespace reprise::detail
