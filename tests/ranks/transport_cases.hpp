// Cases that every transport passes. Each runs on all ranks at once: in threads of one process or
// in processes. Threads: one for each rank.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/text.hpp"
#include "ranks/expected_collectives.hpp"
#include "support/thrown_by.hpp"

namespace reprise::test {

// Ends the process if an operation takes too long: the other ranks wait for this one.
inline void wait(detail::HostTransport::Operation& operation) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(120);
  while (!operation.poll()) {
    std::this_thread::yield();
    if (std::chrono::steady_clock::now() < limit) continue;
    std::fprintf(stderr, "a collective does not end\n");
    std::_Exit(1);
  }
}

// One rank in a case. Assertions of doctest would end the case of one rank only, and are for one
// thread.
class TransportRank {
 public:
  explicit TransportRank(detail::HostTransport& transport) : transport_(transport) {}

  [[nodiscard]] detail::HostTransport& transport() const { return transport_; }
  [[nodiscard]] std::uint32_t rank() const { return transport_.rank(); }
  [[nodiscard]] std::uint32_t size() const { return transport_.size(); }
  [[nodiscard]] const std::vector<std::string>& faults() const { return faults_; }

  void check(bool is_right, const std::string& what) {
    if (!is_right) faults_.push_back(detail::concat("rank ", rank(), " of ", size(), ": ", what));
  }
  void run(const CollectiveCall& call) { wait(*start(transport_, call)); }
  void check_collective(const CollectiveCase& c, Placement placement) {
    const RankCase own(c, rank(), size(), placement);
    run(own.call());
    check(own.is_as_expected(), name_of(c) + (placement == Placement::InPlace ? ", in place" : ""));
  }
  [[nodiscard]] bool is_same_on_all_ranks(const std::vector<float>& values) {
    std::vector<float> all(values.size() * size());
    run({.kind = CollectiveKind::AllGather,
         .count = values.size(),
         .send = values.data(),
         .receive = all.data()});
    for (std::uint32_t from = 0; from < size(); ++from) {
      if (std::memcmp(all.data() + from * values.size(), values.data(),
                      values.size() * sizeof(float)) != 0)
        return false;
    }
    return true;
  }
  // The result for equal elements, enough that a library uses vector instructions.
  template <class T>
  [[nodiscard]] T reduce_equal(ElementType type, ReduceOperator reduce, T of_rank_0, T of_others) {
    std::vector<T> values(200, rank() == 0 ? of_rank_0 : of_others);
    run({.type = type,
         .reduce = reduce,
         .count = values.size(),
         .send = values.data(),
         .receive = values.data()});
    for (const T& value : values)
      check(std::memcmp(&value, values.data(), sizeof(T)) == 0, "equal elements differ");
    return values[0];
  }

 private:
  detail::HostTransport& transport_;
  std::vector<std::string> faults_;
};

// Every collective gives what plain C++ gives.
inline void check_collectives(TransportRank& own) {
  for (const CollectiveCase& c : all_cases(own.size(), 37)) {
    own.check_collective(c, Placement::Separate);
    own.check_collective(c, Placement::InPlace);
  }
}

