/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Maintains Endpoints and EndpointSlices of Services with a selector, and EndpointSlices that
 * mirror Endpoints written by users. Spec: 14b section 6.9.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "cluster/owners.h"
#include "cluster/tree.h"

#define LABEL_SERVICE "kubernetes.io/service-name"
#define LABEL_ENDPOINTS_MANAGER "endpoints.kubernetes.io/managed-by"
#define ENDPOINTS_MANAGER "endpoint-controller"
#define LABEL_MANAGED_BY "endpointslice.kubernetes.io/managed-by"
#define LABEL_HEADLESS "service.kubernetes.io/headless"
#define LABEL_SKIP_MIRROR "endpointslice.kubernetes.io/skip-mirror"
#define ANNOTATION_LEADER "control-plane.alpha.kubernetes.io/leader"
#define ANNOTATION_CAPACITY "endpoints.kubernetes.io/over-capacity"
/** Maximum number of addresses of an Endpoints object, and of each list of a mirrored subset. */
#define ADDRESSES_MAX 1000
#define SLICE_ENDPOINTS_MAX 100
/**
 * A change of a pod enqueues Services after GATHER_NS, plus GATHER_POD_NS for each pod of the
 * namespace. So one sync, which reads all these pods, handles many changes.
 */
#define GATHER_NS (BT_NS_PER_SECOND / 10)
#define GATHER_POD_NS INT64_C(100000)

struct endpoints {
	struct bt_groups slices; /* EndpointSlices that this controller manages, grouped by the key
	                            of their Service */
	struct bt_groups zones;  /* keys of nodes, by zone */
	struct bt_selector_table selectors; /* of Services */
};

/** Endpoints with equal ports and the same address type. */
struct port_group {
	struct bt_json_value *ports;
	struct bt_json_value *addresses; /* for the Endpoints object: ready addresses */
	struct bt_json_value *not_ready; /* for the Endpoints object: other addresses */
	/** Endpoints for slices. An entry is NULL once the endpoint is in a slice. */
	BT_VEC(struct bt_json_value *) list;
	struct bt_map by_identity; /* identity_of an endpoint -> index in list */
	const char *address_type;
};

/** State of one sync of a Service. */
struct pass {
	struct bt_sync *sync;
	const struct bt_json_value *service;
	const struct bt_selector_entry *selector; /* of the service */
	bool as_slices;
	bool publishes_not_ready;
	BT_VEC(struct port_group) groups;
	uint32_t address_count;
	uint32_t dropped_count;
};

static void finish_pass(struct pass *pass)
{
	for (uint32_t i = 0; i < pass->groups.count; i++) {
		bt_vec_finish(&pass->groups.items[i].list);
		bt_map_finish(&pass->groups.items[i].by_identity);
	}
	bt_vec_finish(&pass->groups);
}

/* --- changes --- */

/** Returns whether the pod has the same endpoints before and after the change. */
static bool is_same_endpoint(const struct bt_json_value *before, const struct bt_json_value *after)
{
	static const char *const texts[] = {
		"status.podIP", "status.phase", "spec.nodeName", "metadata.deletionTimestamp"};
	const struct bt_json_value *ready[] = {
		bt_json_element_with(
			bt_json_array_at(before, "status.conditions"), "type", BT_STR("Ready")),
		bt_json_element_with(
			bt_json_array_at(after, "status.conditions"), "type", BT_STR("Ready")),
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(texts); i++) {
		if (!bt_str_equal(
			    bt_json_text_at(before, texts[i]), bt_json_text_at(after, texts[i]))) {
			return false;
		}
	}
	return bt_str_equal(
		       bt_json_text_at(ready[0], "status"), bt_json_text_at(ready[1], "status")) &&
		bt_json_equal(bt_json_object_at(before, "metadata.labels"),
			bt_json_object_at(after, "metadata.labels"));
}

