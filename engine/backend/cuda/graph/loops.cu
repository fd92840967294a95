// Counts the iterations of a graph's loops in four words per loop: iterations since the loop was
// entered, iterations in the replay, whether the loop reached its limit, and padding. Accesses do
// not overlap: replays of one graph are serialised, and so are the iterations of a loop.
#include <reprise_kernel.hpp>

// Runs before a loop and resets its entry count; before the outermost command it also resets the
// counts of `loops` loops.
REPRISE_KERNEL(reprise_loop_enter, (unsigned long long* loop, unsigned loops)) {
  loop[0] = 0;
  for (unsigned i = 0; i < 4 * loops; ++i) loop[i] = 0;
}

// Ends each iteration, so that no later kernel sets the condition. `stop`: a word that the host
// sets to end the loop; null: none.
REPRISE_KERNEL(reprise_loop_iterate, (unsigned long long* loop, unsigned long long limit,
                                      const unsigned* stop, reprise_condition condition)) {
  const unsigned long long iterations = loop[0] + 1;
  loop[0] = iterations;
  loop[1] = loop[1] + 1;
  const bool is_stopped = stop != nullptr && *static_cast<const volatile unsigned*>(stop) != 0;
  if (iterations == limit) loop[2] = 1;
  if (iterations == limit || is_stopped) reprise_set_condition(condition, 0);
}

// Runs behind a loop in a segment, which counts and limits its iterations itself: clears the
// condition, as the end of a loop does.
REPRISE_KERNEL(reprise_loop_leave, (reprise_condition condition)) {
  reprise_set_condition(condition, 0);
}
