/* SPDX-License-Identifier: Apache-2.0 */
#include "server/admission_private.h"
#include "server/write.h"

/*
 * Priority: sets the priority of pods and pod groups by their PriorityClass. Spec: 14b section 4.4.
 */

/** How a true globalDefault appears in a stored text: stored JSON has no blanks. */
#define GLOBAL_DEFAULT BT_STR("\"globalDefault\":true")

/**
 * Returns the default class with the lowest value, because several default classes may exist. NULL:
 * there is none. except: the name of a class to ignore.
 */
static const struct bt_json_value *global_default(
	const struct bt_admission *admission, struct bt_str except)
{
	const struct bt_json_value *classes = bt_admission_list(
		admission, "scheduling.k8s.io", "priorityclasses", GLOBAL_DEFAULT);
	const struct bt_json_value *found = NULL;
	for (uint32_t i = 0; i < classes->count; i++) {
		const struct bt_json_value *class_ = classes->elements[i];
		if (bt_json_bool_at(class_, "globalDefault", false) &&
			!bt_str_equal(bt_json_text_at(class_, "metadata.name"), except) &&
			(found == NULL ||
				bt_json_int64_at(class_, "value", 0) <
					bt_json_int64_at(found, "value", 0))) {
			found = class_;
		}
	}
	return found;
}

/**
 * Finds the PriorityClass that spec names. If spec names no class, finds the global default and
 * sets its name in spec. *out_class NULL: there is no such class. Returns false if the request is
 * refused.
 */
static bool find_class(struct bt_admission *admission, struct bt_json_value *spec,
	const struct bt_json_value **out_class)
{
	struct bt_str name = bt_kinds_text(spec, "priorityClassName");
	if (name.length == 0) {
		*out_class = global_default(admission, BT_STR(""));
		if (*out_class != NULL) {
			bt_json_set_str(admission->write->arena, spec, "priorityClassName",
				bt_json_text_at(*out_class, "metadata.name"));
		}
		return true;
	}
	*out_class = bt_admission_read(admission, "scheduling.k8s.io", "priorityclasses", name);
	/* A dump may lack the classes, but the pods in a dump already have a priority. */
	if (*out_class == NULL &&
		!(admission->write->restoring && bt_json_find(spec, "priority") != NULL)) {
		bt_admission_refuse(
			admission, "no PriorityClass with name %.*s was found", BT_STR_ARG(name));
		return false;
	}
	return true;
}

/** Sets spec.priority; refuses the request if spec already has another value. */
static void set_priority(struct bt_admission *admission, struct bt_json_value *spec, int64_t value)
{
	const struct bt_json_value *given = bt_json_find(spec, "priority");
	if (given == NULL) {
		bt_json_set_int64(admission->write->arena, spec, "priority", value);
	} else if (bt_json_int64_at(spec, "priority", 0) != value && !admission->write->restoring) {
		bool is_pod = bt_admission_is(admission, "", "pods");
		bt_admission_refuse(admission,
			"the integer value of priority (%.*s) must not be provided in %s spec; "
			"priority admission controller computed %lld from the given PriorityClass "
			"name",
			BT_STR_ARG(given->text), is_pod ? "pod" : "pod group", (long long)value);
	}
}

/** Keeps the old value of a field that the update leaves out. */
static void keep_old_field(
	struct bt_admission *admission, struct bt_json_value *spec, const char *name)
{
	const struct bt_json_value *old_spec = bt_kinds_object(admission->old, "spec");
	struct bt_json_value *value = bt_json_find(old_spec, name);
	if (value != NULL && bt_json_find(spec, name) == NULL) {
		bt_json_set_value(admission->write->arena, spec, name, value);
	}
}

void bt_admission_set_pod_priority(struct bt_admission *admission, struct bt_json_value *pod)
{
	struct bt_json_value *spec = bt_json_ensure_object(admission->write->arena, pod, "spec");
	const struct bt_json_value *class_;
	if (admission->old != NULL) {
		keep_old_field(admission, spec, "priority");
		keep_old_field(admission, spec, "preemptionPolicy");
		return;
	}
	if (!find_class(admission, spec, &class_)) {
		return;
	}
	struct bt_str policy = bt_kinds_text(class_, "preemptionPolicy");
	if (policy.length == 0) {
		policy = BT_STR("PreemptLowerPriority");
	}
	set_priority(admission, spec, bt_json_int64_at(class_, "value", 0));
	if (admission->failure->code == 0) {
		struct bt_str given = bt_kinds_text(spec, "preemptionPolicy");
		if (given.length == 0) {
			bt_json_set_str(admission->write->arena, spec, "preemptionPolicy", policy);
		} else if (!bt_str_equal(given, policy) && !admission->write->restoring) {
			bt_admission_refuse(admission,
				"the string value of PreemptionPolicy (%.*s) must not be provided "
				"in pod "
				"spec; priority admission controller computed %.*s from the given "
				"PriorityClass name",
				BT_STR_ARG(given), BT_STR_ARG(policy));
		}
	}
}