static void observe_slice(struct bt_groups *slices, struct bt_hub *hub, const char *manager,
	const struct bt_observed *observed)
{
	struct bt_arena arena = {0};
	struct bt_str service = bt_api_key(&arena, bt_key_namespace(observed->key),
		bt_tree_label(observed->after, LABEL_SERVICE));

	if (bt_str_equal_c(bt_tree_label(observed->after, LABEL_MANAGED_BY), manager)) {
		if (observed->type == BT_CHANGE_DELETED) {
			bt_groups_remove(slices, observed->key);
		} else {
			bt_groups_set(slices, observed->key, service);
		}
		bt_hub_enqueue(hub, service);
	} else if (bt_groups_of(slices, observed->key).length != 0) {
		bt_hub_enqueue(hub, bt_groups_of(slices, observed->key));
		bt_groups_remove(slices, observed->key);
	}
	bt_arena_finish(&arena);
}

#define MANAGER "endpointslice-controller.k8s.io"
#define MIRROR_MANAGER "endpointslicemirroring-controller.k8s.io"

static void observe(void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	struct endpoints *self = data;
	struct bt_str namespace_ = bt_key_namespace(observed->key);

	if (observed->kind == BT_HUB_SERVICES) {
		bt_owners_observe(hub, observed, &self->selectors, true);
	} else if (observed->kind == BT_HUB_ENDPOINTS) {
		/* Endpoints that a client created without a Service are not managed here. */
		if (bt_hub_exists(hub, BT_HUB_SERVICES, observed->key) ||
			bt_str_equal_c(bt_tree_label(observed->after, LABEL_ENDPOINTS_MANAGER),
				ENDPOINTS_MANAGER)) {
			bt_hub_enqueue(hub, observed->key);
		}
	} else if (observed->kind == BT_HUB_SLICES) {
		observe_slice(&self->slices, hub, MANAGER, observed);
	} else if (observed->kind == BT_HUB_NODES) {
		bt_groups_set(&self->zones, observed->key,
			bt_tree_label(observed->after, "topology.kubernetes.io/zone"));
		if (observed->type == BT_CHANGE_DELETED) {
			bt_groups_remove(&self->zones, observed->key);
		}
	} else if (self->selectors.namespaces.by_key.count != 0 &&
		!(observed->type == BT_CHANGE_MODIFIED &&
			is_same_endpoint(observed->before, observed->after))) {
		struct bt_arena arena = {0};
		uint64_t pods = bt_store_count_after(hub->store,
			hub->kinds[BT_HUB_PODS]->collection,
			bt_arena_printf(&arena, "%.*s/", BT_STR_ARG(namespace_)), BT_STR(""));
		int64_t at = hub->now_ns + GATHER_NS +
			(int64_t)(pods < 50000 ? pods : 50000) * GATHER_POD_NS;

		bt_selector_table_enqueue(&self->selectors, hub, namespace_,
			bt_json_object_at(observed->after, "metadata.labels"), at);
		if (observed->type == BT_CHANGE_MODIFIED) {
			bt_selector_table_enqueue(&self->selectors, hub, namespace_,
				bt_json_object_at(observed->before, "metadata.labels"), at);
		}
		bt_arena_finish(&arena);
	}
}

/* --- the endpoints of a service --- */

/** Returns the pod's port number for a service's port; 0: the pod has no port of that name. */
static int64_t target_port(const struct bt_json_value *port, const struct bt_json_value *pod)
{
	static const char *const lists[] = {"spec.containers", "spec.initContainers"};
	const struct bt_json_value *target = bt_json_find(port, "targetPort");
	struct bt_str protocol = bt_json_text_at(port, "protocol");

	if (target == NULL || target->type != BT_JSON_STRING) {
		return bt_json_int64_at(port, "targetPort", bt_json_int64_at(port, "port", 0));
	}
	for (size_t list = 0; list < BT_ARRAY_LENGTH(lists); list++) {
		const struct bt_json_value *containers = bt_json_array_at(pod, lists[list]);

		for (uint32_t i = 0; i < containers->count; i++) {
			const struct bt_json_value *ports =
				bt_json_array_at(containers->elements[i], "ports");

			if (list == 1 &&
				!bt_str_equal_c(
					bt_json_text_at(containers->elements[i], "restartPolicy"),
					"Always")) {
				continue;
			}
			for (uint32_t n = 0; n < ports->count; n++) {
				const struct bt_json_value *each = ports->elements[n];

				if (bt_str_equal(bt_json_text_at(each, "name"), target->text) &&
					bt_str_equal(bt_json_text_at(each, "protocol"), protocol)) {
					return bt_json_int64_at(each, "containerPort", 0);
				}
			}
		}
	}
	return 0;
}

