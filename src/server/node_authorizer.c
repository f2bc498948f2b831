/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Access of nodes. A node is a user `system:node:NAME` in the group `system:nodes`. The Node
 * authorizer grants nodes the rules of the role `system:node`, but only for the node's objects and
 * for objects that its pods refer to. The admission plugin NodeRestriction checks the writes of
 * nodes. Spec: 14 section 4.
 */
#include "server/kinds/common.h"
#include "server/rbac_private.h"

#define NODE_USER_PREFIX BT_STR("system:node:")

/** Returns the node name in the user name; absent if the user is not a node. */
static struct bt_str node_of_user(const struct bt_user *user)
{
	if (!bt_str_has_prefix(user->name, NODE_USER_PREFIX) ||
		!bt_user_has_group(user, "system:nodes")) {
		return (struct bt_str){NULL, 0};
	}
	return bt_str_sub(user->name, NODE_USER_PREFIX.length, BT_STR_MAX);
}

/** --- what pods refer to --- */

enum reference_kind { /* restrict_pod checks in this order */
	REFERENCE_ACCOUNT,
	REFERENCE_SECRET,
	REFERENCE_CONFIG_MAP,
	REFERENCE_CLAIM,
	REFERENCE_DEVICES,
	REFERENCE_KIND_COUNT,
};

/**
 * How a pod refers to objects of the kind. `text`: the member whose value is the name; NULL: none.
 * `objects`: the members, separated by blanks, whose value is {"name": ...} or a list of these.
 */
static const struct {
	const char *resource;
	const char *shown; /* in messages */
	const char *text;
	struct bt_str objects;
} references[REFERENCE_KIND_COUNT] = {
	[REFERENCE_ACCOUNT] = {"serviceaccounts", "a service account", "serviceAccountName",
		BT_STR_INIT("")},
	[REFERENCE_SECRET] = {"secrets", "secrets", "secretName",
		BT_STR_INIT("secretRef secretKeyRef nodePublishSecretRef imagePullSecrets secret")},
	[REFERENCE_CONFIG_MAP] = {"configmaps", "configmaps", NULL,
		BT_STR_INIT("configMap configMapRef configMapKeyRef")},
	[REFERENCE_CLAIM] = {"persistentvolumeclaims", "persistentvolumeclaims", "claimName",
		BT_STR_INIT("")},
	[REFERENCE_DEVICES] = {"resourceclaims", "resourceclaims", "resourceClaimName",
		BT_STR_INIT("")},
};

static bool is_wanted(struct bt_str given, struct bt_str wanted)
{
	return given.length != 0 && (wanted.data == NULL || bt_str_equal(given, wanted));
}

/**
 * Returns whether the value refers to the object of this kind whose name is `wanted`, or to any
 * object of the kind if `wanted` is absent. Recursion follows the pod, whose depth is limited.
 */
static bool has_reference(
	const struct bt_json_value *value, enum reference_kind kind, struct bt_str wanted)
{
	if (value->type == BT_JSON_ARRAY) {
		for (uint32_t i = 0; i < value->count; i++) {
			if (has_reference(value->elements[i], kind, wanted)) {
				return true;
			}
		}
	}
	for (uint32_t i = 0; value->type == BT_JSON_OBJECT && i < value->count; i++) {
		const struct bt_json_value *inner = value->members[i].value;
		struct bt_str name = value->members[i].name;
		bool is_list = inner->type == BT_JSON_ARRAY;
		if (references[kind].text != NULL && bt_str_equal_c(name, references[kind].text) &&
			inner->type == BT_JSON_STRING && is_wanted(inner->text, wanted)) {
			return true;
		}
		if (bt_str_has_word(references[kind].objects, name)) {
			for (uint32_t k = 0; k < (is_list ? inner->count : 1); k++) {
				const struct bt_json_value *object =
					is_list ? inner->elements[k] : inner;
				if (object->type == BT_JSON_OBJECT &&
					is_wanted(bt_json_text_at(object, "name"), wanted)) {
					return true;
				}
			}
		}
		if (has_reference(inner, kind, wanted)) {
			return true;
		}
	}
	return false;
}

