"""Walks all operations of a service with schemathesis, and prints each failed check as one line of JSON.

The last line has the numbers of operations and of requests. Arguments: the URL of the service, an API key, the phases
that generate requests, the requests per operation and phase, and optionally the seconds, which further requests fill.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

import schemathesis
from schemathesis.cli import schemathesis as command

CHECKS = [
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
    "stays_within_grants",
]

# The words of the set `member`, whose user the key belongs to.
HELD = {"invoke", "read", "decide"}


@schemathesis.check
def stays_within_grants(ctx, response, case):
    needed = case.operation.definition.raw.get("x-grants", [])
    if needed and HELD.isdisjoint(grant.split(":")[0] for grant in needed):
        assert response.status_code >= 400, f"{response.status_code} without {needed}"


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """Omits streams that end only with their client, and the schemas of others.

    The document describes the JSON in the `data` of an event; schemathesis expects the fields of the event.
    """
    for operations in raw_schema["paths"].values():
        responses = operations.get("get", {}).get("responses", {})
        if any("text/event-stream" in response.get("content", {}) for response in responses.values()):
            del operations["get"]
        for operation in operations.values():
            for response in operation["responses"].values():
                stream = response.get("content", {}).get("text/event-stream")
                if stream is not None:
                    stream["schema"] = {}


def walk(report, url, key, phases, examples, seconds=None):
    command.main(
        standalone_mode=False,
        args=[
            "run",
            f"{url}/openapi.json",
            *["--header", f"Authorization: Bearer {key}"],
            *["--checks", ",".join(CHECKS)],
            *["--phases", phases],
            *["--max-examples", examples],
            *(["--max-time", seconds] if seconds else []),
            *["--report", "ndjson", "--report-ndjson-path", str(report)],
            *["--request-timeout", "30"],
            *["--wait-for-schema", "60"],
            *["--generation-database", "none"],
            *["--suppress-health-check", "all"],
            *["--warnings", "off"],
            *["--continue-on-failure", "--no-shrink", "--no-color"],
        ],
    )


def failures(event):
    """The failed checks of an operation, with the request and the response of each."""
    recorder = event["recorder"]
    for case, checks in recorder.get("checks", {}).items():
        for check in checks:
            if check["status"] == "failure":
                failure = check["failure_info"]["failure"]
                exchange = recorder.get("interactions", {}).get(case, {})
                yield {
                    "operation": recorder["label"],
                    "check": check["name"],
                    "message": f"{failure['title']}: {failure['message']}"[:1500],
                    "case": recorder["cases"][case]["value"],
                    "status": (exchange.get("response") or {}).get("status_code"),
                }


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        # The tool keeps its results in the current directory.
        os.chdir(directory)
        report = Path(directory) / "events.ndjson"
        output, sys.stdout = sys.stdout, sys.stderr
        try:
            walk(report, *sys.argv[1:])
        except SystemExit:
            pass  # Its code is 1 after a failed check.
        operations, requests = set(), 0
        for line in report.read_text().splitlines():
            for name, event in json.loads(line).items():
                if name in ("NonFatalError", "FatalError", "LoadingFailed"):
                    print(json.dumps({"operation": event.get("label"), "message": str(event)[:1500]}), file=output)
                if name != "ScenarioFinished":
                    continue
                interactions = event["recorder"].get("interactions", {})
                if interactions:
                    operations.add(event["recorder"]["label"])
                requests += len(interactions)
                for failure in failures(event):
                    print(json.dumps(failure), file=output)
        print(json.dumps({"operations": len(operations), "requests": requests}), file=output)