void bt_admission_set_group_priority(struct bt_admission *admission, struct bt_json_value *group)
{
	struct bt_json_value *spec = bt_json_ensure_object(admission->write->arena, group, "spec");
	const struct bt_json_value *class_;
	if (admission->old != NULL) {
		keep_old_field(admission, spec, "priority");
	} else if (find_class(admission, spec, &class_)) {
		set_priority(admission, spec, bt_json_int64_at(class_, "value", 0));
	}
}

void bt_admission_check_priority_class(
	struct bt_admission *admission, const struct bt_json_value *class_)
{
	if (!bt_json_bool_at(class_, "globalDefault", false) || admission->write->restoring) {
		return;
	}
	const struct bt_json_value *other =
		global_default(admission, bt_json_text_at(class_, "metadata.name"));
	if (other != NULL) {
		bt_admission_refuse(admission,
			"PriorityClass %.*s is already marked as default. Only one default can "
			"exist",
			BT_STR_ARG(bt_json_text_at(other, "metadata.name")));
	}
}

/* ServiceAccount, DefaultTolerationSeconds, RuntimeClass. Spec: 14b sections 4.3, 4.6, 4.9. */

#define DEFAULT_TOLERATION_SECONDS 300
/**
 * Before a toleration is added, only this many of the pod's tolerations are compared with it,
 * because comparing thousands takes too long. A duplicate does no harm.
 */
#define COMPARED_TOLERATIONS_MAX 256

#define TOKEN_PATH "/var/run/secrets/kubernetes.io/serviceaccount"
#define TOKEN_VOLUME "kube-api-access-"
/** 3607 seconds instead of an hour marks tokens that were projected into pods. */
#define TOKEN_SECONDS 3607

static void add_token_volume(struct bt_admission *admission, struct bt_json_value *spec,
	const struct bt_json_value *account)
{
	static const char *const lists[] = {"initContainers", "containers"};
	struct bt_arena *arena = admission->write->arena;
	const struct bt_json_value *volumes = bt_json_array_at(spec, "volumes");
	struct bt_str name = BT_STR("");
	bool is_wanted = bt_json_bool_at(spec, "automountServiceAccountToken",
		bt_json_bool_at(account, "automountServiceAccountToken", true));
	bool is_mounted = false;
	if (!is_wanted) {
		return;
	}
	for (uint32_t i = 0; i < volumes->count; i++) {
		struct bt_str given = bt_kinds_text(volumes->elements[i], "name");
		if (bt_str_has_prefix(given, BT_STR(TOKEN_VOLUME))) {
			name = given;
		}
	}
	bool is_there = name.length != 0;
	if (!is_there) {
		name = bt_api_generate_name(admission->write->api, arena, BT_STR(TOKEN_VOLUME));
	}
	for (size_t l = 0; l < BT_ARRAY_LENGTH(lists); l++) {
		const struct bt_json_value *containers = bt_json_array_at(spec, lists[l]);
		for (uint32_t i = 0; i < containers->count; i++) {
			struct bt_json_value *container = containers->elements[i];
			if (container->type != BT_JSON_OBJECT) {
				continue;
			}
			struct bt_json_value *mounts =
				bt_json_ensure_array(arena, container, "volumeMounts");
			if (bt_json_element_with(mounts, "mountPath", BT_STR(TOKEN_PATH)) == NULL) {
				bt_json_append(arena, mounts,
					bt_json_put(arena, NULL,
						"{name: %s, readOnly: true, mountPath: %c}", name,
						TOKEN_PATH));
				is_mounted = true;
			}
		}
	}
	if (is_mounted && !is_there) {
		bt_json_put(arena, spec,
			"{volumes: [{name: %s, projected: {sources: ["
			"{serviceAccountToken: {expirationSeconds: %d, path: 'token'}},"
			"{configMap: {name: 'kube-root-ca.crt',"
			" items: [{key: 'ca.crt', path: 'ca.crt'}]}},"
			"{downwardAPI: {items: [{path: 'namespace',"
			" fieldRef: {apiVersion: 'v1', fieldPath: 'metadata.namespace'}}]}}],"
			" defaultMode: %d}}]}",
			name, (int64_t)TOKEN_SECONDS, (int64_t)0644);
	}
}

