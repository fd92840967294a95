// How often loops of a graph go round: four words a loop: iterations since it was entered,
// iterations of the replay, whether it reached its limit, and one of nothing. Nothing here is
// touched twice at once: replays of one graph follow each other, and so do a loop's iterations.
#include <reprise_kernel.hpp>

// Before a loop: it starts anew; before what is the outermost command, the counts of `loops` loops
// from it on too.
REPRISE_KERNEL(reprise_loop_enter, (unsigned long long* loop, unsigned loops)) {
  loop[0] = 0;
  for (unsigned i = 0; i < 4 * loops; ++i) loop[i] = 0;
}

// In each iteration; where there is a limit, last, so that nobody sets the condition behind it.
REPRISE_KERNEL(reprise_loop_iterate,
               (unsigned long long* loop, unsigned long long limit, reprise_condition condition)) {
  const unsigned long long iterations = loop[0] + 1;
  loop[0] = iterations;
  loop[1] = loop[1] + 1;
  if (iterations != limit) return;
  loop[2] = 1;
  reprise_set_condition(condition, 0);
}
