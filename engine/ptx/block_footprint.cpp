#include "ptx/block_footprint.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "ptx/footprint_predicate.hpp"

namespace reprise::detail {

namespace {

using Instruction = FootprintInstruction;
using Op = Instruction::Op;
using Operand = FootprintOperand;
using ValueKind = BlockValue::Kind;

// How often a loop is followed exactly; later iterations are taken together.
constexpr std::uint32_t kExactIterations = 64;
constexpr std::size_t kMaxRanges = 16;          // of a pointer
constexpr std::uint32_t kRegistersOfStep = 32;  // to copy them takes as long as an instruction
constexpr std::uint64_t kMaxPendingRegisters = 1 << 20;
constexpr std::size_t kMaxStops = 16;  // of a register

struct Register {
  BlockValue value;
  std::uint32_t version = 0;  // a new one for each value
  bool is_set = false;
};

struct State {
  std::vector<Register> registers;
  std::vector<BlockPredicate> predicates;
};

// The blocks of a derivation: some columns of the grid. By row, threadIdx.y takes the place of
// blockIdx.z, which is zero: a row of threads is like a block.
struct Part {
  GridBlocks blocks = {1, 1, 1};
  std::uint32_t first_column = 0;
  bool is_by_row = false;
};

class Derivation {
 public:
  Derivation(const FootprintProgram& program, const FootprintLaunch& launch, const Part& part)
      : program_(program), launch_(launch), part_(part) {
    footprint_.pointers.resize(launch.pointers.size());
  }

  Footprint run() {
    if (!program_.problem().empty()) return {.problem = program_.problem()};
    const auto targets = std::count(program_.is_target().begin(), program_.is_target().end(), true);
    if (static_cast<std::uint64_t>(targets) * program_.registers() > kMaxPendingRegisters)
      return {.problem = "has too many branches and registers to follow"};
    loops_.resize(program_.instructions().size() + 1);
    stops_.resize(program_.registers());
    State start;
    start.registers.resize(program_.registers());
    start.predicates.resize(program_.predicates());
    pending_.emplace(0, std::move(start));
    // The earliest first: what follows a loop comes after its iterations.
    while (!pending_.empty() && footprint_.problem.empty()) {
      auto next = pending_.extract(pending_.begin());
      if (begins(next.key(), next.mapped())) run_from(next.key(), std::move(next.mapped()));
    }
    for (PointerFootprint& pointer : footprint_.pointers) {
      if (pointer.is_unbounded) pointer.bytes.clear();
      std::sort(pointer.bytes.begin(), pointer.bytes.end(),
                [](const BlockBytes& a, const BlockBytes& b) {
                  return std::tie(a.step, a.begin, a.end) < std::tie(b.step, b.begin, b.end);
                });
    }
    if (!footprint_.problem.empty()) footprint_.pointers.clear();
    return std::move(footprint_);
  }

 private:
  struct Loop {
    std::uint32_t iterations = 0;
    std::optional<State> state;  // of all later iterations
  };

  void fail(std::string problem) {
    if (footprint_.problem.empty()) footprint_.problem = std::move(problem);
  }

  // --- states ---

