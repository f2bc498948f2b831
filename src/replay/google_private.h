/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_REPLAY_GOOGLE_PRIVATE_H
#define BT_REPLAY_GOOGLE_PRIVATE_H
/**
 * The state of Google's cluster while its tables are read in the order of time. Time 0 stands for
 * everything before the trace: machines and instances of that time are the cluster at the start.
 */
#include "base/map.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "replay/import.h"
#include "replay/trace_objects.h"

/** Prefix of the labels that the trace's values become. */
#define BT_GOOGLE_LABEL "google-2019/"
#define BT_GOOGLE_SWITCH_LABEL BT_GOOGLE_LABEL "switch"

struct bt_google_attribute {
	char *name;  /* as a label's; owned */
	char *value; /* as a label's; owned; NULL: it was deleted */
};

struct bt_google_machine {
	int64_t id;
	bool is_there;
	double cpus;
	double memory;
	char *platform; /* as label values; owned; NULL: not known */
	char *switch_;
	BT_VEC(struct bt_google_attribute) attributes;
};

/** What a collection says of all its instances. */
struct bt_google_collection {
	int64_t id; /* 0: the record is free */
	int64_t max_per_machine;
	int64_t max_per_switch;
};

enum bt_google_state {
	BT_GOOGLE_GONE,
	BT_GOOGLE_HELD,    /* submitted at this time: it may be queued in the same instant */
	BT_GOOGLE_QUEUED,  /* the batch scheduler holds it back: there is no pod */
	BT_GOOGLE_WAITING, /* its pod waits for a node */
	BT_GOOGLE_RUNNING,
};

struct bt_google_instance {
	enum bt_google_state state;
	int64_t collection;
	int64_t index;
	int64_t machine; /* where it runs; 0: nowhere */
	double cpus;
	double memory;
	int64_t priority;
	bool is_alloc;
	char *constraints; /* JSON; owned; NULL: none */
};

struct bt_google {
	struct bt_import *import;
	const struct bt_import_request *request;
	int64_t time_ns;     /* of the row */
	bool has_begun;      /* time 0 is over */
	bool has_attributes; /* the table of machine attributes is there */
	BT_VEC(struct bt_google_machine) machines;
	struct bt_map machines_by_id;
	BT_VEC(struct bt_google_collection) collections;
	BT_VEC(uint32_t) free_collections;
	struct bt_map collections_by_id;
	BT_VEC(struct bt_google_instance) instances;
	BT_VEC(uint32_t) free_instances;
	struct bt_map instances_by_id;
	BT_VEC(uint32_t) held; /* instances, in the order of their submission */
	struct bt_arena arena; /* of one row */
	struct bt_strbuf text;
};

/** --- import_google.c --- */

/** NULL: it never was there. */
struct bt_google_machine *bt_google_find_machine(const struct bt_google *google, int64_t id);
/** NULL: it limits nothing, or its table is not there. */
const struct bt_google_collection *bt_google_find_collection(
	const struct bt_google *google, int64_t id);
/** "m-17" */
struct bt_str bt_google_machine_name(struct bt_google *google, int64_t id);
/** Text that a label's name or value may be; equal for equal texts. In the row's arena. */
struct bt_str bt_google_label(struct bt_google *google, struct bt_str text);
/** A number, or the word for it, of words[0] to words[count - 1]. -1: neither. */
int bt_google_read_word(struct bt_str text, const char *const *words, uint32_t count);
/** The two amounts of a request or capacity. */
void bt_google_amounts(const struct bt_google *google, double cpus, double memory,
	struct bt_trace_amount out_amounts[2]);

/** --- google_instances.c --- */

extern const char *const bt_google_instance_columns[];
extern const uint32_t bt_google_instance_column_count;

/** values: of the columns above. *out_flaw: the row is left out; *out_loss: a part of it. */
BT_MUST_USE int bt_google_take_instance(struct bt_google *google, const struct bt_str *values,
	const char **out_flaw, const char **out_loss, struct berth_error *err);
/** Hand those that run to the cluster at the start. */
void bt_google_start_instances(struct bt_google *google);
/** The instant is over: held instances become pods that wait. */
BT_MUST_USE int bt_google_release_held(struct bt_google *google, struct berth_error *err);
#endif