/** `name` absent: whether the pod refers to any object of this kind, now or once it runs. */
static bool pod_refers(
	const struct bt_json_value *pod, enum reference_kind kind, struct bt_str name)
{
	const struct bt_json_value *statuses =
		bt_json_array_at(pod, "status.resourceClaimStatuses");
	const struct bt_json_value *volumes = bt_json_array_at(pod, "spec.volumes");
	struct bt_str own = bt_json_text_at(pod, "metadata.name");
	/* The claims of ephemeral volumes have names such as "POD-VOLUME". */
	for (uint32_t i = 0; kind == REFERENCE_CLAIM && i < volumes->count; i++) {
		struct bt_str volume = bt_json_text_at(volumes->elements[i], "name");
		if (bt_json_find(volumes->elements[i], "ephemeral") != NULL &&
			(name.data == NULL ||
				(name.length == own.length + 1 + volume.length &&
					bt_str_has_prefix(name, own) &&
					bt_str_has_suffix(name, volume) &&
					name.data[own.length] == '-'))) {
			return true;
		}
	}
	return has_reference(bt_json_object_at(pod, "spec"), kind, name) ||
		(kind == REFERENCE_DEVICES && name.data == NULL &&
			bt_json_array_at(pod, "spec.resourceClaims")->count != 0) ||
		(kind == REFERENCE_DEVICES && has_reference(statuses, kind, name));
}

/** One access of a node that the authorizer checks. */
struct node_query {
	struct bt_api *api;
	const struct bt_access *access;
	struct bt_str node;
	struct bt_arena *arena;
};

static const struct bt_json_value *read_object(const struct node_query *query, const char *group,
	const char *resource, struct bt_str namespace_, struct bt_str name)
{
	return bt_api_read(query->api,
		bt_resources_builtin(bt_api_resources(query->api), group, resource),
		bt_api_key(query->arena, namespace_, name), query->arena);
}

static bool is_on_node(const struct bt_json_value *pod, struct bt_str node)
{
	return pod != NULL && bt_str_equal(bt_json_text_at(pod, "spec.nodeName"), node);
}

/**
 * Returns whether a pod of the node refers to the object. Only pods whose text contains the node's
 * name are parsed, so most pods cost only a text search.
 */
static bool is_referred_to(const struct node_query *query, enum reference_kind kind,
	struct bt_str namespace_, struct bt_str name)
{
	struct bt_store *store = bt_api_store(query->api);
	uint32_t pods = bt_resources_builtin(bt_api_resources(query->api), "", "pods")->collection;
	struct bt_str needle =
		bt_arena_printf(query->arena, "\"nodeName\":\"%.*s\"", BT_STR_ARG(query->node));
	bool found = false;
	if (name.length == 0) {
		return false;
	}
	BT_STORE_EACH (stored, store, pods, bt_api_key(query->arena, namespace_, BT_STR(""))) {
		if (bt_str_find(bt_stored_text(stored), needle) >= 0) {
			const struct bt_json_value *pod = bt_api_parse_stored(stored, query->arena);
			found = is_on_node(pod, query->node) && pod_refers(pod, kind, name);
		}
		if (found) {
			break;
		}
	}
	return found;
}

static bool is_volume_of_pods(const struct node_query *query, const struct bt_json_value *volume)
{
	return is_referred_to(query, REFERENCE_CLAIM,
		bt_json_text_at(volume, "spec.claimRef.namespace"),
		bt_json_text_at(volume, "spec.claimRef.name"));
}

/** Returns whether a pod of the node uses a CSI volume that refers to the Secret. */
static bool is_secret_of_volumes(const struct node_query *query)
{
	struct bt_store *store = bt_api_store(query->api);
	const struct bt_access *access = query->access;
	const struct bt_api_resource *volumes =
		bt_resources_builtin(bt_api_resources(query->api), "", "persistentvolumes");
	bool found = false;
	BT_STORE_EACH (stored, store, volumes->collection, BT_STR("")) {
		if (bt_str_find(bt_stored_text(stored), access->name) < 0) {
			continue;
		}
		const struct bt_json_value *volume = bt_api_parse_stored(stored, query->arena);
		const struct bt_json_value *csi = bt_json_object_at(volume, "spec.csi");
		for (uint32_t i = 0; i < csi->count && !found; i++) {
			const struct bt_json_value *reference = csi->members[i].value;
			found = bt_str_has_suffix(csi->members[i].name, BT_STR("SecretRef")) &&
				bt_str_equal(bt_json_text_at(reference, "name"), access->name) &&
				bt_str_equal(bt_json_text_at(reference, "namespace"),
					access->namespace_) &&
				is_volume_of_pods(query, volume);
		}
		if (found) {
			break;
		}
	}
	return found;
}

/** --- the authorizer --- */

/**
 * Refuses access to Node, Lease and CSINode objects of other nodes: returns the reason, or NULL.
 */
