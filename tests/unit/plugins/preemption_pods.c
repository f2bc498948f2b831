/* SPDX-License-Identifier: Apache-2.0 */
/** Builds pods from their short form (preemption_fixture.h). */
#include "preemption_pods.h"

#include <check.h>

#include "base/error.h"

struct bt_str preemption_unquoted(struct bt_arena *arena, const char *json)
{
	size_t length = strlen(json);
	char *text = bt_arena_alloc_bytes(arena, length + 1);

	for (size_t i = 0; i <= length; i++) {
		text[i] = json[i] == '\'' ? '"' : json[i];
	}
	return (struct bt_str){text, (uint32_t)length};
}

void preemption_decode(
	struct bt_arena *arena, const struct bt_message *message, const char *json, void *out)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_json_reader reader;
	int code;

	bt_json_reader_init(&reader, preemption_unquoted(arena, json));
	code = bt_message_decode_json(message, &reader, arena, out, &err);
	ck_assert_msg(code == 0, "%s: %s", json, berth_error_message(&err));
}

struct bt_str preemption_next_word(struct bt_str *rest, char separator)
{
	struct bt_str word;
	int64_t end;

	while (rest->length != 0 && rest->data[0] == ' ') {
		*rest = bt_str_sub(*rest, 1, BT_STR_MAX);
	}
	end = bt_str_find_char(*rest, separator);
	word = end < 0 ? *rest : bt_str_sub(*rest, 0, (uint32_t)end);
	*rest = end < 0 ? BT_STR("") : bt_str_sub(*rest, (uint32_t)end + 1, BT_STR_MAX);
	return word;
}

/** --- options --- */

struct parts {
	int32_t priority;
	bool terminating;
	struct bt_strbuf labels;
	struct bt_strbuf spec;
	struct bt_strbuf status;
	const char *first_condition; /* JSON before the other conditions, ends with a comma */
	const char *condition_message;
};

static bool take_value(struct bt_str option, const char *name, struct bt_str *out_value)
{
	struct bt_str prefix = bt_str_from(name);

	if (!bt_str_has_prefix(option, prefix)) {
		return false;
	}
	*out_value = bt_str_sub(option, prefix.length, BT_STR_MAX);
	return true;
}

static bool read_flag(struct parts *parts, struct bt_str option)
{
	if (bt_str_equal_c(option, "never")) {
		bt_strbuf_append_c(&parts->spec, ",'preemptionPolicy':'Never'");
	} else if (bt_str_equal_c(option, "dying")) {
		parts->terminating = true;
	} else if (bt_str_equal_c(option, "evicted")) {
		parts->terminating = true;
		parts->condition_message = "";
	} else if (bt_str_equal_c(option, "doubtful")) {
		parts->terminating = true;
		parts->first_condition = "{'type':'DisruptionTarget','status':'False','reason':"
					 "'PreemptionByScheduler'},";
		parts->condition_message = "";
	} else if (bt_str_equal_c(option, "marked")) {
		parts->condition_message =
			"default-scheduler: preempting to accommodate a higher priority pod";
	} else if (bt_str_equal_c(option, "spread")) {
		bt_strbuf_append_c(&parts->spec, ",'topologySpreadConstraints':[");
		for (int i = 0; i < 2; i++) {
			bt_strbuf_printf(&parts->spec,
				"%s{'maxSkew':1,'topologyKey':'%s','whenUnsatisfiable':"
				"'DoNotSchedule','labelSelector':{'matchLabels':{'app':'foo'}}}",
				i != 0 ? "," : "", i != 0 ? "host" : "zone");
		}
		bt_strbuf_append_c(&parts->spec, "]");
	} else {
		return false;
	}
	return true;
}

static int32_t read_number(struct bt_str text)
{
	int64_t number = -1;

	ck_assert_msg(bt_str_parse_int64(text, &number), "number %.*s", BT_STR_ARG(text));
	return (int32_t)number;
}

