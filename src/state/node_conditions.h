/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_STATE_NODE_CONDITIONS_H
#define BT_STATE_NODE_CONDITIONS_H
/**
 * What is kept of a node's status.conditions: the six types that legacy predicates read (spec 05b
 * B1, B2), in list order, repeats included, two characters each: type, then status. Nodes with the
 * same conditions share the text as a symbol.
 */
#include "api/node.h"
#include "base/strbuf.h"

/** First character: the type. Other types are left out. */
#define BT_CONDITION_READY 'R'
#define BT_CONDITION_OUT_OF_DISK 'O'
#define BT_CONDITION_NETWORK_UNAVAILABLE 'N'
#define BT_CONDITION_MEMORY_PRESSURE 'M'
#define BT_CONDITION_DISK_PRESSURE 'D'
#define BT_CONDITION_PID_PRESSURE 'P'

/** Second character: the status. */
#define BT_CONDITION_TRUE 'T'
#define BT_CONDITION_FALSE 'F'
#define BT_CONDITION_UNKNOWN 'U' /* and any other text */

/** Append the digest of a node's conditions to out. */
void bt_node_conditions_digest(const struct bt_node_status *status, struct bt_strbuf *out);
#endif
