#include "ptx/divergence.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>

#include "base/text.hpp"
#include "ptx/part_opcodes.hpp"
#include "ptx/ptx_words.hpp"

namespace reprise::detail {

namespace {

// Registers whose values differ between the threads of a block, or may do so.
constexpr std::array<std::string_view, 9> kDivergentRegisters = {
    "%tid",   "%laneid",      "%lanemask", "%warpid", "%nwarpid",
    "%clock", "%globaltimer", "%smid",     "%pm"};
// Instructions whose results differ even if their operands do not. Those of functions are read by
// ld.param.
constexpr std::array<std::string_view, 21> kDivergentOpcodes = {
    "ld",    "ldu",     "atom",     "shfl", "vote",  "match",   "activemask",
    "redux", "elect",   "mbarrier", "wmma", "mma",   "tex",     "ldmatrix",
    "bar",   "barrier", "call",     "suld", "wgmma", "tcgen05", "movmatrix"};
// Instructions that read the carry of the last one with .cc.
constexpr std::array<std::string_view, 3> kWithCarry = {"addc", "subc", "madc"};
constexpr std::string_view kCarry = "%%carry";  // as a word; no register has this name
constexpr std::array<std::string_view, 17> kWithoutResult = {
    "st",     "red",     "bra",       "brx",     "ret",           "exit",
    "membar", "fence",   "prefetch",  "trap",    "brkpt",         "prefetchu",
    "cp",     "discard", "nanosleep", "pmevent", "griddepcontrol"};

class DivergenceAnalyser {
 public:
  explicit DivergenceAnalyser(const PtxFunction& entry)
      : entry_(entry), statements_(entry.statements) {}

  DivergenceAnalysis run() {
    DivergenceAnalysis result;
    find_scopes();
    divide_into_blocks();
    connect_blocks();
    if (problem_.empty()) find_joins();
    if (problem_.empty()) read_instructions();
    if (problem_.empty()) propagate();
    result.is_divergent.assign(statements_.size(), !problem_.empty());
    result.problem = problem_;
    if (!problem_.empty()) return result;
    for (std::uint32_t block = 0; block < blocks_.size(); ++block)
      for (std::size_t i = blocks_[block].first; i < blocks_[block].end; ++i)
        result.is_divergent[i] = is_divergent_block_[block] || is_tainted_word(guard_of(i));
    return result;
  }

 private:
  static constexpr std::uint32_t kUndefined = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::uint64_t kMaxVisits = 1u << 26;
  using Kind = PtxStatement::Kind;

  struct Block {
    std::size_t first = 0, end = 0;  // statements
    std::vector<std::uint32_t> next = {};
    std::vector<std::uint32_t> condition = {};  // words
  };
  struct Assignment {
    std::uint32_t block = 0;
    bool is_always_divergent = false;
    std::vector<std::uint32_t> results = {}, sources = {};  // words
  };

  // The same name in two scopes is one word: that of neither is less divergent.
  std::uint32_t word(std::string_view name) {
    return words_.try_emplace(name, static_cast<std::uint32_t>(words_.size())).first->second;
  }
  void add_words(std::string_view text, std::vector<std::uint32_t>& words) {
    for_each_ptx_word(text, [&](std::string_view name) { words.push_back(word(name)); });
  }
  [[nodiscard]] std::string_view guard_of(std::size_t statement) const {
    std::string_view guard = statements_[statement].guard;
    while (!guard.empty() && !is_ptx_word(guard.front())) guard.remove_prefix(1);
    return guard;
  }
  [[nodiscard]] bool is_tainted_word(std::string_view name) const {
    const auto found = words_.find(name);
    return found != words_.end() && is_tainted_[found->second];
  }

  // Counts visits of edges, scopes and assignments. Whether the analysis goes on.
  bool count_visits(std::uint64_t count = 1) {
    visits_ += count;
    if (visits_ > kMaxVisits && problem_.empty()) problem_ = "has too many branches to analyse";
    return problem_.empty();
  }

