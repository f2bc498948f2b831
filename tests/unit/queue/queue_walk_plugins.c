/* SPDX-License-Identifier: Apache-2.0 */
/* Plugins whose hints read various parts of a pod. */
#include "base/error.h"
#include "framework/cluster_event.h"
#include "framework/hint_marks.h"
#include "queue_walk.h"

bool walk_gate_open[2];

static uint32_t digit_of(struct bt_str name)
{
	return name.length == 0 ? 0 : (uint32_t)(unsigned char)name.data[name.length - 1];
}

static uint32_t object_digit(const void *old_object, const void *new_object)
{
	/* Every object begins with its metadata. */
	const struct bt_object_meta *meta = new_object != NULL ? new_object : old_object;

	return digit_of(meta->name);
}

static bool is_about(struct bt_str uid, const void *old_object, const void *new_object)
{
	const struct bt_object_meta *meta = new_object != NULL ? new_object : old_object;

	return bt_str_equal(meta->uid, uid);
}

/*
 * The hint depends on the shape (priority and tolerations), and on whether the event is about the
 * pod itself.
 */
static bool hint_a(
	const struct bt_pod *pod, const void *old_object, const void *new_object, bool *failed)
{
	uint32_t shape = (uint32_t)pod->spec.priority.value + 3 * pod->spec.tolerations.count;

	*failed = false;
	if (is_about(pod->metadata.uid, old_object, new_object)) {
		return true;
	}
	return (shape + object_digit(old_object, new_object)) % 3 == 0;
}

/* The hint depends on the pod's labels. */
static bool hint_b(
	const struct bt_pod *pod, const void *old_object, const void *new_object, bool *failed)
{
	uint32_t label = 0;

	if (pod->metadata.labels.count > 0) {
		label = digit_of(pod->metadata.labels.items[0].value);
	}
	*failed = false;
	return (label + object_digit(old_object, new_object)) % 2 == 0;
}

/* The hint depends on the pod's name. */
static bool hint_c(
	const struct bt_pod *pod, const void *old_object, const void *new_object, bool *failed)
{
	*failed = false;
	return (digit_of(pod->metadata.name) + object_digit(old_object, new_object)) % 4 == 0;
}

/* The hint fails for some objects and skips for the others. */
static bool hint_e(BT_UNUSED const struct bt_pod *pod, const void *old_object,
	const void *new_object, bool *failed)
{
	*failed = object_digit(old_object, new_object) % 4 == 0;
	return false;
}

/* The hint depends on the pod's namespace. */
static bool hint_n(
	const struct bt_pod *pod, const void *old_object, const void *new_object, bool *failed)
{
	*failed = false;
	return (digit_of(pod->metadata.namespace_) + object_digit(old_object, new_object)) % 3 == 0;
}

static bool hint_skip(BT_UNUSED const struct bt_pod *pod, BT_UNUSED const void *old_object,
	BT_UNUSED const void *new_object, bool *failed)
{
	*failed = false;
	return false;
}

/* The gate depends on the pod's shape and namespace. */
static bool gated_by_g(const struct bt_pod *pod)
{
	uint32_t priority = (uint32_t)pod->spec.priority.value;

	return !walk_gate_open[0] && (digit_of(pod->metadata.namespace_) + priority) % 3 == 0;
}

static bool pre_enqueue_rejects(BT_UNUSED struct bt_plugin *plugin, const struct bt_pod_info *pod)
{
	return gated_by_g(pod->object);
}

static bool gated_by_h(const struct bt_pod *pod)
{
	return !walk_gate_open[1] && digit_of(pod->metadata.name) % 6 == 0;
}

#define ADAPTER(name) \
	static bool adapter_##name(const struct bt_hint_call *call) \
	{ \
		bool failed = false; \
		bool hint = hint_##name( \
			call->pod->object, call->old_object, call->new_object, &failed); \
