/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_PAGES_H
#define BT_DAEMON_PAGES_H
/**
 * The answers of the HTTPS endpoints to an authorized caller: every path of spec 11 section 9.4.
 */
#include "base/prng.h"
#include "daemon/endpoints.h"
#include "daemon/reply.h"

struct bt_pages;

/**
 * options: must live as long as the pages, which read flags, gates and versions and call its
 * functions.
 */
BT_MUST_USE struct bt_pages *bt_pages_create(
	const struct bt_endpoints_options *options, uint64_t seed);
void bt_pages_destroy(struct bt_pages *pages);
void bt_pages_answer(struct bt_pages *pages, const struct bt_page_request *request,
	int64_t wall_now_ns, struct bt_reply *reply);

struct bt_zpage_facts {
	const struct bt_daemon_options *options;
	int64_t started_ns;
	struct bt_prng prng;
	struct bt_strbuf flagz; /* computed once */
};

void bt_flagz_answer(struct bt_zpage_facts *facts, const struct bt_page_request *request,
	struct bt_reply *reply);
void bt_statusz_answer(struct bt_zpage_facts *facts, const struct bt_page_request *request,
	int64_t wall_now_ns, struct bt_reply *reply);

#endif
