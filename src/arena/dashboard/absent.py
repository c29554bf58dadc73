"""What is shown where the page was left out of the installation."""

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
<p>The server works, but its page was left out (<code>ARENA_SKIP_WEB</code>). To get it, install
again without that variable, from the folder of the sources:</p>
<pre>pip install --force-reinstall --no-deps .</pre>
<p>Node.js is not needed: what builds the page is downloaded for the installation only.</p>
<p>Until then, what Arena knows is here as JSON:</p>
<ul>
<li><a href="/api/agents">agents</a></li>
<li><a href="/api/benchmarks/tests">tests</a> and <a href="/api/benchmarks/catalog">the state of
their files</a></li>
<li><a href="/api/benchmarks/runs">runs</a> and
<a href="/api/benchmarks/leaderboard">the leaderboard</a></li>
<li><a href="/api/openapi.json">the description of the whole API</a></li>
</ul>
<p>In a terminal: <code>arena --help</code>.</p>
</main>
</body>
</html>
"""
