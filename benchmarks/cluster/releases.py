"""The next release of Arena: a copy of this one with one more migration."""

import shutil
from pathlib import Path

import arena
from arena.store.database import MIGRATIONS, head

MIGRATION = '''"""Add a column that only the newer release knows."""

import sqlalchemy as sa
from alembic import op

revision = "{revision}"
down_revision = "{before}"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("arena_workers", sa.Column("drill_{revision}", sa.Integer(), nullable=True))


def downgrade() -> None:
    op.drop_column("arena_workers", "drill_{revision}")
'''
FIRST = 9001


def next_release(folder: Path) -> Path:
    """Make the release after the newest one in this folder; returns what goes into PYTHONPATH."""
    made = len(list(folder.glob("release-*")))
    place = folder / f"release-{made + 1}"
    source = folder / f"release-{made}" / "arena" if made else Path(arena.__file__).parent
    # The dashboard is of no use to a worker.
    skipped = shutil.ignore_patterns("__pycache__", "dist")
    shutil.copytree(source, place / "arena", ignore=skipped)
    revision = str(FIRST + made)
    before = str(FIRST + made - 1) if made else head()
    text = MIGRATION.format(revision=revision, before=before)
    versions = place / "arena" / MIGRATIONS.relative_to(Path(arena.__file__).parent)
    (versions / f"{revision}_drill.py").write_text(text)
    return place
