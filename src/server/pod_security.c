/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Pod Security: checks pods, and the pod templates of workloads, against the levels in the labels
 * of their namespace. Every version of a level is checked as the latest. Spec: 14b section 4.13.
 */
#include <stdlib.h>

#include "server/kinds/common.h"
#include "server/write.h"

#define LABEL_PREFIX "pod-security.kubernetes.io/"
/** A message names at most so many values of a field. */
#define VALUES_MAX 100
/** After this many pods of a relabelled namespace, the rest is not checked. */
#define PODS_MAX 3000
/** Most groups of pods that are warned about when a namespace is relabelled. */
#define GROUPS_MAX 50

enum level {
	PRIVILEGED,
	BASELINE,
	RESTRICTED,
	LEVEL__COUNT,
};

static const char *const level_names[] = {"privileged", "baseline", "restricted"};
static const char *const container_lists[] = {
	"spec.initContainers", "spec.containers", "spec.ephemeralContainers"};

/** --- one check of one pod --- */

struct check;

/** One pod, and the result of one part of a check. */
struct scan {
	const struct check *check;
	struct bt_arena *arena;
	const struct bt_json_value *spec; /* of the pod or the template */
	struct bt_json_value *containers; /* of all three lists */
	bool is_windows;
	bool sets_user; /* in seLinuxOptions */
	bool sets_role;
	bool pod_is_bad;
	struct bt_json_value *bad;    /* names of containers, or of volumes */
	struct bt_json_value *values; /* values that are not allowed, without repetition */
	struct bt_strbuf detail;      /* of the whole check; "": the pod passes */
};

/** holder: a container, a volume, or the spec of the pod. */
typedef bool is_bad_fn(struct scan *scan, const struct bt_json_value *holder);

/** What a part of a check looks at. */
enum scope {
	CONTAINERS,
	POD_AND_CONTAINERS,
	POD_OR_CONTAINERS, /* bad only if both are: the pod gives the default of the containers */
	POD,
	VOLUMES,
};

struct check {
	enum level level;
	const char *reason;
	const char *reasons; /* if several values are not allowed; NULL: reason */
	const char *path;    /* of the field, in the pod's spec and in containers */
	const char *words;   /* values of the field that are allowed */
	/** The check of a lower level that this check replaces, by its index; 0: none. */
	uint32_t replaces;
	bool skips_windows;
	bool has_independent_parts; /* false: the second part counts only if the first passes */
	struct {
		enum scope scope;
		is_bad_fn *is_bad; /* NULL: no part */
		/**
		 * What is wrong. {bad}: `pod and containers "a", "b"`; {s}: the ending of their
		 * verb; {path}: the check's path; {values}: the values, quoted and sorted;
		 * {numbers}: sorted; {names}: in the pod's order; {plural}: the ending of their
		 * noun; {selinux}: the options that are set.
		 */
		const char *sentence;
	} parts[2];
};

static void add_value(struct scan *scan, struct bt_str text)
{
	if (scan->values->count < VALUES_MAX && !bt_json_has_text(scan->values, text)) {
		bt_json_append(scan->arena, scan->values, bt_json_new_str(scan->arena, text));
	}
}

BT_COMPARE(compare_texts, struct bt_json_value *const, bt_str_compare((*a)->text, (*b)->text))

/** Appends `"a", "b"`. */
static void append_list(struct bt_strbuf *out, const struct bt_json_value *list, bool quoted)
{
	for (uint32_t i = 0; i < list->count; i++) {
		bt_strbuf_append_c(out, i != 0 ? ", " : "");
		if (quoted) {
			bt_strbuf_append_quoted(out, list->elements[i]->text);
		} else {
			bt_strbuf_append_str(out, list->elements[i]->text);
		}
	}
}

static void append_sorted(struct scan *scan, bool quoted)
{
	if (scan->values->count > 1) {
		qsort(scan->values->elements, scan->values->count, sizeof(*scan->values->elements),
			compare_texts);
	}
	append_list(&scan->detail, scan->values, quoted);
}

