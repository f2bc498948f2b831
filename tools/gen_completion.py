#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write a header with completion scripts as lists of lines.

Usage: gen_completion.py OUTPUT BASH ZSH FISH (the last three: the scripts)
"""
import json
import sys


def main():
    with open(sys.argv[1], "w", encoding="ascii") as out:
        out.write("/* SPDX-License-Identifier: Apache-2.0 */\n")
        out.write("/** NULL is behind the last line. */\n")
        for shell, path in zip(("bash", "zsh", "fish"), sys.argv[2:]):
            with open(path, encoding="ascii") as script:
                lines = "".join("\t%s,\n" % json.dumps(line) for line in script)
            out.write("static const char *const bt_completion_%s[] = {\n%s\tNULL,\n};\n" %
                      (shell, lines))


if __name__ == "__main__":
    main()