static struct port_group *find_group(
	struct pass *pass, struct bt_json_value *ports, struct bt_str ip)
{
	const char *address_type = bt_str_find_char(ip, ':') >= 0 ? "IPv6" : "IPv4";
	struct port_group group = {.ports = ports, .address_type = address_type};

	for (uint32_t i = 0; i < pass->groups.count; i++) {
		if (strcmp(pass->groups.items[i].address_type, address_type) == 0 &&
			bt_json_equal(pass->groups.items[i].ports, ports)) {
			return &pass->groups.items[i];
		}
	}
	group.addresses = bt_json_new(pass->sync->arena, BT_JSON_ARRAY);
	group.not_ready = bt_json_new(pass->sync->arena, BT_JSON_ARRAY);
	bt_vec_push(&pass->groups, group);
	return &pass->groups.items[pass->groups.count - 1];
}

/** Returns the text that identifies an endpoint in all slices. */
static struct bt_str identity_of(const struct bt_json_value *endpoint)
{
	struct bt_str uid = bt_json_text_at(endpoint, "targetRef.uid");
	const struct bt_json_value *addresses = bt_json_array_at(endpoint, "addresses");

	return uid.length != 0 || addresses->count == 0 ? uid : addresses->elements[0]->text;
}

static void add_endpoint(struct port_group *group, struct bt_json_value *endpoint)
{
	bt_map_insert(&group->by_identity, bt_str_hash(identity_of(endpoint)), group->list.count);
	bt_vec_push(&group->list, endpoint);
}

static void visit_pod(
	void *context, const struct bt_indexed_pod *record, const struct bt_json_value *pod)
{
	struct pass *pass = context;
	const struct endpoints *self = pass->sync->data;
	struct bt_arena *arena = pass->sync->arena;
	const struct bt_json_value *service_ports = bt_json_array_at(pass->service, "spec.ports");
	struct bt_str ip = bt_arena_str(arena, bt_json_text_at(pod, "status.podIP"));
	struct bt_str hostname = bt_json_text_at(pod, "spec.hostname");
	struct bt_json_value *ports = bt_json_new(arena, BT_JSON_ARRAY);
	struct bt_json_value *entry = bt_json_new(arena, BT_JSON_OBJECT);
	struct bt_str node = bt_arena_str(arena, record->node_name);

	if (ip.length == 0 || bt_pod_is_over(record) ||
		(!pass->as_slices && record->deleting && !pass->publishes_not_ready)) {
		return;
	}
	for (uint32_t i = 0; i < service_ports->count; i++) {
		const struct bt_json_value *from = service_ports->elements[i];
		struct bt_str name = bt_json_text_at(from, "name");
		bool has_name = pass->as_slices || name.length != 0;
		int64_t number = target_port(from, pod);

		if (number != 0) {
			bt_json_put(arena, ports,
				"[{name: %v, port: %d, protocol: %s, appProtocol?: %s}]",
				has_name ? bt_json_new_str(arena, name) : NULL, number,
				bt_json_text_at(from, "protocol"),
				bt_json_text_at(from, "appProtocol"));
		}
	}
	if (!pass->as_slices && ports->count == 0 && service_ports->count != 0) {
		return;
	}
	struct port_group *group = find_group(pass, ports, ip);
	if (!bt_str_equal(bt_json_text_at(pod, "spec.subdomain"), bt_key_name(pass->sync->key))) {
		hostname = BT_STR("");
	}
	bt_json_put(arena, entry,
		"{hostname?: %s, nodeName?: %s, "
		"targetRef: {kind: 'Pod', namespace: %s, name: %s, uid: %s}}",
		bt_arena_str(arena, hostname), node,
		bt_arena_str(arena, bt_key_namespace(record->key)),
		bt_arena_str(arena, bt_key_name(record->key)), bt_arena_str(arena, record->uid));
	if (pass->as_slices) {
		bt_json_put(arena, entry,
			"{conditions: {ready: %b, serving: %b, terminating: %b}, addresses: [%s], "
			"zone?: %s}",
			pass->publishes_not_ready || (record->ready && !record->deleting),
			record->ready, record->deleting, ip,
			bt_arena_str(arena, bt_groups_of(&self->zones, node)));
		add_endpoint(group, entry);
		return;
	}
	if (pass->address_count == ADDRESSES_MAX) {
		pass->dropped_count++;
		return;
	}
	pass->address_count++;
	bt_json_set_str(arena, entry, "ip", ip);
	bt_json_append(arena,
		record->ready || pass->publishes_not_ready ? group->addresses : group->not_ready,
		entry);
}

