"""Every setting: its name, default and checks.

`config` is the whole; a module for each section has its settings (`data_config`, `tokenizer_config`, `model_config`,
`training_config`, `search_config`); `sections` checks them, and `recipe` reads the YAML files.
"""
