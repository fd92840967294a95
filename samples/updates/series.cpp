#include "series.hpp"

#include "steps.shaders.hpp"

namespace samples {

using namespace reprise;

Series::Series(const Device& device, const SeriesDesc& desc)
    : device_(device),
      desc_(desc),
      pool_(device.create_pool({.label = "series"})),
      queue_(device.create_queue({.label = "series"})) {
  step_ = device.load_kernel(shaders::step);
  step_by_ = device.load_kernel(shaders::step_by);
  state_ = pool_->allocate<unsigned>(desc.values, "state");
  other_ = pool_->allocate<unsigned>(desc.values, "other state");
  result_ = pool_->host<unsigned>(desc.values, "result");
  input_ = filled(queue_, 0);
  last_term_ = DeviceScalar<unsigned>(*pool_, queue_, 0, "last term");
}

GpuRef<unsigned> Series::filled(const Queue& queue, unsigned value) {
  auto buffer = pool_->allocate<unsigned>(desc_.values, "input " + std::to_string(value));
  CommandBuffer commands = device_.create_command_buffer({.label = "fill"});
  commands.begin();
  commands.fill(buffer, value);
  commands.end();
  device_.compile(commands).launch(queue).wait();
  return buffer;
}

CommandBuffer Series::record(const Recipe& recipe) {
  CommandBuffer commands = device_.create_command_buffer({.label = "series"});
  commands.begin();
  const DispatchDesc desc{.grid = ceil_div(desc_.values, 256), .block = 256};
  const std::uint32_t steps = desc_.steps + recipe.more_steps;
  commands.dispatch(step_, desc, read(input_), write(state_), kFactor, recipe.term, desc_.values);
  for (std::uint32_t i = 1; i < steps; ++i) {
    const unsigned term = i == recipe.different_at ? recipe.different_term : recipe.term;
    if (i == desc_.steps / 2) {
      slot_step_ = commands.dispatch(step_, desc, read(state_), read_write(state_), kFactor,
                                     slot("term", kSlotTerm), desc_.values);
    } else {
      commands.dispatch(step_, desc, read(state_), read_write(state_), kFactor, term, desc_.values);
    }
  }
  commands.dispatch(step_by_, desc, read(state_), write(other_), kFactor, read(last_term_),
                    desc_.values);
  commands.copy(other_, result_);
  commands.end();
  return commands;
}

unsigned Series::expected(const Recipe& recipe, const Now& now) const {
  unsigned value = now.first * kFactor + recipe.term;
  for (std::uint32_t i = 1; i < desc_.steps + recipe.more_steps; ++i) {
    if (i == desc_.steps / 2) {
      if (now.slot_step_enabled) value = value * kFactor + now.slot_term;
    } else {
      value = value * kFactor + (i == recipe.different_at ? recipe.different_term : recipe.term);
    }
  }
  return value * kFactor + now.last;
}

}  // namespace samples
