#include "backend/cuda/cuda_instruments.hpp"

#include <stamps.shaders.hpp>

namespace reprise::detail {

CudaInstruments::CudaInstruments(const std::shared_ptr<const CudaContext>& context, const Load& load)
    : begin(load(shaders::reprise_stamp_begin)),
      end(load(shaders::reprise_stamp_end)),
      node(load(shaders::reprise_stamp_node)),
      round(load(shaders::reprise_stamp_round)),
      inside(load(shaders::reprise_stamp_inside)),
      readback(std::make_shared<Readback>(context)),
      clock(std::make_unique<GpuClock>(context, readback, load(shaders::reprise_clock_echo))) {}

}  // namespace reprise::detail
