/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of classifying GPU kernels by name; half of the names occur in public traces. */
#include "analyze/classify/kernel_class.h"

#include "analyze/patternfolder.h"
#include "analyze/shippedpatterns.h"

#include "proof.h"

#include "trainprof/base/memory.h"

#include <time.h>

static const struct {
	const char *name;
	const char *family;
	enum tp_kernel_class class;
	enum tp_tensor_use tensor;
} kernels[] = {
	{"volta_sgemm_64x64_nn", "gemm", TP_KERNEL_COMPUTE, TP_TENSOR_NO},
	{"volta_sgemm_64x64_nt", "gemm", TP_KERNEL_COMPUTE, TP_TENSOR_NO},
	{"ampere_sgemm_64x64_nn", "gemm", TP_KERNEL_COMPUTE, TP_TENSOR_NO},
	{"volta_sgemm_128x32_nn", "gemm", TP_KERNEL_COMPUTE, TP_TENSOR_NO},
	{"SubTensorOpWithScalar1d", "layout", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"SubTensorOpWithCastTensor1d", "layout", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"batched_transpose_4x64_half", "layout", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"batched_transpose_64x4_half", "layout", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"volta_scudnn_128x64_relu_small_nn_v1", "conv", TP_KERNEL_COMPUTE, TP_TENSOR_NO},
	{"volta_scudnn_128x128_relu_interior_nn_v1", "conv", TP_KERNEL_COMPUTE, TP_TENSOR_NO},
	{"volta_scudnn_128x64_stridedB_small_nn_v1", "conv", TP_KERNEL_COMPUTE, TP_TENSOR_NO},
	{"volta_scudnn_128x128_stridedB_small_nn_v1", "conv", TP_KERNEL_COMPUTE, TP_TENSOR_NO},
	{"ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", "nccl", TP_KERNEL_COMMUNICATION,
	 TP_TENSOR_NO},
	{"ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)", "nccl",
	 TP_KERNEL_COMMUNICATION, TP_TENSOR_NO},
	{"void cutlass::gemm_nn_128x128<float>(float*)", "gemm", TP_KERNEL_COMPUTE,
	 TP_TENSOR_MAYBE},
	{"ncclDevKernel_Generic(ncclDevKernelArgsStorage)", "nccl", TP_KERNEL_COMMUNICATION,
	 TP_TENSOR_NO},
	{"void at::native::elementwise_add<float>(float*)", "aten", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1", "conv", TP_KERNEL_COMPUTE,
	 TP_TENSOR_NO},
	{"void cudnn::winograd_nonfused::winogradWgradData4x4<float, "
	 "float>(cudnn::winograd_nonfused::WinogradDataParams)",
	 "conv", TP_KERNEL_COMPUTE, TP_TENSOR_NO},
	{"void cudnn::winograd::generateWinogradTilesKernel<0, float, "
	 "float>(cudnn::winograd::GenerateWinogradTilesParams)",
	 "conv", TP_KERNEL_COMPUTE, TP_TENSOR_NO},
	{"cask_cudnn::computeOffsetsKernel(cask_cudnn::ComputeOffsetsParams)", "conv-helper",
	 TP_KERNEL_COMPUTE, TP_TENSOR_NO},
	{"cask_cudnn::computeBOffsetsKernel(cask_cudnn::ComputeBOffsetsParams)", "conv-helper",
	 TP_KERNEL_COMPUTE, TP_TENSOR_NO},
	{"cask_cudnn::computeWgradBOffsetsKernel(cask_cudnn::ComputeWgradBOffsetsParams)",
	 "conv-helper", TP_KERNEL_COMPUTE, TP_TENSOR_NO},
	{"void cudnn::cnn::im2col4d_kernel<float, long>(cudnn::cnn::im2col4d_params)",
	 "conv-helper", TP_KERNEL_COMPUTE, TP_TENSOR_NO},
	{"void fbgemm_gpu::_offsets_range_cuda_kernel<long>(long)", "sparse-index",
	 TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"void fbgemm_gpu::permute_2D_lengths_kernel<int>(int)", "sparse-index", TP_KERNEL_MEMORY,
	 TP_TENSOR_NO},
	{"void recat_copy_async_kernel<float>(long const*)", "sparse-index", TP_KERNEL_MEMORY,
	 TP_TENSOR_NO},
	{"void at::to_dense_representation_kernel<float>(long)", "sparse-index", TP_KERNEL_MEMORY,
	 TP_TENSOR_NO},
	{"void cudnn::ops::scalePackedTensor_kernel<float, float>(cudnnTensor4dStruct)",
	 "elementwise", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"void cub::DeviceScanInitKernel<cub::ScanTileState<int, true> >(cub::ScanTileState)",
	 "scan", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"void cub::DeviceScanKernel<cub::DeviceScanPolicy<int>::Policy600, int*, int*, "
	 "cub::ScanTileState<int, true>, cub::Sum, cub::NullType, int>(int*)",
	 "scan", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"igemm_bwd_gtcx3_nhwc_bf16_bx0_ex1_bt32x64x32_wt16x64x4_ws1x1_wr1x1_ta1x8x1x1_1x4x1x32_"
	 "tb1x8x1x2_1x4x1x32_mh",
	 "conv", TP_KERNEL_COMPUTE, TP_TENSOR_YES},
	{"igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt256x64x8_wt64x16x4_ws1x1_wr2x2_ta1x1x8x1_1x8x1x32_"
	 "tb1x1x2x1_1x8x1x32_me",
	 "conv", TP_KERNEL_COMPUTE, TP_TENSOR_YES},
	{"igemm_wrw_gtcx3_nhwc_bf16_bx0_ex1_bt128x64x32_wt32x32x8_ws1x1_wr1x2_ta1x4x1x4_1x8x1x32_"
	 "tb1x4x1x2_1x8x1x32_gkgs",
	 "conv", TP_KERNEL_COMPUTE, TP_TENSOR_YES},
	{"void cub::DeviceRadixSortExclusiveSumKernel<cub::DeviceRadixSortPolicy<long, int, "
	 "int>::Policy800, int>(int*)",
	 "sort", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"void cub::DeviceRadixSortHistogramKernel<cub::DeviceRadixSortPolicy<long, int, "
	 "int>::Policy800, false, long, int>(int*)",
	 "sort", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"void cub::DeviceRadixSortSingleTileKernel<cub::DeviceRadixSortPolicy<long, int, "
	 "int>::Policy800, false, long, int, int>(long const*)",
	 "sort", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"void cub::DeviceRadixSortOnesweepKernel<cub::DeviceRadixSortPolicy<long, int, "
	 "int>::Policy800, false, long, int, int, int>(int*)",
	 "sort", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"void at::native::vectorized_gather_kernel<(int)16, long>(char *)", "gather-scatter",
	 TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"void (anonymous namespace)::softmax_warp_forward<float, float, float, 10, true>(float*)",
	 "softmax", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"void (anonymous namespace)::softmax_warp_backward<float, float, float, 10, true>(float*)",
	 "softmax", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"void "
	 "cutlass::Kernel2<cutlass_80_simt_sgemm_128x32_8x5_nn_align1>(cutlass_80_simt_sgemm_"
	 "128x32_8x5_nn_align1::Params)",
	 "gemm", TP_KERNEL_COMPUTE, TP_TENSOR_NO},
	{"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_"
	 "segment_k_off_kernel__5x_cublas",
	 "gemm", TP_KERNEL_COMPUTE, TP_TENSOR_YES},
	{"sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize32x32x8_stage3_warpsize1x2x1_ffma_aligna4_"
	 "alignc4_execute_kernel__5x_cublas",
	 "gemm", TP_KERNEL_COMPUTE, TP_TENSOR_NO},
	{"void (anonymous namespace)::indexing_backward_kernel<float, 4>(long*)", "gather-scatter",
	 TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"void at::native::(anonymous namespace)::searchsorted_cuda_kernel<float, long>(long*)",
	 "gather-scatter", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"void at::native::index_elementwise_kernel<128, 4, "
	 "at::native::index_copy_kernel_impl<at::native::OpaqueType<4> >(at::TensorIterator&, "
	 "long, long, long)::{lambda(int)#1}>(int)",
	 "gather-scatter", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"void cunn_ClassNLLCriterion_updateGradInput_kernel<float>(float*)", "loss",
	 TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"void "
	 "cutlass::Kernel<cutlass_80_tensorop_s1688gemm_64x64_16x6_nn_align4>(cutlass_80_tensorop_"
	 "s1688gemm_64x64_16x6_nn_align4::Params)",
	 "gemm", TP_KERNEL_COMPUTE, TP_TENSOR_YES},
	{"void at::native::vectorized_elementwise_kernel<(int)2, at::native::AbsFunctor<long>, "
	 "std::array<char *, (unsigned long)2>>(int)",
	 "elementwise", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"void at::native::vectorized_elementwise_kernel<(int)2, at::native::FillFunctor<long>, "
	 "std::array<char *, (unsigned long)1>>(int)",
	 "fill", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"void nchwToNhwcKernel<float, float, float, true, false, (cudnnKernelDataType_t)0>(int)",
	 "layout", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"void nhwcToNchwKernel<float, float, float, true, false, (cudnnKernelDataType_t)0>(int)",
	 "layout", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"void cub::DeviceCompactInitKernel<cub::ReduceByKeyScanTileState<int, int, true>, "
	 "int*>(cub::ReduceByKeyScanTileState)",
	 "reduce", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"void splitKreduce_kernel<float, float, float, float>(cublasSplitKParams)",
	 "gemm-epilogue", TP_KERNEL_COMPUTE, TP_TENSOR_NO},
	{"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>(int)",
	 "norm", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"void at::native::(anonymous namespace)::GammaBetaBackwardCUDAKernel<float, float>(long)",
	 "norm", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"void at::native::(anonymous namespace)::layer_norm_grad_input_kernel<float, float>(float "
	 "const*)",
	 "norm", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"void at::native::reduce_kernel<(int)512, (int)1, at::native::ReduceOp<float, "
	 "at::native::MeanOps<float, float, float, float>, unsigned int, float, (int)4, "
	 "(int)4>>(T3)",
	 "reduce", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"void epilogue::impl::globalKernel<float, float, float, true, true>(int)", "gemm-epilogue",
	 TP_KERNEL_COMPUTE, TP_TENSOR_NO},
	{"void at::native::(anonymous namespace)::max_pool_forward_nchw<float, float>(int)", "pool",
	 TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"void at::native::(anonymous namespace)::max_pool_backward_nchw<float, float>(int)",
	 "pool", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"void at::native::elementwise_kernel<(int)128, (int)2, void "
	 "at::native::gpu_kernel_impl_nocast<at::native::CUDAFunctor_add<long>>(at::"
	 "TensorIteratorBase &, const T1 &)::[lambda(int) (instance 1)]>(int)",
	 "elementwise", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"void <unnamed>::elementwise_kernel_with_index<int, at::native::arange_cuda_out(const "
	 "c10::Scalar &, const c10::Scalar &, const c10::Scalar &, at::Tensor &)::[lambda() "
	 "(instance 1)]::operator ()() const::[lambda() (instance 4)]::operator ()() "
	 "const::[lambda(long) (instance 1)]>(T1, T2, function_traits<T2>::result_type *)",
	 "elementwise", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, 512, true, 1>(cudnnTensorStruct)",
	 "norm", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"void cudnn::bn_bw_1C11_kernel_new<float, float, float2, 512, true, 1>(float)", "norm",
	 TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"void dot_kernel<float, 128, 0, cublasDotParams<cublasGemvTensorStridedBatched<float "
	 "const>, cublasGemvTensorStridedBatched<float> > >(cublasDotParams)",
	 "gemv", TP_KERNEL_COMPUTE, TP_TENSOR_NO},
	{"void at::native::vectorized_elementwise_kernel<4, "
	 "at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda(float)#1}, "
	 "std::array<char*, 2ul> >(int)",
	 "cast-copy", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"void at::native::(anonymous namespace)::CatArrayBatchedCopy<long, unsigned int, 2, 128, "
	 "1>(long*)",
	 "concat", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"void multi_tensor_apply_kernel<TensorListMetadata<4>, AdamFunctor<float>, float, float, "
	 "float, float, float, float, adamMode_t, float, int, int>(int)",
	 "optimizer", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, "
	 "128, 4, false, false, cutlass::bfloat16_t, pytorch_flash::Flash_kernel_traits<64, 128, "
	 "128, 4, cutlass::bfloat16_t> >, false, true, false, false, false, true, "
	 "false>(pytorch_flash::Flash_fwd_params)",
	 "attention", TP_KERNEL_COMPUTE, TP_TENSOR_YES},
	{"void at::native::(anonymous namespace)::indexSelectLargeIndex<float, int, unsigned int, "
	 "1, 1, -2, true>(at::cuda::detail::TensorInfo)",
	 "embedding", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage)", "nccl",
	 TP_KERNEL_COMMUNICATION, TP_TENSOR_NO},
	{"ncclDevKernel_SendRecv(ncclDevKernelArgsStorage)", "nccl", TP_KERNEL_COMMUNICATION,
	 TP_TENSOR_NO},
	{"ncclSymkDevKernel_AllGather_LL(ncclSymkDevWorkArgs4K)", "nccl", TP_KERNEL_COMMUNICATION,
	 TP_TENSOR_NO},
	{"ncclKernel_AllReduce_TREE_LL_Sum_half(ncclDevComm*)", "nccl", TP_KERNEL_COMMUNICATION,
	 TP_TENSOR_NO},
	{"ncclReduceScatterRingLLKernel_sum_f16(ncclColl)", "nccl", TP_KERNEL_COMMUNICATION,
	 TP_TENSOR_NO},
	{"_Z23ncclDevKernel_Generic_424ncclDevKernelArgsStorageILm4096EE", "nccl",
	 TP_KERNEL_COMMUNICATION, TP_TENSOR_NO},
	{"void dpsk::ep::internode::combine<false, 4, __nv_bfloat16, 8>(int4*)", "moe-exchange",
	 TP_KERNEL_COMMUNICATION, TP_TENSOR_NO},
	{"void dpsk::ep::internode::notify_dispatch<false, 4>(int const*)", "moe-exchange",
	 TP_KERNEL_COMMUNICATION, TP_TENSOR_NO},
	{"void dpsk::ep::cuda::get_dispatch_layout<256, 32, 4>(long const*)", "moe-exchange",
	 TP_KERNEL_COMMUNICATION, TP_TENSOR_NO},
	{"void deep_ep::internode_ll::dispatch<true, false, 7168>(void*)", "moe-exchange",
	 TP_KERNEL_COMMUNICATION, TP_TENSOR_NO},
	{"void hybrid_ep::dispatch_kernel<__nv_bfloat16>(float*)", "moe-exchange",
	 TP_KERNEL_COMMUNICATION, TP_TENSOR_NO},
	{"void sglang::cross_device_reduce_2stage<__nv_bfloat16, 8>(sglang::RankData*)",
	 "custom-reduce", TP_KERNEL_COMMUNICATION, TP_TENSOR_NO},
	{"void c10d::symmetric_memory::two_shot_all_reduce_kernel_inplace<c10::BFloat16, 16, "
	 "8>(float**)",
	 "custom-reduce", TP_KERNEL_COMMUNICATION, TP_TENSOR_NO},
	{"void multimem_all_gather_kernel<16>(char*)", "custom-reduce", TP_KERNEL_COMMUNICATION,
	 TP_TENSOR_NO},
	{"void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<float, "
	 "8>(int)",
	 "custom-reduce", TP_KERNEL_COMMUNICATION, TP_TENSOR_NO},
	{"kuserbuffers_pullsend(int)", "user-buffers", TP_KERNEL_COMMUNICATION, TP_TENSOR_NO},
	{"void horovod::common::batched_scaled_memcpy_k<float, 256>(int)", "helper",
	 TP_KERNEL_COMMUNICATION, TP_TENSOR_NO},
	{"nvshmemi_signal_op_kernel(unsigned long*)", "nvshmem", TP_KERNEL_COMMUNICATION,
	 TP_TENSOR_NO},
	{"void mine::ring_reduce_scatter<float>(float*)", "collective", TP_KERNEL_COMMUNICATION,
	 TP_TENSOR_NO},
	{"triton_poi_fused_all_gather_into_tensor_view_3", "fused-pointwise", TP_KERNEL_MEMORY,
	 TP_TENSOR_NO},
	{"void flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128, 64, 128, 4> "
	 ">(Flash_fwd_params)",
	 "attention", TP_KERNEL_COMPUTE, TP_TENSOR_YES},
	{"void flash_bwd_convert_dq_kernel<Flash_bwd_kernel_traits<128, 64, 128, 8> "
	 ">(Flash_bwd_params)",
	 "attention", TP_KERNEL_COMPUTE, TP_TENSOR_YES},
	{"void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnBwdSm90<float> > "
	 ">(int)",
	 "attention", TP_KERNEL_COMPUTE, TP_TENSOR_YES},
	{"cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_f16_knob_26_64x128x128_kernel0_0",
	 "attention", TP_KERNEL_COMPUTE, TP_TENSOR_YES},
	{"fmha_cutlassB_f16_aligned_64x64_k64_sm80(PyTorchMemEffAttention::AttentionBackwardKernel:"
	 ":Params)",
	 "attention", TP_KERNEL_COMPUTE, TP_TENSOR_YES},
	{"_ZN7ck_tile6kentryILi1ENS_13FmhaFwdKernelINS_8PipelineE", "attention", TP_KERNEL_COMPUTE,
	 TP_TENSOR_YES},
	{"_attn_bwd_dq", "attention", TP_KERNEL_COMPUTE, TP_TENSOR_YES},
	{"triton_tem_fused_flex_attention_1", "attention", TP_KERNEL_COMPUTE, TP_TENSOR_YES},
	{"triton_tem_fused_mm_0", "gemm", TP_KERNEL_COMPUTE, TP_TENSOR_YES},
	{"triton_per_fused_add_native_layer_norm_native_layer_norm_backward_9", "fused-reduction",
	 TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"triton_red_fused_sum_0", "fused-reduction", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"triton_mystery", "triton", TP_KERNEL_MEMORY, TP_TENSOR_MAYBE},
	{"nvjet_tst_256x128_64x4_1x2_h_bz_coopA_TNT", "gemm", TP_KERNEL_COMPUTE, TP_TENSOR_YES},
	{"nvjet_sm90_qqtst_128x128_128x6_2x1_v_bz_TNT", "gemm", TP_KERNEL_COMPUTE, TP_TENSOR_YES},
	{"void deep_gemm::sm90_fp8_gemm_1d2d_impl<1u, 7168u, 2048u, 1u, 128u, 128u>(float*)",
	 "gemm", TP_KERNEL_COMPUTE, TP_TENSOR_YES},
	{"void "
	 "cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x128_64x3_tn_align8>("
	 "int)",
	 "gemm", TP_KERNEL_COMPUTE, TP_TENSOR_YES},
	{"void cutlass::Kernel<cutlass::gemm::kernel::Gemm<cutlass::arch::OpClassTensorOp, float> "
	 ">(int)",
	 "gemm", TP_KERNEL_COMPUTE, TP_TENSOR_YES},
	{"void cutlass::Kernel<cutlass::gemm::kernel::Gemm<cutlass::arch::OpClassSimt, float> "
	 ">(int)",
	 "gemm", TP_KERNEL_COMPUTE, TP_TENSOR_NO},
	{"ampere_bf16_s16816gemm_bf16_256x128_ldg8_f2f_stages_64x3_tn", "gemm", TP_KERNEL_COMPUTE,
	 TP_TENSOR_YES},
	{"ampere_s1688gemm_fp32_128x128_ldg4_relu_f2f_stages_32x3_tn", "gemm", TP_KERNEL_COMPUTE,
	 TP_TENSOR_YES},
	{"sm90_xmma_gemm_e4m3bf16_e4m3f32_f32_tn_n_tilesize64x128x128_execute_kernel__5x_cublas",
	 "gemm", TP_KERNEL_COMPUTE, TP_TENSOR_YES},
	{"sm80_xmma_gemm_f64f64_f64f64_f64_nn_n_tilesize64x64x8_dfma_execute_kernel__5x_cublas",
	 "gemm", TP_KERNEL_COMPUTE, TP_TENSOR_NO},
	{"maxwell_sgemm_128x64_nn", "gemm", TP_KERNEL_COMPUTE, TP_TENSOR_NO},
	{"Cijk_Alik_Bljk_F8BS_BH_Bias_SAV_UserArgs_MT256x256x128_MI16x16x1_SN", "gemm",
	 TP_KERNEL_COMPUTE, TP_TENSOR_YES},
	{"Cijk_Ailk_Bljk_SB_MT64x64x8_SN_APM1_ISA900", "gemm", TP_KERNEL_COMPUTE, TP_TENSOR_MAYBE},
	{"void ck_tile::kentry<1, ck_tile::GemmKernel<ck_tile::TilePartitioner> >(int)", "gemm",
	 TP_KERNEL_COMPUTE, TP_TENSOR_YES},
	{"void cublasLt::splitKreduce_kernel<32, 16, int, __nv_bfloat16, "
	 "float>(cublasLt::cublasSplitKParams)",
	 "gemm-epilogue", TP_KERNEL_COMPUTE, TP_TENSOR_NO},
	{"void gemv2N_kernel<int, int, float, float, float, float, 128, 1, 4, 4, 1, false>(float)",
	 "gemv", TP_KERNEL_COMPUTE, TP_TENSOR_NO},
	{"std::enable_if<!T7, void>::type internal::gemvx::kernel<int, int, __nv_bfloat16, "
	 "(bool)0>(T13)",
	 "gemv", TP_KERNEL_COMPUTE, TP_TENSOR_NO},
	{"void geqrf_panel_kernel<float>(int)", "linear-algebra", TP_KERNEL_COMPUTE, TP_TENSOR_NO},
	{"sm80_xmma_wgrad_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nhwc_"
	 "tilesize128x64x32_tensor16x8x8_kernel__5x_cudnn",
	 "conv", TP_KERNEL_COMPUTE, TP_TENSOR_YES},
	{"sm90_xmma_dgrad_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize128x128x64_"
	 "cudnn",
	 "conv", TP_KERNEL_COMPUTE, TP_TENSOR_YES},
	{"sm80_xmma_dgrad_implicit_gemm_f32f32_f32f32_f32_nhwckrsc_nhwc_tilesize64x64x8_ffma_"
	 "execute_kernel__5x_cudnn",
	 "conv", TP_KERNEL_COMPUTE, TP_TENSOR_NO},
	{"void "
	 "cutlass__5x_cudnn::Kernel<cutlass_tensorop_s1688fprop_optimized_tf32_128x128_16x4_nhwc_"
	 "align4>(int)",
	 "conv", TP_KERNEL_COMPUTE, TP_TENSOR_YES},
	{"turing_fp16_s1688cudnn_fp16_128x128_ldg8_relu_f2f_exp_interior_nhwc_tn_v1", "conv",
	 TP_KERNEL_COMPUTE, TP_TENSOR_YES},
	{"void cudnn::detail::dgrad_engine<float, 512, 6, 5, 3, 3, 3, false>(int)", "conv",
	 TP_KERNEL_COMPUTE, TP_TENSOR_NO},
	{"void implicit_convolve_sgemm<__half, __half, 1024, 5, 5, 3, 3, 3, 1>(int)", "conv",
	 TP_KERNEL_COMPUTE, TP_TENSOR_NO},
	{"void cudnn::cnn::conv2d_grouped_direct_kernel<false, true, false, true, 0, 0, int, "
	 "float>(float)",
	 "conv", TP_KERNEL_COMPUTE, TP_TENSOR_NO},
	{"_ZN2ck16tensor_operation6device12_GLOBAL__N_139kernel_grouped_conv_fwd_xdl_cshuffle_"
	 "v3INS_28"
	 "GridwiseGemm_xdl_cshuffle_v3ILNS1_18GemmSpecializationE7ELi128EEEEEvT_",
	 "conv", TP_KERNEL_COMPUTE, TP_TENSOR_YES},
	{"miopenSp3AsmConv_v21_1_3_gfx9_fp16_dot2_edc_f3x2_dilation2", "conv", TP_KERNEL_COMPUTE,
	 TP_TENSOR_NO},
	{"naive_conv_ab_nonpacked_bwd_nchw_float_double_float", "conv", TP_KERNEL_COMPUTE,
	 TP_TENSOR_NO},
	{"igemm_bwd_gtcx2_nhwc_fp32_bx0_ex0_bt128x128x16_wt32x32x2_ws1x1", "conv",
	 TP_KERNEL_COMPUTE, TP_TENSOR_YES},
	{"Im2d2Col", "conv-helper", TP_KERNEL_COMPUTE, TP_TENSOR_NO},
	{"void vector_fft<512u, 8u, 8u, float>(kernel_arguments_t)", "fft", TP_KERNEL_COMPUTE,
	 TP_TENSOR_NO},
	{"void cudnn::engines_precompiled::nchwToNhwcKernel<float, float, float, false, true, "
	 "2>(float)",
	 "layout", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"__amd_rocclr_copyBuffer", "copy", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"__amd_rocclr_copyBufferRectAligned", "copy", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"__amd_rocclr_fillBufferAligned", "fill", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"MIOpenBatchNormBwdSpatialDX", "norm", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"void at::native::batch_norm_transform_input_channels_last_kernel<c10::Half, float, "
	 "float, 4>(float)",
	 "norm", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"void layer_norm::ln_fwd_kernel<layer_norm::Kernel_traits<float> >(layer_norm::FwdParams)",
	 "norm", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"void cuApplyLayerNorm<float, float, float>(float*)", "norm", TP_KERNEL_MEMORY,
	 TP_TENSOR_NO},
	{"_layer_norm_fwd_1pass_kernel", "norm", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"void scaled_upper_triang_masked_softmax_warp_forward<float, float, float, 11>(float*)",
	 "softmax", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"void vllm::moe::topkGatingSoftmax<8, 256, 4, 16, int>(float const*)", "moe-routing",
	 TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
	 "namespace)::FusedOptimizerTensorListMetadata<5>, at::native::(anonymous "
	 "namespace)::FusedAdamMathFunctor<float, 5, 1, true> >(float)",
	 "optimizer", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
	 "namespace)::TensorListMetadata<1>, at::native::(anonymous "
	 "namespace)::LpNormFunctor<float, 1> >(int)",
	 "optimizer", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"void split_embedding_backward_codegen_adam_unweighted_kernel_cta_per_row_1<float, "
	 "float>(int)",
	 "embedding", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"void transformer_engine::delayed_scaling_recipe::amax_history_update<float>(float)",
	 "quantize", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"_per_token_group_quant_8bit", "quantize", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"void at::native::elementwise_kernel_manual_unroll<128, 4, "
	 "at::native::gpu_kernel_impl_nocast<at::native::direct_copy_kernel_cuda(at::"
	 "TensorIteratorBase&)::{lambda()#3}> >(int)",
	 "cast-copy", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"void at::native::(anonymous namespace)::masked_dropout_kernel<float>(float*)", "dropout",
	 TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"void at::native::vectorized_elementwise_kernel<8, "
	 "at::native::GeluBackwardCUDAKernelImpl(at::TensorIteratorBase&)::{lambda()#1}, "
	 "std::array<char*, 3ul> >(int)",
	 "activation", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"void at::native::mbtopk::radixFindKthValues<float, unsigned int, unsigned int, 4, "
	 "1>(float)",
	 "sort", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"void rocprim::detail::lookback_scan_kernel<float>(float*)", "scan", TP_KERNEL_MEMORY,
	 TP_TENSOR_NO},
	{"void thrust::cuda_cub::core::_kernel_agent<thrust::cuda_cub::__transform::F<int>, "
	 "int>(int)",
	 "cub", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_10AbsFunctorIfEEEviT0_T1_",
	 "elementwise", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"void at::native::something_new_kernel<float>(float*)", "aten", TP_KERNEL_MEMORY,
	 TP_TENSOR_NO},
	{"void fbgemm_gpu::index_select_scalar_cumsum_kernel<long>(long)", "embedding",
	 TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"void fbgemm_gpu::a_gemm_helper<float>(float*)", "fbgemm", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"void mine::my_gemm<float>(float*)", "gemm", TP_KERNEL_COMPUTE, TP_TENSOR_MAYBE},
	{"gemm_fusion_dot_7", "gemm", TP_KERNEL_COMPUTE, TP_TENSOR_YES},
	{"loop_convert_fusion", "fused-pointwise", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"input_add_reduce_fusion_2", "fused-pointwise", TP_KERNEL_MEMORY, TP_TENSOR_NO},
	{"fusion_7", "xla-fusion", TP_KERNEL_MEMORY, TP_TENSOR_MAYBE},
	{"at::cuda::(anonymous namespace)::spin_kernel(long)", "spin", TP_KERNEL_OTHER,
	 TP_TENSOR_NO},
	{"kernel_1", "unknown", TP_KERNEL_OTHER, TP_TENSOR_MAYBE},
	{"my_physics_solver(float*)", "unknown", TP_KERNEL_OTHER, TP_TENSOR_MAYBE},
	{"", "unknown", TP_KERNEL_OTHER, TP_TENSOR_MAYBE},
};

