/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/live_private.h"

#include "cli/manifests.h"

/* All kinds: the nodes' first page tells which state of the server the other lists are to be of. */

/** Requests in flight; streams have a connection each. */
#define LISTS_AT_ONCE 4

/** What it means when a kind cannot be read. */
struct wanted {
	enum bt_kind kind;
	bool is_needed;
	bool is_optional; /* clusters without it are common, and have none of it */
	const char *without;
};

/* The largest lists first: the others fit in beside them. */
static const struct wanted wanted[] = {
	{BT_KIND_NODE, true, false, ""},
	{BT_KIND_POD, true, false, ""},
	{BT_KIND_NAMESPACE, false, false,
		"affinity terms with a namespaceSelector are decided as if namespaces had no "
		"labels"},
	{BT_KIND_SERVICE, false, false, "pods of services are not spread by default constraints"},
	{BT_KIND_REPLICATION_CONTROLLER, false, false,
		"their pods are not spread by default constraints"},
	{BT_KIND_REPLICA_SET, false, false, "their pods are not spread by default constraints"},
	{BT_KIND_STATEFUL_SET, false, false, "their pods are not spread by default constraints"},
	{BT_KIND_DEPLOYMENT, false, false, "they cannot be named or scaled"},
	{BT_KIND_DAEMON_SET, false, false, "they cannot be named or scaled"},
	{BT_KIND_JOB, false, false, "they cannot be named or scaled"},
	{BT_KIND_CRON_JOB, false, false, "they cannot be named"},
	{BT_KIND_PERSISTENT_VOLUME, false, false,
		"pods with bound claims are decided as if their volumes did not exist"},
	{BT_KIND_PERSISTENT_VOLUME_CLAIM, false, false,
		"pods with claims stay pending: their claims are not found"},
	{BT_KIND_STORAGE_CLASS, false, false,
		"unbound claims are decided as if their classes did not exist"},
	{BT_KIND_CSI_NODE, false, false, "limits of attached volumes are not respected"},
	{BT_KIND_CSI_DRIVER, false, false, "storage capacity is not respected"},
	{BT_KIND_CSI_STORAGE_CAPACITY, false, false,
		"volumes that are to be made with capacity tracking find no room"},
	{BT_KIND_VOLUME_ATTACHMENT, false, false,
		"volumes attached for no running pod do not count to limits"},
	{BT_KIND_POD_DISRUPTION_BUDGET, false, false, "preemption and drains ignore them"},
	{BT_KIND_PRIORITY_CLASS, false, false,
		"new pods cannot name one; those of the cluster carry their priority"},
	{BT_KIND_RESOURCE_CLAIM, false, true, "pods with resource claims stay pending"},
	{BT_KIND_RESOURCE_CLAIM_TEMPLATE, false, true, "pods with resource claims stay pending"},
	{BT_KIND_RESOURCE_SLICE, false, true, "no devices are known"},
	{BT_KIND_DEVICE_CLASS, false, true, "pods with resource claims stay pending"},
	{BT_KIND_DEVICE_TAINT_RULE, false, true, "taints that they give to devices are not known"},
	{BT_KIND_POD_GROUP, false, true, "pods of groups stay pending"},
	{BT_KIND_WORKLOAD, false, true, "pods of workloads are decided one by one"},
};

struct reading {
	struct bt_live *live;
	const struct bt_live_sink *sink;
	struct bt_live_list lists[BT_ARRAY_LENGTH(wanted)];
	uint32_t started;
	struct bt_strbuf version;               /* of the first list, for the others */
	uint32_t told[BT_ARRAY_LENGTH(wanted)]; /* counts, of progress */
};

