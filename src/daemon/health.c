/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/health.h"

#include <stdlib.h>

#include "base/log.h"

/** Names in one ?exclude=; what is beyond is not looked at. */
#define EXCLUDED_MAX 64

static const struct bt_metric_description health_gauge = {
	.name = "kubernetes_healthcheck",
	.help = "This metric records the result of a single healthcheck.",
	.type = BT_METRIC_GAUGE,
	.stability = BT_METRIC_STABLE,
	.labels = {"name", "type"},
};

static const struct bt_metric_description health_counter = {
	.name = "kubernetes_healthchecks_total",
	.help = "This metric records the results of all healthcheck.",
	.type = BT_METRIC_COUNTER,
	.stability = BT_METRIC_STABLE,
	.labels = {"name", "type", "status"},
};

void bt_health_init(struct bt_health *health, const char *name,
	const struct bt_health_check *checks, uint32_t count, struct bt_metrics *slis)
{
	*health = (struct bt_health){.name = name, .check_count = count};
	health->checks = BT_NEW_ARRAY(struct bt_health_check, count);
	if (count != 0) {
		memcpy(health->checks, checks, count * sizeof(*checks));
	}
	health->gauge = bt_metrics_register(slis, &health_gauge);
	health->counter = bt_metrics_register(slis, &health_counter);
}

void bt_health_finish(struct bt_health *health)
{
	bt_free(health->checks);
	health->checks = NULL;
	health->check_count = 0;
}

struct wishes {
	bool is_verbose;
	struct bt_str excluded[EXCLUDED_MAX]; /* sorted, each once */
	uint32_t excluded_count;
};

static void take_wish(void *context, struct bt_str name, struct bt_str value)
{
	struct wishes *wishes = context;
	if (bt_str_equal(name, BT_STR("verbose"))) {
		wishes->is_verbose = true;
	}
	if (!bt_str_equal(name, BT_STR("exclude")) || wishes->excluded_count == EXCLUDED_MAX) {
		return;
	}
	uint32_t at = wishes->excluded_count;
	for (uint32_t i = 0; i < wishes->excluded_count; i++) {
		if (bt_str_equal(wishes->excluded[i], value)) {
			return;
		}
	}
	for (; at > 0 && bt_str_compare(wishes->excluded[at - 1], value) > 0; at--) {
		wishes->excluded[at] = wishes->excluded[at - 1];
	}
	wishes->excluded[at] = value;
	wishes->excluded_count++;
}

/** Is the check excluded? The name is then taken from the list. */
static bool take_exclusion(struct wishes *wishes, const char *name)
{
	for (uint32_t i = 0; i < wishes->excluded_count; i++) {
		if (bt_str_equal_c(wishes->excluded[i], name)) {
			wishes->excluded_count--;
			memmove(&wishes->excluded[i], &wishes->excluded[i + 1],
				(wishes->excluded_count - i) * sizeof(wishes->excluded[0]));
			return true;
		}
	}
	return false;
}

static bool passes(const struct bt_health_check *check, struct bt_strbuf *out_error)
{
	return check->check == NULL || check->check(check->context, out_error);
}

static void count(const struct bt_health *health, const struct bt_health_check *check, bool is_good)
{
	struct bt_str labels[] = {
		bt_str_from(check->name),
		bt_str_from(health->name),
		is_good ? BT_STR("success") : BT_STR("error"),
	};
	bt_metric_set(bt_metric_cell(health->gauge, labels), is_good ? 1 : 0);
	bt_metric_add(bt_metric_cell(health->counter, labels), 1);
}

/** A line for each check into out; names and lines of those that fail for the log. */
static void run(const struct bt_health *health, struct wishes *wishes, struct bt_strbuf *out,
	struct bt_strbuf *failed_names, struct bt_strbuf *failed_lines)
{
	struct bt_strbuf error = {0};
	for (uint32_t i = 0; i < health->check_count; i++) {
		const struct bt_health_check *check = &health->checks[i];
		if (take_exclusion(wishes, check->name)) {
			bt_strbuf_printf(out, "[+]%s excluded: ok\n", check->name);
			continue;
		}
		bt_strbuf_reset(&error);
		bool is_good = passes(check, &error);
		count(health, check, is_good);
		if (is_good) {
			bt_strbuf_printf(out, "[+]%s ok\n", check->name);
			continue;
		}
		bt_strbuf_printf(out, "[-]%s failed: reason withheld\n", check->name);
		bt_strbuf_printf(
			failed_names, "%s%s", failed_names->length != 0 ? "," : "", check->name);
		bt_strbuf_printf(
			failed_lines, "[-]%s failed: %s\n", check->name, bt_strbuf_c(&error));
	}
	bt_strbuf_finish(&error);
}

static void warn_of_unknown(const struct wishes *wishes, struct bt_strbuf *out)
{
	if (wishes->excluded_count == 0) {
		return;
	}
	bt_strbuf_append_c(out, "warn: some health checks cannot be excluded: no matches for ");
	for (uint32_t i = 0; i < wishes->excluded_count; i++) {
		bt_strbuf_append_c(out, i != 0 ? ", " : "");
		bt_strbuf_append_quoted(out, wishes->excluded[i]);
	}
	bt_strbuf_append_char(out, '\n');
}

void bt_health_answer(const struct bt_health *health, const struct bt_page_request *request,
	struct bt_reply *reply)
{
	struct wishes wishes = {.is_verbose = false};
	struct bt_strbuf lines = {0};
	struct bt_strbuf failed_names = {0};
	struct bt_strbuf failed_lines = {0};
	bt_query_each(request->query, request->arena, take_wish, &wishes);
	run(health, &wishes, &lines, &failed_names, &failed_lines);
	warn_of_unknown(&wishes, &lines);
	if (failed_names.length != 0) {
		if (BT_LOG_ENABLED(2)) {
			bt_log_text(BT_LOG_SEVERITY_INFO, 2, __FILE__, __LINE__,
				"%s check failed: %s\n%s", bt_strbuf_c(&failed_names), health->name,
				bt_strbuf_c(&failed_lines));
		}
		bt_reply_error(reply, 500, "%s%s check failed", bt_strbuf_c(&lines), health->name);
	} else {
		bt_reply_plain(reply, 200);
		if (wishes.is_verbose) {
			bt_strbuf_printf(&reply->body, "%s%s check passed\n", bt_strbuf_c(&lines),
				health->name);
		} else {
			bt_strbuf_append_c(&reply->body, "ok");
		}
	}
	bt_strbuf_finish(&lines);
	bt_strbuf_finish(&failed_names);
	bt_strbuf_finish(&failed_lines);
}

bool bt_health_answer_one(
	const struct bt_health *health, struct bt_str name, struct bt_reply *reply)
{
	struct bt_strbuf error = {0};
	uint32_t i = 0;
	while (i < health->check_count && !bt_str_equal_c(name, health->checks[i].name)) {
		i++;
	}
	if (i == health->check_count) {
		return false;
	}
	if (passes(&health->checks[i], &error)) {
		bt_reply_plain(reply, 200);
		bt_strbuf_append_c(&reply->body, "ok");
	} else {
		bt_reply_error(reply, 500, "internal server error: %s", bt_strbuf_c(&error));
	}
	bt_strbuf_finish(&error);
	return true;
}
