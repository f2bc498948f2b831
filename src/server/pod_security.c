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

/** --- one check of one pod --- */

struct scan {
	struct bt_arena *arena;
	const struct bt_json_value *spec; /* of the pod or the template */
	struct bt_json_value *containers; /* of all three lists */
	bool is_windows;
	bool sets_user; /* in seLinuxOptions */
	bool sets_role;
	/* The result of a check; reset before each check. */
	bool pod_is_bad;
	struct bt_json_value *bad;    /* names of containers */
	struct bt_json_value *values; /* values that are not allowed, without repetition */
	struct bt_strbuf detail;      /* "": the pod passes */
};

struct check {
	enum level level;
	const char *reason;
	const char *reasons; /* if several values are not allowed; NULL: reason */
	void (*run)(struct scan *scan, const struct check *check);
	const char *path;  /* of the field, in the pod's spec and in containers */
	const char *words; /* values of the field that are allowed */
	/** The check of a lower level that this check replaces, by its index; 0: none. */
	uint32_t replaces;
};

static void add_value(struct scan *scan, struct bt_str text)
{
	if (scan->values->count < VALUES_MAX && !bt_json_has_text(scan->values, text)) {
		bt_json_append(scan->arena, scan->values, bt_json_new_str(scan->arena, text));
	}
}

static int compare_texts(const void *a, const void *b)
{
	return bt_str_compare((*(struct bt_json_value *const *)a)->text,
		(*(struct bt_json_value *const *)b)->text);
}

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

/** Appends `pod and containers "a", "b"`; separator: " and " or " or ". */
static void append_bad(struct scan *scan, bool with_pod, const char *separator)
{
	uint32_t count = scan->bad->count;
	bt_strbuf_append_c(&scan->detail, with_pod ? "pod" : "");
	if (count != 0) {
		bt_strbuf_printf(&scan->detail, "%scontainer%s ", with_pod ? separator : "",
			count > 1 ? "s" : "");
		append_list(&scan->detail, scan->bad, true);
	}
}

/**
 * Finds the containers, and with with_pod the pod, for which is_bad returns true. holder: the
 * container, or the spec of the pod. Returns whether there are any.
 */
static bool collect(struct scan *scan, const struct check *check, bool with_pod,
	bool (*is_bad)(
		struct scan *scan, const struct check *check, const struct bt_json_value *holder))
{
	scan->bad->count = 0;
	scan->pod_is_bad = with_pod && is_bad(scan, check, scan->spec);
	for (uint32_t i = 0; i < scan->containers->count; i++) {
		const struct bt_json_value *container = scan->containers->elements[i];
		if (is_bad(scan, check, container)) {
			bt_json_append(scan->arena, scan->bad,
				bt_json_new_str(scan->arena, bt_kinds_text(container, "name")));
		}
	}
	return scan->pod_is_bad || scan->bad->count != 0;
}

/** Appends ` uses hostPorts `, with the number of containers and values. */
static void append_use(struct scan *scan, const char *what)
{
	append_bad(scan, false, "");
	bt_strbuf_printf(&scan->detail, " use%s %s%s ", scan->bad->count > 1 ? "" : "s", what,
		scan->values->count > 1 ? "s" : "");
}

/** --- the checks --- */

static bool is_true(
	struct scan *scan BT_UNUSED, const struct check *check, const struct bt_json_value *holder)
{
	return bt_json_bool_at(holder, check->path, false);
}

static bool is_not_false(
	struct scan *scan BT_UNUSED, const struct check *check, const struct bt_json_value *holder)
{
	return bt_json_bool_at(holder, check->path, true);
}

static bool is_false(
	struct scan *scan BT_UNUSED, const struct check *check, const struct bt_json_value *holder)
{
	return !bt_json_bool_at(holder, check->path, true);
}

static bool is_absent(
	struct scan *scan BT_UNUSED, const struct check *check, const struct bt_json_value *holder)
{
	return bt_json_find_path(holder, check->path) == NULL;
}

static bool is_zero(
	struct scan *scan BT_UNUSED, const struct check *check, const struct bt_json_value *holder)
{
	return bt_json_int64_at(holder, check->path, 1) == 0;
}