  void join_into(State& state, const State& other) {
    for (std::size_t i = 0; i < state.registers.size(); ++i) {
      Register& to = state.registers[i];
      const Register& from = other.registers[i];
      if (!from.is_set) continue;  // no path reads what is not set
      to.value = to.is_set ? join(to.value, from.value) : from.value;
      to.is_set = true;
      if (to.version != from.version) to.version = ++versions_;
    }
    for (std::size_t i = 0; i < state.predicates.size(); ++i)
      if (state.predicates[i] != other.predicates[i]) state.predicates[i] = {};
  }
  void push(std::uint32_t at, State state) {
    steps_ += program_.registers() / kRegistersOfStep;
    const auto [known, is_new] = pending_.try_emplace(at);
    if (is_new) {
      known->second = std::move(state);
    } else {
      join_into(known->second, state);
    }
  }
  [[nodiscard]] static bool is_constrained(const State& state, std::size_t index,
                                           std::uint32_t version) {
    for (const BlockPredicate& predicate : state.predicates)
      for (const std::vector<RegisterConstraint>& constraints : predicate.constraints)
        for (const RegisterConstraint& constraint : constraints)
          if (constraint.index == index && constraint.version == version) return true;
    return false;
  }
  // False: all that can happen from here on has been followed.
  bool begins(std::uint32_t at, State& state) {
    if (!program_.is_loop_start()[at]) return true;
    Loop& loop = loops_[at];
    if (++loop.iterations <= kExactIterations) return true;
    if (!loop.state) {
      loop.state = state;
      return true;
    }
    bool has_changed = false;
    for (std::size_t i = 0; i < state.registers.size(); ++i) {
      Register& known = loop.state->registers[i];
      const Register& now = state.registers[i];
      if (!now.is_set) continue;
      const BlockValue value = known.is_set ? widen(known.value, now.value, stops_[i]) : now.value;
      // Another number: a predicate that an earlier one determined says nothing of it.
      const bool is_stale =
          known.version != now.version && is_constrained(*loop.state, i, known.version);
      if (known.is_set && value == known.value && !is_stale) continue;
      known = {value, ++versions_, true};
      has_changed = true;
    }
    for (std::size_t i = 0; i < state.predicates.size(); ++i) {
      BlockPredicate& known = loop.state->predicates[i];
      if (known == state.predicates[i] || known == BlockPredicate{}) continue;
      known = {};
      has_changed = true;
    }
    state = *loop.state;
    return has_changed;
  }

  // --- values ---

  [[nodiscard]] BlockValue value_of(const State& state, const Operand& operand) const {
    switch (operand.kind) {
      case Operand::Kind::Register: return state.registers[operand.index].value;
      case Operand::Kind::Number: return BlockValue::number(operand.number);
      case Operand::Kind::Symbol: return BlockValue::of_kind(ValueKind::Elsewhere);
      case Operand::Kind::Special: return special(operand);
      default: return BlockValue::unknown();
    }
  }
  [[nodiscard]] BlockValue special(const Operand& operand) const {
    using Special = Operand::Special;
    const std::uint32_t dimension = operand.index;
    const auto below = [](std::uint32_t extent) {
      return BlockValue::within({0, std::int64_t{extent} - 1});
    };
    switch (operand.special) {
      case Special::Thread:
        return part_.is_by_row && dimension == 1 ? block_index(2) : below(launch_.block[dimension]);
      case Special::BlockExtent: return BlockValue::number(launch_.block[dimension]);
      case Special::GridExtent: return BlockValue::number(launch_.grid[dimension]);
      case Special::Lane: return below(32);
      case Special::Block: break;
    }
    return part_.is_by_row && dimension == 2 ? BlockValue::number(0) : block_index(dimension);
  }
  [[nodiscard]] BlockValue block_index(std::uint32_t dimension) const {
    const std::int64_t first = dimension == 0 ? part_.first_column : 0;
    BlockValue value = BlockValue::within({first, first + part_.blocks[dimension] - 1});
    if (part_.blocks[dimension] == 1) return value;
    value.step[dimension] = 1;
    value.rest = {first, first};
    return value;
  }

  // A parameter as the type of the load.
  [[nodiscard]] BlockValue parameter(std::int64_t offset, IntegerType type) const {
    const std::int64_t end = offset + type.bits / 8;
    for (std::uint32_t i = 0; i < launch_.pointers.size(); ++i) {
      const std::int64_t pointer = launch_.pointers[i];
      if (end <= pointer || offset >= pointer + 8) continue;
      if (offset != pointer || type.bits != 64) return BlockValue::of_kind(ValueKind::Mixed);
      BlockValue value = BlockValue::number(0);
      value.kind = ValueKind::Pointer;
      value.pointer = i;
      return value;
    }
    const bool is_unknown = std::any_of(
        launch_.unknown.begin(), launch_.unknown.end(), [&](const FootprintLaunch::Range& range) {
          return end > range.offset && offset < std::int64_t{range.offset} + range.bytes;
        });
    if (is_unknown || type.bits > 64 || offset < 0 ||
        end > static_cast<std::int64_t>(launch_.parameters.size()))
      return BlockValue::within(type.bounds());
    std::uint64_t bits = 0;
    std::memcpy(&bits, launch_.parameters.data() + offset, static_cast<std::size_t>(end - offset));
    if (type.is_signed && type.bits < 64 && (bits >> (type.bits - 1) & 1) != 0)
      bits |= ~std::uint64_t{0} << type.bits;
    return BlockValue::number(static_cast<std::int64_t>(bits));
  }

