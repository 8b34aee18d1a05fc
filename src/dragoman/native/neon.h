/* Products of 8-bit integers on ARM: signed ones, four in each lane.
 *
 * Inputs are stored less 128, so that they are signed like the weights; the zero point is stored so too, and the
 * products are the same integers as elsewhere. */

#pragma once

#include <arm_neon.h>

/* Sums of four lanes, plus four products of `inputs` and bytes of a column in each. */
INLINE int32x4_t add_signed_products(int32x4_t sums, int32_t inputs, const int8_t *columns) {
    const int8x16_t repeated = vreinterpretq_s8_s32(vdupq_n_s32(inputs)), bytes = vld1q_s8(columns);
#ifdef __ARM_FEATURE_DOTPROD
    return vdotq_s32(sums, bytes, repeated);
#else
    /* Two neighbouring products fit into 16 bits: 2 * 128 * 127. */
    const int16x8_t first = vmull_s8(vget_low_s8(bytes), vget_low_s8(repeated));
    const int16x8_t second = vmull_high_s8(bytes, repeated);
    return vpadalq_s16(sums, vpaddq_s16(first, second));
#endif
}

/* Store the lowest byte of each number. */
INLINE void store_lowest_bytes(uint8_t *to, uint32x4_t numbers) {
    const uint16x4_t halves = vmovn_u32(numbers);
    const uint8x8_t bytes = vmovn_u16(vcombine_u16(halves, halves));
    const uint32_t packed = vget_lane_u32(vreinterpret_u32_u8(bytes), 0);
    memcpy(to, &packed, sizeof packed);
}