/** Returns whether the text at the check's path is set and not allowed, and adds it. */
static bool has_other_word(
	struct scan *scan, const struct check *check, const struct bt_json_value *holder)
{
	struct bt_str text = bt_json_text_at(holder, check->path);
	bool is_bad = text.length != 0 && !bt_str_has_word(bt_str_from(check->words), text);
	if (is_bad) {
		add_value(scan, text);
	}
	return is_bad;
}

static void check_true(struct scan *scan, const struct check *check)
{
	if (collect(scan, check, true, is_true)) {
		append_bad(scan, scan->pod_is_bad, " and ");
		bt_strbuf_printf(&scan->detail, " must not set %s=true", check->path);
	}
}

static void check_word(struct scan *scan, const struct check *check)
{
	if (collect(scan, check, true, has_other_word)) {
		append_bad(scan, scan->pod_is_bad, " and ");
		bt_strbuf_printf(&scan->detail, " must not set %s to ", check->path);
		append_sorted(scan, true);
	}
}

static void check_seccomp(struct scan *scan, const struct check *check)
{
	if (scan->is_windows) {
		return;
	}
	check_word(scan, check);
	if (scan->detail.length == 0 && is_absent(scan, check, scan->spec) &&
		collect(scan, check, false, is_absent)) {
		append_bad(scan, true, " or ");
		bt_strbuf_printf(&scan->detail,
			" must set %s to \"RuntimeDefault\" or \"Localhost\"", check->path);
	}
}

static void check_non_root(struct scan *scan, const struct check *check)
{
	if (collect(scan, check, true, is_false)) {
		append_bad(scan, scan->pod_is_bad, " and ");
		bt_strbuf_printf(&scan->detail, " must not set %s=false", check->path);
	} else if (is_absent(scan, check, scan->spec) && collect(scan, check, false, is_absent)) {
		append_bad(scan, true, " or ");
		bt_strbuf_printf(&scan->detail, " must set %s=true", check->path);
	}
}

static void check_user(struct scan *scan, const struct check *check)
{
	if (collect(scan, check, true, is_zero)) {
		append_bad(scan, scan->pod_is_bad, " and ");
		bt_strbuf_append_c(&scan->detail, " must not set runAsUser=0");
	}
}

static void check_escalation(struct scan *scan, const struct check *check)
{
	if (!scan->is_windows && collect(scan, check, false, is_not_false)) {
		append_bad(scan, false, "");
		bt_strbuf_printf(&scan->detail, " must set %s=false", check->path);
	}
}

static bool adds_capability(
	struct scan *scan, const struct check *check, const struct bt_json_value *holder)
{
	const struct bt_json_value *added =
		bt_json_array_at(holder, "securityContext.capabilities.add");
	bool is_bad = false;
	for (uint32_t i = 0; i < added->count; i++) {
		struct bt_str name = added->elements[i]->text;
		if (!bt_str_has_word(bt_str_from(check->words), name)) {
			add_value(scan, name);
			is_bad = true;
		}
	}
	return is_bad;
}

static bool keeps_capabilities(struct scan *scan BT_UNUSED, const struct check *check BT_UNUSED,
	const struct bt_json_value *holder)
{
	return !bt_json_has_text(
		bt_json_array_at(holder, "securityContext.capabilities.drop"), BT_STR("ALL"));
}

static void check_added(struct scan *scan, const struct check *check)
{
	if (collect(scan, check, false, adds_capability)) {
		bt_strbuf_append_c(&scan->detail, scan->detail.length != 0 ? "; " : "");
		append_bad(scan, false, "");
		bt_strbuf_append_c(&scan->detail, " must not include ");
		append_sorted(scan, true);
		bt_strbuf_append_c(&scan->detail, " in securityContext.capabilities.add");
	}
}

static void check_capabilities(struct scan *scan, const struct check *check)
{
	if (scan->is_windows) {
		return;
	}
	if (collect(scan, check, false, keeps_capabilities)) {
		append_bad(scan, false, "");
		bt_strbuf_append_c(
			&scan->detail, " must set securityContext.capabilities.drop=[\"ALL\"]");
	}
	check_added(scan, check);
}

static void check_host_namespaces(struct scan *scan, const struct check *check BT_UNUSED)
{
	static const char *const fields[] = {"hostNetwork", "hostPID", "hostIPC"};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(fields); i++) {
		if (bt_json_bool_at(scan->spec, fields[i], false)) {
			bt_strbuf_printf(&scan->detail, "%s%s=true",
				scan->detail.length != 0 ? ", " : "", fields[i]);
		}
	}
}

