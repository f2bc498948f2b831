#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draw the results of `berth bench --suite -o json` as a bar chart in SVG.

Usage: berth bench --suite -o json | chart.py > docs/pods-per-second.svg

Each measurement has a row with its pods per second on a logarithmic axis. If upstream was
measured, upstream's figure is below.
"""
import json
import math
import sys
from xml.sax.saxutils import escape

WIDTH, LEFT, RIGHT, TOP = 900, 190, 110, 64
ROW, BAR, GAP = 34, 12, 2
# Colours that colour-blind readers can tell apart, on a light and a dark page.
STYLE = """
svg { background: #ffffff; font: 13px system-ui, sans-serif; }
text { fill: #1b1f24; } .axis { stroke: #d0d7de; }
.berth { fill: #0072b2; } .upstream { fill: #e69f00; }
.small { fill: #57606a; font-size: 12px; } .title { font-size: 17px; font-weight: 600; }
@media (prefers-color-scheme: dark) {
svg { background: #0d1117; } text { fill: #e6edf3; }
.axis { stroke: #30363d; } .small { fill: #9da7b1; }
}
"""


def short(value):
    """The number as text with commas: "1,234,567"."""
    return "{:,}".format(round(value))


def decades(values):
    """Powers of ten below and above all values."""
    return math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))


def draw(report):
    """The SVG of a report of `berth bench --suite`."""
    rows = [row for row in report["measurements"] if row.get("pods_per_s", 0) > 0]
    if not rows:
        raise ValueError("no measurement placed a pod")
    upstream = [row["upstream_pods_per_s"] for row in rows if row.get("upstream_pods_per_s")]
    low, high = decades([row["pods_per_s"] for row in rows] + upstream)
    height = TOP + ROW * len(rows) + 48

    def x_of(value):
        return LEFT + (math.log10(value) - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    machine = report["machine"]
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="%s">'
           % (WIDTH, height, "Pods scheduled a second by workload"),
           "<style>%s</style>" % STYLE,
           '<text class="title" x="16" y="28">Pods scheduled a second</text>',
           '<text class="small" x="16" y="48">berth %s (blue), upstream (orange); %s, one '
           'thread; logarithmic</text>' % (escape(report["commit"]), escape(machine["cpu"]))]
    for decade in range(low, high + 1):
        x = x_of(10 ** decade)
        out.append('<line class="axis" x1="%.1f" y1="%d" x2="%.1f" y2="%d"/>'
                   % (x, TOP, x, height - 36))
        out.append('<text class="small" x="%.1f" y="%d" text-anchor="middle">%s</text>'
                   % (x, height - 18, short(10 ** decade)))
    for index, row in enumerate(rows):
        y = TOP + ROW * index + 4
        out.append('<text x="%d" y="%d" text-anchor="end">%s</text>'
                   % (LEFT - 12, y + 17, escape(row["name"])))
        bars = [("berth", row["pods_per_s"])]
        if row.get("upstream_pods_per_s"):
            bars.append(("upstream", row["upstream_pods_per_s"]))
        offset = (ROW - 8 - len(bars) * (BAR + GAP)) / 2
        for name, value in bars:
            x = x_of(value)
            out.append('<rect class="%s" x="%d" y="%.1f" width="%.1f" height="%d" rx="2"/>'
                       % (name, LEFT, y + offset, max(x - LEFT, 1), BAR))
            out.append('<text class="small" x="%.1f" y="%.1f">%s</text>'
                       % (x + 6, y + offset + 10, short(value)))
            offset += BAR + GAP
    out.append("</svg>\n")
    return "\n".join(out)


def main():
    if len(sys.argv) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    sys.stdout.write(draw(json.load(sys.stdin)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