static const char *refuse_by_name(const struct node_query *query)
{
	const struct bt_access *access = query->access;
	bool creates = bt_str_equal_c(access->verb, "create");
	bool is_own = bt_str_equal(access->name, query->node);
	if (bt_str_equal_c(access->resource, "nodes") && access->group.length == 0) {
		bool reads = bt_str_has_word(BT_STR("get list watch"), access->verb);
		return reads && !is_own
			? "node '{node}' cannot read other nodes, only its own Node object"
			: NULL;
	}
	if (bt_str_equal_c(access->resource, "leases")) {
		if (!bt_str_equal_c(access->namespace_, "kube-node-lease")) {
			return "can only access leases in the \"kube-node-lease\" system namespace";
		}
		return creates || is_own ? NULL
					 : "can only access node lease with the same name as the "
					   "requesting node";
	}
	if (bt_str_equal_c(access->resource, "csinodes")) {
		return creates || is_own
			? NULL
			: "can only access CSINode with the same name as the requesting node";
	}
	return NULL;
}

/** Refuses access to objects that are not related to the node: returns the reason, or NULL. */
static const char *refuse_by_relation(const struct node_query *query)
{
	const struct bt_access *access = query->access;
	bool is_core = access->group.length == 0;
	bool creates = bt_str_equal_c(access->verb, "create");
	bool is_many = bt_str_has_word(BT_STR("list watch deletecollection"), access->verb);
	struct bt_str resource = access->resource;
	const char *text = "no relationship found between node '{node}' and this object";
	bool allowed = true;
	int kind = 0;
	/* All kinds but resourceclaims are of the core group. */
	while (kind < REFERENCE_KIND_COUNT &&
		!(bt_str_equal_c(resource, references[kind].resource) &&
			(is_core || kind == REFERENCE_DEVICES))) {
		kind++;
	}
	if (kind != REFERENCE_KIND_COUNT) {
		allowed = is_referred_to(query, (enum reference_kind)kind, access->namespace_,
				  access->name) ||
			(kind == REFERENCE_SECRET && access->name.length != 0 &&
				is_secret_of_volumes(query));
	} else if (is_core && bt_str_equal_c(resource, "persistentvolumes")) {
		const struct bt_json_value *volume =
			read_object(query, "", "persistentvolumes", BT_STR(""), access->name);
		allowed = volume != NULL && is_volume_of_pods(query, volume);
	} else if (is_core && bt_str_equal_c(resource, "pods") && is_many) {
		text = "can only list/watch pods with spec.nodeName field selector";
		allowed = bt_str_equal(access->selected_node, query->node);
	} else if (is_core && bt_str_equal_c(resource, "pods") && !creates) {
		allowed =
			is_on_node(read_object(query, "", "pods", access->namespace_, access->name),
				query->node);
	} else if (bt_str_equal_c(resource, "resourceslices") && is_many) {
		text = "can only list/watch/deletecollection resourceslices with spec.nodeName "
		       "field selector";
		allowed = bt_str_equal(access->selected_node, query->node);
	} else if ((bt_str_equal_c(resource, "resourceslices") && !creates) ||
		bt_str_equal_c(resource, "volumeattachments")) {
		bool is_slice = bt_str_equal_c(resource, "resourceslices");
		const struct bt_json_value *object =
			read_object(query, is_slice ? "resource.k8s.io" : "storage.k8s.io",
				is_slice ? "resourceslices" : "volumeattachments", BT_STR(""),
				access->name);
		allowed = is_on_node(object, query->node);
	}
	return allowed ? NULL : text;
}

/** Replaces {node} in the text of a refusal. */
static struct bt_str name_node(const char *refusal, struct bt_str node, struct bt_arena *arena)
{
	const char *place = strstr(refusal, "{node}");
	return place == NULL ? bt_str_from(refusal)
			     : bt_arena_printf(arena, "%.*s%.*s%s", (int)(place - refusal), refusal,
				       BT_STR_ARG(node), place + strlen("{node}"));
}

bool bt_node_authorize(struct bt_api *api, const struct bt_access *access, struct bt_arena *arena,
	struct bt_str *out_reason)
{
	struct node_query query = {api, access, node_of_user(access->user), arena};
	const struct bt_policy_rule *rules;
	uint32_t count = 0;
	bool allowed = false;
	if (query.node.length == 0 || access->is_path ||
		!bt_rbac_role_rules(api->rbac, BT_STR(""), true, BT_STR("system:node"), arena,
			&rules, &count)) {
		return false;
	}
	for (uint32_t i = 0; i < count && !allowed; i++) {
		allowed = bt_policy_rule_allows(&rules[i], access);
	}
	const char *refusal = NULL;
	if (allowed) {
		refusal = refuse_by_name(&query);
		refusal = refusal != NULL ? refusal : refuse_by_relation(&query);
	}
	if (refusal != NULL && out_reason != NULL) {
		*out_reason = name_node(refusal, query.node, arena);
	}
	return allowed && refusal == NULL;
}