static void append_sentence(struct scan *scan, enum scope scope, const char *sentence)
{
	struct bt_str rest = bt_str_from(sentence);
	while (rest.data != NULL) {
		bt_strbuf_append_str(&scan->detail, bt_str_cut(&rest, '{'));
		struct bt_str word = bt_str_cut(&rest, '}');
		if (bt_str_equal_c(word, "bad")) {
			uint32_t count = scan->bad->count;
			bt_strbuf_append_c(&scan->detail, scan->pod_is_bad ? "pod" : "");
			if (count != 0) {
				bt_strbuf_printf(&scan->detail, "%s%s%s ",
					!scan->pod_is_bad                    ? ""
						: scope == POD_OR_CONTAINERS ? " or "
									     : " and ",
					scope == VOLUMES ? "volume" : "container",
					count > 1 ? "s" : "");
				append_list(&scan->detail, scan->bad, true);
			}
		} else if (bt_str_equal_c(word, "s")) {
			bt_strbuf_append_c(&scan->detail, scan->bad->count > 1 ? "" : "s");
		} else if (bt_str_equal_c(word, "path")) {
			bt_strbuf_append_c(&scan->detail, scan->check->path);
		} else if (bt_str_equal_c(word, "plural")) {
			bt_strbuf_append_c(&scan->detail, scan->values->count > 1 ? "s" : "");
		} else if (bt_str_equal_c(word, "names")) {
			append_list(&scan->detail, scan->values, false);
		} else if (bt_str_equal_c(word, "selinux")) {
			uint32_t type_count = scan->values->count;
			if (type_count != 0) {
				bt_strbuf_append_c(
					&scan->detail, type_count > 1 ? "types " : "type ");
				append_sorted(scan, true);
			}
			if (scan->sets_user) {
				bt_strbuf_printf(&scan->detail, "%suser may not be set",
					type_count != 0 ? "; " : "");
			}
			if (scan->sets_role) {
				bt_strbuf_printf(&scan->detail, "%srole may not be set",
					type_count != 0 || scan->sets_user ? "; " : "");
			}
		} else if (word.length != 0) { /* values, numbers */
			append_sorted(scan, bt_str_equal_c(word, "values"));
		}
	}
}

/** Appends what is wrong with the pod to scan->detail. */
static void run_check(struct scan *scan, const struct check *check)
{
	bt_strbuf_reset(&scan->detail);
	scan->check = check;
	for (size_t n = 0; n < BT_ARRAY_LENGTH(check->parts) && check->parts[n].is_bad != NULL;
		n++) {
		is_bad_fn *is_bad = check->parts[n].is_bad;
		enum scope scope = check->parts[n].scope;
		const struct bt_json_value *list = scope == VOLUMES
			? bt_json_array_at(scan->spec, "volumes")
			: scan->containers;
		bool has_pod =
			scope == POD || scope == POD_AND_CONTAINERS || scope == POD_OR_CONTAINERS;
		scan->bad = bt_json_new(scan->arena, BT_JSON_ARRAY);
		scan->values = bt_json_new(scan->arena, BT_JSON_ARRAY);
		scan->pod_is_bad = has_pod && is_bad(scan, scan->spec);
		for (uint32_t i = 0; scope != POD && i < list->count; i++) {
			struct bt_str name = bt_kinds_text(list->elements[i], "name");
			if (is_bad(scan, list->elements[i])) {
				bt_json_append(
					scan->arena, scan->bad, bt_json_new_str(scan->arena, name));
			}
		}
		if (scope == POD_OR_CONTAINERS ? scan->pod_is_bad && scan->bad->count != 0
					       : scan->pod_is_bad || scan->bad->count != 0) {
			bt_strbuf_append_c(&scan->detail, scan->detail.length != 0 ? "; " : "");
			append_sentence(scan, scope, check->parts[n].sentence);
		}
		if (scan->detail.length != 0 && !check->has_independent_parts) {
			return;
		}
	}
}