/** Finds volumes whose source is not one of check->words; words NULL: only hostPath is bad. */
static void check_volumes(struct scan *scan, const struct check *check)
{
	const struct bt_json_value *volumes = bt_json_array_at(scan->spec, "volumes");
	for (uint32_t i = 0; i < volumes->count; i++) {
		const struct bt_json_value *volume = volumes->elements[i];
		for (uint32_t k = 0; k < volume->count; k++) {
			struct bt_str source = volume->members[k].name;
			bool is_bad = check->words != NULL
				? !bt_str_has_word(bt_str_from(check->words), source)
				: bt_str_equal_c(source, "hostPath");
			if (is_bad && !bt_str_equal_c(source, "name")) {
				bt_json_append(scan->arena, scan->bad,
					bt_json_new_str(
						scan->arena, bt_kinds_text(volume, "name")));
				add_value(scan, source);
			}
		}
	}
	uint32_t count = scan->bad->count;
	if (count == 0) {
		return;
	}
	bt_strbuf_printf(&scan->detail, "volume%s ", count > 1 ? "s" : "");
	append_list(&scan->detail, scan->bad, true);
	if (check->words != NULL) {
		bt_strbuf_printf(&scan->detail, " use%s restricted volume type%s ",
			count > 1 ? "" : "s", scan->values->count > 1 ? "s" : "");
		append_sorted(scan, true);
	}
}

static bool has_host_port(
	struct scan *scan, const struct check *check BT_UNUSED, const struct bt_json_value *holder)
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

static void check_host_ports(struct scan *scan, const struct check *check)
{
	if (collect(scan, check, false, has_host_port)) {
		append_use(scan, "hostPort");
		append_sorted(scan, false);
	}
}

static bool has_probe_host(
	struct scan *scan, const struct check *check BT_UNUSED, const struct bt_json_value *holder)
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

static void check_probe_hosts(struct scan *scan, const struct check *check)
{
	if (collect(scan, check, false, has_probe_host)) {
		append_use(scan, "probe or lifecycle host");
		append_sorted(scan, true);
	}
}

static bool sets_selinux(
	struct scan *scan, const struct check *check, const struct bt_json_value *holder)
{
	const struct bt_json_value *options =
		bt_json_object_at(holder, "securityContext.seLinuxOptions");
	bool has_user = bt_kinds_text(options, "user").length != 0;
	bool has_role = bt_kinds_text(options, "role").length != 0;
	bool has_type = has_other_word(scan, check, holder);
	scan->sets_user |= has_user;
	scan->sets_role |= has_role;
	return has_type || has_user || has_role;
}

static void check_selinux(struct scan *scan, const struct check *check)
{
	if (!collect(scan, check, true, sets_selinux)) {
		return;
	}
	uint32_t type_count = scan->values->count;
	append_bad(scan, scan->pod_is_bad, " and ");
	bt_strbuf_append_c(&scan->detail, " set forbidden securityContext.seLinuxOptions: ");
	if (type_count != 0) {
		bt_strbuf_append_c(&scan->detail, type_count > 1 ? "types " : "type ");
		append_sorted(scan, true);
	}
	if (scan->sets_user) {
		bt_strbuf_printf(
			&scan->detail, "%suser may not be set", type_count != 0 ? "; " : "");
	}
	if (scan->sets_role) {
		bt_strbuf_printf(&scan->detail, "%srole may not be set",
			type_count != 0 || scan->sets_user ? "; " : "");
	}
}

static void check_sysctls(struct scan *scan, const struct check *check)
{
	const struct bt_json_value *sysctls =
		bt_json_array_at(scan->spec, "securityContext.sysctls");
	for (uint32_t i = 0; i < sysctls->count; i++) {
		struct bt_str name = bt_kinds_text(sysctls->elements[i], "name");
		if (!bt_str_has_word(bt_str_from(check->words), name)) {
			add_value(scan, name);
		}
	}
	append_list(&scan->detail, scan->values, false);
}