  [[nodiscard]] BlockValue result_of(const State& state, const Instruction& one) const {
    const auto operand = [&](std::size_t i) { return value_of(state, one.operands[i]); };
    const auto number = [&](std::size_t i) { return as_type(operand(i), one.type); };
    // Bitwise operations and shifts to the left give the same for either sign.
    const auto with_sign = [&](std::size_t i) {
      return as_type(operand(i), {one.type.bits, true});
    };
    switch (one.op) {
      case Op::Move: return operand(0);
      case Op::Convert: {
        const bool is_narrower = one.result_type.bits <= one.type.bits;
        const BlockValue value = is_narrower ? operand(0) : number(0);
        if (one.result_type.bits >= 32 && (!value.is_address() || one.result_type.bits == 64))
          return value;
        return as_type(value, one.result_type);
      }
      case Op::Add: return add(operand(0), operand(1));
      case Op::Subtract: return subtract(operand(0), operand(1));
      case Op::Multiply:
        return one.is_wide ? multiply(number(0), number(1)) : multiply(operand(0), operand(1));
      case Op::MultiplyAdd: {
        const BlockValue product =
            one.is_wide ? multiply(number(0), number(1)) : multiply(operand(0), operand(1));
        return add(product, operand(2));
      }
      case Op::MultiplyHigh: return multiply_high(operand(0), operand(1), one.type, part_.blocks);
      case Op::Divide: return divide(number(0), number(1), part_.blocks);
      case Op::Remainder: return remainder(number(0), number(1), part_.blocks);
      case Op::Minimum: return minimum(number(0), number(1), part_.blocks);
      case Op::Maximum: return maximum(number(0), number(1), part_.blocks);
      case Op::And: return bitwise_and(with_sign(0), with_sign(1), one.type, part_.blocks);
      case Op::Or: return bitwise_or(with_sign(0), with_sign(1));
      case Op::Xor: return bitwise_xor(with_sign(0), with_sign(1));
      case Op::Not: return subtract(BlockValue::number(-1), operand(0));
      case Op::Negate: return subtract(BlockValue::number(0), operand(0));
      case Op::ShiftLeft: return shift_left(operand(0), as_type(operand(1), {}), one.type);
      case Op::ShiftRight: return shift_right(number(0), as_type(operand(1), {}), part_.blocks);
      case Op::Select: return select(state, one);
      default: break;
    }
    return unknown_result(state, one);
  }
  // Mixed if an operand is an address.
  [[nodiscard]] BlockValue unknown_result(const State& state, const Instruction& one) const {
    const bool has_address =
        std::any_of(one.operands.begin(), one.operands.end(),
                    [&](const Operand& operand) { return value_of(state, operand).is_address(); });
    return has_address ? BlockValue::of_kind(ValueKind::Mixed) : BlockValue::unknown();
  }

  [[nodiscard]] BlockValue select(const State& state, const Instruction& one) const {
    const Operand& by = one.operands[2];
    const BlockPredicate unknown,
        &predicate = by.is(Operand::Kind::Predicate) ? state.predicates[by.index] : unknown;
    std::array<std::optional<BlockValue>, 2> values;  // if false; if true
    for (const bool is_true : {true, false}) {
      BlockValue value = value_of(state, one.operands[is_true ? 0 : 1]);
      if (predicate.may_be(is_true) && constrain(state, predicate, is_true, one, value))
        values[is_true ? 1 : 0] = value;
    }
    if (!values[0] || !values[1])
      return (values[0] ? values[0] : values[1]).value_or(BlockValue::unknown());
    // A limit in the place of an index: the blocks whose indexes reach it are few.
    for (const bool is_true : {true, false}) {
      const BlockValue &limit = *values[is_true ? 1 : 0], &index = *values[is_true ? 0 : 1];
      if (!limit.depends_on_block() && index.depends_on_block())
        return join_in_part(limit, index, part_if(state, predicate, is_true, index.step));
    }
    return join(*values[1], *values[0]);
  }
  // Narrows the operand that a selection gives if the predicate has this value. False: it cannot.
  [[nodiscard]] bool constrain(const State& state, const BlockPredicate& predicate, bool is_true,
                               const Instruction& one, BlockValue& value) const {
    const auto holds = [&](const Operand& operand, BlockValue& of) {
      return !operand.is(Operand::Kind::Register) ||
             constrain(predicate, is_true, operand.index, state.registers[operand.index].version,
                       of);
    };
    if (!holds(one.operands[is_true ? 0 : 1], value)) return false;
    const Operand& base = one.operands[is_true ? 3 : 4];
    if (!base.is(Operand::Kind::Register)) return true;
    BlockValue held = value_of(state, base);
    if (!holds(base, held)) return false;
    const BlockValue moved = add(held, BlockValue::number(base.number));
    if (moved.kind == value.kind && moved.pointer == value.pointer &&
        moved.range.is_inside(value.range))
      value = moved;
    return true;
  }
  // Bounds of the sum of step[d] * b[d] for the blocks b in which a predicate has this value.
  [[nodiscard]] Bounds part_if(const State& state, const BlockPredicate& predicate, bool is_true,
                               const std::array<std::int64_t, 3>& step) const {
    Bounds part = part_of_blocks(step, {}, part_.blocks);
    for (const RegisterConstraint& constraint : predicate.constraints[is_true ? 1 : 0]) {
      const Register& of = state.registers[constraint.index];
      BlockValue held = of.value;
      if (of.version != constraint.version ||
          !constrain(predicate, is_true, constraint.index, of.version, held))
        continue;
      const Bounds other = part_of_blocks(step, held, part_.blocks);
      part = {std::max(part.low, other.low), std::min(part.high, other.high)};
    }
    return part;
  }