/** --- the checks --- */

static bool is_true(struct scan *scan, const struct bt_json_value *holder)
{
	return bt_json_bool_at(holder, scan->check->path, false);
}

static bool is_not_false(struct scan *scan, const struct bt_json_value *holder)
{
	return bt_json_bool_at(holder, scan->check->path, true);
}

static bool is_false(struct scan *scan, const struct bt_json_value *holder)
{
	return !bt_json_bool_at(holder, scan->check->path, true);
}

static bool is_absent(struct scan *scan, const struct bt_json_value *holder)
{
	return bt_json_find_path(holder, scan->check->path) == NULL;
}

static bool is_zero(struct scan *scan, const struct bt_json_value *holder)
{
	return bt_json_int64_at(holder, scan->check->path, 1) == 0;
}

/** Adds the text unless it is allowed. Returns whether it was added. */
static bool add_other_word(struct scan *scan, struct bt_str text)
{
	bool is_bad = !bt_str_has_word(bt_str_from(scan->check->words), text);
	if (is_bad) {
		add_value(scan, text);
	}
	return is_bad;
}

/** Returns whether the text at the check's path is set and not allowed. */
static bool has_other_word(struct scan *scan, const struct bt_json_value *holder)
{
	struct bt_str text = bt_json_text_at(holder, scan->check->path);
	return text.length != 0 && add_other_word(scan, text);
}

/** As has_other_word, for a list of texts, or of objects with names, at the check's path. */
static bool has_other_element(struct scan *scan, const struct bt_json_value *holder)
{
	const struct bt_json_value *list = bt_json_array_at(holder, scan->check->path);
	bool is_bad = false;
	for (uint32_t i = 0; i < list->count; i++) {
		const struct bt_json_value *element = list->elements[i];
		is_bad |= add_other_word(scan,
			element->type == BT_JSON_OBJECT ? bt_kinds_text(element, "name")
							: element->text);
	}
	return is_bad;
}

static bool keeps_capabilities(struct scan *scan BT_UNUSED, const struct bt_json_value *holder)
{
	return !bt_json_has_text(
		bt_json_array_at(holder, "securityContext.capabilities.drop"), BT_STR("ALL"));
}

static bool uses_host_namespaces(struct scan *scan, const struct bt_json_value *holder)
{
	static const char *const fields[] = {"hostNetwork", "hostPID", "hostIPC"};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(fields); i++) {
		if (bt_json_bool_at(holder, fields[i], false)) {
			add_value(scan, bt_arena_printf(scan->arena, "%s=true", fields[i]));
		}
	}
	return scan->values->count != 0;
}

static bool is_host_path(struct scan *scan BT_UNUSED, const struct bt_json_value *holder)
{
	return bt_json_find(holder, "hostPath") != NULL;
}

/** Returns whether the source of the volume is not allowed. */
static bool has_other_source(struct scan *scan, const struct bt_json_value *holder)
{
	bool is_bad = false;
	for (uint32_t i = 0; i < holder->count; i++) {
		is_bad |= !bt_str_equal_c(holder->members[i].name, "name") &&
			add_other_word(scan, holder->members[i].name);
	}
	return is_bad;
}

static bool has_host_port(struct scan *scan, const struct bt_json_value *holder)
{
	const struct bt_json_value *ports = bt_json_array_at(holder, "ports");
	bool is_bad = false;
	for (uint32_t i = 0; i < ports->count; i++) {
		const struct bt_json_value *port = bt_json_find(ports->elements[i], "hostPort");
		if (!bt_json_is_zero(port)) {
			add_value(scan, port->text);
			is_bad = true;
		}
	}
	return is_bad;
}