  void find_scopes() {
    std::uint32_t scope = 0;
    for (std::size_t i = 0; i < statements_.size(); ++i) {
      if (statements_[i].is(Kind::Open)) {
        outer_scope_.push_back(scope);
        scope = static_cast<std::uint32_t>(outer_scope_.size()) - 1;
      } else if (statements_[i].is(Kind::Close)) {
        scope = outer_scope_[scope];
      }
      scope_of_.push_back(scope);
      if (statements_[i].is(Kind::Label)) label_at_[{scope, statements_[i].text}] = i;
    }
  }

  void divide_into_blocks() {
    block_of_.assign(statements_.size(), 0);
    const auto start_block = [&](std::size_t i) {
      if (!blocks_.empty()) blocks_.back().end = i;
      if (blocks_.empty() || blocks_.back().first != i) blocks_.push_back({.first = i});
    };
    start_block(0);
    for (std::size_t i = 0; i < statements_.size(); ++i) {
      if (statements_[i].is(Kind::Label)) start_block(i);
      block_of_[i] = static_cast<std::uint32_t>(blocks_.size()) - 1;
      const std::string_view opcode = statements_[i].opcode;
      for (const std::string_view last : {"bra", "brx", "ret", "exit"})
        if (is_ptx_opcode(opcode, last)) {
          start_block(i + 1);
          break;
        }
    }
    blocks_.back().end = statements_.size();
    exit_ = static_cast<std::uint32_t>(blocks_.size());
  }

  // The statement of the label that `name` means at `statement`.
  [[nodiscard]] std::size_t find_label(std::string_view name, std::size_t statement) {
    for (std::uint32_t scope = scope_of_[statement];; scope = outer_scope_[scope]) {
      constexpr std::uint64_t kVisits = 16;  // that take as long as a look-up
      if (!count_visits(kVisits)) break;
      const auto found = label_at_.find({scope, name});
      if (found != label_at_.end()) return found->second;
      if (scope == 0) break;
    }
    if (problem_.empty()) problem_ = concat("unknown label ", name);
    return 0;
  }

  void connect_blocks() {
    for (std::uint32_t b = 0; b < blocks_.size(); ++b) {
      Block& block = blocks_[b];
      if (block.first == block.end) {
        block.next = {b + 1};
        continue;
      }
      const std::size_t last = block.end - 1;
      const PtxStatement& statement = statements_[last];
      const bool is_branch = is_ptx_opcode(statement.opcode, "bra");
      const bool is_table = is_ptx_opcode(statement.opcode, "brx");
      const bool is_return =
          is_ptx_opcode(statement.opcode, "ret") || is_ptx_opcode(statement.opcode, "exit");
      if (!is_branch && !is_table && !is_return) {
        block.next = {b + 1};
        continue;
      }
      if (is_return) block.next.push_back(exit_);
      if (is_branch && statement.operands.size() == 1)
        block.next.push_back(block_of_[find_label(statement.operands[0], last)]);
      if (is_table && statement.operands.size() == 2) {
        add_words(statement.operands[0], block.condition);
        const std::size_t table = find_label(statement.operands[1], last) + 1;
        constexpr std::string_view kTargets = ".branchtargets";
        if (table < statements_.size() && statements_[table].text.starts_with(kTargets))
          for_each_ptx_word(statements_[table].text.substr(kTargets.size()),
                            [&](std::string_view name) {
                              if (count_visits())
                                block.next.push_back(block_of_[find_label(name, last)]);
                            });
      }
      if (block.next.empty() && problem_.empty())
        problem_ = concat("unreadable branch: ", statement.text);
      if (!statement.guard.empty()) {
        block.next.push_back(b + 1);
        block.condition.push_back(word(guard_of(last)));
      }
    }
  }

