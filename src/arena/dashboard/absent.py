"""The page that is shown if the dashboard was left out of the installation."""

ABSENT = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Arena: the dashboard is not installed</title>
<style nonce="ARENA_NONCE">
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 42rem; margin: 3rem auto; padding: 0 1rem }
pre { overflow-x: auto; padding: .75rem 1rem; border: 1px solid; border-radius: .4rem }
</style>
</head>
<body>
<main>
<h1>The dashboard is not installed</h1>
<p>The server works, but the dashboard was left out (<code>ARENA_SKIP_WEB</code>). Install Arena
again without that variable, from the source folder:</p>
<pre>pip install --force-reinstall --no-deps .</pre>
<p>You do not need Node.js: the build tools are downloaded for the installation only.</p>
<p>Until then, the data is available as JSON:</p>
<ul>
<li><a href="/api/agents">agents</a></li>
<li><a href="/api/benchmarks/tests">tests</a> and <a href="/api/benchmarks/catalog">their
files</a></li>
<li><a href="/api/benchmarks/runs">runs</a> and
<a href="/api/benchmarks/leaderboard">the leaderboard</a></li>
<li><a href="/api/openapi.json">the OpenAPI description</a></li>
</ul>
<p>In a terminal: <code>arena --help</code>.</p>
</main>
</body>
</html>
"""
