/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BASE_LINKS_H
#define BT_BASE_LINKS_H
/**
 * Doubly linked lists through two members of their elements. The caller names the members, so an
 * element can be in several lists. To add at the front, exchange the arguments first and last, and
 * the arguments previous and next.
 *
 * Macro arguments are evaluated several times. In an element that is in no list, the members may
 * have any values.
 */
#include <stddef.h>
#include <stdint.h>

/** Lists linked by pointers; first and last are lvalues, NULL in an empty list. */
#define BT_LIST_APPEND(first, last, node, previous, next) \
	do { \
		(node)->previous = (last); \
		(node)->next = NULL; \
		*((last) != NULL ? &(last)->next : &(first)) = (node); \
		(last) = (node); \
	} while (0)
#define BT_LIST_REMOVE(first, last, node, previous, next) \
	do { \
		*((node)->previous != NULL ? &(node)->previous->next : &(first)) = (node)->next; \
		*((node)->next != NULL ? &(node)->next->previous : &(last)) = (node)->previous; \
	} while (0)

/** Lists linked by pointers without a pointer to the last element. */
#define BT_CHAIN_ADD(first, node, previous, next) \
	do { \
		(node)->previous = NULL; \
		(node)->next = (first); \
		if ((first) != NULL) { \
			(first)->previous = (node); \
		} \
		(first) = (node); \
	} while (0)
#define BT_CHAIN_REMOVE(first, node, previous, next) \
	do { \
		*((node)->previous != NULL ? &(node)->previous->next : &(first)) = (node)->next; \
		if ((node)->next != NULL) { \
			(node)->next->previous = (node)->previous; \
		} \
	} while (0)

/** Lists of array elements, linked by index; UINT32_MAX ends a list. */
#define BT_INDEX_LIST_APPEND(first, last, items, index, previous, next) \
	do { \
		(items)[index].previous = (last); \
		(items)[index].next = UINT32_MAX; \
		*((last) != UINT32_MAX ? &(items)[last].next : &(first)) = (index); \
		(last) = (index); \
	} while (0)
#define BT_INDEX_LIST_REMOVE(first, last, items, index, previous, next) \
	do { \
		*((items)[index].previous != UINT32_MAX ? &(items)[(items)[index].previous].next \
							: &(first)) = (items)[index].next; \
		*((items)[index].next != UINT32_MAX ? &(items)[(items)[index].next].previous \
						    : &(last)) = (items)[index].previous; \
	} while (0)
#endif