START_TEST(kernels_have_class_family_and_tensor_use)
{
	const struct tp_kernel_row *row = tp_kernel_row_find(patterns, kernels[_i].name);
	ck_assert_msg(strcmp(row->family, kernels[_i].family) == 0 &&
			      row->class == kernels[_i].class && row->tensor == kernels[_i].tensor,
		      "%s: row %s, family %s, class %d, tensor %d", kernels[_i].name, row->id,
		      row->family, (int)row->class, (int)row->tensor);
}
END_TEST

/* If one of these were classified as math, a large share of the time would be wrong. */
START_TEST(names_that_resemble_communication_are_not_communication)
{
	static const char *const names[] = {
		"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float> >(int)",
		"void at::native::_scatter_gather_elementwise_kernel<128, 8, int>(int)",
		"void splitKreduce_kernel<float, float, float, float>(cublasSplitKParams<float>)",
		"triton_red_fused_all_reduce_sum_0",
		"loop_all-reduce_fusion",
		"void recat_copy_async_kernel<float>(long const*)",
		"void permute_pooled_embs_kernel<float>(float const*)",
		"void broadcast_add<float>(float*)",
		"hipLaunchKernel",
	};
	for (size_t i = 0; i < TP_ARRAY_LEN(names); i++)
		ck_assert_msg(tp_kernel_row_find(patterns, names[i])->class !=
				      TP_KERNEL_COMMUNICATION,
			      "%s", names[i]);
}
END_TEST

