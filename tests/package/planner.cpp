// Links reprise::planner alone: plans three buffers and checks the peak, and that an invalid list
// is refused.
#include <cstdio>
#include <vector>

#include <reprise/error.hpp>
#include <reprise/memory_plan.hpp>

int main() {
  const std::vector<reprise::BufferLifetime> buffers = {{.lower = 0, .upper = 3, .size = 4096},
                                                        {.lower = 2, .upper = 5, .size = 1024},
                                                        {.lower = 3, .upper = 6, .size = 4096}};
  const reprise::MemoryPlan plan = reprise::plan_memory(buffers);
  if (plan.peak_bytes != 5120 || plan.offsets.size() != buffers.size()) {
    std::fprintf(stderr, "planner_check: the peak is %llu bytes, expected 5120\n",
                 static_cast<unsigned long long>(plan.peak_bytes));
    return 1;
  }
  try {
    static_cast<void>(reprise::plan_memory(
        std::vector<reprise::BufferLifetime>{{.lower = 1, .upper = 1, .size = 8}}));
  } catch (const reprise::Error& error) {
    if (error.code() == reprise::ErrorCode::InvalidArgument) return 0;
  }
  std::fprintf(stderr, "planner_check: an empty lifetime was accepted\n");
  return 1;
}