/** --- NodeRestriction --- */

static bool is_allowed_label(struct bt_str key)
{
	static const char *const names[] = {"kubernetes.io/hostname", "kubernetes.io/arch",
		"kubernetes.io/os", "beta.kubernetes.io/arch", "beta.kubernetes.io/os",
		"beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type",
		"failure-domain.beta.kubernetes.io/zone",
		"failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/zone",
		"topology.kubernetes.io/region"};
	struct bt_str rest = key;
	struct bt_str domain = bt_str_cut(&rest, '/');
	if (rest.data == NULL) {
		return true;
	}
	if (bt_str_equal_c(domain, "node-restriction.kubernetes.io") ||
		bt_str_has_suffix(domain, BT_STR(".node-restriction.kubernetes.io"))) {
		return false;
	}
	bool is_reserved = bt_kinds_is_kubernetes_domain(domain);
	static const char *const domains[] = {"kubelet.kubernetes.io", "node.kubernetes.io"};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(domains) && is_reserved; i++) {
		struct bt_str wanted = bt_str_from(domains[i]);
		uint32_t cut = domain.length - wanted.length;
		is_reserved = !bt_str_equal(domain, wanted) &&
			!(bt_str_has_suffix(domain, wanted) && domain.length > wanted.length &&
				domain.data[cut - 1] == '.');
	}
	return !is_reserved || bt_str_is_one_of(key, names, BT_ARRAY_LENGTH(names));
}

/**
 * Appends the names of labels in `a` that `b` lacks, if nodes may not change these labels. `known`
 * false: also of labels that have another value in `b`.
 */
static void append_forbidden_labels(const struct bt_json_value *a, const struct bt_json_value *b,
	bool known, struct bt_strbuf *out)
{
	for (uint32_t i = 0; i < a->count; i++) {
		struct bt_str name = a->members[i].name;
		const struct bt_json_value *other = bt_json_get(b, name);
		bool is_changed = other == NULL ||
			(!known && !bt_str_equal(other->text, a->members[i].value->text));
		if (is_changed && !is_allowed_label(name)) {
			bt_strbuf_append_c(out, out->length != 0 ? ", " : "");
			bt_strbuf_append_str(out, name);
		}
	}
}

/**
 * A write by a node. old NULL: a create; object NULL: a delete. The functions that restrict the
 * write return NULL, or why it is refused, with {node} in place of the node's name.
 */
struct restriction {
	struct bt_call *call;
	struct bt_str node;
	const struct bt_json_value *old;
	const struct bt_json_value *object;
};

static bool changes(const struct restriction *restriction, const char *path)
{
	return !bt_kinds_same(bt_json_find_path(restriction->old, path),
		bt_json_find_path(restriction->object, path));
}

static const char *restrict_node(const struct restriction *restriction)
{
	const struct bt_json_value *old = restriction->old;
	const struct bt_json_value *object = restriction->object;
	struct bt_str name = restriction->call->write.name;
	struct bt_arena *arena = restriction->call->arena;
	if (!bt_str_equal(name, restriction->node)) {
		return bt_arena_printf(arena,
			"node \"{node}\" is not allowed to modify node \"%.*s\"", BT_STR_ARG(name))
			.data;
	}
	if (object == NULL) {
		return NULL;
	}
	const struct bt_json_value *before = bt_json_object_at(old, "metadata.labels");
	const struct bt_json_value *after = bt_json_object_at(object, "metadata.labels");
	struct bt_strbuf labels = {0};
	append_forbidden_labels(after, before, false, &labels);
	append_forbidden_labels(before, after, true, &labels);
	struct bt_str list = bt_arena_take_strbuf(arena, &labels);
	if (list.length != 0) {
		return bt_arena_printf(arena, "is not allowed to %s: %.*s",
			old != NULL ? "modify labels" : "set the following labels",
			BT_STR_ARG(list))
			.data;
	}
	if (old != NULL && changes(restriction, "spec.taints")) {
		return "node \"{node}\" is not allowed to modify taints";
	}
	if (old != NULL && changes(restriction, "metadata.ownerReferences")) {
		return "node \"{node}\" is not allowed to modify owner references";
	}
	return NULL;
}

/**
 * A node may only create mirror pods, which represent its static pods. A mirror pod must not refer
 * to objects, because a reference would give the node access to the object.
 */