START_TEST(names_that_no_row_knows_are_unknown_and_weak)
{
	const struct tp_kernel_row *row = tp_kernel_row_find(patterns, "my_physics_solver(int)");
	ck_assert_str_eq(row->id, "unknown");
	ck_assert_int_eq(row->bound, TP_BOUND_UNKNOWN);
	ck_assert(row->is_weak);
	ck_assert(tp_kernel_row_find(patterns, "fancy_gemm(float*)")->is_weak);
	ck_assert(!tp_kernel_row_find(patterns, "volta_sgemm_64x64_nn")->is_weak);
}
END_TEST

START_TEST(bounds_follow_from_the_class_unless_said)
{
	ck_assert_int_eq(tp_kernel_row_find(patterns, "volta_sgemm_64x64_nn")->bound,
			 TP_BOUND_COMPUTE);
	ck_assert_int_eq(tp_kernel_row_find(patterns, "void gemv2T_kernel_val<int>(int)")->bound,
			 TP_BOUND_MEMORY);
	ck_assert_int_eq(tp_kernel_row_find(patterns, "triton_poi_fused_add_0")->bound,
			 TP_BOUND_MEMORY);
	ck_assert_int_eq(tp_kernel_row_find(patterns, "ncclDevKernel_SendRecv(int)")->bound,
			 TP_BOUND_UNKNOWN);
}
END_TEST

