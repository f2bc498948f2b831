/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_PLUGINS_PREEMPTION_PODS_H
#define BT_TESTS_UNIT_PLUGINS_PREEMPTION_PODS_H
/** Parses the texts of preemption_fixture.h. */
#include "api/pod.h"
#include "base/arena.h"
#include "base/str.h"
#include "codec/message.h"

/** Replaces ' by ". */
struct bt_str preemption_unquoted(struct bt_arena *arena, const char *json);
void preemption_decode(
	struct bt_arena *arena, const struct bt_message *message, const char *json, void *out);
/** Returns the text up to the separator, and skips the separator and leading spaces. */
struct bt_str preemption_next_word(struct bt_str *rest, char separator);
/** Returns the pod "NAME:OPTION,..."; node may be NULL. */
struct bt_pod *preemption_make_pod(struct bt_arena *arena, struct bt_str text, const char *node);
#endif