  // The immediate post-dominators, by the algorithm of Cooper, Harvey and Kennedy. A block that
  // never reaches the exit is taken to reach it directly.
  void find_joins() {
    const std::uint32_t nodes = exit_ + 1;
    std::vector<std::vector<std::uint32_t>> previous(nodes);
    for (std::uint32_t b = 0; b < exit_; ++b)
      for (const std::uint32_t next : blocks_[b].next) previous[next].push_back(b);
    std::vector<std::uint32_t> order(nodes, kUndefined), by_order;
    struct Visit {
      std::uint32_t node = 0;
      std::size_t edge = 0;
    };
    std::vector<bool> is_seen(nodes, false);
    const auto walk = [&] {  // numbers the nodes in postorder
      std::vector<Visit> stack{{exit_}};
      is_seen.assign(nodes, false);
      is_seen[exit_] = true;
      by_order.clear();
      while (!stack.empty()) {
        Visit& visit = stack.back();
        if (visit.edge == previous[visit.node].size()) {
          order[visit.node] = static_cast<std::uint32_t>(by_order.size());
          by_order.push_back(visit.node);
          stack.pop_back();
          continue;
        }
        const std::uint32_t node = previous[visit.node][visit.edge++];
        if (is_seen[node]) continue;
        is_seen[node] = true;
        stack.push_back({node});
      }
    };
    walk();
    if (by_order.size() != nodes) {
      for (std::uint32_t b = 0; b < exit_; ++b)
        if (!is_seen[b]) {
          blocks_[b].next.push_back(exit_);
          previous[exit_].push_back(b);
        }
      walk();
    }
    join_.assign(nodes, kUndefined);
    join_[exit_] = exit_;
    for (bool is_changed = true; is_changed;) {
      is_changed = false;
      for (std::size_t i = by_order.size(); i-- > 0;) {
        const std::uint32_t b = by_order[i];
        if (b == exit_) continue;
        std::uint32_t join = kUndefined;
        for (std::uint32_t next : blocks_[b].next) {
          if (!count_visits()) return;
          if (join_[next] == kUndefined) continue;
          if (join == kUndefined) {
            join = next;
            continue;
          }
          while (join != next) {
            if (!count_visits()) return;
            if (order[join] < order[next])
              join = join_[join];
            else
              next = join_[next];
          }
        }
        if (join_[b] != join) {
          join_[b] = join;
          is_changed = true;
        }
      }
    }
  }

  [[nodiscard]] bool is_entry_parameter(std::string_view name) const {
    return std::any_of(entry_.entry_parameters.begin(), entry_.entry_parameters.end(),
                       [&](const PtxVariable& parameter) { return parameter.name == name; });
  }

  [[nodiscard]] static bool is_block_reduction(const PtxStatement& statement) {
    return is_block_barrier(statement.opcode) && has_ptx_modifier(statement.opcode, ".red") &&
           statement.operands.size() == 3 && statement.operands[1] == "0";
  }

  [[nodiscard]] bool is_divergent_source(const PtxStatement& statement) const {
    if (is_ptx_opcode(statement.opcode, "ld.param")) {
      // A parameter of the entry, by its name or its address in a register; else a function's
      // result.
      bool is_parameter = statement.operands.size() == 2;
      if (is_parameter)
        for_each_ptx_word(statement.operands[1], [&](std::string_view name) {
          if (!name.starts_with('%') && !is_entry_parameter(name)) is_parameter = false;
        });
      return !is_parameter;
    }
    if (is_block_reduction(statement)) return false;  // the same result in all threads
    for (const std::string_view opcode : kDivergentOpcodes)
      if (is_ptx_opcode(statement.opcode, opcode)) return true;
    bool is_source = false;
    for (const std::string_view operand : statement.operands)
      for_each_ptx_word(operand, [&](std::string_view name) {
        for (const std::string_view special : kDivergentRegisters)
          if (name.starts_with(special)) is_source = true;
      });
    return is_source;
  }

  [[nodiscard]] static bool has_result(const PtxStatement& statement) {
    if (statement.operands.empty()) return false;
    if (is_ptx_opcode(statement.opcode, "bar") || is_ptx_opcode(statement.opcode, "barrier"))
      return has_ptx_modifier(statement.opcode, ".red");
    for (const std::string_view opcode : kWithoutResult)
      if (is_ptx_opcode(statement.opcode, opcode)) return false;
    return true;
  }

