#include "base/kernel_kind.hpp"

#include <cstddef>
#include <string>

namespace reprise::detail {
namespace {

// Both texts are in lower case; an empty one matches any name. `begins`: the name without what it
// returns and without namespaces starts with it, as a whole word.
struct Rule {
  std::string_view begins, contains;
  KernelKind kind;
};

// The first rule that matches applies: names contain the words of other kinds ("implicit_gemm" of
// a convolution, "attention" in a list of fused operations).
constexpr Rule kRules[] = {
    {"", "ncclkernel", KernelKind::Collective},
    {"", "ncclsymk", KernelKind::Collective},
    {"", "nccldevkernel", KernelKind::Collective},
    {"", "allreduce", KernelKind::Collective},
    {"", "all_reduce", KernelKind::Collective},
    {"", "cross_device_reduce", KernelKind::Collective},
    {"", "allgather", KernelKind::Collective},
    {"", "all_gather", KernelKind::Collective},
    {"", "reducescatter", KernelKind::Collective},
    {"", "reduce_scatter", KernelKind::Collective},
    {"", "nvshmem", KernelKind::Collective},
    // Inductor: the operations that it fused follow its prefix.
    {"triton_poi_", "", KernelKind::Elementwise},
    {"triton_for_", "", KernelKind::Elementwise},
    {"triton_red_", "", KernelKind::Reduction},
    {"triton_per_", "", KernelKind::Reduction},
    {"triton_spl_", "", KernelKind::SortScan},
    {"triton_tem_", "flex_attention", KernelKind::Attention},
    {"triton_tem_", "flex_decoding", KernelKind::Attention},
    {"triton_tem_", "convolution", KernelKind::Convolution},
    {"triton_tem_", "", KernelKind::Gemm},
    // PyTorch: one kernel for all functions of elements.
    {"", "fillfunctor", KernelKind::Fill},
    {"", "direct_copy_kernel", KernelKind::Copy},
    {"", "catarraybatchedcopy", KernelKind::Copy},
    {"", "elementwise_kernel", KernelKind::Elementwise},
    {"", "multi_tensor_apply", KernelKind::Elementwise},
    {"", "splitkreduce", KernelKind::Gemm},  // a part of one
    {"reduce_kernel", "", KernelKind::Reduction},
    // CUB, Thrust
    {"", "radixsort", KernelKind::SortScan},
    {"", "radix_sort", KernelKind::SortScan},
    {"", "mergesort", KernelKind::SortScan},
    {"", "bitonicsort", KernelKind::SortScan},
    {"", "devicescan", KernelKind::SortScan},
    {"", "cumsum", KernelKind::SortScan},
    {"", "topk", KernelKind::SortScan},
    {"", "inclusive_scan", KernelKind::SortScan},
    {"", "exclusive_scan", KernelKind::SortScan},
    {"sort", "", KernelKind::SortScan},
    {"scan", "", KernelKind::SortScan},
    {"", "devicereduce", KernelKind::Reduction},
    {"", "segmentedreduce", KernelKind::Reduction},

    {"", "flash_fwd", KernelKind::Attention},
    {"", "flash_bwd", KernelKind::Attention},
    {"", "flashattn", KernelKind::Attention},
    {"", "fmha", KernelKind::Attention},
    {"", "sdpa", KernelKind::Attention},
    {"", "attention", KernelKind::Attention},
    {"", "_attn", KernelKind::Attention},
    {"", "attn_", KernelKind::Attention},

    {"", "nchwtonhwc", KernelKind::Copy},
    {"", "nhwctonchw", KernelKind::Copy},
    {"", "convolution", KernelKind::Convolution},
    {"", "convolve", KernelKind::Convolution},
    {"", "conv1d", KernelKind::Convolution},
    {"", "conv2d", KernelKind::Convolution},
    {"", "conv3d", KernelKind::Convolution},
    {"", "conv_depthwise", KernelKind::Convolution},
    {"", "depthwise_conv", KernelKind::Convolution},
    {"", "fprop", KernelKind::Convolution},
    {"", "dgrad", KernelKind::Convolution},
    {"", "wgrad", KernelKind::Convolution},
    {"", "winograd", KernelKind::Convolution},
    {"", "im2col", KernelKind::Convolution},
    {"", "scudnn", KernelKind::Convolution},
    {"", "884cudnn", KernelKind::Convolution},
    {"", "1688cudnn", KernelKind::Convolution},
    {"", "16816cudnn", KernelKind::Convolution},

    {"", "gemm", KernelKind::Gemm},
    {"", "gemv", KernelKind::Gemm},
    {"nvjet", "", KernelKind::Gemm},
    {"", "matmul", KernelKind::Gemm},
    {"", "scaled_mm", KernelKind::Gemm},
    {"", "grouped_mm", KernelKind::Gemm},
    {"triton_mm", "", KernelKind::Gemm},
    {"triton_bmm", "", KernelKind::Gemm},
    {"", "fused_moe", KernelKind::Gemm},
    {"", "marlin", KernelKind::Gemm},

    {"", "layer_norm", KernelKind::Reduction},
    {"", "layernorm", KernelKind::Reduction},
    {"", "rms_norm", KernelKind::Reduction},
    {"", "rmsnorm", KernelKind::Reduction},
    {"", "group_norm", KernelKind::Reduction},
    {"", "batch_norm", KernelKind::Reduction},
    {"", "batchnorm", KernelKind::Reduction},
    {"", "bn_fw", KernelKind::Reduction},
    {"", "bn_bw", KernelKind::Reduction},
    {"", "rowwisemoments", KernelKind::Reduction},
    {"", "softmax", KernelKind::Reduction},
    {"", "cross_entropy", KernelKind::Reduction},
    {"", "nll_loss", KernelKind::Reduction},
    {"", "max_pool", KernelKind::Reduction},
    {"", "avg_pool", KernelKind::Reduction},
    {"", "pooling", KernelKind::Reduction},
    {"dot_kernel", "", KernelKind::Reduction},
    {"reduce", "", KernelKind::Reduction},
    {"reduce_1block_kernel", "", KernelKind::Reduction},
    // XLA
    {"input_reduce", "", KernelKind::Reduction},
    {"loop_reduce", "", KernelKind::Reduction},
    {"wrapped_reduce", "", KernelKind::Reduction},
    {"", "transpose_fusion", KernelKind::Copy},
    {"", "concatenate_fusion", KernelKind::Copy},
    {"", "slice_fusion", KernelKind::Copy},
    {"loop_broadcast", "", KernelKind::Copy},
    {"loop_gather", "", KernelKind::Copy},
    {"loop_copy", "", KernelKind::Copy},
    {"loop_", "fusion", KernelKind::Elementwise},
    {"wrapped_transpose", "", KernelKind::Copy},
    {"wrapped_concatenate", "", KernelKind::Copy},
    {"wrapped_slice", "", KernelKind::Copy},
    {"wrapped_dynamic", "", KernelKind::Copy},
    {"wrapped_broadcast", "", KernelKind::Copy},
    {"wrapped_gather", "", KernelKind::Copy},
    {"wrapped_copy", "", KernelKind::Copy},
    {"wrapped_", "", KernelKind::Elementwise},

    {"", "pointwise", KernelKind::Elementwise},
    {"", "act_and_mul", KernelKind::Elementwise},
    {"", "rotary_embedding", KernelKind::Elementwise},
    {"", "dropout", KernelKind::Elementwise},
    {"", "op_generic_tensor", KernelKind::Elementwise},
    {"", "op_tensor", KernelKind::Elementwise},
    {"axpy", "", KernelKind::Elementwise},
    {"saxpy", "", KernelKind::Elementwise},
    {"scal_kernel", "", KernelKind::Elementwise},

    {"", "transpose", KernelKind::Copy},
    {"", "indexselect", KernelKind::Copy},
    {"", "index_select", KernelKind::Copy},
    {"", "gather_kernel", KernelKind::Copy},
    {"gather", "", KernelKind::Copy},
    {"copy", "", KernelKind::Copy},
    {"", "copy_kernel", KernelKind::Copy},
    {"", "memcpy", KernelKind::Copy},
    {"fill", "", KernelKind::Fill},
    {"", "fill_kernel", KernelKind::Fill},
    {"", "memset", KernelKind::Fill},
};

constexpr std::size_t kMaxSearched = 4'000;  // characters of a name

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

bool begins_with(std::string_view name, std::string_view word) {
  return name.starts_with(word) &&
         (name.size() == word.size() || !is_letter(word.back()) || !is_letter(name[word.size()]));
}

// "void at::native::reduce_kernel<512>(...)": from "reduce_kernel" on.
std::string_view unqualified(std::string_view name) {
  constexpr std::string_view kAnonymousNamespace = "(anonymous namespace)::";
  if (const std::size_t at = name.find(kAnonymousNamespace); at < name.find('<'))
    name.remove_prefix(at + kAnonymousNamespace.size());
  constexpr std::string_view kReturned = "void ";
  if (name.starts_with(kReturned)) name.remove_prefix(kReturned.size());
  const std::size_t colon = name.substr(0, name.find_first_of("<(")).rfind(':');
  return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

}  // namespace

KernelKind kernel_kind(std::string_view name) {
  std::string lower(name.substr(0, kMaxSearched));
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  const std::string_view all = lower, own = unqualified(all);
  for (const Rule& rule : kRules) {
    if ((rule.begins.empty() || begins_with(own, rule.begins)) &&
        (rule.contains.empty() || all.find(rule.contains) != std::string_view::npos))
      return rule.kind;
  }
  return KernelKind::Other;
}

const char* kernel_kind_name(KernelKind kind) noexcept {
  switch (kind) {
    case KernelKind::Gemm: return "GEMM";
    case KernelKind::Convolution: return "convolution";
    case KernelKind::Attention: return "attention";
    case KernelKind::Collective: return "collective";
    case KernelKind::Elementwise: return "elementwise";
    case KernelKind::Reduction: return "reduction";
    case KernelKind::SortScan: return "sort/scan";
    case KernelKind::Copy: return "copy";
    case KernelKind::Fill: return "fill";
    case KernelKind::Other: break;
  }
  return "other";
}

}  // namespace reprise::detail
