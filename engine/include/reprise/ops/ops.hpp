// All ops of the target reprise::ops except the deprecated GraphOpLegacy.
#pragma once

#include <reprise/ops/array_op.hpp>
#include <reprise/ops/fft_op.hpp>
#include <reprise/ops/gemm_op.hpp>
#include <reprise/ops/memcpy_op.hpp>
#include <reprise/ops/rng_op.hpp>