  // --- predicates ---

  // Narrows the value of a register by what a predicate says of it. False: it cannot be so.
  [[nodiscard]] bool constrain(const BlockPredicate& predicate, bool is_true, std::uint32_t index,
                               std::uint32_t version, BlockValue& value) const {
    for (const RegisterConstraint& constraint : predicate.constraints[is_true ? 1 : 0]) {
      if (constraint.index != index || constraint.version != version) continue;
      BlockValue read = as_type(value, constraint.type);
      if (read.kind != constraint.box.kind || read.pointer != constraint.box.pointer) continue;
      const auto narrowed = [](Bounds a, Bounds b) {
        return Bounds{std::max(a.low, b.low), std::min(a.high, b.high)};
      };
      read.range = narrowed(read.range, constraint.box.range);
      if (read.step == constraint.box.step) read.rest = narrowed(read.rest, constraint.box.rest);
      if (!narrow(read, part_.blocks)) return false;
      value = read;
    }
    return true;
  }
  // False: the predicate cannot have this value.
  [[nodiscard]] bool assume(State& state, std::uint32_t index, bool is_true) const {
    const BlockPredicate predicate = state.predicates[index];
    if (!predicate.may_be(is_true)) return false;
    for (const RegisterConstraint& constraint : predicate.constraints[is_true ? 1 : 0]) {
      Register& of = state.registers[constraint.index];
      if (!constrain(predicate, is_true, constraint.index, of.version, of.value)) return false;
    }
    state.predicates[index] = {.truth = is_true ? BlockPredicate::Truth::True
                                                : BlockPredicate::Truth::False};
    return true;
  }

  // Where a loop that ends with a comparison of this register may stop.
  void add_stops(std::uint32_t index, Bounds x, Bounds y) {
    std::vector<std::int64_t>& stops = stops_[index];
    const auto add_stop = [&](std::int64_t stop) {
      if (stop != Bounds::kLowest && stop != Bounds::kHighest && stops.size() < kMaxStops &&
          std::find(stops.begin(), stops.end(), stop) == stops.end())
        stops.push_back(stop);
    };
    add_stop(x.low);
    add_stop(x.high);
    if (!y.is_one()) return;
    add_stop(y.low - 1);
    add_stop(y.low + 1);
  }
  [[nodiscard]] BlockPredicate compare(const State& state, const Instruction& one) {
    const BlockValue a = as_type(value_of(state, one.operands[0]), one.type),
                     b = as_type(value_of(state, one.operands[1]), one.type);
    if (a.kind != b.kind || a.pointer != b.pointer || (a.is_address() && !a.is(ValueKind::Pointer)))
      return {};
    BlockPredicate predicate;
    const Bounds between = difference(a, b);
    if (always_holds(one.comparison, between)) predicate.truth = BlockPredicate::Truth::True;
    if (always_holds(inverse(one.comparison), between))
      predicate.truth = BlockPredicate::Truth::False;
    for (const bool is_true : {false, true}) {
      const PtxComparison holds = is_true ? one.comparison : inverse(one.comparison);
      const auto add_constraint = [&](const Operand& operand, const BlockValue& x,
                                      const BlockValue& y, PtxComparison comparison) {
        if (!operand.is(Operand::Kind::Register)) return;
        RegisterConstraint made{.index = operand.index,
                                .version = state.registers[operand.index].version,
                                .type = one.type,
                                .box = x};
        made.box.range = allowed(comparison, x.range, y.range);
        made.box.rest = x.step == y.step ? allowed(comparison, x.rest, y.rest) : Bounds{};
        add_stops(operand.index, made.box.range, y.range);
        if (x.step == y.step) add_stops(operand.index, made.box.rest, y.rest);
        if (predicate.truth == BlockPredicate::Truth::Unknown)
          predicate.constraints[is_true ? 1 : 0].push_back(made);
      };
      add_constraint(one.operands[0], a, b, holds);
      add_constraint(one.operands[1], b, a, swapped(holds));
    }
    return predicate;
  }