static bool has_probe_host(struct scan *scan, const struct bt_json_value *holder)
{
	static const char *const owners[] = {"livenessProbe", "readinessProbe", "startupProbe",
		"lifecycle.postStart", "lifecycle.preStop"};
	bool is_bad = false;
	for (size_t i = 0; i < BT_ARRAY_LENGTH(owners); i++) {
		const struct bt_json_value *owner = bt_json_object_at(holder, owners[i]);
		struct bt_str hosts[] = {bt_json_text_at(owner, "httpGet.host"),
			bt_json_text_at(owner, "tcpSocket.host")};
		for (size_t n = 0; n < BT_ARRAY_LENGTH(hosts); n++) {
			if (hosts[n].length != 0) {
				add_value(scan, hosts[n]);
				is_bad = true;
			}
		}
	}
	return is_bad;
}

static bool sets_selinux(struct scan *scan, const struct bt_json_value *holder)
{
	const struct bt_json_value *options =
		bt_json_object_at(holder, "securityContext.seLinuxOptions");
	bool has_user = bt_kinds_text(options, "user").length != 0;
	bool has_role = bt_kinds_text(options, "role").length != 0;
	bool has_type = has_other_word(scan, holder);
	scan->sets_user |= has_user;
	scan->sets_role |= has_role;
	return has_type || has_user || has_role;
}

#define OTHER_WORD \
	{ \
		POD_AND_CONTAINERS, has_other_word, "{bad} must not set {path} to {values}" \
	}
#define ADDED \
	{ \
		CONTAINERS, has_other_element, "{bad} must not include {values} in {path}" \
	}

/** In the order of messages. */
static const struct check checks[] = {
	{BASELINE, "forbidden AppArmor profile", "forbidden AppArmor profiles",
		.path = "securityContext.appArmorProfile.type", .words = "RuntimeDefault Localhost",
		.parts = {OTHER_WORD}},
	{BASELINE, "non-default capabilities", .path = "securityContext.capabilities.add",
		.words = "AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE "
			 "SETFCAP SETGID SETPCAP SETUID SYS_CHROOT",
		.parts = {ADDED}},
	{BASELINE, "host namespaces", .parts = {{POD, uses_host_namespaces, "{names}"}}},
	{BASELINE, "hostPath volumes", .parts = {{VOLUMES, is_host_path, "{bad}"}}},
	{BASELINE, "hostPort",
		.parts = {{CONTAINERS, has_host_port, "{bad} use{s} hostPort{plural} {numbers}"}}},
	{BASELINE, "probe or lifecycle host", "probe or lifecycle hosts",
		.parts = {{CONTAINERS, has_probe_host,
			"{bad} use{s} probe or lifecycle host{plural} {values}"}}},
	{BASELINE, "privileged", .path = "securityContext.privileged",
		.parts = {{POD_AND_CONTAINERS, is_true, "{bad} must not set {path}=true"}}},
	{BASELINE, "procMount", .path = "securityContext.procMount", .words = "Default",
		.parts = {OTHER_WORD}},
	{BASELINE, "seLinuxOptions", .path = "securityContext.seLinuxOptions.type",
		.words = "container_t container_init_t container_kvm_t container_engine_t",
		.parts = {{POD_AND_CONTAINERS, sets_selinux,
			"{bad} set forbidden securityContext.seLinuxOptions: {selinux}"}}},
	{BASELINE, "seccompProfile", .path = "securityContext.seccompProfile.type",
		.words = "RuntimeDefault Localhost", .parts = {OTHER_WORD}},
	{BASELINE, "forbidden sysctls", .path = "securityContext.sysctls",
		.words = "kernel.shm_rmid_forced net.ipv4.ip_local_port_range "
			 "net.ipv4.ip_local_reserved_ports net.ipv4.ip_unprivileged_port_start "
			 "net.ipv4.ping_group_range net.ipv4.tcp_fin_timeout "
			 "net.ipv4.tcp_keepalive_intvl net.ipv4.tcp_keepalive_probes "
			 "net.ipv4.tcp_keepalive_time net.ipv4.tcp_rmem net.ipv4.tcp_syncookies "
			 "net.ipv4.tcp_wmem",
		.parts = {{POD, has_other_element, "{names}"}}},
	{BASELINE, "hostProcess", .path = "securityContext.windowsOptions.hostProcess",
		.parts = {{POD_AND_CONTAINERS, is_true, "{bad} must not set {path}=true"}}},
	{RESTRICTED, "allowPrivilegeEscalation != false",
		.path = "securityContext.allowPrivilegeEscalation", .skips_windows = true,
		.parts = {{CONTAINERS, is_not_false, "{bad} must set {path}=false"}}},
	{RESTRICTED, "unrestricted capabilities", .path = "securityContext.capabilities.add",
		.words = "NET_BIND_SERVICE", .replaces = 1, .skips_windows = true,
		.has_independent_parts = true,
		.parts = {{CONTAINERS, keeps_capabilities,
				  "{bad} must set securityContext.capabilities.drop=[\"ALL\"]"},
			ADDED}},
	{RESTRICTED, "restricted volume types",
		.words = "configMap csi downwardAPI emptyDir ephemeral persistentVolumeClaim "
			 "projected secret",
		.replaces = 3,
		.parts = {{VOLUMES, has_other_source,
			"{bad} use{s} restricted volume type{plural} {values}"}}},
	{RESTRICTED, "runAsNonRoot != true", .path = "securityContext.runAsNonRoot",
		.parts = {{POD_AND_CONTAINERS, is_false, "{bad} must not set {path}=false"},
			{POD_OR_CONTAINERS, is_absent, "{bad} must set {path}=true"}}},
	{RESTRICTED, "runAsUser=0", .path = "securityContext.runAsUser",
		.parts = {{POD_AND_CONTAINERS, is_zero, "{bad} must not set runAsUser=0"}}},
	{RESTRICTED, "seccompProfile", .path = "securityContext.seccompProfile.type",
		.words = "RuntimeDefault Localhost", .replaces = 9, .skips_windows = true,
		.parts = {OTHER_WORD,
			{POD_OR_CONTAINERS, is_absent,
				"{bad} must set {path} to \"RuntimeDefault\" or \"Localhost\""}}},
};

