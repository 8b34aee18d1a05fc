"""Every setting: its name, default and checks.

`config` has the sections, `sections` the way they are parsed, `recipe` the YAML files that they are read from.
"""
