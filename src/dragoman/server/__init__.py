"""A translation server: APIs of other services and one of its own, with the texts of all clients searched together.

Read `app`, `gate`, `libretranslate`, `texts`, `translation_service` and `model_shelf`, in this order.
"""

from dragoman.server.app import app
from dragoman.settings.server_config import ServerConfig

__all__ = ["ServerConfig", "app"]