START_TEST(tokens_match_together_at_the_start_only)
{
	static const char rows[] =
		"{\"id\": \"one\", \"base\": [\"^Ab&cd&ef\", \"^zz\"], \"not\": [\"no\"],"
		" \"class\": \"memory\", \"family\": \"x\"},\n"
		"{\"id\": \"two\", \"base\": [\"f\"], \"head\": [\"q&^f\", \"w\"],"
		" \"class\": \"compute\", \"family\": \"x\", \"bound\": \"memory\","
		" \"tensor\": \"yes\", \"weak\": true}";
	static const struct {
		const char *name;
		const char *id;
	} cases[] = {{"ab-ef-cd", "one"},  {"xab-ef-cd", "unknown"}, {"ab-cd", "unknown"},
		     {"ZZ", "one"},        {"zz<no>", "unknown"},    {"xzz", "unknown"},
		     {"f<q>(int)", "two"}, {"f(q)", "unknown"},      {"xf<w>", "two"},
		     {"xf<q>", "unknown"}, {"g<fq>", "unknown"}};
	struct tp_patterns *own;
	struct tp_error err;
	ck_assert_msg(load_rows(&own, rows, &err) == TP_OK, "%s", err.text);
	for (size_t i = 0; i < TP_ARRAY_LEN(cases); i++)
		ck_assert_msg(strcmp(tp_kernel_row_find(own, cases[i].name)->id, cases[i].id) == 0,
			      "%s", cases[i].name);
	const struct tp_kernel_row *row = tp_kernel_row_find(own, "f<w>");
	ck_assert_int_eq(row->bound, TP_BOUND_MEMORY);
	ck_assert_int_eq(row->tensor, TP_TENSOR_YES);
	ck_assert(row->is_weak);
	tp_patterns_free(own);
}
END_TEST

