/* The library itself: the processors that it runs on, and its layout. */

#include "model.h"

#ifdef __x86_64__
#include <cpuid.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#elif defined(__aarch64__) && defined(__APPLE__)
#include <sys/sysctl.h>
#endif

/* The digest of dragoman.h, which the binding compares with its own. */
__attribute__((visibility("default"))) const uint64_t interface = INTERFACE;

/* See dragoman.h. */
void dragoman_geometry(Geometry *geometry) {
    *geometry = (Geometry){.lanes = LANES, .pack = PACK, .operand_bytes = sizeof(Operand)};
#ifdef INT8
    geometry->largest_weight = LARGEST_WEIGHT;
#endif
}

/* Return 1 if an ARM processor has dot products of bytes (FEAT_DotProd). */
static int64_t has_dot_products(void) {
#if defined(__aarch64__) && defined(__linux__)
    return getauxval(AT_HWCAP) >> 20 & 1; /* HWCAP_ASIMDDP */
#elif defined(__aarch64__) && defined(__APPLE__)
    int has = 0;
    size_t size = sizeof has;
    return sysctlbyname("hw.optional.arm.FEAT_DotProd", &has, &size, NULL, 0) == 0 && has == 1;
#else
    return 0;
#endif
}

/* See dragoman.h. bfloat16: the plain one, one with such products. int8: the plain one, AVX2,
 * AVX-VNNI, AVX-512 VNNI, the last with bfloat16 in attention, and on ARM NEON, and NEON with dot products. */
int64_t dragoman_processor(int64_t precision) {
    const int64_t kind = kind_of_processor();
    int64_t has_bfloat16 = 0, has_vnni = 0, has_avx_vnni = 0, has_neon = 0;
#ifdef __x86_64__
    unsigned a, b, c, d;
    has_bfloat16 = kind == 2 && __builtin_cpu_supports("avx512bf16");
    has_vnni = kind == 2 && __builtin_cpu_supports("avx512vnni");
    /* By its bit: older compilers have no name for AVX-VNNI. */
    has_avx_vnni = kind > 0 && __get_cpuid_count(7, 1, &a, &b, &c, &d) && a >> 4 & 1;
#elif defined(__aarch64__)
    has_neon = 1; /* every one has it */
#endif
    if (precision == 1) return 1 | has_bfloat16 << 1;
    if (precision == 2)
        return 1 | (kind > 0) << 1 | has_avx_vnni << 2 | has_vnni << 3 | (has_vnni && has_bfloat16) << 4 |
               has_neon << 5 | has_dot_products() << 6;
    return libraries_of_kind(kind);
}
