#include "base/kernel_name.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/kernel_kind.hpp"

namespace reprise::test {

TEST_CASE(
    "kernel name: a C++ name loses what it returns and takes, and keeps its template arguments") {
  CHECK(detail::readable_kernel_name("_Z17application_scalePffj") == "application_scale");
  CHECK(detail::readable_kernel_name("_Z5scaleIfEvPT_S0_j") == "scale<float>");
  CHECK(detail::readable_kernel_name("_ZN2at6native4fillIfEEvPT_S2_") == "at::native::fill<float>");
}

TEST_CASE("kernel name: one that is no C++ name stays") {
  CHECK(detail::readable_kernel_name("sgemm_32x32") == "sgemm_32x32");
  CHECK(detail::readable_kernel_name("") == "");
}

TEST_CASE(
    "kernel name: functions as template arguments and anonymous namespaces are no parameters") {
  CHECK(detail::readable_kernel_name("_ZN12_GLOBAL__N_13addEPfj") == "(anonymous namespace)::add");
  CHECK(detail::readable_kernel_name("_Z3runIXadL_Z4stepfEEEvPf") == "run<&(step(float))>");
}

TEST_CASE(
    "kernel name: the short one has no namespaces, lambdas and lists of parameters, and no more "
    "than a line") {
  CHECK(detail::short_kernel_name("_ZN2at6native4fillIfEEvPT_S2_") == "fill<float>");
  CHECK(detail::short_kernel_name("_ZN12_GLOBAL__N_13addEPfj") == "add");
  CHECK(detail::short_kernel_name("_Z3runIN2ns5inner4GeluIfEEEvPf") == "run<Gelu<float>>");
  CHECK(detail::short_kernel_name("_Z3runIZN2ns4gelu4makeEvEUlfE_EvT_") == "run<make>");
  CHECK(detail::short_kernel_name("sgemm_32x32") == "sgemm_32x32");
  CHECK(detail::short_kernel_name("") == "");
  CHECK(detail::short_kernel_name(std::string(200, 'x')).size() == 60);
}

TEST_CASE("kernel name: what all kernels of a library or compiler share goes, and numbers stay") {
  const std::pair<const char*, const char*> kNames[] = {
      {"triton_poi_fused_add_gelu_0", "add_gelu_0"},
      {"triton_per_fused__softmax_1", "softmax_1"},
      {"triton_tem_fused__to_copy_addmm_gelu_t_view_9", "to_copy_addmm_gelu_t_view_9"},
      {"triton_red_fused__to_copy_add_mul_native_layer_norm_native_layer_norm_backward_view_123",
       "to_copy_add_mul_native_layer_norm_native...backward_view_123"},
      {"triton_tem_fused_0", "triton_tem_fused_0"},
      {"triton_gemm_dot_3", "triton_gemm_dot_3"},
      {"_ZN7cutlass7Kernel2I41cutlass_80_simt_sgemm_64x64_8x5_tn_align1EEvNT_6ParamsE",
       "cutlass_80_simt_sgemm_64x64_8x5_tn_align1"},
      {"_ZN2at6native29vectorized_elementwise_kernelILi4EZZZNS0_18GeluCUDAKernelImplERNS_"
       "18TensorIteratorBaseENS0_8GeluTypeEENKUlvE0_clEvENKUlvE0_clEvEUlfE_St5arrayIPcLm2EEEEvi"
       "T0_T1_",
       "vectorized_elementwise_kernel<4, GeluCUDAKernelImpl>"},
      {"_ZN13pytorch_flash16flash_fwd_kernelINS_23Flash_fwd_kernel_traitsILi64ELi128ELi128ELi4ELb"
       "0ELb0EN7cutlass6half_tENS_19Flash_kernel_traitsILi64ELi128ELi128ELi4ES3_EEEELb0ELb1ELb0ELb"
       "0ELb1ELb1ELb0EEEvNS_16Flash_fwd_paramsE",
       "flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4,..."},
      {"sm80_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize256x64x32_stage3_"
       "warpsize4x1x1_g1_tensor16x8x16_execute_kernel__5x_cudnn",
       "sm80_xmma_fprop_implicit_gemm_f16f16_f16..._g1_tensor16x8x16"},
      {"nvjet_sm90_hsh_96x128_64x7_2x1_v_bz_bias_TNN",
       "nvjet_sm90_hsh_96x128_64x7_2x1_v_bz_bias_TNN"},
      {"_Z40ncclDevKernel_ReduceScatter_Sum_f32_RING24ncclDevKernelArgsStorageILm4096EE",
       "ncclDevKernel_ReduceScatter_Sum_f32_RING"},
      {"loop_add_fusion_1", "loop_add_fusion_1"},
      {"input_reduce_fusion", "input_reduce_fusion"},
      {"wrapped_sine", "wrapped_sine"}};
  for (const auto& [name, expected] : kNames) CHECK(detail::short_kernel_name(name) == expected);
}

TEST_CASE("kernel kind: follows the naming patterns of libraries and compilers") {
  using detail::KernelKind;
  const std::pair<KernelKind, std::vector<const char*>> kKinds[] = {
      {KernelKind::Gemm,
       {"ampere_sgemm_128x64_tn",
        "void cutlass::Kernel2<cutlass_80_simt_sgemm_64x64_8x5_tn_align1>",
        "nvjet_sm90_hsh_96x128_64x7_2x1_v_bz_bias_TNN",
        "sm90_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_"
        "segment_k_off_kernel__5x_cublas",
        "std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int, float>(int)",
        "void cublasLt::splitKreduce_kernel<32, 16, int, float>(int)",
        "triton_tem_fused__to_copy_addmm_gelu_t_view_9", "triton_mm", "gemm_fusion_dot_1"}},
      {KernelKind::Convolution,
       {"sm80_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize256x64x32",
        "sm90_xmma_dgrad_implicit_gemm_f32f32_tf32f32_f32_nhwckrsc_nhwc",
        "void implicit_convolve_sgemm<float, float, 128, 6, 7, 3, 3, 5, 1, false>(int)",
        "ampere_scudnn_128x64_relu_interior_nn_v1",
        "void cudnn::winograd_nonfused::winogradForwardData4x4<float, float>(int)",
        "triton_tem_fused__to_copy_convolution_repeat_unsqueeze_view_2"}},
      {KernelKind::Attention,
       {"void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, "
        "128>>(int)",
        "fmha_cutlassF_f16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<int>)",
        "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x64_4x1x1",
        "triton_tem_fused_flex_attention_backward_split_transpose_2"}},
      {KernelKind::Collective,
       {"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
        "ncclKernel_Broadcast_RING_LL_Sum_int8_t(ncclDevComm*)",
        "void vllm::cross_device_reduce_1stage<float, 2>(int)"}},
      {KernelKind::Elementwise,
       {"void at::native::vectorized_elementwise_kernel<8, "
        "at::native::CUDAFunctor_add<float>>(int)",
        "triton_poi_fused_add_gelu_0", "triton_poi_fused__scaled_dot_product_flash_attention_1",
        "loop_add_fusion_1", "wrapped_sine"}},
      {KernelKind::Reduction,
       {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>(int)",
        "triton_red_fused_native_layer_norm_4", "triton_per_fused__softmax_1",
        "input_reduce_fusion_1", "loop_reduce_window_fusion",
        "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::Half>(int)",
        "void (anonymous namespace)::softmax_warp_forward<float, float, float, 6, true>(int)",
        "void cudnn::bn_fw_tr_1C11_singleread<float, 512>(int)"}},
      {KernelKind::SortScan,
       {"void cub::DeviceRadixSortOnesweepKernel<int>(int)", "void cub::DeviceScanKernel<int>(int)",
        "sort_6_1"}},
      {KernelKind::Copy,
       {"void at::native::(anonymous namespace)::CatArrayBatchedCopy_contig<int>(int)",
        "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda>(int)",
        "void cudnn::ops::nchwToNhwcKernel<float>(int)", "loop_slice_fusion", "wrapped_transpose",
        "input_concatenate_fusion"}},
      {KernelKind::Fill,
       {"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>(int)",
        "fill<float>"}},
      {KernelKind::Other,
       {"set_while_condition", "momentum_step", "fusion_3", "convert_kernel", "scanline_blur",
        ""}}};
  for (const auto& [kind, names] : kKinds) {
    for (const char* name : names) {
      INFO(name);
      CHECK(detail::kernel_kind_name(detail::kernel_kind(name)) ==
            std::string(detail::kernel_kind_name(kind)));
    }
  }
}

TEST_CASE("kernel name: demangled as a whole it keeps all of it") {
  CHECK(detail::demangled("_Z5scaleIfEvPT_f") == "void scale<float>(float*, float)");
  CHECK(detail::demangled("sgemm_32x32") == "sgemm_32x32");
}

TEST_CASE("kernel name: the operation of a kernel of NCCL") {
  CHECK(detail::nccl_operation(
            "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgs<4096>)") == "AllReduce");
  CHECK(detail::nccl_operation(
            "_Z38ncclDevKernel_ReduceScatter_Sum_f32_RING24ncclDevKernelArgsStorageILm4096EE") ==
        "ReduceScatter");
  CHECK(detail::nccl_operation("ncclKernel_Broadcast_RING_LL_Sum_int8_t(ncclDevComm*)") ==
        "Broadcast");
  CHECK(detail::nccl_operation("ncclDevKernel_SendRecv(ncclDevKernelArgs<4096>)") == "SendRecv");
  CHECK(detail::nccl_operation("void run<nccl::Tag, MyKernel_AllReduce>(float*)") == "");
  CHECK(detail::nccl_operation("add") == "");
}

}  // namespace reprise::test