  [[nodiscard]] BlockPredicate predicate_of(const State& state, const Instruction& one) {
    const auto operand = [&](std::size_t i) {
      return one.operands[i].is(Operand::Kind::Predicate) ? state.predicates[one.operands[i].index]
                                                          : BlockPredicate{};
    };
    switch (one.op) {
      case Op::Compare: return compare(state, one);
      case Op::PredicateMove: return operand(0);
      case Op::PredicateNot: return inverse(operand(0));
      case Op::PredicateAnd: return both(operand(0), operand(1));
      case Op::PredicateOr: return inverse(both(inverse(operand(0)), inverse(operand(1))));
      default: return {};
    }
  }
  // --- accesses ---

  void access(const State& state, const Instruction& one) {
    const Operand& base = one.operands[0];
    BlockValue address = value_of(state, base);
    if (one.guard != Instruction::kNoGuard && base.is(Operand::Kind::Register) &&
        !constrain(state.predicates[one.guard], !one.is_guard_inverted, base.index,
                   state.registers[base.index].version, address))
      return;
    if (address.is(ValueKind::Elsewhere)) return;
    if (!address.is(ValueKind::Pointer))
      return fail("accesses memory whose address is not a parameter");
    address = add(address, BlockValue::number(one.offset));
    PointerFootprint& pointer = footprint_.pointers[address.pointer];
    if (!narrow(address, part_.blocks)) return;
    const std::int64_t bytes = one.bytes;
    BlockBytes made{.step = address.step, .begin = address.rest.low, .lowest = address.range.low};
    if (!address.rest.is_bounded() || !address.range.is_bounded() ||
        __builtin_add_overflow(address.rest.high, bytes, &made.end) ||
        __builtin_add_overflow(address.range.high, bytes, &made.highest)) {
      pointer.is_unbounded = true;
      return;
    }
    add_bytes(pointer.bytes, made);
  }
  // One range takes the place of several that touch; of two with a gap if there are many.
  static void add_bytes(std::vector<BlockBytes>& all, BlockBytes made) {
    const auto merge = [](const BlockBytes& a, const BlockBytes& b) {
      return BlockBytes{.step = a.step,
                        .begin = std::min(a.begin, b.begin),
                        .end = std::max(a.end, b.end),
                        .lowest = std::min(a.lowest, b.lowest),
                        .highest = std::max(a.highest, b.highest)};
    };
    for (std::size_t i = 0; i < all.size();) {
      const bool has_room = all.size() < kMaxRanges;
      const bool touches =
          all[i].step == made.step && all[i].begin <= made.end && made.begin <= all[i].end;
      if (!touches && has_room) {
        ++i;
        continue;
      }
      if (all[i].step != made.step) {
        for (BlockBytes* const of : {&all[i], &made}) {
          of->step = {};
          of->begin = of->lowest;
          of->end = of->highest;
        }
      }
      made = merge(all[i], made);
      all[i] = all.back();
      all.pop_back();
      i = 0;
    }
    all.push_back(made);
  }

  // --- execution ---

  void set(State& state, std::uint32_t index, const BlockValue& value, bool is_certain) {
    Register& of = state.registers[index];
    of.value = is_certain || !of.is_set ? value : join(of.value, value);
    of.is_set = true;
    of.version = ++versions_;
  }

