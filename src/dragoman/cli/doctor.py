"""`dragoman doctor`: test models for silent bugs."""

from __future__ import annotations

import json
from dataclasses import asdict

import typer

from dragoman.cli.missing_packages import require_package
from dragoman.cli.options import AsJson, Device, EachModel
from dragoman.cli.streams import print_result, say


def doctor(model: EachModel, as_json: AsJson = False, device: Device = "auto") -> None:
    """Test models for silent bugs.

    Among them: attention to future tokens, padding that changes results, a cache that disagrees with the full model,
    tied weights that differ. The exit code is 1 if a check fails.
    """
    require_package("doctor", "torch")
    from dragoman.bundle.bundle import load_bundle
    from dragoman.doctor import check
    from dragoman.machine.devices import find_device

    target_device, sound = find_device(device), True
    for name in model:
        say(f"examining {name}")
        examination = check(load_bundle(name).model.to(target_device), trained=True)
        sound = sound and examination.passed
        if as_json:
            findings = [asdict(finding) for finding in examination.findings]
            result = {"model": name, "passed": examination.passed, "findings": findings}
            print_result(json.dumps(result, ensure_ascii=False))
        else:
            print_result(str(examination))
    if not sound:
        raise typer.Exit(1)
