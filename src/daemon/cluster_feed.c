/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cluster_feed.h"

#include "api/pod_common.h"
#include "base/alloc.h"
#include "base/assert.h"
#include "base/log.h"
#include "base/vec.h"
#include "config/gates.h"

#define NO_GATE BT_GATE__COUNT

/** The resources to watch, whatever plugins the profiles enable. Spec 11b section 5.1. */
static const struct watched {
	enum bt_kind kind;
	enum bt_gate gate; /* NO_GATE: always */
	const char *field_selector;
} watched[] = {
	{BT_KIND_NODE, NO_GATE, ""},
	{BT_KIND_NAMESPACE, NO_GATE, ""},
	{BT_KIND_POD, NO_GATE, "status.phase!=Succeeded,status.phase!=Failed"},
	{BT_KIND_SERVICE, NO_GATE, ""},
	{BT_KIND_REPLICATION_CONTROLLER, NO_GATE, ""},
	{BT_KIND_REPLICA_SET, NO_GATE, ""},
	{BT_KIND_STATEFUL_SET, NO_GATE, ""},
	{BT_KIND_POD_DISRUPTION_BUDGET, NO_GATE, ""},
	{BT_KIND_PERSISTENT_VOLUME, NO_GATE, ""},
	{BT_KIND_PERSISTENT_VOLUME_CLAIM, NO_GATE, ""},
	{BT_KIND_STORAGE_CLASS, NO_GATE, ""},
	{BT_KIND_CSI_NODE, NO_GATE, ""},
	{BT_KIND_CSI_DRIVER, NO_GATE, ""},
	{BT_KIND_CSI_STORAGE_CAPACITY, NO_GATE, ""},
	{BT_KIND_VOLUME_ATTACHMENT, NO_GATE, ""},
	{BT_KIND_RESOURCE_CLAIM, BT_GATE_DYNAMIC_RESOURCE_ALLOCATION, ""},
	{BT_KIND_RESOURCE_SLICE, BT_GATE_DYNAMIC_RESOURCE_ALLOCATION, ""},
	{BT_KIND_DEVICE_CLASS, BT_GATE_DYNAMIC_RESOURCE_ALLOCATION, ""},
	{BT_KIND_DEVICE_TAINT_RULE, BT_GATE_DRA_DEVICE_TAINT_RULES, ""},
	{BT_KIND_POD_GROUP, BT_GATE_GENERIC_WORKLOAD, ""},
};

/** One watched resource. */
struct source {
	struct bt_cluster_feed *feed;
	const struct watched *watched;
	struct bt_reflector *reflector;
	bool is_synced;
};

struct kept_change {
	struct bt_object *old_object;
	struct bt_object *new_object;
	bool is_stale; /* a deletion that no event reported: old_object may be outdated */
};

struct bt_cluster_feed {
	struct bt_cluster_feed_options options;
	struct source sources[BT_ARRAY_LENGTH(watched)];
	struct bt_pod_commons commons;
	uint32_t waiting; /* number of sources whose first list is incomplete */
	uint32_t held;    /* nesting depth of bt_cluster_feed_hold */
	BT_VEC(struct kept_change) kept;
	bool is_synced;
	bool has_failed;
};

static void observe_change(struct bt_cluster_feed *feed, const struct kept_change *change)
{
	const struct bt_cluster_feed_options *options = &feed->options;
	struct berth_error err = BERTH_ERROR_INIT;
	int64_t now_ns = options->now_ns(options->context);
	if (feed->has_failed) {
		return;
	}
	int result = change->is_stale
		? bt_scheduler_observe_lost(options->scheduler, change->old_object, now_ns, &err)
		: bt_scheduler_observe(
			  options->scheduler, change->old_object, change->new_object, now_ns, &err);
	if (result == BERTH_ERR_INTERNAL) {
		feed->has_failed = true;
		options->failed(options->context, &err);
	} else if (result < 0) {
		BT_LOG_ERROR_PLAIN(berth_error_message(&err), "Failed to handle a change");
	}
	berth_error_finish(&err);
}

static void update_synced(struct bt_cluster_feed *feed)
{
	if (feed->waiting == 0 && feed->held == 0 && !feed->is_synced && !feed->has_failed) {
		feed->is_synced = true;
		feed->options.synced(feed->options.context);
	}
}

static void changed(
	void *context, struct bt_object *old_object, struct bt_object *new_object, bool is_stale)
{
	const struct source *source = context;
	struct bt_cluster_feed *feed = source->feed;
	struct kept_change change = {old_object, new_object, is_stale && new_object == NULL};
	if (feed->held == 0) {
		observe_change(feed, &change);
		return;
	}
	change.old_object = old_object != NULL ? bt_object_share(old_object) : NULL;
	change.new_object = new_object != NULL ? bt_object_share(new_object) : NULL;
	bt_vec_push(&feed->kept, change);
}

