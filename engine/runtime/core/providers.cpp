#include "runtime/core/instance_core.hpp"

namespace reprise::detail {

std::vector<BackendProvider*> all_providers() {
#if REPRISE_HAS_CUDA
  return {&cuda_provider(), &host_provider()};
#else
  return {&host_provider()};
#endif
}

}  // namespace reprise::detail