static bool begin(struct pass *pass, struct bt_sync *sync)
{
	const struct endpoints *self = sync->data;

	*pass = (struct pass){
		.sync = sync,
		.service = sync->object,
		.selector = bt_selector_table_find(&self->selectors, sync->key),
		.publishes_not_ready =
			bt_json_bool_at(sync->object, "spec.publishNotReadyAddresses", false),
	};
	return sync->object != NULL && !bt_tree_is_deleting(sync->object) &&
		pass->selector != NULL &&
		!bt_str_equal_c(bt_json_text_at(sync->object, "spec.type"), "ExternalName");
}

/**
 * Returns a copy of the Service's labels. LABEL_HEADLESS is set only if the Service is headless.
 */
static struct bt_json_value *service_labels(const struct pass *pass)
{
	struct bt_arena *arena = pass->sync->arena;
	struct bt_json_value *labels =
		bt_json_clone(arena, bt_json_object_at(pass->service, "metadata.labels"), false);

	(void)bt_json_remove_c(labels, LABEL_HEADLESS);
	if (bt_str_equal_c(bt_json_text_at(pass->service, "spec.clusterIP"), "None")) {
		bt_json_set_c(arena, labels, LABEL_HEADLESS, "");
	}
	return labels;
}

static bool write_object(struct bt_sync *sync, enum bt_hub_kind kind,
	const struct bt_json_value *before, struct bt_json_value *after)
{
	if (before != NULL && bt_json_equal(before, after)) {
		return true;
	}
	uint16_t code = before == NULL
		? bt_hub_create(
			  sync->hub, kind, bt_key_namespace(sync->key), after, sync->arena, NULL)
		: bt_hub_update(sync->hub, sync->hub->kinds[kind], BT_SUBRESOURCE_NONE,
			  bt_tree_key(sync->arena, after), after, sync->arena);
	/*
	 * A terminating namespace refuses new objects. 409: the object changed meanwhile, and that
	 * change enqueues the key again.
	 */
	return bt_hub_is_done(code) || code == 201 || code == 409 ||
		bt_tree_is_deleting(bt_hub_read(
			sync->hub, BT_HUB_NAMESPACES, bt_key_namespace(sync->key), sync->arena));
}

/* --- Endpoints --- */

static bool sync_endpoints(struct bt_sync *sync)
{
	struct bt_arena *arena = sync->arena;
	struct bt_json_value *before = bt_hub_read(sync->hub, BT_HUB_ENDPOINTS, sync->key, arena);
	struct pass pass;

	if (sync->object == NULL && before != NULL) {
		return bt_sync_delete(
			sync, BT_HUB_ENDPOINTS, sync->key, bt_json_text_at(before, "metadata.uid"));
	}
	if (!begin(&pass, sync)) {
		return true;
	}
	bt_owners_visit_selected(
		sync, &pass.selector->selector, pass.selector->bits, visit_pod, &pass);
	struct bt_json_value *after = before != NULL ? bt_json_clone(arena, before, false)
						     : bt_json_new(arena, BT_JSON_OBJECT);
	struct bt_json_value *labels = service_labels(&pass);
	bt_json_set_c(arena, labels, LABEL_ENDPOINTS_MANAGER, ENDPOINTS_MANAGER);
	bt_json_put(
		arena, after, "{metadata: {name: %s, labels: %v}}", bt_key_name(sync->key), labels);
	if (pass.dropped_count != 0) {
		bt_json_put(arena, after,
			"{metadata: {annotations: {" ANNOTATION_CAPACITY ": 'truncated'}}}");
	} else {
		(void)bt_json_remove_c(
			bt_json_find_path(after, "metadata.annotations"), ANNOTATION_CAPACITY);
	}
	struct bt_json_value *subsets = bt_json_new(arena, BT_JSON_ARRAY);
	for (uint32_t i = 0; i < pass.groups.count; i++) {
		const struct port_group *group = &pass.groups.items[i];

		bt_json_put(arena, subsets,
			"[{addresses?: %v, notReadyAddresses?: %v, ports?: %v}]", group->addresses,
			group->not_ready, group->ports);
	}
	(void)bt_json_remove_c(after, "subsets");
	bt_json_put(arena, after, "{subsets?: %v}", subsets);
	bool done = write_object(sync, BT_HUB_ENDPOINTS, before, after);
	finish_pass(&pass);
	return done;
}

