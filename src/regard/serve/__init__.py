"""A server of trained models: what they answer, and what they looked at, for programs and for the studio's pages.

    app = create_app(Settings(models=(Path("runs/en-fr"),)))     # an ASGI application, for uvicorn or a test client

settings    what is served, where, and within which limits
refused     how a request is turned down, in the shape that its client knows
shelf       models by name and by language: opened when first asked for, let go when memory is short
batches     requests that come together are answered together
tasks       what a model of each task is asked, and what it says
told        answers as plain values
schema      the messages of our own interface; api has its routes
app         all of it as one application; start runs it
"""

from regard.serve.app import create_app
from regard.serve.settings import Settings

__all__ = ["Settings", "create_app"]