/** More lists, when others are over; the first one is alone until it knows its version. */
static bool start_more(struct reading *reading)
{
	uint32_t running = 0;
	for (uint32_t i = 0; i < reading->started; i++) {
		running += !reading->lists[i].is_over;
	}
	if (reading->version.length == 0) {
		bt_strbuf_append_str(&reading->version, bt_strbuf_str(&reading->lists[0].version));
	}
	bool may_start =
		reading->started == 0 || reading->version.length != 0 || reading->lists[0].is_over;
	while (may_start && running < LISTS_AT_ONCE && reading->started < BT_ARRAY_LENGTH(wanted)) {
		struct bt_live_list *list = &reading->lists[reading->started];
		list->live = reading->live;
		list->kind = wanted[reading->started].kind;
		list->objects_max = BT_MANIFESTS_OBJECTS_MAX + 1;
		if (reading->started != 0) {
			list->at_version = bt_strbuf_str(&reading->version);
		}
		reading->started++;
		bt_live_list_start(list);
		running++;
		may_start = reading->started > 1;
	}
	return running != 0;
}

/** Of the list that has grown, a line. */
static void tell_progress(struct reading *reading)
{
	for (uint32_t i = 0; i < reading->started && reading->sink->progress != NULL; i++) {
		const struct bt_live_list *list = &reading->lists[i];
		if (!list->is_over && list->objects.count != reading->told[i]) {
			reading->told[i] = list->objects.count;
			reading->sink->progress(reading->sink->context,
				bt_kind_info(list->kind)->resource, list->objects.count);
			return;
		}
	}
}

static void warn_left_out(const struct reading *reading, uint32_t index)
{
	const struct bt_live_list *list = &reading->lists[index];
	struct bt_strbuf line = {0};
	if (reading->sink->warn == NULL ||
		(list->end == BT_LIVE_ABSENT && wanted[index].is_optional)) {
		return;
	}
	bt_strbuf_printf(&line, "%s: %s %s: left out, %s", bt_live_server(reading->live),
		bt_strbuf_c(&list->resource),
		list->end == BT_LIVE_ABSENT ? "are not served" : "may not be listed",
		wanted[index].without);
	reading->sink->warn(reading->sink->context, bt_strbuf_c(&line));
	bt_strbuf_finish(&line);
}

/** Lists that are over: may it go on? */
static int check_ends(struct reading *reading, struct berth_error *err)
{
	for (uint32_t i = 0; i < reading->started; i++) {
		struct bt_live_list *list = &reading->lists[i];
		if (list->end == BT_LIVE_FAILED ||
			(list->end == BT_LIVE_FORBIDDEN && wanted[i].is_needed)) {
			return bt_error_move(err, &list->err);
		}
		if (list->end == BT_LIVE_ABSENT && wanted[i].is_needed) {
			return bt_error_set(err, BERTH_ERR_IO,
				"the API server %s has no %s: is it a Kubernetes API server?",
				bt_live_server(reading->live), bt_strbuf_c(&list->resource));
		}
	}
	return 0;
}

static int read_lists(struct reading *reading, struct berth_error *err)
{
	int result = 0;
	reading->live->heard_ns = bt_loop_now_ns(reading->live->loop);
	while (result == 0 && start_more(reading)) {
		result = bt_live_wait(reading->live, err);
		if (result == 0) {
			tell_progress(reading);
			result = check_ends(reading, err);
		}
	}
	return result;
}

static int hand_over(struct reading *reading, uint32_t index, struct berth_error *err)
{
	struct bt_live_list *list = &reading->lists[index];
	int result = 0;
	if (list->end != BT_LIVE_COMPLETE) {
		warn_left_out(reading, index);
	}
	for (uint32_t i = 0; i < list->objects.count; i++) {
		struct bt_object *object = list->objects.items[i];
		if (result == 0) {
			result = reading->sink->take(reading->sink->context, object, err);
		} else {
			bt_object_release(object);
		}
	}
	list->objects.count = 0; /* consumed */
	return result;
}

int bt_live_read(struct bt_live *live, const struct bt_live_sink *sink, struct berth_error *err)
{
	struct reading *reading = BT_NEW(struct reading);
	reading->live = live;
	reading->sink = sink;
	int result = read_lists(reading, err);
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(wanted) && result == 0; i++) {
		result = hand_over(reading, i, err);
	}
	for (uint32_t i = 0; i < reading->started; i++) {
		bt_live_list_finish(&reading->lists[i]);
	}
	bt_strbuf_finish(&reading->version);
	bt_free(reading);
	return result;
}
