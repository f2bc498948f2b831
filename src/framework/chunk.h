/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_FRAMEWORK_CHUNK_H
#define BT_FRAMEWORK_CHUNK_H
/** How upstream cuts a run over many nodes into pieces of work. Spec: 02 section 13. */
#include <stdint.h>

/** Pieces that a worker takes at once; parallelism > 0. */
uint32_t bt_chunk_size(uint32_t piece_count, uint32_t parallelism);
/** Workers that are started; 0 when there is nothing to do. */
uint32_t bt_chunk_workers(uint32_t piece_count, uint32_t parallelism);
#endif