static const char *restrict_pod(const struct restriction *restriction)
{
	const struct bt_json_value *pod = restriction->object;
	if (restriction->old == NULL) {
		const struct bt_json_value *owners =
			bt_json_array_at(pod, "metadata.ownerReferences");
		if (bt_json_find(bt_json_object_at(pod, "metadata.annotations"),
			    "kubernetes.io/config.mirror") == NULL) {
			return "pod does not have \"kubernetes.io/config.mirror\" annotation, node "
			       "\"{node}\" can only create mirror pods";
		}
		if (!is_on_node(pod, restriction->node)) {
			return "node \"{node}\" can only create pods with spec.nodeName set to "
			       "itself";
		}
		for (uint32_t i = 0; i < owners->count; i++) {
			const struct bt_json_value *owner = owners->elements[i];
			if (owners->count != 1 ||
				!bt_str_equal_c(bt_json_text_at(owner, "kind"), "Node") ||
				!bt_str_equal(bt_json_text_at(owner, "name"), restriction->node)) {
				return "node \"{node}\" can only create pods with an owner "
				       "reference set "
				       "to itself";
			}
		}
		for (int kind = 0; kind < REFERENCE_KIND_COUNT; kind++) {
			if (pod_refers(pod, (enum reference_kind)kind, (struct bt_str){NULL, 0})) {
				return bt_arena_printf(restriction->call->arena,
					"node \"{node}\" can not create pods that reference %s",
					references[kind].shown)
					.data;
			}
		}
		return NULL;
	}
	bool is_own = is_on_node(restriction->old, restriction->node);
	if (restriction->object == NULL) {
		return is_own ? NULL
			      : "node \"{node}\" can only delete pods with spec.nodeName set to "
				"itself";
	}
	if (restriction->call->write.subresource != BT_SUBRESOURCE_STATUS) {
		return "unexpected operation \"UPDATE\", node \"{node}\" can only create and "
		       "delete mirror pods";
	}
	if (!is_own) {
		return "node \"{node}\" can only update pod status for pods with spec.nodeName set "
		       "to itself";
	}
	if (changes(restriction, "metadata.labels")) {
		return "node \"{node}\" cannot update labels through pod status";
	}
	if (changes(restriction, "status.resourceClaimStatuses")) {
		return "node \"{node}\" cannot update resource claim statuses";
	}
	return NULL;
}

/** Denies the request unless `refusal` is NULL. Returns whether it is allowed. */
static bool deny_unless_null(struct bt_call *call, struct bt_str node, const char *refusal)
{
	return refusal == NULL ||
		bt_fail_forbidden(&call->answer->failure, call->arena, call->write.resource,
			call->write.name, name_node(refusal, node, call->arena));
}

bool bt_node_restrict(
	struct bt_call *call, const struct bt_json_value *old, const struct bt_json_value *object)
{
	struct bt_str node = node_of_user(call->write.user);
	const struct restriction restriction = {call, node, old, object};
	const struct bt_api_resource *resource = call->write.resource;
	bool is_own = bt_str_equal(call->write.name, node);
	const char *refusal = NULL;
	if (call->api->rbac == NULL || node.length == 0) {
		return true;
	}
	if (resource == call->api->nodes) {
		refusal = restrict_node(&restriction);
	} else if (resource == call->api->pods) {
		refusal = restrict_pod(&restriction);
	} else if (strcmp(resource->name, "leases") == 0 && !is_own) {
		refusal = "can only access node lease with the same name as the requesting node";
	} else if (strcmp(resource->name, "csinodes") == 0 && !is_own) {
		refusal = "can only access CSINode with the same name as the requesting node";
	} else if (strcmp(resource->name, "resourceslices") == 0 &&
		((old != NULL && !is_on_node(old, node)) ||
			(object != NULL && !is_on_node(object, node)))) {
		refusal = "can only write a ResourceSlice with the same NodeName as the requesting "
			  "node";
	}
	return deny_unless_null(call, node, refusal);
}

bool bt_node_restrict_token(struct bt_call *call, const struct bt_json_value *reference)
{
	struct bt_str node = node_of_user(call->write.user);
	struct node_query query = {call->api, NULL, node, call->arena};
	const char *refusal = NULL;
	if (call->api->rbac == NULL || node.length == 0) {
		return true;
	}
	const struct bt_json_value *pod = read_object(
		&query, "", "pods", call->write.namespace_, bt_json_text_at(reference, "name"));
	if (!bt_str_equal_c(bt_json_text_at(reference, "kind"), "Pod") ||
		bt_json_text_at(reference, "uid").length == 0) {
		refusal = "node requested token not bound to a pod";
	} else if (pod != NULL && !is_on_node(pod, node)) {
		refusal = "node requested token bound to a pod scheduled on a different node";
	}
	return deny_unless_null(call, node, refusal);
}