const struct bt_controller_ops bt_endpoints_ops = {
	.component = "endpoint-controller",
	.watches = BT_WATCH(BT_HUB_SERVICES) | BT_WATCH(BT_HUB_ENDPOINTS) | BT_WATCH(BT_HUB_PODS),
	.object = BT_HUB_SERVICES,
	.syncs_gone = true,
	.group_count = 2,
	.has_selectors = true,
	.observe = observe,
	.sync = sync_endpoints,
};

/* --- EndpointSlices --- */

/** Members that all slices of one owner have in common. */
struct slice_template {
	const char *manager;
	struct bt_json_value *labels;
	struct bt_json_value *annotations; /* NULL: none */
	struct bt_json_value *owner;
};

struct slice {
	struct bt_str key; /* "": a new slice */
	struct bt_json_value *before;
	struct bt_json_value *endpoints;
	struct port_group *group; /* NULL: no endpoint has the slice's ports */
};

static bool write_slice(
	struct bt_sync *sync, const struct slice_template *template_, const struct slice *slice)
{
	struct bt_arena *arena = sync->arena;
	struct bt_json_value *after = slice->before != NULL
		? bt_json_clone(arena, slice->before, false)
		: bt_json_new(arena, BT_JSON_OBJECT);
	struct bt_json_value *labels =
		bt_json_put(arena, bt_json_clone(arena, template_->labels, false),
			"{" LABEL_SERVICE ": %s, " LABEL_MANAGED_BY ": %c}", bt_key_name(sync->key),
			template_->manager);

	bt_json_put(arena, after,
		"{metadata: {generateName?: %s, labels: %v, annotations?: %t, "
		"ownerReferences: %v}, addressType: %c, endpoints: %v, ports: %t}",
		slice->before != NULL
			? BT_STR("")
			: bt_arena_printf(arena, "%.*s-", BT_STR_ARG(bt_key_name(sync->key))),
		labels, template_->annotations, bt_json_put(arena, NULL, "[%t]", template_->owner),
		slice->group->address_type, slice->endpoints, slice->group->ports);
	return write_object(sync, BT_HUB_SLICES, slice->before, after);
}

/**
 * Updates the owned slices so that they hold the endpoints of the pass. Endpoints stay in their
 * slice, and new endpoints go to slices with room, so that a change of one pod writes one slice.
 * Returns false if a write failed.
 */