static bool read_value(struct parts *parts, struct bt_str option)
{
	struct bt_str value;

	if (take_value(option, "cpu=", &value)) {
		bt_strbuf_printf(&parts->spec,
			",'containers':[{'name':'c','resources':{'requests':{'cpu':'%.*s'}}}]",
			BT_STR_ARG(value));
	} else if (take_value(option, "start=", &value)) {
		bt_strbuf_printf(&parts->status, ",'startTime':'2026-01-01T00:00:%02dZ'",
			read_number(value));
	} else if (take_value(option, "nominated=", &value)) {
		bt_strbuf_printf(&parts->status, ",'nominatedNodeName':'%.*s'", BT_STR_ARG(value));
	} else if (take_value(option, "label=", &value)) {
		struct bt_str key = preemption_next_word(&value, '=');

		bt_strbuf_printf(&parts->labels, "%s'%.*s':'%.*s'",
			parts->labels.length != 0 ? "," : "", BT_STR_ARG(key), BT_STR_ARG(value));
	} else if (take_value(option, "claim=", &value)) {
		bt_strbuf_printf(&parts->spec,
			",'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'%.*s'}}]",
			BT_STR_ARG(value));
	} else if (take_value(option, "group=", &value)) {
		bt_strbuf_printf(&parts->spec, ",'schedulingGroup':{'podGroupName':'%.*s'}",
			BT_STR_ARG(value));
	} else if (take_value(option, "anti=", &value)) {
		struct bt_str key = preemption_next_word(&value, '=');

		bt_strbuf_printf(&parts->spec,
			",'affinity':{'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuring"
			"Execution':[{'topologyKey':'host','labelSelector':{'matchLabels':{'%.*s':"
			"'%.*s'}}}]}}",
			BT_STR_ARG(key), BT_STR_ARG(value));
	} else {
		return false;
	}
	return true;
}

static void read_priority(struct parts *parts, struct bt_str option)
{
	static const struct {
		const char *name;
		int32_t priority;
	} names[] = {{"top", 2000}, {"hi", 1000}, {"mid", 100}, {"low", 0}, {"neg", -100}};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(names); i++) {
		if (bt_str_equal_c(option, names[i].name)) {
			parts->priority = names[i].priority;
			return;
		}
	}
	parts->priority = read_number(option);
}

static const char *pod_json(
	struct bt_arena *arena, struct bt_str name, const char *node, const struct parts *parts)
{
	struct bt_str uid = name;
	int64_t slash = bt_str_find_char(name, '/');
	struct bt_str namespace_ = BT_STR("default");
	const char *labels = parts->labels.length != 0
		? bt_arena_str(arena, bt_strbuf_str(&parts->labels)).data
		: "";
	const char *spec = parts->spec.length != 0
		? bt_arena_str(arena, bt_strbuf_str(&parts->spec)).data
		: "";
	const char *status = parts->status.length != 0
		? bt_arena_str(arena, bt_strbuf_str(&parts->status)).data
		: "";
	const char *condition = "";

	if (slash >= 0) {
		namespace_ = bt_str_sub(name, 0, (uint32_t)slash);
		name = bt_str_sub(name, (uint32_t)slash + 1, BT_STR_MAX);
	}
	if (parts->condition_message != NULL) {
		condition = bt_arena_printf(arena,
			",'conditions':[%s{'type':'PodScheduled','status':'True'},"
			"{'type':'DisruptionTarget','status':'True','reason':"
			"'PreemptionByScheduler','message':'%s'}]",
			parts->first_condition != NULL ? parts->first_condition : "",
			parts->condition_message)
				    .data;
	}
	return bt_arena_printf(arena,
		"{'metadata':{'name':'%.*s','uid':'uid-%.*s','namespace':'%.*s','generation':7,"
		"'labels':{%s}%s},'spec':{'schedulerName':'default-scheduler','priority':%d%s%s%s%s"
		"},'status':{'phase':'Pending'%s%s}}",
		BT_STR_ARG(name), BT_STR_ARG(uid), BT_STR_ARG(namespace_), labels,
		parts->terminating ? ",'deletionTimestamp':'2026-01-01T00:00:00Z'" : "",
		parts->priority, node != NULL ? ",'nodeName':'" : "", node != NULL ? node : "",
		node != NULL ? "'" : "", spec, status, condition)
		.data;
}

struct bt_pod *preemption_make_pod(struct bt_arena *arena, struct bt_str text, const char *node)
{
	struct bt_pod *pod = BT_ARENA_NEW(arena, struct bt_pod);
	struct parts parts = {0};
	struct bt_str rest = text;
	struct bt_str name = preemption_next_word(&rest, ':');

	while (rest.length != 0) {
		struct bt_str option = preemption_next_word(&rest, ',');

		if (!read_flag(&parts, option) && !read_value(&parts, option)) {
			read_priority(&parts, option);
		}
	}
	preemption_decode(arena, &bt_pod_message, pod_json(arena, name, node, &parts), pod);
	bt_strbuf_finish(&parts.labels);
	bt_strbuf_finish(&parts.spec);
	bt_strbuf_finish(&parts.status);
	return pod;
}
