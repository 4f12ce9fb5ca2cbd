#!/usr/bin/env python3
"""Old releases as ground truth: what programs of the templates find in one release and not in another.

    bench/releases.py --releases tpu:v5e@0.0.24,tpu:v5e@0.0.52 [--programs N] [--level hlo|llo] --results FOLDER [TEMPLATE...]

One campaign judges the same programs on all releases (`sapper fuzz`; it goes on where it was interrupted); the smallest
program of each finding is then judged on every release, and the table says which is wrong where. Releases in their
order, the oldest first.
"""

import argparse
import glob
import json
import os

from sapper_runs import ROOT, row, sapper


def releases_of(finding, options, store):
    """The verdict of each release on the finding's program, and the name of its template."""
    folder = os.path.join(options.results, finding["id"][:10])
    sapper("findings", "export", "releases", finding["id"], "--store", store, "--output", folder)
    verdicts = []
    for release in options.releases:
        report = json.loads(sapper("check", os.path.join(folder, "module.hlo"), "--on", release, "--seeds", "3",
                                   "--level", options.level, "--json").splitlines()[0])
        guilty = (report.get("guilty") or {}).get("pass", "")
        verdicts.append(report["verdict"] + (f" ({guilty})" if report["verdict"] == "mismatch" else ""))
    return verdicts, report["module"]


def right_since(verdicts, releases):
    wrong = [i for i, verdict in enumerate(verdicts) if verdict.startswith(("mismatch", "crash"))]
    right = [i for i, verdict in enumerate(verdicts) if verdict.startswith(("agree", "policy"))]
    if not wrong:
        return ""
    later = [i for i in right if i > wrong[-1]]
    return f"right in {releases[later[0]].split('@')[-1]}" if later else "still there"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--releases", required=True, type=lambda text: text.split(","))
    parser.add_argument("--programs", default="112")
    parser.add_argument("--level", default="hlo")
    parser.add_argument("--results", required=True)
    parser.add_argument("templates", nargs="*", default=sorted(glob.glob(os.path.join(ROOT, "templates/*.hlo"))))
    options = parser.parse_args()
    os.makedirs(options.results, exist_ok=True)
    store = os.path.join(options.results, "releases.db")
    lines = sapper("fuzz", *options.templates, "--on", *options.releases, "--programs", options.programs, "--level",
                   options.level, "--store", store, "--campaign", "releases", "--time-limit", "60", "--json").splitlines()
    summary, report = map(json.loads, lines)
    print(f"{summary['programs']} programs on {len(options.releases)} releases: {json.dumps(summary['verdicts'])}\n")
    print(row(["program", "signature", *(f"`{release}`" for release in options.releases), "since"]))
    print("|" + " --- |" * (len(options.releases) + 3))
    seen = set()
    for finding in report["findings"]:
        verdicts, template = releases_of(finding, options, store)
        key = (finding["signature"], *verdicts)
        if key in seen:
            continue
        seen.add(key)
        cells = [f"{template}, {finding['instructions']} instructions", finding["signature"], *verdicts,
                 right_since(verdicts, options.releases)]
        print(row(cells), flush=True)


if __name__ == "__main__":
    main()
