/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Certificates of clients and of authorities. The input is read twice: as a PEM bundle of
 * authorities, and as the DER certificates of a client's chain, in which two bytes of length
 * precede each certificate. A chain that no known authority signed must be refused.
 */
#include <stdint.h>

#include "base/assert.h"
#include "net/certificate.h"

#define CHAIN_MAX 10
#define NOW_SECONDS INT64_C(1800000000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct bt_certificate_authorities *our_authorities(void)
{
	static struct bt_certificate_authorities *authorities;
	struct bt_certificate_pair ca = {.key = {0}};
	int code = 0;

	if (authorities == NULL) {
		code = bt_certificate_make_ca("fuzz", NOW_SECONDS, &ca, NULL);
		BT_ASSERT(code == 0);
		code = bt_certificate_authorities_create(
			bt_strbuf_str(&ca.certificate), &authorities, NULL);
		BT_ASSERT(code == 0);
	}
	bt_certificate_pair_finish(&ca);
	return authorities;
}

static void read_bundle(struct bt_str text)
{
	struct bt_certificate_authorities *authorities = NULL;

	if (bt_certificate_authorities_create(text, &authorities, NULL) == 0) {
		bt_certificate_authorities_destroy(authorities);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bt_str chain[CHAIN_MAX];
	struct bt_certificate_subject subject = {.uid = BT_STR("")};
	struct bt_arena arena = {0};
	uint32_t count = 0;
	size_t at = 0;

	if (size > UINT16_MAX) {
		return 0;
	}
	read_bundle((struct bt_str){(const char *)data, (uint32_t)size});
	while (count < CHAIN_MAX && size - at >= 2) {
		size_t length = (size_t)data[at] << 8 | data[at + 1];
		at += 2;
		length = length < size - at ? length : size - at;
		chain[count++] = (struct bt_str){(const char *)data + at, (uint32_t)length};
		at += length;
	}
	if (count != 0) {
		int code = bt_certificate_verify_client(
			our_authorities(), chain, count, NOW_SECONDS, &arena, &subject, NULL);
		BT_ASSERT(code != 0);
	}
	bt_arena_finish(&arena);
	return 0;
}