\
		if (failed) { \
			(void)bt_error_set(call->err, BERTH_ERR_INVALID, "cannot say"); \
		} \
		return hint; \
	}

ADAPTER(a)
ADAPTER(b)
ADAPTER(c)
ADAPTER(e)
ADAPTER(n)
ADAPTER(skip)

#define LABEL_BIT BT_ACTION_UPDATE_NODE_LABEL

static const struct bt_event_registration events_a[] = {
	{{BT_RESOURCE_NODE, BT_ACTION_ADD | LABEL_BIT}, adapter_a},
	{{BT_RESOURCE_POD, BT_ACTION_DELETE | BT_ACTION_UPDATE_POD_TOLERATION}, adapter_a},
};
static const struct bt_event_registration events_b[] = {
	{{BT_RESOURCE_NODE,
		 BT_ACTION_ADD | BT_ACTION_UPDATE_NODE_TAINT | BT_ACTION_UPDATE_NODE_ALLOCATABLE},
		adapter_b},
	{{BT_RESOURCE_POD, BT_ACTION_ADD | BT_ACTION_UPDATE_POD_LABEL}, adapter_b},
};
static const struct bt_event_registration events_c[] = {
	{{BT_RESOURCE_POD, BT_ACTION_UPDATE}, adapter_c},
	{{BT_RESOURCE_PERSISTENT_VOLUME, BT_ACTION_ADD | BT_ACTION_UPDATE}, adapter_c},
};
static const struct bt_event_registration events_d[] = {
	{{BT_RESOURCE_NODE, BT_ACTION_ADD}, NULL},
};
static const struct bt_event_registration events_e[] = {
	{{BT_RESOURCE_ANY, LABEL_BIT}, adapter_e},
};
static const struct bt_event_registration events_n[] = {
	{{BT_RESOURCE_NODE, LABEL_BIT | BT_ACTION_UPDATE_NODE_TAINT}, adapter_n},
};
static const struct bt_event_registration events_g[] = {
	{{BT_RESOURCE_NODE, BT_ACTION_DELETE}, adapter_b},
	{{BT_RESOURCE_PERSISTENT_VOLUME, BT_ACTION_ADD}, NULL},
};
static const struct bt_event_registration events_h[] = {
	{{BT_RESOURCE_POD, BT_ACTION_DELETE}, adapter_skip},
};

#define EVENTS(letter) .events = events_##letter, .event_count = BT_ARRAY_LENGTH(events_##letter)

const struct model_plugin walk_plugins[MODEL_PLUGINS] = {
	{.name = "A", EVENTS(a), .in_profile = {true, true}, .hint = hint_a},
	{.name = "B", EVENTS(b), .in_profile = {true, false}, .hint = hint_b},
	{.name = "C", EVENTS(c), .in_profile = {true, true}, .hint = hint_c},
	{.name = "D", EVENTS(d), .in_profile = {true, false}},
	{.name = "E", EVENTS(e), .in_profile = {true, false}, .hint = hint_e},
	{.name = "N", EVENTS(n), .in_profile = {true, true}, .hint = hint_n},
	{.name = "G", EVENTS(g), .in_profile = {true, true}, .hint = hint_b, .gates = gated_by_g},
	{.name = "H",
		EVENTS(h),
		.in_profile = {true, false},
		.hint = hint_skip,
		.gates = gated_by_h},
};

static struct bt_status pre_enqueue(
	struct bt_plugin *plugin, const struct bt_pod_info *pod, BT_UNUSED struct bt_arena *arena)
{
	bool gated =
		plugin->ops->name[0] == 'G' ? gated_by_g(pod->object) : gated_by_h(pod->object);

	return bt_status_code_only(
		gated ? BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE : BT_STATUS_SUCCESS);
}

static bool pre_enqueue_passes(struct bt_plugin *plugin, BT_UNUSED const struct bt_shape *shape)
{
	return walk_gate_open[plugin->ops->name[0] == 'G' ? 0 : 1];
}

