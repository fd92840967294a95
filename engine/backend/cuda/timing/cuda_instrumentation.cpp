#include "backend/cuda/timing/cuda_instrumentation.hpp"

#include <timestamps.shaders.hpp>

namespace reprise::detail {

CudaInstrumentation::CudaInstrumentation(const std::shared_ptr<const CudaContext>& context,
                                         const Load& load)
    : begin(load(shaders::reprise_timestamp_begin)),
      end(load(shaders::reprise_timestamp_end)),
      node(load(shaders::reprise_timestamp_node)),
      iteration(load(shaders::reprise_timestamp_iteration)),
      body_node(load(shaders::reprise_timestamp_body_node)),
      readback(std::make_shared<Readback>(context)),
      clock(std::make_unique<GpuClock>(context, readback, load(shaders::reprise_clock_echo))) {}

}  // namespace reprise::detail