  void read_instructions() {
    for (std::size_t i = 0; i < statements_.size(); ++i) {
      const PtxStatement& statement = statements_[i];
      if (!statement.is(Kind::Instruction) || !has_result(statement)) continue;
      Assignment assignment{.block = block_of_[i],
                            .is_always_divergent = is_divergent_source(statement)};
      add_words(statement.operands[0], assignment.results);
      for (std::size_t operand = 1; operand < statement.operands.size(); ++operand)
        add_words(statement.operands[operand], assignment.sources);
      if (!statement.guard.empty()) add_words(guard_of(i), assignment.sources);
      if (has_ptx_modifier(statement.opcode, ".cc")) assignment.results.push_back(word(kCarry));
      for (const std::string_view opcode : kWithCarry)
        if (is_ptx_opcode(statement.opcode, opcode)) assignment.sources.push_back(word(kCarry));
      words_in_assignments_ += 1 + assignment.results.size() + assignment.sources.size();
      assignments_.push_back(std::move(assignment));
    }
  }

  // Marks the blocks between a divergent branch and the join of its paths.
  void mark_region(std::uint32_t branch) {
    if (!count_visits(1 + blocks_.size() / 64)) return;
    std::vector<std::uint32_t> stack = blocks_[branch].next;
    std::vector<bool> is_seen(blocks_.size(), false);
    while (!stack.empty()) {
      const std::uint32_t b = stack.back();
      stack.pop_back();
      if (b == exit_ || b == join_[branch] || is_seen[b]) continue;
      if (!count_visits(blocks_[b].next.size())) return;
      is_seen[b] = true;
      is_divergent_block_[b] = true;
      stack.insert(stack.end(), blocks_[b].next.begin(), blocks_[b].next.end());
    }
  }

  // Repeats until nothing changes: each pass but the last taints a word or marks a branch.
  void propagate() {
    is_tainted_.assign(words_.size(), false);
    is_divergent_block_.assign(blocks_.size(), false);
    std::vector<bool> is_marked(blocks_.size(), false);
    const auto is_any_tainted = [this](std::span<const std::uint32_t> words) {
      return std::any_of(words.begin(), words.end(),
                         [this](std::uint32_t word) { return is_tainted_[word]; });
    };
    for (bool is_changed = true;
         is_changed && count_visits(blocks_.size() + words_in_assignments_);) {
      is_changed = false;
      for (std::uint32_t b = 0; b < blocks_.size(); ++b) {
        if (is_marked[b] || !is_any_tainted(blocks_[b].condition)) continue;
        is_marked[b] = true;
        is_changed = true;
        mark_region(b);
      }
      for (const Assignment& assignment : assignments_) {
        if (!assignment.is_always_divergent && !is_divergent_block_[assignment.block] &&
            !is_any_tainted(assignment.sources))
          continue;
        for (const std::uint32_t word : assignment.results) {
          if (is_tainted_[word]) continue;
          is_tainted_[word] = true;
          is_changed = true;
        }
      }
    }
  }

  const PtxFunction& entry_;
  const std::vector<PtxStatement>& statements_;
  std::string problem_;
  std::uint64_t visits_ = 0;
  std::unordered_map<std::string_view, std::uint32_t> words_;
  // Scopes between braces. A label belongs to one of them.
  std::vector<std::uint32_t> outer_scope_{0};
  std::vector<std::uint32_t> scope_of_;                                         // by statement
  std::map<std::pair<std::uint32_t, std::string_view>, std::size_t> label_at_;  // statement
  std::vector<Block> blocks_;
  std::uint32_t exit_ = 0;               // as a block
  std::vector<std::uint32_t> block_of_;  // by statement
  std::vector<std::uint32_t> join_;      // by block: where its paths join
  std::vector<Assignment> assignments_;
  std::size_t words_in_assignments_ = 0;
  std::vector<bool> is_tainted_;  // by word
  std::vector<bool> is_divergent_block_;
};

}  // namespace

DivergenceAnalysis analyse_divergence(const PtxFunction& entry) {
  return DivergenceAnalyser(entry).run();
}

}  // namespace reprise::detail
