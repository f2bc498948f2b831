/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Warnings about fields of valid objects that are deprecated, ignored or ambiguous, with
 * kube-apiserver's texts. Spec: 14b section 5.4.
 */
#include "api/label.h"
#include "server/kinds/common.h"
#include "server/write.h"

/** An annotation or a label that another field or label replaces. */
struct replaced {
	const char *key; /* ends with '/': all keys with this prefix */
	const char *detail;
};

static const struct replaced annotations[] = {
	{"container.apparmor.security.beta.kubernetes.io/",
		"deprecated since v1.30; use the \"appArmorProfile\" field instead"},
	{"container.seccomp.security.alpha.kubernetes.io/",
		"non-functional in v1.27+; use the \"seccompProfile\" field instead"},
	{"seccomp.security.alpha.kubernetes.io/pod",
		"non-functional in v1.27+; use the \"seccompProfile\" field instead"},
};

static const struct replaced labels[] = {
	{"beta.kubernetes.io/arch", "deprecated since v1.14; use \"kubernetes.io/arch\" instead"},
	{"beta.kubernetes.io/os", "deprecated since v1.14; use \"kubernetes.io/os\" instead"},
	{"beta.kubernetes.io/instance-type",
		"deprecated since v1.17; use \"node.kubernetes.io/instance-type\" instead"},
	{"failure-domain.beta.kubernetes.io/region",
		"deprecated since v1.17; use \"topology.kubernetes.io/region\" instead"},
	{"failure-domain.beta.kubernetes.io/zone",
		"deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead"},
};

static const char *detail_of(const struct replaced *rows, size_t count, struct bt_str key)
{
	for (size_t i = 0; i < count; i++) {
		struct bt_str name = bt_str_from(rows[i].key);
		if (bt_str_equal(key, name) ||
			(bt_str_has_suffix(name, BT_STR("/")) && bt_str_has_prefix(key, name))) {
			return rows[i].detail;
		}
	}
	return NULL;
}

/** The pod, or the template of a workload, that is checked. */
struct scan {
	struct bt_call *call;
	const char *root; /* path of the pod before "spec", with a dot at its end; "": a pod */
	struct bt_text_set ports;
};

static void warn_about_keys(struct scan *scan, const char *path, const struct bt_json_value *map,
	const struct replaced *rows, size_t count)
{
	for (uint32_t i = 0; i < map->count; i++) {
		const char *detail = detail_of(rows, count, map->members[i].name);
		if (detail != NULL) {
			bt_call_warn(scan->call, "%s%s[%.*s]: %s", scan->root, path,
				BT_STR_ARG(map->members[i].name), detail);
		}
	}
}

/** path: of the term, relative to the pod's spec. */
static void warn_about_term(struct scan *scan, const char *path, uint32_t index, const char *rest,
	const struct bt_json_value *term)
{
	const struct bt_json_value *expressions = bt_json_array_at(term, "matchExpressions");
	for (uint32_t i = 0; i < expressions->count; i++) {
		struct bt_str key = bt_kinds_text(expressions->elements[i], "key");
		const char *detail = detail_of(labels, BT_ARRAY_LENGTH(labels), key);
		if (detail != NULL) {
			bt_call_warn(scan->call,
				"%sspec.affinity.nodeAffinity.%s[%u]%s.matchExpressions[%u].key: "
				"%.*s is %s",
				scan->root, path, index, rest, i, BT_STR_ARG(key), detail);
		}
	}
}

/**
 * Adds the key of the port at spec.<list>[n].ports[i] to the set scan->ports. Returns the path of
 * an earlier port with this key; absent: there is none.
 */
static struct bt_str find_port(
	struct scan *scan, struct bt_json_value *paths, struct bt_str key, struct bt_str path)
{
	uint32_t index = bt_text_set_find(&scan->ports, key);
	if (index != BT_MAP_NONE) {
		return paths->elements[index]->text;
	}
	(void)bt_text_set_add(&scan->ports, key);
	bt_json_append(scan->call->arena, paths, bt_json_new_str(scan->call->arena, path));
	return (struct bt_str){0};
}

static void warn_about_containers(
	struct scan *scan, const struct bt_json_value *spec, const char *list)
{
	struct bt_arena *arena = scan->call->arena;
	const struct bt_json_value *containers = bt_json_array_at(spec, list);
	struct bt_json_value *paths = bt_json_new(arena, BT_JSON_ARRAY);
	for (uint32_t n = 0; n < containers->count; n++) {
		const struct bt_json_value *container = containers->elements[n];
		const struct bt_json_value *env = bt_json_array_at(container, "env");
		const struct bt_json_value *ports = bt_json_array_at(container, "ports");
		struct bt_text_set names = {0};
		for (uint32_t i = 0; env->count > 1 && i < env->count; i++) {
			struct bt_str name = bt_kinds_text(env->elements[i], "name");
			if (!bt_text_set_add(&names, name)) {
				bt_call_warn(scan->call,
					"%sspec.%s[%u].env[%u]: hides previous definition of "
					"\"%.*s\", "
					"which may be dropped when using apply",
					scan->root, list, n, i, BT_STR_ARG(name));
			}
		}
		bt_text_set_finish(&names);
		for (uint32_t i = 0; i < ports->count; i++) {
			const struct bt_json_value *port = ports->elements[i];
			struct bt_str name = bt_kinds_text(port, "name");
			struct bt_str path = bt_arena_printf(
				arena, "%sspec.%s[%u].ports[%u]", scan->root, list, n, i);
			struct bt_str key = bt_arena_printf(arena, "%u %lld %.*s %.*s %lld", n,
				(long long)bt_json_int64_at(port, "containerPort", 0),
				BT_STR_ARG(bt_kinds_text(port, "protocol")),
				BT_STR_ARG(bt_kinds_text(port, "hostIP")),
				(long long)bt_json_int64_at(port, "hostPort", 0));
			struct bt_str other = find_port(scan, paths, key, path);
			if (other.data != NULL) {
				bt_call_warn(scan->call,
					"%.*s: duplicate port definition with %.*s",
					BT_STR_ARG(path), BT_STR_ARG(other));
			}
			other = name.length != 0 ? find_port(scan, paths, name, path)
						 : (struct bt_str){0};
			if (other.data != NULL) {
				bt_call_warn(scan->call,
					"%.*s: duplicate port name \"%.*s\" with %.*s, services "
					"and "
					"probes that select ports by name will use %.*s",
					BT_STR_ARG(path), BT_STR_ARG(name), BT_STR_ARG(other),
					BT_STR_ARG(other));
			}
		}
	}
	bt_text_set_finish(&scan->ports);
	scan->ports = (struct bt_text_set){0};
}