/**
 * Hint scope of plugin E: node events call the hint once for each shape, other events for each pod.
 */
static enum bt_hint_scope scope_of_e(BT_UNUSED struct bt_plugin *plugin,
	BT_UNUSED const struct bt_shape *shape, const struct bt_cluster_event *event,
	BT_UNUSED const void *old_object, BT_UNUSED const void *new_object)
{
	return bt_str_equal_c(event->resource, "Node") ? BT_HINT_SCOPE_SHAPE : BT_HINT_SCOPE_POD;
}

/*
 * The mark that plugin A wants and offers: the remainder modulo 3 that makes hint_a return Queue.
 */
static uint16_t mark_of(uint32_t rest)
{
	static const char digits[] = "012";

	return bt_hint_mark(BT_MARK_NODE_NAME, (struct bt_str){&digits[rest % 3], 1}, BT_STR(""));
}

static void wants_of_a(BT_UNUSED struct bt_plugin *plugin, const struct bt_shape *shape,
	struct bt_hint_wants *wants)
{
	const struct bt_pod_spec *spec = &bt_shape_pod(shape)->spec;

	bt_hint_want(wants, mark_of((uint32_t)spec->priority.value + 3 * spec->tolerations.count));
}

static bool offers_of_a(BT_UNUSED struct bt_plugin *plugin, const struct bt_cluster_event *event,
	const void *old_object, const void *new_object, struct bt_hint_offers *offers)
{
	uint32_t rest = object_digit(old_object, new_object) % 3;

	bt_hint_offer(offers, mark_of(3 - rest));
	return bt_str_equal_c(event->resource, "Node");
}

/* Plugin E wants no mark: its hint fails for some objects and returns Skip for the others. */
static void wants_of_e(BT_UNUSED struct bt_plugin *plugin, BT_UNUSED const struct bt_shape *shape,
	BT_UNUSED struct bt_hint_wants *wants)
{
}

static bool offers_of_e(BT_UNUSED struct bt_plugin *plugin,
	BT_UNUSED const struct bt_cluster_event *event, const void *old_object,
	const void *new_object, BT_UNUSED struct bt_hint_offers *offers)
{
	return object_digit(old_object, new_object) % 4 != 0;
}

void walk_make_fakes(struct fake fakes[MODEL_PLUGINS])
{
	static const enum bt_hint_scope scopes[MODEL_PLUGINS] = {BT_HINT_SCOPE_SHAPE,
		BT_HINT_SCOPE_LABELS, BT_HINT_SCOPE_POD, BT_HINT_SCOPE_POD, BT_HINT_SCOPE_SHAPE,
		BT_HINT_SCOPE_NAMESPACE, BT_HINT_SCOPE_LABELS, BT_HINT_SCOPE_SHAPE};

	for (uint32_t i = 0; i < MODEL_PLUGINS; i++) {
		fakes[i] = queue_rejector(walk_plugins[i].name, walk_plugins[i].events,
			walk_plugins[i].event_count, false);
		fakes[i].shortcuts.hint_scope = scopes[i];
		if (walk_plugins[i].gates != NULL) {
			fakes[i].ops.pre_enqueue = pre_enqueue;
			fakes[i].shortcuts.pre_enqueue_passes = pre_enqueue_passes;
			if (walk_plugins[i].gates == gated_by_g) {
				fakes[i].shortcuts.pre_enqueue_rejects = pre_enqueue_rejects;
			}
		}
	}
	fakes[0].shortcuts.hint_wants = wants_of_a;
	fakes[0].shortcuts.hint_offers = offers_of_a;
	fakes[4].shortcuts.hint_scope_of = scope_of_e;
	fakes[4].shortcuts.hint_wants = wants_of_e;
	fakes[4].shortcuts.hint_offers = offers_of_e;
}
