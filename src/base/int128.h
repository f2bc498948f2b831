/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BASE_INT128_H
#define BT_BASE_INT128_H
/** 128-bit integers, which gcc and clang provide on all machines with 64-bit words. */
__extension__ typedef __int128 bt_int128;
#endif