void bt_admission_set_service_account(struct bt_admission *admission, struct bt_json_value *pod)
{
	static const struct bt_user controller = {
		.name = BT_STR_INIT(
			"system:serviceaccount:kube-system:service-account-controller")};
	const struct bt_api_options *options = bt_api_options(admission->write->api);
	struct bt_arena *arena = admission->write->arena;
	const struct bt_json_value *annotations = bt_json_object_at(pod, "metadata.annotations");
	if (admission->old != NULL ||
		bt_json_find(annotations, "kubernetes.io/config.mirror") != NULL) {
		return;
	}
	struct bt_json_value *spec = bt_json_ensure_object(arena, pod, "spec");
	struct bt_str given = bt_kinds_text(spec, "serviceAccountName");
	struct bt_str name = given.length != 0 ? given : BT_STR("default");
	struct bt_json_value *account = NULL;
	/* Restored pods stay as they are; their accounts may not exist yet. */
	bool adds_volume = options->admit_token_volumes && !admission->write->restoring;
	if (adds_volume) {
		account = bt_admission_read(admission, "", "serviceaccounts",
			bt_api_key(arena, admission->write->namespace_, name));
		if (account == NULL && options->admit_service_account &&
			bt_str_equal_c(name, "default")) {
			/* The ServiceAccount controller may not have run yet in a new namespace. */
			struct bt_json_value *made =
				bt_json_put(arena, NULL, "{metadata: {name: 'default'}}");
			struct bt_api_request request = BT_API_REQUEST_INIT;
			struct bt_api_answer answer;
			request.verb = BT_VERB_CREATE;
			request.resource = bt_admission_resource(admission, "", "serviceaccounts");
			request.namespace_ = admission->write->namespace_;
			request.user = &controller;
			request.dry_run = admission->write->dry_run;
			request.body = made;
			bt_api_perform(admission->write->api, &request, arena, &answer);
			account = answer.code == 201 ? made : NULL;
			bt_api_answer_finish(&answer);
		}
		if (account == NULL && (given.length != 0 || options->admit_service_account)) {
			bt_admission_refuse(admission,
				"error looking up service account %.*s/%.*s: serviceaccount "
				"\"%.*s\" not found",
				BT_STR_ARG(admission->write->namespace_), BT_STR_ARG(name),
				BT_STR_ARG(name));
			return;
		}
	}
	if (given.length == 0 && (account != NULL || options->admit_service_account)) {
		bt_json_put(
			arena, spec, "{serviceAccountName: 'default', serviceAccount: 'default'}");
	}
	if (account == NULL) {
		return;
	}
	add_token_volume(admission, spec, account);
	const struct bt_json_value *secrets = bt_json_array_at(account, "imagePullSecrets");
	if (secrets->count != 0 && bt_json_array_at(spec, "imagePullSecrets")->count == 0) {
		bt_json_set_value(
			arena, spec, "imagePullSecrets", bt_json_clone(arena, secrets, false));
	}
}

void bt_admission_set_tolerations(struct bt_admission *admission, struct bt_json_value *pod)
{
	static const char *const keys[] = {
		"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"};
	struct bt_arena *arena = admission->write->arena;
	struct bt_json_value *spec = bt_json_ensure_object(arena, pod, "spec");
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(keys); i++) {
		const struct bt_json_value *tolerations = bt_json_array_at(spec, "tolerations");
		bool is_tolerated = false;
		for (uint32_t n = 0; n < tolerations->count && !is_tolerated; n++) {
			struct bt_str key = bt_kinds_text(tolerations->elements[n], "key");
			struct bt_str effect = bt_kinds_text(tolerations->elements[n], "effect");
			is_tolerated = (key.length == 0 || bt_str_equal_c(key, keys[i])) &&
				(effect.length == 0 || bt_str_equal_c(effect, "NoExecute"));
		}
		if (!is_tolerated) {
			bt_json_put(arena, spec,
				"{tolerations: [{key: %c, operator: 'Exists', effect: 'NoExecute',"
				" tolerationSeconds: %d}]}",
				keys[i], (int64_t)DEFAULT_TOLERATION_SECONDS);
		}
	}
}

