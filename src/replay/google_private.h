/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_REPLAY_GOOGLE_PRIVATE_H
#define BT_REPLAY_GOOGLE_PRIVATE_H
/**
 * The state of Google's cluster while its tables are read in the order of time. Rows with time 0
 * describe the state before the trace: their machines and instances are the cluster at the start.
 */
#include "base/map.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "replay/import.h"
#include "replay/trace_objects.h"

/** Prefix of labels made from the trace's attributes. */
#define BT_GOOGLE_LABEL "google-2019/"
#define BT_GOOGLE_SWITCH_LABEL BT_GOOGLE_LABEL "switch"

struct bt_google_attribute {
	char *name;  /* label name; owned */
	char *value; /* label value; owned; NULL: deleted */
};

struct bt_google_machine {
	int64_t id;
	bool is_there;
	double cpus;
	double memory;
	char *platform; /* label values; owned; NULL: not known */
	char *switch_;
	BT_VEC(struct bt_google_attribute) attributes;
};

/**
 * Limits of a collection: how many of its instances may run on one machine and on one switch. 0: no
 * limit.
 */
struct bt_google_collection {
	int64_t id; /* 0: the record is free */
	int64_t max_per_machine;
	int64_t max_per_switch;
};

enum bt_google_state {
	BT_GOOGLE_GONE,
	BT_GOOGLE_HELD, /* submitted at the current time; a later row of the same time may queue it
	                 */
	BT_GOOGLE_QUEUED,  /* held back by the batch scheduler: has no pod yet */
	BT_GOOGLE_WAITING, /* has a pod without a node */
	BT_GOOGLE_RUNNING,
};

struct bt_google_instance {
	enum bt_google_state state;
	int64_t collection;
	int64_t index;
	int64_t machine; /* id of the machine where it runs; 0: none */
	double cpus;
	double memory;
	int64_t priority;
	bool is_alloc;
	char *constraints; /* JSON; owned; NULL: none */
};

struct bt_google {
	struct bt_import *import;
	const struct bt_import_request *request;
	int64_t time_ns;     /* of the current row */
	bool has_begun;      /* all rows of time 0 were read */
	bool has_attributes; /* the table of machine attributes exists */
	BT_VEC(struct bt_google_machine) machines;
	struct bt_map machines_by_id;
	BT_VEC(struct bt_google_collection) collections;
	BT_VEC(uint32_t) free_collections;
	struct bt_map collections_by_id;
	BT_VEC(struct bt_google_instance) instances;
	BT_VEC(uint32_t) free_instances;
	struct bt_map instances_by_id;
	BT_VEC(uint32_t) held; /* held instances, in the order of their submission */
	struct bt_arena arena; /* reset for each row */
	struct bt_strbuf text;
};

/** --- import_google.c --- */

/** Returns NULL if the machine never existed. */
struct bt_google_machine *bt_google_find_machine(const struct bt_google *google, int64_t id);
/** Returns NULL if the collection has no limits, or its table is not given. */
struct bt_google_collection *bt_google_find_collection(const struct bt_google *google, int64_t id);
/** Returns the name of a machine's node: "m-17". */
struct bt_str bt_google_machine_name(struct bt_google *google, int64_t id);
/**
 * Makes text valid as a label's name or value. Equal texts give equal results. The result is in the
 * row's arena.
 */
struct bt_str bt_google_label(struct bt_google *google, struct bt_str text);
/**
 * Reads a number, or one of the words that stand for the numbers 0 to count - 1. Returns -1 if the
 * text is neither.
 */
int bt_google_read_word(struct bt_str text, const char *const *words, uint32_t count);
/** Makes the amounts of cpu and memory of a request or capacity. */
void bt_google_amounts(const struct bt_google *google, double cpus, double memory,
	struct bt_trace_amount out_amounts[2]);

/** --- google_instances.c --- */

extern const char *const bt_google_instance_columns[]; /* the last one is the time */
extern const uint32_t bt_google_instance_column_count;

/**
 * Processes a row of the table instance_events. values: one for each of bt_google_instance_columns.
 * *out_flaw: why the row is left out, or NULL; *out_loss: which part of the row is left out, or
 * NULL.
 */
BT_MUST_USE int bt_google_take_instance(struct bt_google *google, const struct bt_str *values,
	const char **out_flaw, const char **out_loss, struct berth_error *err);
/** Adds running instances to the cluster at the start. */
void bt_google_start_instances(struct bt_google *google);
/** Call after the last row with the same time: held instances become pods without a node. */
BT_MUST_USE int bt_google_release_held(struct bt_google *google, struct berth_error *err);
#endif