/**
 * Returns what violates the level: `privileged (container "a" must not ...), hostPort (...)`; "":
 * nothing. with_details false: only the reasons.
 */
static struct bt_str find_violations(struct bt_arena *arena, const struct bt_json_value *pod,
	enum level level, bool with_details)
{
	struct scan scan = {.arena = arena,
		.spec = bt_json_object_at(pod, "spec"),
		.containers = bt_json_new(arena, BT_JSON_ARRAY)};
	struct bt_strbuf text = {0};
	scan.is_windows = bt_str_equal_c(bt_json_text_at(scan.spec, "os.name"), "windows");
	for (size_t n = 0; n < BT_ARRAY_LENGTH(container_lists); n++) {
		const struct bt_json_value *list = bt_json_array_at(pod, container_lists[n]);
		for (uint32_t i = 0; i < list->count; i++) {
			bt_json_append(arena, scan.containers, list->elements[i]);
		}
	}
	for (size_t i = 0; i < BT_ARRAY_LENGTH(checks); i++) {
		const struct check *check = &checks[i];
		bool is_replaced = false;
		for (size_t k = 0; i != 0 && k < BT_ARRAY_LENGTH(checks); k++) {
			is_replaced |= checks[k].replaces == i && checks[k].level <= level;
		}
		if (check->level > level || is_replaced ||
			(check->skips_windows && scan.is_windows)) {
			continue;
		}
		run_check(&scan, check);
		if (scan.detail.length == 0) {
			continue;
		}
		bool is_plural = check->reasons != NULL && scan.values->count > 1;
		bt_strbuf_printf(&text, "%s%s", text.length != 0 ? ", " : "",
			is_plural ? check->reasons : check->reason);
		if (with_details) {
			bt_strbuf_printf(&text, " (%s)", bt_strbuf_c(&scan.detail));
		}
	}
	bt_strbuf_finish(&scan.detail);
	return bt_arena_take_strbuf(arena, &text);
}

