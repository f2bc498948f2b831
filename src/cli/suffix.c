/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/suffix.h"

/** No vowels and no 0, 1, 3: endings spell no words and look alike to nobody. */
static const char alphabet[] = "bcdfghjklmnpqrstvwxz2456789";

#define BASE (sizeof(alphabet) - 1)
_Static_assert(BASE *BASE *BASE *BASE *BASE == BT_SUFFIX_COUNT, "five characters of the alphabet");

/** Not divisible by 3, so multiplying by it visits every residue; neighbours look unlike. */
#define STRIDE UINT64_C(5754853)

/** FNV-1a: bt_str_hash may differ between machines, names must not. */
static uint64_t stable_hash(struct bt_str text)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	for (uint32_t i = 0; i < text.length; i++) {
		hash = (hash ^ (unsigned char)text.data[i]) * UINT64_C(0x100000001b3);
	}
	return hash;
}

static void spell(uint64_t number, uint32_t length, char *out)
{
	for (uint32_t i = 0; i < length; i++) {
		out[i] = alphabet[number % BASE];
		number /= BASE;
	}
	out[length] = '\0';
}

void bt_suffix_make(struct bt_str prefix, uint32_t index, char *out)
{
	uint64_t start = stable_hash(prefix) % BT_SUFFIX_COUNT;
	spell((start + index % BT_SUFFIX_COUNT * STRIDE) % BT_SUFFIX_COUNT, BT_SUFFIX_LENGTH, out);
}

void bt_suffix_make_hash(struct bt_str name, char *out)
{
	spell(stable_hash(name), BT_HASH_SUFFIX_LENGTH, out);
}