static void synced(void *context)
{
	struct source *source = context;
	BT_ASSERT(!source->is_synced && source->feed->waiting != 0);
	source->is_synced = true;
	source->feed->waiting--;
	update_synced(source->feed);
}

void bt_cluster_feed_hold(struct bt_cluster_feed *feed)
{
	feed->held++;
}

void bt_cluster_feed_release(struct bt_cluster_feed *feed)
{
	BT_ASSERT(feed->held != 0);
	if (--feed->held != 0) {
		return;
	}
	if (feed->kept.count != 0) {
		/*
		 * A worker of the loop may be the caller of this function and must handle these
		 * changes, too: run the workers once more.
		 */
		bt_loop_call_at(feed->options.loop, bt_loop_now_ns(feed->options.loop));
	}
	for (uint32_t i = 0; i < feed->kept.count; i++) {
		observe_change(feed, &feed->kept.items[i]);
		bt_object_release(feed->kept.items[i].old_object);
		bt_object_release(feed->kept.items[i].new_object);
	}
	bt_vec_finish(&feed->kept);
	update_synced(feed);
}

struct bt_cluster_feed *bt_cluster_feed_create(const struct bt_cluster_feed_options *options)
{
	struct bt_cluster_feed *feed = BT_NEW(struct bt_cluster_feed);
	feed->options = *options;
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(watched); i++) {
		feed->sources[i] = (struct source){.feed = feed, .watched = &watched[i]};
	}
	return feed;
}

void bt_cluster_feed_start(struct bt_cluster_feed *feed)
{
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(watched); i++) {
		if (watched[i].gate == NO_GATE ||
			bt_gate_enabled(feed->options.gates, watched[i].gate)) {
			feed->waiting++;
			struct source *source = &feed->sources[i];
			const struct bt_cluster_feed_options *shared = &feed->options;
			enum bt_kind kind = watched[i].kind;
			/* Claims are written back as a whole. */
			bool is_complete = (kind == BT_KIND_POD && shared->complete.pods) ||
				(kind == BT_KIND_NODE && shared->complete.nodes) ||
				kind == BT_KIND_RESOURCE_CLAIM;
			bool is_packed = kind == BT_KIND_POD || kind == BT_KIND_NODE;
			struct bt_reflector_options options = {
				.client = shared->client,
				.loop = shared->loop,
				.prng = shared->prng,
				.decode_json = is_complete ? bt_complete_object_decode : NULL,
				.commons = is_packed ? &feed->commons : NULL,
				.field_selector = bt_str_from(watched[i].field_selector),
				.streaming = shared->streaming,
				.sink = {.context = source, .changed = changed, .synced = synced},
				.metrics = shared->metrics,
			};
			source->reflector = bt_reflector_create_of_kind(&options, kind, 0);
		}
	}
}

void bt_cluster_feed_destroy(struct bt_cluster_feed *feed)
{
	if (feed == NULL) {
		return;
	}
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(watched); i++) {
		bt_reflector_destroy(feed->sources[i].reflector);
	}
	for (uint32_t i = 0; i < feed->kept.count; i++) {
		bt_object_release(feed->kept.items[i].old_object);
		bt_object_release(feed->kept.items[i].new_object);
	}
	bt_vec_finish(&feed->kept);
	bt_pod_commons_finish(&feed->commons);
	bt_free(feed);
}

bool bt_cluster_feed_is_synced(const struct bt_cluster_feed *feed)
{
	return feed->is_synced;
}

uint32_t bt_cluster_feed_list_unsynced(const struct bt_cluster_feed *feed, struct bt_strbuf *out)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(watched); i++) {
		const struct source *source = &feed->sources[i];
		if (source->reflector != NULL && !source->is_synced) {
			bt_strbuf_printf(out, "%s%s", count++ > 0 ? " " : "",
				bt_reflector_type_name(source->reflector));
		}
	}
	return count;
}

const struct bt_reflector *bt_cluster_feed_reflector(
	const struct bt_cluster_feed *feed, enum bt_kind kind)
{
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(watched); i++) {
		if (watched[i].kind == kind) {
			return feed->sources[i].reflector;
		}
	}
	return NULL;
}

const struct bt_object *bt_cluster_feed_find_complete(const struct bt_cluster_feed *feed,
	enum bt_kind kind, struct bt_str namespace_, struct bt_str name)
{
	const struct bt_reflector *reflector = bt_cluster_feed_reflector(feed, kind);
	const struct bt_object *object =
		reflector != NULL ? bt_reflector_find(reflector, namespace_, name) : NULL;
	return object != NULL && object->json.data != NULL ? object : NULL;
}