/** In the order of messages. */
static const struct check checks[] = {
	{BASELINE, "forbidden AppArmor profile", "forbidden AppArmor profiles", check_word,
		"securityContext.appArmorProfile.type", "RuntimeDefault Localhost", 0},
	{BASELINE, "non-default capabilities", NULL, check_added, NULL,
		"AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE SETFCAP "
		"SETGID SETPCAP SETUID SYS_CHROOT",
		0},
	{BASELINE, "host namespaces", NULL, check_host_namespaces, NULL, NULL, 0},
	{BASELINE, "hostPath volumes", NULL, check_volumes, NULL, NULL, 0},
	{BASELINE, "hostPort", NULL, check_host_ports, NULL, NULL, 0},
	{BASELINE, "probe or lifecycle host", "probe or lifecycle hosts", check_probe_hosts, NULL,
		NULL, 0},
	{BASELINE, "privileged", NULL, check_true, "securityContext.privileged", NULL, 0},
	{BASELINE, "procMount", NULL, check_word, "securityContext.procMount", "Default", 0},
	{BASELINE, "seLinuxOptions", NULL, check_selinux, "securityContext.seLinuxOptions.type",
		"container_t container_init_t container_kvm_t container_engine_t", 0},
	{BASELINE, "seccompProfile", NULL, check_word, "securityContext.seccompProfile.type",
		"RuntimeDefault Localhost", 0},
	{BASELINE, "forbidden sysctls", NULL, check_sysctls, NULL,
		"kernel.shm_rmid_forced net.ipv4.ip_local_port_range "
		"net.ipv4.ip_local_reserved_ports net.ipv4.ip_unprivileged_port_start "
		"net.ipv4.ping_group_range net.ipv4.tcp_fin_timeout net.ipv4.tcp_keepalive_intvl "
		"net.ipv4.tcp_keepalive_probes net.ipv4.tcp_keepalive_time net.ipv4.tcp_rmem "
		"net.ipv4.tcp_syncookies net.ipv4.tcp_wmem",
		0},
	{BASELINE, "hostProcess", NULL, check_true, "securityContext.windowsOptions.hostProcess",
		NULL, 0},
	{RESTRICTED, "allowPrivilegeEscalation != false", NULL, check_escalation,
		"securityContext.allowPrivilegeEscalation", NULL, 0},
	{RESTRICTED, "unrestricted capabilities", NULL, check_capabilities, NULL,
		"NET_BIND_SERVICE", 1},
	{RESTRICTED, "restricted volume types", NULL, check_volumes, NULL,
		"configMap csi downwardAPI emptyDir ephemeral persistentVolumeClaim projected "
		"secret",
		3},
	{RESTRICTED, "runAsNonRoot != true", NULL, check_non_root, "securityContext.runAsNonRoot",
		NULL, 0},
	{RESTRICTED, "runAsUser=0", NULL, check_user, "securityContext.runAsUser", NULL, 0},
	{RESTRICTED, "seccompProfile", NULL, check_seccomp, "securityContext.seccompProfile.type",
		"RuntimeDefault Localhost", 9},
};

static bool is_replaced(size_t index, enum level level)
{
	for (size_t i = 0; i < BT_ARRAY_LENGTH(checks); i++) {
		if (checks[i].replaces == index && index != 0 && checks[i].level <= level) {
			return true;
		}
	}
	return false;
}

/**
 * Returns what violates the level: `privileged (container "a" must not ...), hostPort (...)`; "":
 * nothing. with_details false: only the reasons.
 */
