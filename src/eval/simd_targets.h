// The SIMD instruction sets that the evaluator's kernels are compiled for: the baseline, AVX2 and AVX-512 (on x86-64),
// each of them one more compilation of every kernel. Include before any Highway header.
#pragma once

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
