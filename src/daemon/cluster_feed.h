/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_CLUSTER_FEED_H
#define BT_DAEMON_CLUSTER_FEED_H
/**
 * Feeds the API server's collections into the scheduler: one reflector per watched resource. While
 * the scheduler runs an attempt, which may turn the loop, the feed is held: changes are kept, and
 * passed on afterwards. Spec: 11b section 5.1, 13 section 15.
 */
#include "client/reflector.h"
#include "daemon/complete_object.h"
#include "sched/scheduler.h"

struct bt_cluster_feed;

struct bt_cluster_feed_options {
	struct bt_rest_client *client;
	struct bt_loop *loop;
	struct bt_prng *prng;
	struct bt_scheduler *scheduler;
	const struct bt_gates *gates;
	struct bt_metrics *metrics;
	bool streaming;                           /* result of bt_daemon_streams_lists */
	struct bt_complete_object_needs complete; /* kinds whose objects are kept whole */
	int64_t (*now_ns)(void *context);         /* the clock of bt_scheduler_step */
	void *context;
	/** Called once, when the scheduler has the first list of every reflector. */
	void (*synced)(void *context);
	/**
	 * Called once, when the scheduler finds its cache corrupted: the process must end. err: may
	 * be moved.
	 */
	void (*failed)(void *context, struct berth_error *err);
};

/** No resource is read before bt_cluster_feed_start. */
BT_MUST_USE struct bt_cluster_feed *bt_cluster_feed_create(
	const struct bt_cluster_feed_options *options);
void bt_cluster_feed_start(struct bt_cluster_feed *feed);
void bt_cluster_feed_destroy(struct bt_cluster_feed *feed);
bool bt_cluster_feed_is_synced(const struct bt_cluster_feed *feed);
/**
 * Count the started reflectors that wait for their first list; append their types separated by
 * blanks ("*v1.Node *v1.Pod").
 */
uint32_t bt_cluster_feed_list_unsynced(const struct bt_cluster_feed *feed, struct bt_strbuf *out);
/** While the feed is held, changes are kept; the release passes them on. Calls can be nested. */
void bt_cluster_feed_hold(struct bt_cluster_feed *feed);
void bt_cluster_feed_release(struct bt_cluster_feed *feed);
/** Return the reflector of a kind; NULL: the kind is not watched. */
const struct bt_reflector *bt_cluster_feed_reflector(
	const struct bt_cluster_feed *feed, enum bt_kind kind);
/**
 * Return an object with its whole JSON, without kind and apiVersion. NULL: the object does not
 * exist any more, or whole objects of its kind are not kept.
 */
const struct bt_object *bt_cluster_feed_find_complete(const struct bt_cluster_feed *feed,
	enum bt_kind kind, struct bt_str namespace_, struct bt_str name);
#endif
