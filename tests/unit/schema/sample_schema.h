/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_SCHEMA_SAMPLE_SCHEMA_H
#define BT_TESTS_UNIT_SCHEMA_SAMPLE_SCHEMA_H
/** A small kind with one field of each sort, for patches, independent of the API's own tables. */
#include "schema/schema.h"

extern const struct bt_schema_message sample_pod;
#endif
