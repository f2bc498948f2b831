#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write a file as the elements of a C array of char.

Usage: embed.py INPUT OUTPUT
"""
import sys


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    with open(sys.argv[2], "w", encoding="ascii") as file:
        for start in range(0, len(data), 20):
            # Bytes above 127 are written as negative numbers, which also a signed char can hold.
            file.write("".join("%d," % (byte if byte < 128 else byte - 256)
                               for byte in data[start:start + 20]) + "\n")


if __name__ == "__main__":
    main()
