"""The conformance suite and the inspector of the protocol's makers, in the folder that VECTORMEM_NODE names."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.extras.mcp.conftest import command, http_server

NODE = os.environ.get("VECTORMEM_NODE")
pytestmark = pytest.mark.skipif(NODE is None, reason="VECTORMEM_NODE names no folder with Node 22 and the packages")

PASSED = {
    "2025-11-25": {
        "dns-rebinding-protection": 2,
        "ping": 2,
        "prompts-list": 2,
        "resources-list": 2,
        "server-initialize": 2,
        "tools-list": 3,
    },
    "2026-07-28": {
        "caching": 8,
        "dns-rebinding-protection": 2,
        "http-header-validation": 14,
        "input-required-result-unsupported-methods": 2,
        "prompts-list": 2,
        "resources-list": 2,
        "sep-2164-resource-not-found": 4,
        "server-sse-multiple-streams": 1,
        "server-stateless": 21,
        "tools-list": 4,
    },
}
"""Checks passed, by scenario; the other scenarios call tools, resources and prompts of the suite's own by name."""

NEEDS_A_TOOL_OF_THE_SUITE = {
    "server-stateless": {
        "sep-2575-http-server-no-independent-requests-on-stream",
        "sep-2575-missing-capability-http-400",
        "sep-2575-server-no-log-without-loglevel",
        "sep-2575-server-rejects-undeclared-capability",
    }
}


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    with http_server("--db", tmp_path_factory.mktemp("official") / "agent.db") as url:
        yield url


def node(*arguments):
    binaries = Path(NODE).resolve() / "node_modules"
    script, *rest = map(str, arguments)
    return subprocess.run(
        [binaries / ".bin" / "node", binaries / script, *rest],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "HOME": str(binaries)},  # the inspector keeps files in it
    )


@pytest.fixture(scope="module", params=PASSED)
def checks(request, url, tmp_path_factory):
    """Run the conformance suite by a version of the protocol; return the version and the checks of each scenario."""
    folder = tmp_path_factory.mktemp("conformance")
    suite = "@modelcontextprotocol/conformance/dist/index.js"
    node(suite, "server", "--url", url, "--spec-version", request.param, "--suite", "all", "--output-dir", folder)
    found = {}
    for path in folder.glob("*/checks.json"):
        name = re.fullmatch(r"server-(.+)-\d{4}-\d\d-\d\dT.+", path.parent.name)[1]
        found[name] = json.loads(path.read_text())
    return request.param, found


def test_the_scenarios_of_any_server_pass(checks):
    version, found = checks
    passed = {name: [check["status"] for check in found[name]].count("SUCCESS") for name in PASSED[version]}
    assert passed == PASSED[version]


def test_no_check_of_them_fails_but_for_want_of_a_tool_of_the_suite(checks):
    version, found = checks
    failed = {
        name: {check["id"]: check["errorMessage"] for check in found[name] if check["status"] in ("FAILURE", "WARNING")}
        for name in PASSED[version]
    }
    wanting = NEEDS_A_TOOL_OF_THE_SUITE
    unexpected = {name: dict(ids) for name, ids in failed.items() if ids.keys() - wanting.get(name, set())}
    assert unexpected == {}
    assert all("does not list the diagnostic tool" in reason for ids in failed.values() for reason in ids.values())


def inspected(*arguments):
    done = node("@modelcontextprotocol/inspector/clients/launcher/build/index.js", "--cli", *arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_inspector_lists_tools_resources_and_prompts(url):
    listed = {
        kind: inspected(url, "--transport", "http", "--method", f"{kind}/list")[kind]
        for kind in ("tools", "resources", "prompts")
    }
    names = {kind: [one["name"] for one in found] for kind, found in listed.items()}
    assert names == {
        "tools": ["remember_memory", "recall_memory", "forget_memory", "search_memory"],
        "resources": ["memory"],
        "prompts": ["memory"],
    }


def test_the_inspector_finds_the_schemas_of_the_tools_portable(url):
    assert inspected(url, "--transport", "http", "--method", "tools/list", "--strict")["tools"]


def test_the_inspector_calls_a_tool_over_http(url):
    result = inspected(
        url, "--transport", "http", "--method", "tools/call", "--tool-name", "recall_memory", "--tool-arg", "query=tea"
    )
    assert (result["isError"], json.loads(result["content"][0]["text"])) == (False, {"items": []})


def test_the_inspector_calls_a_tool_over_standard_input(tmp_path):
    server = command("--db", tmp_path / "agent.db")
    result = inspected(*server, "--method", "tools/call", "--tool-name", "remember_memory", "--tool-arg", "text=tea")
    assert json.loads(result["content"][0]["text"]).keys() == {"remembered"}
