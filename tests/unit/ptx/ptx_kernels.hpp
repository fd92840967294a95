// Small kernels in PTX, as nvcc writes them for sm_90, for the tests of this folder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/persistent_kernel.hpp"

namespace reprise::test {

// A module with `text` after its header.
inline std::string ptx_module_text(std::string_view text) {
  return ".version 9.0\n.target sm_90\n.address_size 64\n" + std::string(text);
}

constexpr std::uint64_t kPtxAddress = 0x7f00'1234'5600;

// The addresses of an image that has every variable.
inline std::uint64_t ptx_address_of(std::string_view variable) {
  return kPtxAddress + variable.size();
}

inline std::string exclusion_of_part(const detail::PersistentPart& part) {
  return rewrite_part(part, ptx_address_of).problem;
}

// `desc` without parts.
inline detail::PersistentKernel make_kernel(
    const std::vector<detail::PersistentPart>& parts, detail::PersistentKernelDesc desc = {},
    const detail::VariableAddress& address_of = ptx_address_of) {
  std::vector<detail::RewrittenPart> rewritten;
  for (const detail::PersistentPart& part : parts)
    rewritten.push_back(rewrite_part(part, address_of));
  std::vector<const detail::RewrittenPart*> pointers;
  for (const detail::RewrittenPart& part : rewritten) pointers.push_back(&part);
  desc.parts = pointers;
  return make_persistent_kernel(desc);
}

// reverse: a barrier in uniform flow. early: one in divergent flow. shuffled: a full mask after an
// early return. calls: a function, which reads a variable. large: 204 bytes of parameters.
// variable: two variables and an atomic operation. local_array: local memory. counted: a reduction.
// dynamic_shared: also a load by ld.global.nc. coordinates: all of them.
constexpr std::string_view kPtxKernels = R"(
.global .align 4 .b8 hits[16];
.const .align 4 .b8 scale[8];
.extern .shared .align 16 .b8 d[];

.func  (.param .b32 func_retval0) twice(
	.param .b32 twice_param_0
)
{
	.reg .f32 	%f<4>;
	ld.param.f32 	%f1, [twice_param_0];
	ld.const.f32 	%f2, [scale];
	fma.rn.f32 	%f3, %f1, 0f40000000, %f2;
	st.param.f32 	[func_retval0+0], %f3;
	ret;
}
	// .globl	reverse
.visible .entry reverse(
	.param .u64 reverse_param_0
)
{
	.reg .f32 	%f<3>;
	.reg .b32 	%r<9>;
	.reg .b64 	%rd<5>;
	// demoted variable
	.shared .align 4 .b8 _ZZ7reverseE1s[256];
	ld.param.u64 	%rd1, [reverse_param_0];
	cvta.to.global.u64 	%rd2, %rd1;
	mov.u32 	%r1, %tid.x;
	mul.wide.u32 	%rd3, %r1, 4;
	add.s64 	%rd4, %rd2, %rd3;
	ld.global.f32 	%f1, [%rd4];
	shl.b32 	%r2, %r1, 2;
	mov.u32 	%r3, _ZZ7reverseE1s;
	add.s32 	%r4, %r3, %r2;
	st.shared.f32 	[%r4], %f1;
	bar.sync 	0;
	mov.u32 	%r5, 63;
	sub.s32 	%r6, %r5, %r1;
	shl.b32 	%r7, %r6, 2;
	add.s32 	%r8, %r3, %r7;
	ld.shared.f32 	%f2, [%r8];
	st.global.f32 	[%rd4], %f2;
	ret;
}
.visible .entry early(
	.param .u64 early_param_0,
	.param .u32 early_param_1
)
{
	.reg .pred 	%p<2>;
	.reg .f32 	%f<3>;
	.reg .b32 	%r<10>;
	.reg .b64 	%rd<5>;
	.shared .align 4 .b8 _ZZ5earlyE1s[256];
	ld.param.u64 	%rd1, [early_param_0];
	ld.param.u32 	%r2, [early_param_1];
	mov.u32 	%r1, %tid.x;
	setp.ge.u32 	%p1, %r1, %r2;
	@%p1 bra 	$L__BB2_2;
	cvta.to.global.u64 	%rd2, %rd1;
	mul.wide.u32 	%rd3, %r1, 4;
	add.s64 	%rd4, %rd2, %rd3;
	ld.global.f32 	%f1, [%rd4];
	shl.b32 	%r3, %r1, 2;
	mov.u32 	%r4, _ZZ5earlyE1s;
	add.s32 	%r5, %r4, %r3;
	st.shared.f32 	[%r5], %f1;
	bar.sync 	0;
	not.b32 	%r6, %r1;
	add.s32 	%r7, %r6, %r2;
	shl.b32 	%r8, %r7, 2;
	add.s32 	%r9, %r4, %r8;
	ld.shared.f32 	%f2, [%r9];
	st.global.f32 	[%rd4], %f2;
$L__BB2_2:
	ret;
}
.visible .entry shuffled(
	.param .u64 shuffled_param_0,
	.param .u32 shuffled_param_1
)
{
	.reg .pred 	%p<3>;
	.reg .b32 	%r<8>;
	.reg .b64 	%rd<5>;
	ld.param.u64 	%rd1, [shuffled_param_0];
	ld.param.u32 	%r2, [shuffled_param_1];
	mov.u32 	%r1, %tid.x;
	setp.ge.s32 	%p1, %r1, %r2;
	@%p1 bra 	$L__BB3_2;
	cvta.to.global.u64 	%rd2, %rd1;
	mul.wide.s32 	%rd3, %r1, 4;
	add.s64 	%rd4, %rd2, %rd3;
	ld.global.u32 	%r3, [%rd4];
	mov.u32 	%r4, 31;
	mov.u32 	%r5, 1;
	mov.u32 	%r6, -1;
	shfl.sync.bfly.b32 	%r7|%p2, %r3, %r5, %r4, %r6;
	st.global.u32 	[%rd4], %r7;
$L__BB3_2:
	ret;
}
.visible .entry calls(
	.param .u64 calls_param_0
)
{
	.reg .f32 	%f<3>;
	.reg .b32 	%r<2>;
	.reg .b64 	%rd<5>;
	ld.param.u64 	%rd1, [calls_param_0];
	cvta.to.global.u64 	%rd2, %rd1;
	mov.u32 	%r1, %tid.x;
	mul.wide.u32 	%rd3, %r1, 4;
	add.s64 	%rd4, %rd2, %rd3;
	ld.global.f32 	%f1, [%rd4];
	{ // callseq 0, 0
	.reg .b32 temp_param_reg;
	.param .b32 param0;
	st.param.f32 	[param0+0], %f1;
	.param .b32 retval0;
	call.uni (retval0),
	twice,
	(
	param0
	);
	ld.param.f32 	%f2, [retval0+0];
	} // callseq 0
	st.global.f32 	[%rd4], %f2;
	ret;
}
.visible .entry large(
	.param .u64 large_param_0,
	.param .align 4 .b8 large_param_1[196]
)
{
	.reg .b32 	%r<8>;
	.reg .b64 	%rd<11>;
	ld.param.u64 	%rd1, [large_param_0];
	mov.b64 	%rd2, large_param_1;
	cvta.to.global.u64 	%rd4, %rd1;
	mov.u32 	%r1, %tid.x;
	and.b32 	%r4, %r1, 31;
	mul.wide.u32 	%rd7, %r4, 4;
	add.s64 	%rd8, %rd2, %rd7;
	ld.param.u32 	%r5, [%rd8];
	ld.param.u32 	%r6, [large_param_1+12];
	add.s32 	%r7, %r6, %r5;
	mul.wide.u32 	%rd9, %r1, 4;
	add.s64 	%rd10, %rd4, %rd9;
	st.global.u32 	[%rd10], %r7;
	ret;
}
.visible .entry variable(
	.param .u64 variable_param_0
)
{
	.reg .f32 	%f<4>;
	.reg .b32 	%r<3>;
	.reg .b64 	%rd<7>;
	ld.param.u64 	%rd1, [variable_param_0];
	cvta.to.global.u64 	%rd2, %rd1;
	mov.u64 	%rd3, hits;
	add.s64 	%rd4, %rd3, 4;
	atom.global.add.u32 	%r1, [%rd4], 1;
	ld.const.f32 	%f1, [scale+4];
	mov.u32 	%r2, %ctaid.y;
	mul.wide.u32 	%rd5, %r2, 4;
	add.s64 	%rd6, %rd2, %rd5;
	ld.global.f32 	%f2, [%rd6];
	mul.f32 	%f3, %f1, %f2;
	st.global.f32 	[%rd6], %f3;
	ret;
}
.visible .entry local_array(
	.param .u64 local_array_param_0,
	.param .u32 local_array_param_1
)
{
	.local .align 16 .b8 	__local_depot7[32];
	.reg .b64 	%SP;
	.reg .b64 	%SPL;
	.reg .pred 	%p<2>;
	.reg .b32 	%r<7>;
	.reg .b64 	%rd<7>;
	mov.u64 	%SPL, __local_depot7;
	ld.param.u64 	%rd1, [local_array_param_0];
	ld.param.u32 	%r1, [local_array_param_1];
	cvta.to.global.u64 	%rd2, %rd1;
	add.u64 	%rd3, %SPL, 0;
	ld.global.u32 	%r2, [%rd2+12];
	st.local.v4.u32 	[%rd3], {%r2, %r1, %r2, %r1};
	mov.u32 	%r3, 0;
$L__BB7_1:
	.pragma "nounroll";
	cvt.u64.u32 	%rd4, %r3;
	and.b64  	%rd5, %rd4, 12;
	add.s64 	%rd6, %rd3, %rd5;
	ld.local.u32 	%r4, [%rd6];
	add.s32 	%r5, %r4, %r3;
	st.local.u32 	[%rd6], %r5;
	add.s32 	%r3, %r3, 4;
	setp.lt.s32 	%p1, %r3, %r1;
	@%p1 bra 	$L__BB7_1;
	st.global.u32 	[%rd2], %r5;
	ret;
}
.visible .entry counted(
	.param .u64 counted_param_0
)
{
	.reg .b32 	%r<4>;
	.reg .b64 	%rd<5>;
	ld.param.u64 	%rd1, [counted_param_0];
	cvta.to.global.u64 	%rd2, %rd1;
	mov.u32 	%r1, %tid.x;
	mul.wide.u32 	%rd3, %r1, 4;
	add.s64 	%rd4, %rd2, %rd3;
	ld.global.u32 	%r2, [%rd4];
	{
	.reg .pred 	%p1;
	setp.ne.u32 	%p1, %r2, 0;
	bar.red.popc.u32 	%r3, 0, %p1;
	}
	st.global.u32 	[%rd4], %r3;
	ret;
}
.visible .entry dynamic_shared(
	.param .u64 dynamic_shared_param_0,
	.param .u64 dynamic_shared_param_1
)
{
	.reg .b32 	%r<9>;
	.reg .b64 	%rd<8>;
	.shared .align 4 .b8 fixed[20];
	ld.param.u64 	%rd1, [dynamic_shared_param_0];
	ld.param.u64 	%rd2, [dynamic_shared_param_1];
	cvta.to.global.u64 	%rd3, %rd2;
	cvta.to.global.u64 	%rd4, %rd1;
	mov.u32 	%r1, %tid.x;
	mul.wide.u32 	%rd5, %r1, 4;
	add.s64 	%rd6, %rd4, %rd5;
	ld.global.nc.L1::no_allocate.u32 	%r2, [%rd6];
	shl.b32 	%r3, %r1, 2;
	mov.u32 	%r4, d;
	add.s32 	%r5, %r4, %r3;
	st.shared.u32 	[%r5], %r2;
	st.shared.u32 	[fixed+16], %r2;
	bar.sync 	0;
	xor.b32  	%r6, %r3, 4;
	add.s32 	%r7, %r4, %r6;
	ld.shared.u32 	%r8, [%r7];
	add.s64 	%rd7, %rd3, %rd5;
	st.global.u32 	[%rd7], %r8;
	ret;
}
.visible .entry coordinates(
	.param .u64 .ptr .global .align 16 coordinates_param_0
)
{
	.reg .b32 	%r<16>;
	.reg .b64 	%rd<3>;
	ld.param.u64 	%rd1, [coordinates_param_0];
	cvta.to.global.u64 	%rd2, %rd1;
	mov.u32 	%r1, %tid.x;
	mov.u32 	%r2, %tid.y;
	mov.u32 	%r3, %tid.z;
	mad.lo.s32 	%r4, %r1, %ntid.x, %ntid.y;
	mad.lo.s32 	%r5, %r2, %ctaid.z, %nctaid.x;
	st.global.v4.u32 	[%rd2], {%r1, %r3, %r4, %r5};
	mov.u32 	%r6, %dynamic_smem_size;
	st.global.u32 	[%rd2+16], %r6;
	exit;
}
)";

}  // namespace reprise::test
