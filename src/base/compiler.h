/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BASE_COMPILER_H
#define BT_BASE_COMPILER_H
/** Compiler extensions are used only here; gcc 12 and clang 14 support all of them. */
#include <stddef.h>

#define BT_MUST_USE __attribute__((warn_unused_result))
#define BT_PRINTF(format_index, first_argument) \
	__attribute__((format(printf, format_index, first_argument)))
#define BT_UNUSED __attribute__((unused))
#define BT_NORETURN __attribute__((noreturn))
#define BT_COLD __attribute__((cold))
#define BT_NOINLINE __attribute__((noinline))
#define BT_CLEANUP(function) __attribute__((cleanup(function)))
/** The type of an expression, which is not evaluated. */
#define BT_TYPEOF(expression) __typeof__(expression)
#define BT_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define BT_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define BT_ALWAYS_INLINE static inline __attribute__((always_inline))

/** Each macro returns true when the operation overflowed; *out then holds the wrapped result. */
#define BT_ADD_OVERFLOW(a, b, out) __builtin_add_overflow((a), (b), (out))
#define BT_SUB_OVERFLOW(a, b, out) __builtin_sub_overflow((a), (b), (out))
#define BT_MUL_OVERFLOW(a, b, out) __builtin_mul_overflow((a), (b), (out))

#define BT_POPCOUNT64(word) ((unsigned int)__builtin_popcountll(word))
#define BT_CTZ64(word) ((unsigned int)__builtin_ctzll(word)) /* word != 0 */
#define BT_CLZ64(word) ((unsigned int)__builtin_clzll(word)) /* word != 0 */

/** Multiplies two words and XORs the halves of the 128-bit product: the mixing step of hashes. */
static inline unsigned long long bt_multiply_fold(unsigned long long a, unsigned long long b)
{
	__extension__ unsigned __int128 product = (unsigned __int128)a * b;
	return (unsigned long long)product ^ (unsigned long long)(product >> 64);
}

#if defined(__SANITIZE_ADDRESS__)
#define BT_HAVE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BT_HAVE_ASAN 1
#endif
#endif
#ifndef BT_HAVE_ASAN
#define BT_HAVE_ASAN 0
#endif

/** Marks allocated memory that must not be accessed; no effect without AddressSanitizer. */
#if BT_HAVE_ASAN
#include <sanitizer/asan_interface.h>
#define BT_ASAN_POISON(memory, size) ASAN_POISON_MEMORY_REGION((memory), (size))
#define BT_ASAN_UNPOISON(memory, size) ASAN_UNPOISON_MEMORY_REGION((memory), (size))
#else
#define BT_ASAN_POISON(memory, size) ((void)(memory), (void)(size))
#define BT_ASAN_UNPOISON(memory, size) ((void)(memory), (void)(size))
#endif

#define BT_ARRAY_LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/** The arguments are evaluated twice. */
#define BT_MIN(a, b) ((a) < (b) ? (a) : (b))
#define BT_MAX(a, b) ((a) > (b) ? (a) : (b))
/** -1, 0 or 1: the order of two numbers for comparison functions, the smaller one first. */
#define BT_ORDER(a, b) (((a) > (b)) - ((a) < (b)))
/** The order by several keys, given by their orders, the most important one first. */
#define BT_ORDER_BY(...) \
	bt_order_by((const int[]){__VA_ARGS__}, sizeof((const int[]){__VA_ARGS__}) / sizeof(int))

/** Returns the first order that is not 0, or 0. */
static inline int bt_order_by(const int *orders, size_t count)
{
	size_t i = 0;
	while (i + 1 < count && orders[i] == 0) {
		i++;
	}
	return orders[i];
}

/**
 * Defines a static function for qsort: the order of *a and *b, two elements of this type, is the
 * last argument.
 */
#define BT_COMPARE(name, type, ...) \
	static int name(const void *first_element, const void *second_element) \
	{ \
		const type *a = first_element; \
		const type *b = second_element; \
		return __VA_ARGS__; \
	}

/** Prefetches the cache line of an address, which need not be valid. */
#define BT_PREFETCH(address) __builtin_prefetch(address)
#endif