// Counts of 0 and 1, and large ones; some ranks work in place while others do not.
inline void check_counts(TransportRank& own) {
  const Placement mixed = own.rank() % 2 == 0 ? Placement::InPlace : Placement::Separate;
  for (const CollectiveKind kind : kCollectives) {
    for (const std::uint64_t count : {0u, 1u, 5u, 30'011u}) {
      for (const Placement placement : {Placement::Separate, Placement::InPlace, mixed})
        own.check_collective(
            {kind, ElementType::F32, ReduceOperator::Average, own.size() - 1, count}, placement);
    }
    own.check_collective({kind, ElementType::BF16, ReduceOperator::Sum, 0, 20'001}, mixed);
  }
}

// A reduction gives the same bytes on all ranks and each time.
inline void check_reductions(TransportRank& own) {
  for (const std::size_t count : {7u, 1'000u, 50'000u}) {
    const auto reduce = [&](ReduceOperator op, bool is_in_place) {
      std::vector<float> input(count), result(count);
      for (std::size_t i = 0; i < count; ++i)
        input[i] = std::sin(static_cast<float>(i + 1000 * own.rank())) * 1e3f;
      if (is_in_place) result = input;
      own.run({.reduce = op,
               .count = count,
               .send = is_in_place ? result.data() : input.data(),
               .receive = result.data()});
      return result;
    };
    for (const ReduceOperator op : kReduceOperators) {
      const std::vector<float> first = reduce(op, true);
      own.check(own.is_same_on_all_ranks(first), "a reduction differs between ranks");
      own.check(reduce(op, false) == first, "a reduction not in place differs");
      own.check(reduce(op, own.rank() == 0) == first, "a reduction in place on one rank differs");
    }
  }
}

// Integers wrap around, and Min and Max ignore a NaN and order zeros.
inline void check_edge_values(TransportRank& own) {
  const auto others = static_cast<std::int64_t>(own.size()) - 1;
  const auto check_sum = [&]<class T>(ElementType type, T of_rank_0, T of_others) {
    const auto sum = static_cast<std::uint64_t>(of_rank_0) +
                     static_cast<std::uint64_t>(of_others) * static_cast<std::uint64_t>(others);
    own.check(
        own.reduce_equal(type, ReduceOperator::Sum, of_rank_0, of_others) == static_cast<T>(sum),
        detail::concat("a sum of ", to_string(type), " does not wrap around"));
  };
  check_sum(ElementType::I8, std::int8_t{100}, std::int8_t{50});
  check_sum(ElementType::U8, std::uint8_t{200}, std::uint8_t{90});
  check_sum(ElementType::I32, std::numeric_limits<std::int32_t>::max(), std::int32_t{1});
  check_sum(ElementType::I64, std::numeric_limits<std::int64_t>::max(), std::int64_t{1});
  own.check(own.reduce_equal(ElementType::U8, ReduceOperator::Product, std::uint8_t{200},
                             std::uint8_t{1}) == 200,
            "a product of U8 is wrong");
  if (own.size() == 1) return;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto reduce = [&](ReduceOperator op, auto a, auto b) {
    return own.reduce_equal(sizeof a == 4 ? ElementType::F32 : ElementType::F64, op, a, b);
  };
  own.check(reduce(ReduceOperator::Min, nan, 2.0f) == 2.0f, "Min does not ignore a NaN");
  own.check(reduce(ReduceOperator::Max, 2.0f, nan) == 2.0f, "Max does not ignore a NaN");
  own.check(std::isnan(reduce(ReduceOperator::Max, nan, nan)), "Max of NaN is a number");
  own.check(std::signbit(reduce(ReduceOperator::Min, 0.0, -0.0)), "Min does not order zeros");
  own.check(!std::signbit(reduce(ReduceOperator::Max, -0.0, 0.0)), "Max does not order zeros");
}

// A group starts sends, receives and collectives together.
inline void check_group(TransportRank& own) {
  const std::uint32_t rank = own.rank(), size = own.size();
  if (size == 1) return;  // all pairs would be the same one, whose order differs
  const std::uint32_t next = (rank + 1) % size, previous = (rank + size - 1) % size;
  const int base = static_cast<int>(rank) * 10;
  // Larger than what MPI sends before the receive is there.
  std::vector<int> first(100'000, base), second(3, base + 1), to_self(100'000, base + 2);
  std::vector<int> received_first(first.size()), received_second(3), from_self(to_self.size());
  std::vector<float> sums(5, 1.0f);
  const CollectiveCall group[] = {send_to(next, first),
                                  sum_of(sums),
                                  send_to(rank, to_self),
                                  send_to(next, second),
                                  receive_from(previous, received_first),
                                  receive_from(rank, from_self),
                                  receive_from(previous, received_second)};
  wait(*own.transport().start(group));
  const int sent = static_cast<int>(previous) * 10;
  own.check(received_first == std::vector<int>(first.size(), sent), "the first receive is wrong");
  own.check(received_second == std::vector<int>(3, sent + 1), "the second receive is wrong");
  own.check(from_self == to_self, "the receive from the own rank is wrong");
  own.check(sums == std::vector<float>(5, static_cast<float>(size)), "the sum is wrong");
}

// Several operations are in progress and complete in any order.
inline void check_progress(TransportRank& own) {
  std::vector<std::vector<float>> values;
  std::vector<std::unique_ptr<detail::HostTransport::Operation>> operations;
  for (std::size_t i = 0; i < 20; ++i)
    values.emplace_back(1 + i * 1000, static_cast<float>(own.rank() + i));
  for (auto& v : values) operations.push_back(start(own.transport(), sum_of(v)));
  for (std::size_t i = operations.size(); i-- > 0;) wait(*operations[i]);
  const std::uint32_t size = own.size();
  for (std::size_t i = 0; i < values.size(); ++i)
    own.check(values[i].back() == static_cast<float>(size * (size - 1) / 2 + i * size),
              detail::concat("operation ", i, " of several is wrong"));
}

// split() makes transports of the ranks with one color, in their order.
inline void check_split(TransportRank& own) {
  const auto part = own.transport().split(own.rank() % 2);
  own.check(part->size() == (own.size() + 1 - own.rank() % 2) / 2, "a part has a wrong size");
  own.check(part->rank() == own.rank() / 2, "the rank in a part is wrong");
  const auto again = part->split(0);
  TransportRank in_part(*again);
  in_part.check_collective({CollectiveKind::AllGather, ElementType::U8, ReduceOperator::Sum, 0, 9},
                           Placement::Separate);
  in_part.check_collective({CollectiveKind::AllReduce, ElementType::F16, ReduceOperator::Sum, 0, 9},
                           Placement::InPlace);
  for (const std::string& fault : in_part.faults()) own.check(false, "in a part, " + fault);
}

// An invalid call is refused before anything starts, with its whole group.
inline void check_invalid_calls(TransportRank& own) {
  std::vector<float> values{1}, others(1);
  const auto is_refused = [&](const CollectiveCall& call) {
    const CollectiveCall group[] = {sum_of(others), call};
    return code_of([&] { static_cast<void>(own.transport().start(group)); }) ==
           ErrorCode::InvalidArgument;
  };
  CollectiveCall call = sum_of(values);
  call.type = ElementType::I32;
  call.reduce = ReduceOperator::Average;
  own.check(is_refused(call), "an average of integers was accepted");
  call = sum_of(values);
  call.kind = CollectiveKind::Broadcast;
  call.peer = own.size();
  own.check(is_refused(call), "a root outside the ranks was accepted");
  call = sum_of(values);
  call.send = nullptr;
  own.check(is_refused(call), "a null pointer was accepted");
  call = sum_of(values);
  call.count = std::uint64_t{1} << 62;
  own.check(is_refused(call), "a count whose bytes overflow was accepted");
  own.run(sum_of(values));
  own.check(values[0] == static_cast<float>(own.size()), "a refused group has started");
}

struct TransportCase {
  const char* name;
  void (*run)(TransportRank& own);
};
inline constexpr TransportCase kTransportCases[] = {{"every collective", check_collectives},
                                                    {"counts", check_counts},
                                                    {"reductions", check_reductions},
                                                    {"edge values", check_edge_values},
                                                    {"group", check_group},
                                                    {"progress", check_progress},
                                                    {"split", check_split},
                                                    {"invalid calls", check_invalid_calls}};

}  // namespace reprise::test
