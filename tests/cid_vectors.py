"""CIDs that other tools computed for the same bytes."""

import random

from arena.content.errors import ContentCorrupt, ContentMissing
from arena.content.store import LocalStore


def noise(length: int) -> bytes:
    """Deterministic bytes that do not compress."""
    return random.Random(7).randbytes(length)


VECTORS = [
    (
        b"",
        "QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH",
        "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku",
    ),
    (
        b"hello world",
        "Qmf412jQZiuVUtdgnB36FXFX7xg5V6KEbSJ4dpQuhkLyfD",
        "bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e",
    ),
    (
        b"hello world\n",
        "QmT78zSuBmuS4z925WZfrqQ1qHaJ56DQaTfyMUF7F8ff5o",
        "bafkreifjjcie6lypi6ny7amxnfftagclbuxndqonfipmb64f2km2devei4",
    ),
    (  # one byte less than a chunk
        noise(262_143),
        "QmUxVFFgycoCDzbHBV9kgMGXGd4o4ZyXLm1XHEawuXgYXz",
        "bafkreig2phsvwpe4i3xgeoe5vgxoqctixsprudkmlgnxqt55wjtq3cc4ey",
    ),
    (  # one chunk
        noise(262_144),
        "QmPD6b7GjDxFipzmxWXvVad3p4Wpt8YVQ1ocie5dFhVq8L",
        "bafkreideziofoefheai6ojjw2mwp6bxogcdrzazr4if3k5nng4gkxc7eva",
    ),
    (  # one byte more
        noise(262_145),
        "QmXaeLckVou4yF5KcjC23y5fPUQMgZwhMVvbTgMydQvUV3",
        "bafybeihsvlcpicgeyyugcxjjkpr5qxex2t7ebenv76p5qxwvyde27rku7u",
    ),
    (
        noise(1_000_000),
        "QmfFCGKWkmjpAFEbeuhbPBA4jrqF3kei77R5DeiXycMELv",
        "bafybeif2zuvqkj3rf2u7zdmytkddrmctuz4jxxdm6wzuqo5wwdayumxhya",
    ),
    (  # more chunks than a node is wide: two levels
        noise(50_000_000),
        "QmXuLgsTmowyGWFyGYKeJfoEaM9sKEUMGrb4jyRFJS32nH",
        "bafybeifbtytqxbfo2ybti27licfweopyyf7jqsopuz2klhsywljbmgxsay",
    ),
]

HELLO = b"hello world"
HELLO_CID = VECTORS[1][2]
NOT_HELLO_CID = "bafkreifzjut3te7nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e"
"""Well-formed, but with one letter changed."""


def has(store: LocalStore, cid: str) -> bool:
    """Whether all of the content is there and undamaged."""
    try:
        store.get(cid)
    except (ContentMissing, ContentCorrupt):
        return False
    return True