START_TEST(rows_of_kernels_with_mistakes_are_refused)
{
#define ROW "\"id\": \"a\", \"family\": \"x\", \"class\": \"memory\""
	assert_refused("{" ROW "}", ":2: neither base nor head in 'a'");
	assert_refused("{" ROW ",\n\"bases\": [], \"base\": [\"x\"]}",
		       ":3: unknown key 'bases'; nearest: base");
	assert_refused("{" ROW ", \"base\": []}", ":2: empty list: 'base'");
	assert_refused("{" ROW ", \"base\": [\"\"]}", ":2: empty text in ''");
	assert_refused("{" ROW ", \"base\": [\"a&\"]}", ":2: empty text in 'a&'");
	assert_refused("{" ROW ", \"base\": [\"&a\"]}", ":2: empty text in '&a'");
	assert_refused("{" ROW ", \"base\": [\"^\"]}", ":2: empty text in '^'");
	assert_refused("{" ROW ", \"head\": \"x\"}", ":2: not a list: 'head'");
	assert_refused("{" ROW ", \"base\": [\"x\"],\n\"tensor\": \"maybee\"}",
		       ":3: unknown word 'maybee'; nearest: maybe");
	assert_refused("{" ROW ", \"base\": [\"x\"],\n\"bound\": \"memroy\"}",
		       ":3: unknown word 'memroy'; nearest: memory");
	assert_refused("{" ROW ", \"base\": [\"x\"],\n\"weak\": \"yes\"}",
		       ":3: neither true nor false: 'weak'");
	assert_refused("{" ROW ", \"base\": [\"x\"]},\n{" ROW ", \"base\": [\"y\"]}",
		       ":3: taken already: 'a'");
	assert_refused("{\"id\": \"unknown\", \"family\": \"x\", \"class\": \"memory\", \"base\": "
		       "[\"x\"]}",
		       ":2: taken already: 'unknown'");
	assert_refused("{\"base\": [\"x\"]}", ":2: no text: 'id'");
	assert_refused("{\"id\": \"a\", \"base\": [\"x\"]}", ":2: no text: 'family'");
	assert_refused("{\"id\": \"a\", \"family\": \"x\", \"base\": [\"x\"]}",
		       ":2: no class in 'a'");
	assert_refused("{\"id\": \"a\", \"family\": \"x\", \"base\": [\"x\"], \"class\": \"comm\"}",
		       ":2: unknown word 'comm'");
#undef ROW
}
END_TEST

