/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/pod_reference.h"

#include "cli/manifests.h"
#include "cluster/printable.h"
#include "cli/suggest.h"

/** Words for the kinds, as kubectl knows them; the first of a kind is shown. */
static const struct {
	const char *word;
	enum bt_kind kind;
} kind_words[] = {
	{"pod", BT_KIND_POD},
	{"pods", BT_KIND_POD},
	{"po", BT_KIND_POD},
	{"deployment", BT_KIND_DEPLOYMENT},
	{"deployments", BT_KIND_DEPLOYMENT},
	{"deploy", BT_KIND_DEPLOYMENT},
	{"deployment.apps", BT_KIND_DEPLOYMENT},
	{"deployments.apps", BT_KIND_DEPLOYMENT},
	{"statefulset", BT_KIND_STATEFUL_SET},
	{"statefulsets", BT_KIND_STATEFUL_SET},
	{"sts", BT_KIND_STATEFUL_SET},
	{"statefulset.apps", BT_KIND_STATEFUL_SET},
	{"statefulsets.apps", BT_KIND_STATEFUL_SET},
	{"daemonset", BT_KIND_DAEMON_SET},
	{"daemonsets", BT_KIND_DAEMON_SET},
	{"ds", BT_KIND_DAEMON_SET},
	{"daemonset.apps", BT_KIND_DAEMON_SET},
	{"daemonsets.apps", BT_KIND_DAEMON_SET},
	{"replicaset", BT_KIND_REPLICA_SET},
	{"replicasets", BT_KIND_REPLICA_SET},
	{"rs", BT_KIND_REPLICA_SET},
	{"replicaset.apps", BT_KIND_REPLICA_SET},
	{"replicasets.apps", BT_KIND_REPLICA_SET},
	{"replicationcontroller", BT_KIND_REPLICATION_CONTROLLER},
	{"replicationcontrollers", BT_KIND_REPLICATION_CONTROLLER},
	{"rc", BT_KIND_REPLICATION_CONTROLLER},
	{"job", BT_KIND_JOB},
	{"jobs", BT_KIND_JOB},
	{"job.batch", BT_KIND_JOB},
	{"jobs.batch", BT_KIND_JOB},
	{"cronjob", BT_KIND_CRON_JOB},
	{"cronjobs", BT_KIND_CRON_JOB},
	{"cj", BT_KIND_CRON_JOB},
	{"cronjob.batch", BT_KIND_CRON_JOB},
	{"cronjobs.batch", BT_KIND_CRON_JOB},
};

#define PARTS_MAX 3

static int wrong_argument(const char *argument, const char *what, struct berth_error *err)
{
	struct bt_strbuf shown = {0};
	bt_printable_append(
		&shown, bt_str_sub(bt_str_from(argument), 0, BT_MANIFESTS_NAME_BYTES_MAX));
	int result = bt_error_set(err, BERTH_ERR_INVALID, "%s: %s", bt_strbuf_c(&shown), what);
	bt_strbuf_finish(&shown);
	return result;
}

static int unknown_kind(struct bt_str word, struct berth_error *err)
{
	const char *words[BT_ARRAY_LENGTH(kind_words)];
	for (size_t i = 0; i < BT_ARRAY_LENGTH(kind_words); i++) {
		words[i] = kind_words[i].word;
	}
	struct bt_strbuf text = {0};
	bt_printable_append(&text, bt_str_sub(word, 0, BT_MANIFESTS_NAME_BYTES_MAX));
	const char *close = bt_suggest(bt_strbuf_c(&text), words, BT_ARRAY_LENGTH(words));
	bt_strbuf_append_c(&text, " is no kind that has pods");
	if (close != NULL) {
		bt_strbuf_printf(&text, "; did you mean %s?", close);
	} else {
		bt_strbuf_append_c(&text,
			": use pod, deployment, statefulset, daemonset, replicaset, "
			"replicationcontroller, job or cronjob");
	}
	int result = bt_error_set(err, BERTH_ERR_INVALID, "%s", bt_strbuf_c(&text));
	bt_strbuf_finish(&text);
	return result;
}

/** Number of parts between slashes; more than PARTS_MAX are not told apart. */
static uint32_t split(struct bt_str text, struct bt_str parts[PARTS_MAX])
{
	uint32_t count = 0;
	for (;;) {
		int64_t slash = bt_str_find_char(text, '/');
		if (count == PARTS_MAX) {
			return PARTS_MAX + 1;
		}
		if (slash < 0) {
			parts[count++] = text;
			return count;
		}
		parts[count++] = bt_str_sub(text, 0, (uint32_t)slash);
		text = bt_str_sub(text, (uint32_t)slash + 1, BT_STR_MAX);
	}
}

bool bt_pod_reference_find_kind(struct bt_str word, enum bt_kind *out_kind)
{
	for (size_t i = 0; i < BT_ARRAY_LENGTH(kind_words); i++) {
		if (bt_str_equal_without_case(word, bt_str_from(kind_words[i].word))) {
			*out_kind = kind_words[i].kind;
			return true;
		}
	}
	return false;
}

int bt_pod_reference_parse(const char *argument, const char *namespace_,
	struct bt_pod_reference *out, struct berth_error *err)
{
	struct bt_str parts[PARTS_MAX];
	uint32_t count = split(bt_str_from(argument), parts);
	struct bt_str named = BT_STR("");
	*out = (struct bt_pod_reference){.kind = BT_KIND_POD};
	bool empty_part = count > PARTS_MAX;
	for (uint32_t i = 0; i < count && i < PARTS_MAX; i++) {
		empty_part = empty_part || parts[i].length == 0;
	}
	if (empty_part) {
		return wrong_argument(argument,
			"write NAME, NAMESPACE/NAME, KIND/NAME or KIND/NAMESPACE/NAME", err);
	}
	out->name = parts[count - 1];
	if (count == PARTS_MAX) {
		if (!bt_pod_reference_find_kind(parts[0], &out->kind)) {
			return unknown_kind(parts[0], err);
		}
		named = parts[1];
	} else if (count == 2) {
		if (!bt_pod_reference_find_kind(parts[0], &out->kind)) {
			named = parts[0];
		} else if (namespace_ == NULL) {
			out->other_namespace = parts[0];
		}
	}
	/* The flag and the argument must not name two namespaces. */
	if (namespace_ != NULL && named.length != 0 && !bt_str_equal_c(named, namespace_)) {
		return wrong_argument(
			argument, "names another namespace than --namespace does", err);
	}
	out->namespace_ =
		named.length != 0 ? named : bt_str_from(namespace_ != NULL ? namespace_ : "");
	return 0;
}
