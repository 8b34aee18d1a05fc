"""Many files at once: a folder of texts and documents becomes a folder of their translations.

Files are cut into parts (`input_files`), which a pool of one process (`worker`) or of a Ray cluster (`ray_pool`)
translates. Finished parts and files stay in the output folder (`output_folder`), so that a run that was
stopped goes on. `bulk_translation` is the loop.
"""