/** --- namespaces --- */

struct mode {
	enum level level;
	struct bt_str name; /* "baseline:latest" */
};

/** Reads a mode ("enforce", "warn") from the labels of a namespace. */
static struct mode read_mode(
	struct bt_arena *arena, const struct bt_json_value *namespace_, const char *name)
{
	const struct bt_json_value *labels = bt_json_object_at(namespace_, "metadata.labels");
	struct bt_str level =
		bt_kinds_text(labels, bt_arena_printf(arena, LABEL_PREFIX "%s", name).data);
	struct bt_str version =
		bt_kinds_text(labels, bt_arena_printf(arena, LABEL_PREFIX "%s-version", name).data);
	struct mode mode = {.level = PRIVILEGED};
	for (enum level i = PRIVILEGED; i < LEVEL__COUNT; i++) {
		mode.level = bt_str_equal_c(level, level_names[i]) ? i : mode.level;
	}
	mode.name = bt_arena_printf(arena, "%s:%.*s", level_names[mode.level],
		BT_STR_ARG(version.length != 0 ? version : BT_STR("latest")));
	return mode;
}

/** Checks the values of the labels. false: the call failed. */
static bool check_labels(struct bt_call *call, const struct bt_json_value *namespace_)
{
	static const char *const modes[] = {"enforce", "audit", "warn"};
	const struct bt_json_value *labels = bt_json_object_at(namespace_, "metadata.labels");
	struct bt_field_errors errors = {.arena = call->arena};
	for (size_t i = 0; i < 2 * BT_ARRAY_LENGTH(modes); i++) {
		bool is_level = i % 2 == 0;
		struct bt_str key = bt_arena_printf(
			call->arena, LABEL_PREFIX "%s%s", modes[i / 2], is_level ? "" : "-version");
		const struct bt_json_value *value = bt_json_get(labels, key);
		int64_t minor;
		bool is_known = value == NULL;
		for (size_t n = 0; is_level && !is_known && n < LEVEL__COUNT; n++) {
			is_known = bt_str_equal_c(value->text, level_names[n]);
		}
		if (!is_level && !is_known) {
			is_known = bt_str_equal_c(value->text, "latest") ||
				(bt_str_has_prefix(value->text, BT_STR("v1.")) &&
					bt_str_parse_int64(
						bt_str_sub(value->text, 3, BT_STR_MAX), &minor) &&
					minor >= 0);
		}
		if (!is_known) {
			bt_kinds_error(&errors, BT_FIELD_INVALID,
				BT_PATH_KEY(BT_PATH_NAME(NULL, "metadata.labels"), key), value,
				is_level ? "must be one of privileged, baseline, restricted"
					 : "must be \"latest\" or \"v1.x\"");
		}
	}
	return !bt_call_refuse_invalid(call, &errors);
}

/** Pods with the same violations. */
struct group {
	struct bt_str violations;
	struct bt_str pod; /* the first by name */
	uint32_t count;
};