static struct bt_str find_violations(struct bt_arena *arena, const struct bt_json_value *pod,
	enum level level, bool with_details)
{
	static const char *const lists[] = {"initContainers", "containers", "ephemeralContainers"};
	struct scan scan = {.arena = arena,
		.spec = bt_json_object_at(pod, "spec"),
		.containers = bt_json_new(arena, BT_JSON_ARRAY)};
	struct bt_strbuf text = {0};
	scan.is_windows = bt_str_equal_c(bt_json_text_at(scan.spec, "os.name"), "windows");
	for (size_t n = 0; n < BT_ARRAY_LENGTH(lists); n++) {
		const struct bt_json_value *list = bt_json_array_at(scan.spec, lists[n]);
		for (uint32_t i = 0; i < list->count; i++) {
			bt_json_append(arena, scan.containers, list->elements[i]);
		}
	}
	for (size_t i = 0; i < BT_ARRAY_LENGTH(checks); i++) {
		const struct check *check = &checks[i];
		if (check->level > level || is_replaced(i, level)) {
			continue;
		}
		scan.pod_is_bad = false;
		scan.bad = bt_json_new(arena, BT_JSON_ARRAY);
		scan.values = bt_json_new(arena, BT_JSON_ARRAY);
		bt_strbuf_reset(&scan.detail);
		check->run(&scan, check);
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

static bool is_version(struct bt_str text)
{
	int64_t number;
	return bt_str_equal_c(text, "latest") ||
		(bt_str_has_prefix(text, BT_STR("v1.")) &&
			bt_str_parse_int64(bt_str_sub(text, 3, BT_STR_MAX), &number) &&
			number >= 0);
}

/** Checks the values of the labels. false: the call failed. */
static bool check_labels(struct bt_call *call, const struct bt_json_value *namespace_)
{
	static const char *const modes[] = {"enforce", "audit", "warn"};
	const struct bt_json_value *labels = bt_json_object_at(namespace_, "metadata.labels");
	struct bt_field_errors errors = bt_call_field_errors(call);
	for (size_t i = 0; i < 2 * BT_ARRAY_LENGTH(modes); i++) {
		bool is_level = i % 2 == 0;
		struct bt_str key = bt_arena_printf(
			call->arena, LABEL_PREFIX "%s%s", modes[i / 2], is_level ? "" : "-version");
		const struct bt_json_value *value = bt_json_get(labels, key);
		bool is_known = value == NULL || (!is_level && is_version(value->text));
		for (size_t n = 0; is_level && !is_known && n < LEVEL__COUNT; n++) {
			is_known = bt_str_equal_c(value->text, level_names[n]);
		}
		if (!is_known) {
			bt_kinds_error(&errors, BT_FIELD_INVALID,
				BT_PATH_KEY(BT_PATH_NAME(BT_PATH_NAME(NULL, "metadata"), "labels"),
					key),
				value,
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
	struct bt_stored *stored;
	uint32_t group_count = 0;
	uint32_t pod_count = 0;
	struct bt_store_walk walk = bt_store_walk_current(call->api->options.store,
		call->api->pods->collection, bt_api_key(arena, call->write.name, BT_STR("")));
	while ((stored = bt_store_walk_next(&walk, NULL)) != NULL && pod_count++ < PODS_MAX) {
		const struct bt_json_value *pod = bt_api_parse_stored(stored, arena);
		struct bt_str violations = find_violations(arena, pod, mode.level, false);
		uint32_t i = 0;
		while (i < group_count && !bt_str_equal(groups[i].violations, violations)) {
			i++;
		}
		if (violations.length == 0 || i == GROUPS_MAX) {
			continue;
		}
		if (i == group_count) {
			groups[group_count++] = (struct group){
				violations, bt_json_text_at(pod, "metadata.name"), 0};
		}
		groups[i].count++;
	}
	bt_store_walk_end(&walk);
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

/** Returns whether the update of a pod must be checked: another image, or another container. */
static bool is_significant(const struct bt_json_value *old, const struct bt_json_value *pod)
{
	static const char *const lists[] = {
		"spec.initContainers", "spec.containers", "spec.ephemeralContainers"};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(lists); i++) {
		if (!bt_json_equal(
			    bt_json_array_at(old, lists[i]), bt_json_array_at(pod, lists[i]))) {
			return true;
		}
	}
	return false;
}

/** Returns the pod, or the pod template of a workload; NULL: the object has none. */
static const struct bt_json_value *pod_of(
	const struct bt_call *call, const struct bt_json_value *object)
{
	const char *path = bt_call_pod_path(call);
	if (path == NULL || path[0] == '\0') {
		return path != NULL ? object : NULL;
	}
	return bt_json_object_at(object, path);
}

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
	const struct bt_json_value *pod = pod_of(call, object);
	if (pod == NULL || (is_pod && old != NULL && !is_significant(old, pod))) {
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
					       BT_STR_ARG(enforced.name), BT_STR_ARG(text))) == 0;
		}
	}
	struct bt_str text = find_violations(arena, pod, warned.level, true);
	if (text.length != 0) {
		bt_call_warn(call, "would violate PodSecurity \"%.*s\": %.*s",
			BT_STR_ARG(warned.name), BT_STR_ARG(text));
	}
	return true;
}
