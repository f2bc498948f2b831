/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The writer of preemption_fixture.h: logs each write; a write may fail or wait, as the test sets.
 */
#include <check.h>

#include "base/error.h"
#include "preemption_fixture.h"

static void note(struct preemption_fixture *fixture, const char *what)
{
	bt_strbuf_append_c(&fixture->log, fixture->log.length != 0 ? "; " : "");
	bt_strbuf_append_c(&fixture->log, what);
}

/**
 * Answers a write: returns the failure that the test sets for this write, 0 for success, or
 * BT_PREEMPTION_PENDING if answers come later.
 */
static int answer(struct preemption_fixture *fixture, struct bt_preemption_ticket ticket,
	const char *verb, const struct bt_preemption_pod *pod, struct berth_error *err)
{
	const char *what =
		bt_arena_printf(&fixture->arena, "%s %.*s", verb, BT_STR_ARG(pod->name)).data;

	note(fixture, what);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(fixture->failures); i++) {
		const struct preemption_failure *failure = &fixture->failures[i];

		if (failure->write != NULL && strcmp(failure->write, what) == 0) {
			return bt_error_set(err, failure->code, "%s", failure->text);
		}
	}
	if (!fixture->deferred) {
		return 0;
	}
	ck_assert_ptr_nonnull(ticket.executor);
	ck_assert_uint_lt(fixture->write_count, PREEMPTION_WRITES_MAX);
	fixture->writes[fixture->write_count++] = (struct preemption_write){ticket.id, what};
	return BT_PREEMPTION_PENDING;
}

static int patch_condition(void *context, struct bt_preemption_ticket ticket,
	const struct bt_preemption_pod *victim, const struct bt_pod_condition *condition,
	struct berth_error *err)
{
	struct preemption_fixture *fixture = context;

	fixture->condition = *condition;
	fixture->condition.type = bt_arena_str(&fixture->arena, condition->type);
	fixture->condition.status = bt_arena_str(&fixture->arena, condition->status);
	fixture->condition.reason = bt_arena_str(&fixture->arena, condition->reason);
	fixture->condition.message = bt_arena_str(&fixture->arena, condition->message);
	return answer(fixture, ticket, "patch", victim, err);
}

static int delete_pod(void *context, struct bt_preemption_ticket ticket,
	const struct bt_preemption_pod *victim, struct berth_error *err)
{
	return answer(context, ticket, "delete", victim, err);
}

static int clear_nomination(void *context, struct bt_preemption_ticket ticket,
	const struct bt_preemption_pod *pod, struct berth_error *err)
{
	return answer(context, ticket, "clear", pod, err);
}

static void send_event(void *context, const struct bt_preemption_event *event)
{
	struct preemption_fixture *fixture = context;

	note(fixture,
		bt_arena_printf(&fixture->arena, "event %.*s%s%.*s \"%.*s\"",
			BT_STR_ARG(event->victim.name), event->related_group != NULL ? " of " : "",
			BT_STR_ARG(event->related_group != NULL ? event->related_group->name
								: BT_STR("")),
			BT_STR_ARG(event->note))
			.data);
}

static void activate(void *context, const struct bt_preemption_pod *pods, uint32_t count)
{
	struct preemption_fixture *fixture = context;

	for (uint32_t i = 0; i < count; i++) {
		note(fixture,
			bt_arena_printf(&fixture->arena, "activate %.*s", BT_STR_ARG(pods[i].name))
				.data);
	}
}

static bool cancel_pre_bind(void *context, struct bt_str uid, struct bt_str cause)
{
	struct preemption_fixture *fixture = context;

	if (fixture->in_pre_bind == NULL || !bt_str_equal_c(uid, fixture->in_pre_bind)) {
		return false;
	}
	note(fixture, bt_arena_printf(&fixture->arena, "cancel: %.*s", BT_STR_ARG(cause)).data);
	return true;
}

void preemption_enable_writes(struct preemption_fixture *fixture)
{
	fixture->writer = (struct bt_preemption_writer){patch_condition, delete_pod,
		clear_nomination, cancel_pre_bind, send_event, activate, fixture};
	fixture->framework->handle.preemption_writer = &fixture->writer;
}

const char *preemption_log(struct preemption_fixture *fixture)
{
	struct bt_str text = bt_arena_str(&fixture->arena, bt_strbuf_str(&fixture->log));

	bt_strbuf_reset(&fixture->log);
	return text.length != 0 ? text.data : "";
}

void preemption_complete(struct preemption_fixture *fixture, const char *write, int result)
{
	for (uint32_t i = 0; i < fixture->write_count; i++) {
		if (strcmp(fixture->writes[i].what, write) == 0) {
			uint64_t id = fixture->writes[i].id;

			fixture->writes[i] = fixture->writes[--fixture->write_count];
			bt_preemption_complete(&fixture->evaluator->executor, id, result);
			return;
		}
	}
	ck_abort_msg("%s is not under way", write);
}