/** Warns about the pods of the namespace that violate its new level. */
static void warn_about_pods(struct bt_call *call, struct mode mode)
{
	struct bt_arena *arena = call->arena;
	struct group groups[GROUPS_MAX];
	uint32_t group_count = 0;
	uint32_t pod_count = 0;
	BT_STORE_EACH (stored, call->api->options.store, call->api->pods->collection,
		bt_api_key(arena, call->write.name, BT_STR(""))) {
		if (pod_count++ == PODS_MAX) {
			break;
		}
		const struct bt_json_value *pod = bt_api_parse_stored(stored, arena);
		struct bt_str violations = find_violations(arena, pod, mode.level, false);
		uint32_t i = BT_STR_INDEX(groups, group_count, violations, violations);
		if (violations.length == 0 || i == GROUPS_MAX) {
			continue;
		}
		if (i == group_count) {
			groups[group_count++] = (struct group){
				violations, bt_json_text_at(pod, "metadata.name"), 0};
		}
		groups[i].count++;
	}
	if (group_count != 0) {
		bt_call_warn(call,
			"existing pods in namespace \"%.*s\" violate the new PodSecurity enforce "
			"level \"%.*s\"",
			BT_STR_ARG(call->write.name), BT_STR_ARG(mode.name));
	}
	for (uint32_t i = 0; i < group_count; i++) {
		const struct group *group = &groups[i];
		struct bt_str others = group->count == 1
			? BT_STR("")
			: bt_arena_printf(arena, " (and %u other pod%s)", group->count - 1,
				  group->count > 2 ? "s" : "");
		bt_call_warn(call, "%.*s%.*s: %.*s", BT_STR_ARG(group->pod), BT_STR_ARG(others),
			BT_STR_ARG(group->violations));
	}
}

/** --- admission --- */

bool bt_pod_security_check(
	struct bt_call *call, const struct bt_json_value *old, const struct bt_json_value *object)
{
	struct bt_arena *arena = call->arena;
	const struct bt_write *write = &call->write;
	bool is_pod = write->resource == call->api->pods;
	if (write->restoring ||
		(write->subresource != BT_SUBRESOURCE_NONE &&
			write->subresource != BT_SUBRESOURCE_EPHEMERAL_CONTAINERS)) {
		return true;
	}
	if (write->resource == call->api->namespaces) {
		struct mode mode = read_mode(arena, object, "enforce");
		if (!check_labels(call, object)) {
			return false;
		}
		if (old != NULL && mode.level != PRIVILEGED &&
			!bt_str_equal(mode.name, read_mode(arena, old, "enforce").name)) {
			warn_about_pods(call, mode);
		}
		return true;
	}
	const struct bt_stored *stored = bt_store_find(
		call->api->options.store, call->api->namespaces->collection, write->namespace_);
	/* Most namespaces have none of the labels: parse only those that have. */
	if (stored == NULL || bt_str_find(bt_stored_text(stored), BT_STR(LABEL_PREFIX)) < 0) {
		return true;
	}
	const char *root;
	const struct bt_json_value *pod = bt_call_pod(call, object, &root);
	/* An update of a pod matters only if it changes an image or adds a container. */
	bool is_significant = !is_pod || old == NULL;
	for (size_t i = 0; pod != NULL && !is_significant && i < BT_ARRAY_LENGTH(container_lists);
		i++) {
		is_significant = !bt_json_equal(bt_json_array_at(old, container_lists[i]),
			bt_json_array_at(pod, container_lists[i]));
	}
	if (pod == NULL || !is_significant) {
		return true;
	}
	const struct bt_json_value *namespace_ = bt_api_parse_stored(stored, arena);
	struct mode enforced = read_mode(arena, namespace_, "enforce");
	struct mode warned = read_mode(arena, namespace_, "warn");
	if (is_pod) {
		struct bt_str text = find_violations(arena, pod, enforced.level, true);
		if (text.length != 0) {
			return bt_fail_forbidden(&call->answer->failure, arena, write->resource,
				write->name,
				bt_arena_printf(arena, "violates PodSecurity \"%.*s\": %.*s",
					BT_STR_ARG(enforced.name), BT_STR_ARG(text)));
		}
	}
	struct bt_str text = find_violations(arena, pod, warned.level, true);
	if (text.length != 0) {
		bt_call_warn(call, "would violate PodSecurity \"%.*s\": %.*s",
			BT_STR_ARG(warned.name), BT_STR_ARG(text));
	}
	return true;
}