  void run_from(std::uint32_t at, State state) {
    const std::vector<Instruction>& instructions = program_.instructions();
    for (bool is_first = true; at < instructions.size(); ++at, is_first = false) {
      if (!is_first && program_.is_target()[at]) return push(at, std::move(state));
      if (++steps_ > kMaxFootprintSteps) return fail("has too many iterations to follow");
      const Instruction& one = instructions[at];
      bool may_skip = false;
      if (one.guard != Instruction::kNoGuard) {
        const BlockPredicate& guard = state.predicates[one.guard];
        if (!guard.may_be(!one.is_guard_inverted)) continue;
        may_skip = guard.may_be(one.is_guard_inverted);
      }
      if (one.op == Op::Branch || one.op == Op::Return) {
        State taken = state;
        const bool is_possible =
            one.guard == Instruction::kNoGuard || assume(taken, one.guard, !one.is_guard_inverted);
        if (one.op == Op::Branch && is_possible) push(one.target, std::move(taken));
        if (!may_skip || !assume(state, one.guard, one.is_guard_inverted)) return;
        continue;
      }
      execute(state, one, !may_skip);
    }
  }

  void execute(State& state, const Instruction& one, bool is_certain) {
    if (one.op == Op::Access) access(state, one);
    if ((one.op == Op::Access || one.op == Op::Load) && one.writes) {
      for (std::size_t i = 1; i < one.operands.size(); ++i) {
        const BlockValue stored = value_of(state, one.operands[i]);
        if (stored.is(ValueKind::Pointer) || stored.is(ValueKind::Mixed))
          return fail("stores an address");
      }
    }
    for (std::size_t i = 0; i < one.results.size(); ++i) {
      BlockValue value;
      if (one.op == Op::LoadParameter) {
        const std::int64_t bytes = one.type.bits / 8;
        value = parameter(one.offset + static_cast<std::int64_t>(i) * bytes, one.type);
      } else if (one.op == Op::Access || one.op == Op::Load) {
        value = BlockValue::within(one.type.bits < 32 ? one.type.bounds() : Bounds{});
      } else {
        value = result_of(state, one);
      }
      if (!narrow(value, part_.blocks)) value.step = {}, value.rest = value.range = {};
      set(state, one.results[i], value, is_certain);
    }
    const BlockPredicate predicate =
        one.predicates.empty() ? BlockPredicate{} : predicate_of(state, one);
    for (std::size_t i = 0; i < one.predicates.size(); ++i) {
      BlockPredicate& of = state.predicates[one.predicates[i]];
      const BlockPredicate made = i == 0                            ? predicate
                                  : one.op == Op::Compare && i == 1 ? inverse(predicate)
                                                                    : BlockPredicate{};
      of = is_certain || of == made ? made : BlockPredicate{};
    }
  }

  const FootprintProgram& program_;
  const FootprintLaunch& launch_;
  const Part part_;
  Footprint footprint_;
  std::map<std::uint32_t, State> pending_;        // by instruction
  std::vector<Loop> loops_;                       // by instruction
  std::vector<std::vector<std::int64_t>> stops_;  // by register
  std::uint32_t versions_ = 0, steps_ = 0;
};

}  // namespace

Footprint derive_footprint(const FootprintProgram& program, const FootprintLaunch& launch) {
  const auto& [columns, rows, slices] = launch.grid;
  Footprint footprint = Derivation(program, launch, {.blocks = launch.grid}).run();
  const bool has_rows =
      columns > 1 && slices == 1 && launch.block[2] == 1 && (rows > 1 || launch.block[1] > 1);
  const bool is_bounded = std::any_of(footprint.pointers.begin(), footprint.pointers.end(),
                                      [](const PointerFootprint& of) { return !of.bytes.empty(); });
  if (!has_rows || !is_bounded) return footprint;
  // A guard ends the rows of the last column only.
  const std::array<Part, 2> parts = {
      {{.blocks = {columns - 1, rows, launch.block[1]}, .is_by_row = true},
       {.blocks = {1, rows, launch.block[1]}, .first_column = columns - 1, .is_by_row = true}}};
  for (std::size_t i = 0; i < parts.size(); ++i)
    footprint.rows[i] = Derivation(program, launch, parts[i]).run().pointers;
  return footprint;
}

}  // namespace reprise::detail