/* The lowest of several rounds counts: time that the host takes from a virtual CPU may be accounted
 * as ours. */
START_TEST(a_name_takes_less_than_20_us)
{
	enum { ROUNDS = 20 };
	double least_ns = 1e18;
	for (int round = 0; round < ROUNDS; round++) {
		struct timespec from;
		struct timespec to;
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
		for (size_t i = 0; i < TP_ARRAY_LEN(kernels); i++)
			ck_assert_ptr_nonnull(tp_kernel_row_find(patterns, kernels[i].name));
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
		double ns = (double)(to.tv_sec - from.tv_sec) * 1e9 +
			    (double)(to.tv_nsec - from.tv_nsec);
		least_ns = ns < least_ns ? ns : least_ns;
	}
	double each_us = least_ns / 1e3 / (double)TP_ARRAY_LEN(kernels);
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__)
	ck_assert_double_lt(each_us, 20);
#else
	ck_assert_double_lt(each_us, 2000);
#endif
}
END_TEST

Suite *suite_analyze_kernel_class(void);
Suite *suite_analyze_kernel_class(void)
{
	Suite *suite = suite_create("analyze/kernelclass");
	TCase *tc = tcase_create("kernelclass");
	tcase_add_checked_fixture(tc, load, unload);
	tcase_add_loop_test(tc, kernels_have_class_family_and_tensor_use, 0,
			    sizeof(kernels) / sizeof(kernels[0]));
	tcase_add_test(tc, names_that_resemble_communication_are_not_communication);
	tcase_add_test(tc, names_that_no_row_knows_are_unknown_and_weak);
	tcase_add_test(tc, bounds_follow_from_the_class_unless_said);
	tcase_add_test(tc, tokens_match_together_at_the_start_only);
	tcase_add_test(tc, rows_of_kernels_with_mistakes_are_refused);
	suite_add_tcase(suite, tc);
	TCase *proofs = proof_case(suite, "speed");
	tcase_add_checked_fixture(proofs, load, unload);
	tcase_add_test(proofs, a_name_takes_less_than_20_us);
	return suite;
}