static bool reconcile_slices(struct pass *pass, const struct bt_groups *owned,
	const struct slice_template *template_, uint32_t endpoints_max)
{
	struct bt_sync *sync = pass->sync;
	struct bt_arena *arena = sync->arena;
	BT_VEC(struct slice) slices = {0};
	bool succeeded = true;
	bool has_endpoints = false;

	BT_GROUPS_EACH (owned, sync->key, at) {
		struct bt_str key = bt_arena_str(arena, bt_groups_key(owned, at));
		struct slice slice = {
			.key = key, .before = bt_hub_read(sync->hub, BT_HUB_SLICES, key, arena)};

		if (slice.before != NULL && !bt_tree_is_deleting(slice.before)) {
			slice.endpoints = bt_json_new(arena, BT_JSON_ARRAY);
			bt_vec_push(&slices, slice);
		}
	}
	if (slices.count != 0) {
		qsort(slices.items, slices.count, sizeof(*slices.items), bt_str_compare_qsort);
	}
	for (uint32_t i = 0; i < slices.count; i++) {
		struct slice *slice = &slices.items[i];
		const struct bt_json_value *old = bt_json_array_at(slice->before, "endpoints");

		for (uint32_t n = 0; n < pass->groups.count && slice->group == NULL; n++) {
			struct port_group *group = &pass->groups.items[n];
			if (bt_str_equal_c(bt_json_text_at(slice->before, "addressType"),
				    group->address_type) &&
				bt_json_equal(
					bt_json_array_at(slice->before, "ports"), group->ports)) {
				slice->group = group;
			}
		}
		for (uint32_t n = 0; slice->group != NULL && n < old->count; n++) {
			struct bt_str identity = identity_of(old->elements[n]);

			BT_MAP_EACH (&slice->group->by_identity, bt_str_hash(identity), index) {
				struct bt_json_value **place = &slice->group->list.items[index];

				if (*place != NULL && bt_str_equal(identity_of(*place), identity)) {
					bt_json_append(arena, slice->endpoints, *place);
					*place = NULL;
					break;
				}
			}
		}
	}
	for (uint32_t n = 0; n < pass->groups.count; n++) {
		struct port_group *group = &pass->groups.items[n];
		uint32_t at = 0;

		has_endpoints = has_endpoints || group->list.count != 0;
		for (uint32_t i = 0; i < group->list.count; i++) {
			struct slice fresh = {.group = group};

			if (group->list.items[i] == NULL) {
				continue;
			}
			while (at < slices.count &&
				(slices.items[at].group != group ||
					slices.items[at].endpoints->count >= endpoints_max)) {
				at++;
			}
			if (at == slices.count) {
				fresh.endpoints = bt_json_new(arena, BT_JSON_ARRAY);
				bt_vec_push(&slices, fresh);
			}
			bt_json_append(arena, slices.items[at].endpoints, group->list.items[i]);
		}
	}
	if (!has_endpoints && pass->groups.count != 0 && slices.count == 0) {
		/* A Service without endpoints has one empty slice. */
		struct slice fresh = {.group = &pass->groups.items[0],
			.endpoints = bt_json_new(arena, BT_JSON_ARRAY)};
		bt_vec_push(&slices, fresh);
	}
	for (uint32_t i = 0; i < slices.count; i++) {
		struct slice *slice = &slices.items[i];
		bool is_placeholder = !has_endpoints && i == 0 && pass->groups.count != 0;

		if (is_placeholder) {
			slice->group = &pass->groups.items[0];
		}
		if (slice->group != NULL && (slice->endpoints->count != 0 || is_placeholder)) {
			succeeded = write_slice(sync, template_, slice) && succeeded;
		} else {
			(void)bt_sync_delete(sync, BT_HUB_SLICES, slice->key,
				bt_json_text_at(slice->before, "metadata.uid"));
		}
	}
	bt_vec_finish(&slices);
	return succeeded;
}

static bool sync_slices(struct bt_sync *sync)
{
	const struct endpoints *self = sync->data;
	struct slice_template template_ = {.manager = MANAGER};
	struct pass pass;

	if (!begin(&pass, sync)) {
		return true;
	}
	pass.as_slices = true;
	bt_owners_visit_selected(
		sync, &pass.selector->selector, pass.selector->bits, visit_pod, &pass);
	if (pass.groups.count == 0) {
		(void)find_group(&pass, bt_json_new(sync->arena, BT_JSON_ARRAY), BT_STR(""));
	}
	template_.labels = service_labels(&pass);
	template_.owner = bt_sync_owner_reference(sync, sync->arena);
	bool done = reconcile_slices(&pass, &self->slices, &template_, SLICE_ENDPOINTS_MAX);
	finish_pass(&pass);
	return done;
}

