/* SPDX-License-Identifier: Apache-2.0 */
#include "api/pod_common.h"
#include "base/alloc.h"
#include "client/live_private.h"
#include "client/reflector.h"
#include "net/clock.h"

/* Follows all kinds, with one reflector each. */

struct followed {
	struct bt_live_watch *watch;
	const struct bt_live_kind *kind;
	struct bt_reflector *reflector; /* NULL: left out */
	struct bt_strbuf resource;      /* for messages: "leases.coordination.k8s.io" */
	uint32_t version_index;         /* index of the kind's API version */
	/*
	 * The callbacks of the reflector set these members. bt_live_watch_sync handles them later,
	 * outside of the callbacks.
	 */
	bool is_absent;
	bool is_forbidden;
};

struct bt_live_watch {
	struct bt_live *live;
	struct bt_live_watch_sink sink;
	struct bt_prng prng;
	struct bt_pod_commons commons;
	struct followed kinds[BT_LIVE_KIND_COUNT];
	struct berth_error err; /* error that ends bt_live_watch_sync */
	bool is_lost;           /* a failure was reported; no warning until the server answers */
};

static void changed(void *context, struct bt_object *old_object, struct bt_object *new_object,
	BT_UNUSED bool is_stale)
{
	const struct followed *followed = context;
	struct bt_live_watch *watch = followed->watch;
	watch->live->has_answered = true;
	watch->live->last_data_ns = bt_loop_now_ns(watch->live->loop);
	watch->is_lost = false;
	watch->sink.changed(watch->sink.context, old_object, new_object);
}

static void synced(void *context)
{
	const struct followed *followed = context;
	followed->watch->live->last_data_ns = bt_loop_now_ns(followed->watch->live->loop);
}

static void resumed(void *context, int64_t silent_ns, bool is_list)
{
	const struct followed *followed = context;
	struct bt_live_watch *watch = followed->watch;
	watch->is_lost = false;
	watch->sink.gap(watch->sink.context, followed->kind->kind, silent_ns, is_list);
}

static void failed(void *context, const struct bt_rest_answer *answer)
{
	struct followed *followed = context;
	struct bt_live_watch *watch = followed->watch;
	bool had_answered = watch->live->has_answered;
	watch->live->has_answered = had_answered || answer->code != 0;
	if (bt_reflector_is_synced(followed->reflector)) {
		if (answer->class_ != BT_REST_GONE && answer->class_ != BT_REST_EXPIRED) {
			/*
			 * The kind was read before, so the server may recover: only warn, and only
			 * once until the server answers again.
			 */
			struct berth_error err = BERTH_ERROR_INIT;
			struct bt_strbuf line = {0};
			if (!watch->is_lost) {
				watch->is_lost = true;
				(void)bt_live_answer_error(watch->live,
					bt_strbuf_c(&followed->resource), answer, &err);
				bt_strbuf_printf(
					&line, "%s; trying again", berth_error_message(&err));
				watch->sink.warn(watch->sink.context, bt_strbuf_c(&line));
			}
			bt_strbuf_finish(&line);
			berth_error_finish(&err);
		}
		return;
	}
	if (answer->class_ == BT_REST_NOT_FOUND) {
		followed->is_absent = true;
	} else if (answer->class_ == BT_REST_FORBIDDEN && !followed->kind->is_needed) {
		followed->is_forbidden = true;
	} else if (watch->err.code == 0 &&
		(answer->class_ == BT_REST_FORBIDDEN || answer->class_ == BT_REST_UNAUTHORIZED ||
			(answer->class_ == BT_REST_TRANSPORT && !had_answered))) {
		(void)bt_live_answer_error(
			watch->live, bt_strbuf_c(&followed->resource), answer, &watch->err);
	}
}

static void start(struct followed *followed)
{
	struct bt_live_watch *watch = followed->watch;
	enum bt_kind kind = followed->kind->kind;
	const struct bt_reflector_options options = {
		.client = watch->live->client,
		.loop = watch->live->loop,
		.prng = &watch->prng,
		.commons = kind == BT_KIND_POD ? &watch->commons : NULL,
		.streaming = true,
		.sink = {.context = followed,
			.changed = changed,
			.synced = synced,
			.failed = failed,
			.resumed = resumed},
	};
	followed->reflector = bt_reflector_create_of_kind(&options, kind, followed->version_index);
}

