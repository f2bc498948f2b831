/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SOAK_STORE_H
#define BT_SOAK_STORE_H
/** The truth: what an API server would hold. Every change gets a resourceVersion and is told to one
 * listener. */
#include "api/object.h"
#include "base/prng.h"
#include "state/object_store.h"

/** Where the object of a uid is; uids are numbers in order of creation. */
struct bt_sim_identity {
	enum bt_kind kind;
	struct bt_str namespace_;
	struct bt_str name;
};

struct bt_sim_store {
	struct bt_object_store objects;
	BT_VEC(struct bt_sim_identity) identities; /* by uid number */
	struct bt_arena names;
	struct bt_arena scratch; /* of one change */
	uint64_t version;
	/** After a change; both are borrowed, one may be NULL. */
	void (*changed)(void *context, struct bt_object *old_object, struct bt_object *new_object);
	void *context;
};

void bt_sim_store_init(struct bt_sim_store *store);
void bt_sim_store_finish(struct bt_sim_store *store);

/** From JSON that the simulator wrote itself: asserts that it is good. Borrowed until it changes.
 * An object of that name must not exist. */
struct bt_object *bt_sim_store_create(struct bt_sim_store *store, struct bt_str json);
/** Likewise, from a value; uid and version are set here. */
struct bt_object *bt_sim_store_add(
	struct bt_sim_store *store, enum bt_kind kind, const void *value);
/** From JSON; the object of that name, if there is one, becomes this one. */
void bt_sim_store_apply(struct bt_sim_store *store, struct bt_str json);
/** The object of value's name, which must exist, becomes value; uid and version are set here. */
struct bt_object *bt_sim_store_replace(
	struct bt_sim_store *store, enum bt_kind kind, const void *value);
/** false: there was none. */
bool bt_sim_store_delete(struct bt_sim_store *store, enum bt_kind kind, struct bt_str namespace_,
	struct bt_str name);

struct bt_object *bt_sim_store_find(const struct bt_sim_store *store, enum bt_kind kind,
	struct bt_str namespace_, struct bt_str name);
/** NULL: deleted, or replaced by another one of that name. */
struct bt_object *bt_sim_store_by_uid(const struct bt_sim_store *store, uint64_t uid);
uint64_t bt_sim_uid_of(const struct bt_object *object);
/** One of a kind, by chance; NULL when there is none. */
struct bt_object *bt_sim_store_pick(
	struct bt_sim_store *store, enum bt_kind kind, struct bt_prng *prng);
#endif
