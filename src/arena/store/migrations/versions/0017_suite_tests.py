"""The tests of a suite's version as rows: a data set may have more than fit into one value.

Revision: 0017
Follows: 0016
"""

import hashlib
import json
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

AnyJson = sa.JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")
VERSIONS, TESTS = "agent_suite_versions", "agent_suite_tests"
KEY = ("team_id", "suite", "version")
PAGE = 500


def upgrade() -> None:
    op.create_table(
        TESTS,
        sa.Column("team_id", sa.String(100), nullable=False),
        sa.Column("suite", sa.String(100), nullable=False),
        sa.Column("version", sa.String(64), nullable=False),
        sa.Column("test_id", sa.String(120), nullable=False),
        sa.Column("fingerprint", sa.String(64), nullable=False),
        sa.Column("category", sa.String(100), nullable=True),
        sa.Column("tags", sa.Text(), nullable=True),
        sa.Column("cluster", sa.String(110), nullable=True),
        sa.PrimaryKeyConstraint(*KEY, "test_id", name="pk_agent_suite_tests"),
    )
    op.add_column(VERSIONS, sa.Column("groups_digest", sa.String(64), nullable=True))
    connection, versions, tests = op.get_bind(), _versions(), _tests()
    for key in _keys(connection):
        row = connection.execute(sa.select(versions).where(*_of(versions, key))).one()
        groups: dict[str, list[Any]] = row.groups or {}
        listed = [
            {**key, "test_id": test_id, "fingerprint": found, **_place(groups.get(test_id))}
            for test_id, found in row.manifest.items()
        ]
        for start in range(0, len(listed), PAGE):
            connection.execute(sa.insert(tests), listed[start : start + PAGE])
        if groups:
            values = {"groups_digest": _groups_digest(groups)}
            connection.execute(sa.update(versions).where(*_of(versions, key)).values(**values))
    for name in ("groups", "manifest"):
        op.drop_column(VERSIONS, name)


def downgrade() -> None:
    empty = sa.text("'{}'")
    op.add_column(VERSIONS, sa.Column("manifest", AnyJson, nullable=False, server_default=empty))
    op.add_column(VERSIONS, sa.Column("groups", AnyJson, nullable=True))
    connection, versions, tests = op.get_bind(), _versions(), _tests()
    for key in _keys(connection):
        rows = connection.execute(sa.select(tests).where(*_of(tests, key))).all()
        manifest = {row.test_id: row.fingerprint for row in rows}
        groups = {
            row.test_id: [row.category, json.loads(row.tags), row.cluster]
            for row in rows
            if row.category is not None
        }
        values = {"manifest": manifest, "groups": groups or None}
        connection.execute(sa.update(versions).where(*_of(versions, key)).values(**values))
    with op.batch_alter_table(VERSIONS) as changed:
        changed.alter_column("manifest", server_default=None)
    op.drop_column(VERSIONS, "groups_digest")
    op.drop_table(TESTS)


def _place(group: list[Any] | None) -> dict[str, Any]:
    category, tags, cluster = group or (None, None, None)
    return {
        "category": category,
        "tags": None if tags is None else json.dumps(tags),
        "cluster": cluster,
    }


def _groups_digest(groups: dict[str, list[Any]]) -> str:
    total = 0
    for test_id, (category, tags, cluster) in groups.items():
        place = json.dumps([test_id, category, tags, cluster])
        total += int.from_bytes(hashlib.sha256(place.encode()).digest())
    return f"{total % 2**256:064x}"


def _keys(connection: sa.Connection) -> Iterator[dict[str, str]]:
    versions = _versions()
    query = sa.select(*(versions.c[name] for name in KEY))
    for row in connection.execute(query).all():
        yield dict(zip(KEY, row, strict=True))


def _of(table: sa.TableClause, key: dict[str, str]) -> list[Any]:
    return [table.c[name] == value for name, value in key.items()]


def _versions() -> sa.TableClause:
    kinds: dict[str, Any] = dict.fromkeys((*KEY, "groups_digest"), sa.Text())
    kinds |= {"manifest": AnyJson, "groups": AnyJson}
    return sa.table(VERSIONS, *(sa.column(name, kind) for name, kind in kinds.items()))


def _tests() -> sa.TableClause:
    names = (*KEY, "test_id", "fingerprint", "category", "tags", "cluster")
    return sa.table(TESTS, *(sa.column(name, sa.Text()) for name in names))