struct bt_live_watch *bt_live_watch_create(
	struct bt_live *live, const struct bt_live_watch_sink *sink)
{
	struct bt_live_watch *watch = BT_NEW(struct bt_live_watch);
	watch->live = live;
	watch->sink = *sink;
	watch->err = (struct berth_error)BERTH_ERROR_INIT;
	bt_prng_init(&watch->prng, (uint64_t)bt_clock_wall_ns()); /* only for jitter */
	live->last_data_ns = bt_loop_now_ns(live->loop);
	for (uint32_t i = 0; i < BT_LIVE_KIND_COUNT; i++) {
		struct followed *followed = &watch->kinds[i];
		*followed = (struct followed){.watch = watch, .kind = &bt_live_kinds[i]};
		bt_kind_append_resource(bt_live_kinds[i].kind, &followed->resource);
		start(followed);
	}
	return watch;
}

void bt_live_watch_destroy(struct bt_live_watch *watch)
{
	if (watch == NULL) {
		return;
	}
	for (uint32_t i = 0; i < BT_LIVE_KIND_COUNT; i++) {
		bt_reflector_destroy(watch->kinds[i].reflector);
		bt_strbuf_finish(&watch->kinds[i].resource);
	}
	bt_pod_commons_finish(&watch->commons);
	berth_error_finish(&watch->err);
	bt_free(watch);
}

int bt_live_watch_sync(struct bt_live_watch *watch, const bool *stop, struct berth_error *err)
{
	int result = 0;
	bool is_synced = false;
	while (result == 0 && !is_synced && !*stop) {
		result = bt_live_wait(watch->live, err);
		is_synced = true;
		for (uint32_t i = 0; i < BT_LIVE_KIND_COUNT && result == 0; i++) {
			struct followed *followed = &watch->kinds[i];
			bool is_refused = followed->is_absent || followed->is_forbidden;
			if (is_refused) {
				bt_reflector_destroy(followed->reflector);
				followed->reflector = NULL;
			}
			/* Try the next API version of an absent kind, else leave the kind out. */
			if (followed->is_absent &&
				bt_kind_version_at(
					followed->kind->kind, followed->version_index + 1)
						.length != 0) {
				followed->version_index++;
				followed->is_absent = false;
				start(followed);
			} else if (is_refused && followed->kind->is_needed) {
				result = bt_live_absent_error(
					watch->live, bt_strbuf_c(&followed->resource), err);
			} else if (is_refused) {
				bt_live_warn_left_out(watch->live, followed->kind,
					bt_strbuf_c(&followed->resource), followed->is_absent,
					watch->sink.warn, watch->sink.context);
				followed->is_absent = false;
				followed->is_forbidden = false;
			}
			is_synced = is_synced &&
				(followed->reflector == NULL ||
					bt_reflector_is_synced(followed->reflector));
		}
		if (result == 0 && watch->err.code != 0) {
			result = bt_error_move(err, &watch->err);
		}
	}
	return result;
}

bool bt_live_watch_is_lost(const struct bt_live_watch *watch)
{
	bool is_lost = watch->is_lost;
	for (uint32_t i = 0; i < BT_LIVE_KIND_COUNT && is_lost; i++) {
		const struct bt_reflector *reflector = watch->kinds[i].reflector;
		is_lost = reflector == NULL || !bt_reflector_is_open(reflector);
	}
	return is_lost;
}

void bt_live_watch_for_each(struct bt_live_watch *watch,
	void (*visit)(void *context, const struct bt_object *object), void *context)
{
	for (uint32_t i = 0; i < BT_LIVE_KIND_COUNT; i++) {
		if (watch->kinds[i].reflector != NULL) {
			bt_reflector_for_each(watch->kinds[i].reflector, visit, context);
		}
	}
}
