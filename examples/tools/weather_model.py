"""A stand-in for a chat model: a server with OpenAI's chat format that calls tools by rules.

python3 weather_model.py [PORT]        port 8090 if none is given; 0: any free one

It reads the city from the question, asks the tools it is offered, tries a failed call once more,
and says so if it gets nothing useful. No model is needed, so the example runs anywhere.
"""

import json
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def reply(chat):
    """The next message: a tool call, or the answer."""
    question = next(one["content"] for one in chat["messages"] if one["role"] == "user")
    city = (re.findall(r"\b(Bern|Genf|Oslo)\b", question) or ["Bern"])[0]
    names = {tool["function"]["name"] for tool in chat.get("tools", ())}
    results = [one["content"] for one in chat["messages"] if one["role"] == "tool"]
    useful = [one for one in map(read, results) if one is not None]
    if "book" in question.lower():
        wanted = [("forecast", {"city": city}), ("book_table", {"city": city, "people": 2})]
    else:
        wanted = [("forecast" if "forecast" in names else "weather", {"city": city})]
    wanted = [one for one in wanted if one[0] in names]
    if len(useful) < len(wanted) and len(results) < len(wanted) + 1:
        return call(len(results), *wanted[len(useful)])
    if len(useful) < len(wanted):
        return {"role": "assistant", "content": f"I could not find out about {city}."}
    return {"role": "assistant", "content": f"{city}: " + ", ".join(useful)}


def read(content):
    """What a tool answered, as text; None if it failed or is broken."""
    try:
        value = json.loads(content)
    except ValueError:
        return content if content.isprintable() else None
    if isinstance(value, dict) and "error" in value:
        return None
    return " ".join(map(str, value.values())) if isinstance(value, dict) else str(value)


def call(number, name, arguments):
    function = {"name": name, "arguments": json.dumps(arguments)}
    calls = [{"id": f"call_{number}", "type": "function", "function": function}]
    return {"role": "assistant", "content": None, "tool_calls": calls}


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        chat = json.loads(self.rfile.read(int(self.headers["content-length"])))
        message = reply(chat)
        reason = "tool_calls" if "tool_calls" in message else "stop"
        body = {
            "object": "chat.completion",
            "model": chat["model"],
            "choices": [{"index": 0, "finish_reason": reason, "message": message}],
            "usage": {"prompt_tokens": 10 * len(chat["messages"]), "completion_tokens": 10},
        }
        raw = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *args):
        pass


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8090
    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    print(f"address http://127.0.0.1:{server.server_port}/v1", flush=True)
    server.serve_forever()
