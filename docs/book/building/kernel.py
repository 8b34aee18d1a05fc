"""The configuration of the kernels that run the book's cells; `conf.py` puts it where they look for it."""

c.InlineBackend.figure_formats = {"svg"}  # noqa: F821 (IPython defines `c`)
c.InlineBackend.print_figure_kwargs = {"bbox_inches": "tight", "metadata": {"Date": None}}  # noqa: F821
c.HistoryManager.enabled = False  # noqa: F821
c.IPKernelApp.log_level = "ERROR"  # noqa: F821