/** --- RuntimeClass --- */

static void set_overhead(
	struct bt_admission *admission, struct bt_json_value *spec, struct bt_json_value *fixed)
{
	const struct bt_json_value *given = bt_kinds_object(spec, "overhead");
	if (fixed == NULL || fixed->count == 0) {
		if (given != NULL && given->count != 0) {
			bt_admission_refuse(admission,
				"pod rejected: Pod Overhead set without corresponding "
				"RuntimeClass defined Overhead");
		}
		return;
	}
	bt_kinds_round_quantities(admission->write->arena, fixed);
	if (given != NULL && given->count != 0 && !bt_json_equal(given, fixed)) {
		bt_admission_refuse(admission,
			"pod rejected: Pod's Overhead doesn't match RuntimeClass's defined "
			"Overhead");
		return;
	}
	bt_json_set_value(admission->write->arena, spec, "overhead", fixed);
}

static void merge_node_selector(struct bt_admission *admission, struct bt_json_value *spec,
	const struct bt_json_value *selector)
{
	struct bt_arena *arena = admission->write->arena;
	if (selector == NULL || selector->count == 0) {
		return;
	}
	struct bt_json_value *own = bt_json_ensure_object(arena, spec, "nodeSelector");
	struct bt_text_set keys = {0};
	bt_json_append_names(own, &keys);
	for (uint32_t i = 0; i < selector->count; i++) {
		const struct bt_json_member *member = &selector->members[i];
		uint32_t index = bt_text_set_find(&keys, member->name);
		if (index == BT_MAP_NONE) {
			bt_json_set(arena, own, member->name, member->value);
		} else if (!bt_str_equal(own->members[index].value->text, member->value->text)) {
			bt_admission_refuse(admission,
				"pod rejected: conflict: "
				"runtimeClass.scheduling.nodeSelector[%.*s] "
				"= %.*s; pod.spec.nodeSelector[%.*s] = %.*s",
				BT_STR_ARG(member->name), BT_STR_ARG(member->value->text),
				BT_STR_ARG(member->name),
				BT_STR_ARG(own->members[index].value->text));
			break;
		}
	}
	bt_text_set_finish(&keys);
}

/** Skips restored pods, because they passed this plugin when they were created. */
void bt_admission_set_runtime(struct bt_admission *admission, struct bt_json_value *pod)
{
	struct bt_json_value *spec = bt_json_ensure_object(admission->write->arena, pod, "spec");
	struct bt_str name = bt_kinds_text(spec, "runtimeClassName");
	const struct bt_json_value *scheduling;
	if (admission->old != NULL || admission->write->restoring) {
		return;
	}
	if (name.length == 0) {
		set_overhead(admission, spec, NULL);
		return;
	}
	const struct bt_json_value *class_ =
		bt_admission_read(admission, "node.k8s.io", "runtimeclasses", name);
	if (class_ == NULL) {
		bt_admission_refuse(admission, "pod rejected: RuntimeClass \"%.*s\" not found",
			BT_STR_ARG(name));
		return;
	}
	set_overhead(
		admission, spec, bt_kinds_object(bt_kinds_object(class_, "overhead"), "podFixed"));
	scheduling = bt_kinds_object(class_, "scheduling");
	if (scheduling != NULL && admission->failure->code == 0) {
		merge_node_selector(admission, spec, bt_kinds_object(scheduling, "nodeSelector"));
		const struct bt_json_value *tolerations =
			bt_json_array_at(scheduling, "tolerations");
		for (uint32_t i = 0; i < tolerations->count; i++) {
			struct bt_json_value *own =
				bt_json_ensure_array(admission->write->arena, spec, "tolerations");
			bool there = false;
			uint32_t compared = BT_MIN(own->count, COMPARED_TOLERATIONS_MAX);
			for (uint32_t n = 0; n < compared && !there; n++) {
				there = bt_json_equal(own->elements[n], tolerations->elements[i]);
			}
			if (!there) {
				bt_json_append(
					admission->write->arena, own, tolerations->elements[i]);
			}
		}
	}
}
