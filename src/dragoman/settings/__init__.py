"""Every setting: its name, default and checks.

`recipe` reads YAML files (`yaml_loader`) and overrides; `parsing` turns what was read into a `Config`, checked by
`sections`. Each section has a module: `data_config`, `tokenizer_config`, `model_config`, `training_config`,
`search_config`.
"""