const struct bt_json_value *bt_call_pod(
	const struct bt_call *call, const struct bt_json_value *object, const char **out_root)
{
	const struct bt_api_resource *resource = call->write.resource;
	const char *path = NULL;
	*out_root = "";
	if (resource == call->api->pods) {
		return object;
	}
	if (bt_str_has_word(BT_STR("replicationcontrollers deployments.apps replicasets.apps "
				   "statefulsets.apps daemonsets.apps jobs.batch"),
		    bt_resource_qualified(resource, call->arena))) {
		path = "spec.template";
	} else if (bt_str_equal_c(bt_str_from(resource->kind), "CronJob")) {
		path = "spec.jobTemplate.spec.template";
	} else if (strcmp(resource->kind, "PodTemplate") == 0) {
		path = "template";
	} else {
		return NULL;
	}
	*out_root = bt_arena_printf(call->arena, "%s.", path).data;
	return bt_json_object_at(object, path);
}

void bt_call_warn_about(
	struct bt_call *call, const struct bt_json_value *old, const struct bt_json_value *object)
{
	const struct bt_api_resource *resource = call->write.resource;
	const struct bt_json_value *spec = bt_json_object_at(object, "spec");
	/* An update that keeps the spec warns about nothing new. */
	if (!call->request->warns || call->write.subresource != BT_SUBRESOURCE_NONE ||
		(old != NULL &&
			(resource == call->api->pods ||
				bt_json_same(bt_json_object_at(old, "spec"), spec)))) {
		return;
	}
	const char *root;
	const struct bt_json_value *pod = bt_call_pod(call, object, &root);
	if (pod != NULL) {
		struct bt_str name = bt_kinds_text(bt_kinds_object(object, "metadata"), "name");
		if (old == NULL && !bt_dns1123_label_is_valid(name) &&
			!bt_str_has_word(BT_STR("StatefulSet DaemonSet PodTemplate"),
				bt_str_from(resource->kind))) {
			bool has_dots = bt_str_find_char(name, '.') >= 0;
			bool is_long = name.length > BT_LABEL_NAME_MAX;
			bt_call_warn(call,
				"metadata.name: this is used in %s, which can result in surprising "
				"behavior; a DNS label is recommended: [%s%s%s]",
				pod == object ? "the Pod's hostname" : "Pod names and hostnames",
				is_long ? "must be no more than 63 characters" : "",
				is_long && has_dots ? " " : "",
				has_dots ? "must not contain dots" : "");
		}
		struct scan scan = {.call = call, .root = root};
		const struct bt_json_value *pod_spec = bt_json_object_at(pod, "spec");
		warn_about_keys(&scan, "spec.nodeSelector",
			bt_json_object_at(pod_spec, "nodeSelector"), labels,
			BT_ARRAY_LENGTH(labels));
		const struct bt_json_value *affinity =
			bt_json_object_at(pod_spec, "affinity.nodeAffinity");
		const struct bt_json_value *terms = bt_json_array_at(affinity,
			"requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms");
		const struct bt_json_value *preferred = bt_json_array_at(
			affinity, "preferredDuringSchedulingIgnoredDuringExecution");
		for (uint32_t i = 0; i < terms->count; i++) {
			warn_about_term(&scan,
				"requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms",
				i, "", terms->elements[i]);
		}
		for (uint32_t i = 0; i < preferred->count; i++) {
			warn_about_term(&scan, "preferredDuringSchedulingIgnoredDuringExecution", i,
				".preference",
				bt_json_object_at(preferred->elements[i], "preference"));
		}
		warn_about_keys(&scan, "metadata.annotations",
			bt_json_object_at(pod, "metadata.annotations"), annotations,
			BT_ARRAY_LENGTH(annotations));
		warn_about_containers(&scan, pod_spec, "initContainers");
		warn_about_containers(&scan, pod_spec, "containers");
		if (bt_json_int64_at(pod_spec, "terminationGracePeriodSeconds", 0) < 0) {
			bt_call_warn(call,
				"%sspec.terminationGracePeriodSeconds: must be >= 0; negative "
				"values are invalid and will be treated as 1",
				root);
		}
	}
	if (resource->message == NULL ||
		bt_kinds_warns[resource->message - bt_schema_messages] == NULL) {
		return;
	}
	struct bt_field_errors found = {.arena = call->arena};
	struct bt_check check = {.write = &call->write, .errors = &found, .old = old};
	bt_kinds_warns[resource->message - bt_schema_messages](&check, NULL, object);
	for (const struct bt_field_error *warning = found.first; warning != NULL;
		warning = warning->next) {
		bt_call_warn(call, "%.*s", BT_STR_ARG(warning->detail));
	}
}
