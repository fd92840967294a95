#include "injection/range_name.hpp"

namespace reprise::detail {
namespace {

// In a name that starts with `begins`, the label starts after `after` and ends before the first of
// `before`. An empty `after`: the name's start; `before`: its end.
struct Form {
  std::string_view begins, after, before;
  RangeName::Kind kind = RangeName::Kind::Range;
};

constexpr Form kForms[] = {
    // XLA: XlaModule:#prefix=jit(f),hlo_module=jit_f,program_id=8#
    {"XlaModule:#", "hlo_module=", ",#", RangeName::Kind::Module},
    // XLA: Thunk:#name=jit(f)/while/body/add,hlo_op=loop_add_fusion.1,unique_hlo_op_id=17#
    {"Thunk:#", "hlo_op=", ",#"},
    // XLA: XlaCompile:#module=jit_f,program_id=8#
    {"Xla", "module=", ",#"},
    // torch.profiler
    {"ProfilerStep#", "", "#"},
    {"Optimizer.step#", "#", ""},
    {"Optimizer.zero_grad#", "#", ""},
    // torch.compile: ## Call CompiledFxGraph fzr5... ##
    {"## Call CompiledFxGraph ", "## Call ", " "},
    // Lightning: [pl][profile][Strategy]SingleDeviceStrategy.training_step
    {"[pl][profile]", "[pl][profile]", ""},
    // Hooks of PyTorch modules, as in vLLM: {'Module': 'model.layers.0.mlp', 'Inputs': ...}
    {"{'Module': '", "{'Module': '", "'"},
};

// torch.autograd.profiler.emit_nvtx: aten::addmm, seq = 5, op_id = 21, sizes = [[64], [8, 16]]
constexpr std::string_view kTails[] = {", seq = ", ", op_id = ", ", sizes = ", ", input_op_ids = "};

std::string_view label_of(std::string_view name, const Form& form) {
  if (!name.starts_with(form.begins)) return {};
  const std::size_t at = name.find(form.after);
  if (at == std::string_view::npos) return {};
  const std::string_view label = name.substr(at + form.after.size());
  return form.before.empty() ? label : label.substr(0, label.find_first_of(form.before));
}

}  // namespace

RangeName range_name(std::string_view name) {
  for (const Form& form : kForms) {
    if (const std::string_view label = label_of(name, form); !label.empty())
      return {label, form.kind};
  }
  std::string_view label = name;
  for (const std::string_view tail : kTails) label = label.substr(0, label.find(tail));
  return {label.empty() ? name : label};
}

}  // namespace reprise::detail