const struct bt_controller_ops bt_endpoint_slice_ops = {
	.component = "endpoint-slice-controller",
	.watches = BT_WATCH(BT_HUB_SERVICES) | BT_WATCH(BT_HUB_SLICES) | BT_WATCH(BT_HUB_PODS) |
		BT_WATCH(BT_HUB_NODES),
	.object = BT_HUB_SERVICES,
	.group_count = 2,
	.has_selectors = true,
	.observe = observe,
	.sync = sync_slices,
};

/* --- mirrored Endpoints --- */

static void observe_mirrored(void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	struct endpoints *self = data;

	if (observed->kind == BT_HUB_SLICES) {
		observe_slice(&self->slices, hub, MIRROR_MANAGER, observed);
	} else {
		bt_hub_enqueue(hub, observed->key);
	}
}

static void mirror_addresses(struct pass *pass, const struct bt_json_value *subset, bool ready)
{
	struct bt_arena *arena = pass->sync->arena;
	const struct bt_json_value *list =
		bt_json_array_at(subset, ready ? "addresses" : "notReadyAddresses");
	struct bt_json_value *ports = bt_tree_copy_array(arena, subset, "ports");

	for (uint32_t i = 0; i < ports->count; i++) {
		if (bt_json_find(ports->elements[i], "name") == NULL) {
			bt_json_set_c(arena, ports->elements[i], "name", "");
		}
	}
	for (uint32_t i = 0; i < list->count && i < ADDRESSES_MAX; i++) {
		const struct bt_json_value *from = list->elements[i];
		struct bt_str ip = bt_json_text_at(from, "ip");
		struct bt_json_value *endpoint = bt_json_put(arena, NULL,
			"{addresses: [%s], conditions: {ready: %b}, hostname: %t, nodeName: %t, "
			"targetRef: %t}",
			ip, ready, bt_json_find(from, "hostname"), bt_json_find(from, "nodeName"),
			bt_json_find(from, "targetRef"));

		add_endpoint(find_group(pass, ports, ip), endpoint);
	}
}

static bool sync_mirrored(struct bt_sync *sync)
{
	const struct endpoints *self = sync->data;
	struct slice_template template_ = {.manager = MIRROR_MANAGER};
	struct pass pass = {.sync = sync};

	const struct bt_json_value *service =
		bt_hub_read(sync->hub, BT_HUB_SERVICES, sync->key, sync->arena);
	if (sync->object != NULL && !bt_tree_is_deleting(sync->object) && service != NULL &&
		bt_json_object_at(service, "spec.selector")->count == 0 &&
		!bt_str_equal_c(bt_tree_label(sync->object, LABEL_SKIP_MIRROR), "true") &&
		bt_tree_annotation(sync->object, ANNOTATION_LEADER).length == 0) {
		const struct bt_json_value *subsets = bt_json_array_at(sync->object, "subsets");

		for (uint32_t i = 0; i < subsets->count; i++) {
			mirror_addresses(&pass, subsets->elements[i], true);
			mirror_addresses(&pass, subsets->elements[i], false);
		}
		template_.labels = bt_json_clone(
			sync->arena, bt_json_object_at(sync->object, "metadata.labels"), false);
		template_.annotations = bt_json_clone(sync->arena,
			bt_json_object_at(sync->object, "metadata.annotations"), false);
		(void)bt_json_remove_c(
			template_.annotations, "kubectl.kubernetes.io/last-applied-configuration");
		template_.owner = bt_sync_owner_reference(sync, sync->arena);
	}
	bool done = reconcile_slices(&pass, &self->slices, &template_, ADDRESSES_MAX);
	finish_pass(&pass);
	return done;
}

const struct bt_controller_ops bt_endpoint_slice_mirroring_ops = {
	.component = "endpoint-slice-mirroring-controller",
	.watches = BT_WATCH(BT_HUB_SERVICES) | BT_WATCH(BT_HUB_ENDPOINTS) | BT_WATCH(BT_HUB_SLICES),
	.object = BT_HUB_ENDPOINTS,
	.syncs_gone = true,
	.group_count = 2,
	.has_selectors = true,
	.observe = observe_mirrored,
	.sync = sync_mirrored,
};
