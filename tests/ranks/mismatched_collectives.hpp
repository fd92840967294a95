// Graphs whose collectives differ on one rank, which compile() has to refuse on every rank of every
// transport. Threads: values.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <reprise/collectives.hpp>
#include <reprise/reprise.hpp>

namespace reprise::test {

inline constexpr std::uint64_t kMismatchedElements = 100;

struct MismatchCase {
  const char* name;
  std::vector<std::string> expected;  // in the error of every rank
  // Records the commands of this rank, which is the one that differs or not. `x` has
  // kMismatchedElements.
  std::function<void(CommandBuffer&, const Communicator&, const GpuRef<int>& x, bool differs)>
      record;
  bool is_pair = false;  // of a communicator of two ranks
};

// Rank 0 is not the one that differs.
inline std::vector<MismatchCase> mismatch_cases() {
  using Ref = GpuRef<int>;
  return {
      {"swapped order",
       {"collective 1", "all_reduce of 100 i32 (sum)", "broadcast of 100 i32 from rank 0"},
       [](CommandBuffer& cmd, const Communicator& world, const Ref& x, bool differs) {
         const auto sum = all_reduce(world, x, x);
         const auto copy = broadcast(world, x, 0);
         cmd.add(differs ? copy : sum);
         cmd.add(differs ? sum : copy);
       }},
      {"count",
       {"of 100 i32", "of 99 i32"},
       [](CommandBuffer& cmd, const Communicator& world, const Ref& x, bool differs) {
         const Ref part = x.slice(0, differs ? 99 : 100);
         cmd.add(all_reduce(world, part, part));
       }},
      {"type",
       {"of 100 i32", "of 100 f32"},
       [](CommandBuffer& cmd, const Communicator& world, const Ref& x, bool differs) {
         cmd.add(CollectiveOp(world, {.type = differs ? ElementType::F32 : ElementType::I32,
                                      .count = x.size(),
                                      .send = x,
                                      .receive = x}));
       }},
      {"root",
       {"from rank 0", "from rank 1"},
       [](CommandBuffer& cmd, const Communicator& world, const Ref& x, bool differs) {
         cmd.add(broadcast(world, x, differs ? 1 : 0));
       }},
      {"operator",
       {"(sum)", "(max)"},
       [](CommandBuffer& cmd, const Communicator& world, const Ref& x, bool differs) {
         cmd.add(all_reduce(world, x, x, differs ? ReduceOperator::Max : ReduceOperator::Sum));
       }},
      {"missing collective",
       {"collective 2", "rank 0 has all_reduce", " has no further collective"},
       [](CommandBuffer& cmd, const Communicator& world, const Ref& x, bool differs) {
         cmd.add(all_reduce(world, x, x));
         if (!differs) cmd.add(all_reduce(world, x, x));
       }},
      {"additional collective",
       {"collective 2", "rank 0 has no further collective"},
       [](CommandBuffer& cmd, const Communicator& world, const Ref& x, bool differs) {
         cmd.add(all_reduce(world, x, x));
         if (differs) cmd.add(all_reduce(world, x, x));
       }},
      {"another graph",
       {"collective 1", "rank 0 has all_reduce", "has reduce of 50 i32 (min) on rank 1"},
       [](CommandBuffer& cmd, const Communicator& world, const Ref& x, bool differs) {
         if (!differs) return static_cast<void>(cmd.add(all_reduce(world, x, x)));
         const Ref low = x.slice(0, 50), high = x.slice(50, 50);
         cmd.add(reduce(world, low, low, 1, ReduceOperator::Min));
         cmd.copy(low, high);
         cmd.add(broadcast(world, high, 0));
       }},
      {"a receive of another size",
       {"send of 100 i32 to rank 1", "receive of 99 i32 from rank 0"},
       [](CommandBuffer& cmd, const Communicator& world, const Ref& x, bool differs) {
         if (differs)
           cmd.add(receive(world, x.slice(0, 99), 0));
         else
           cmd.add(send(world, x, 1));
       },
       true},
  };
}

}  // namespace reprise::test
