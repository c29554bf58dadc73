"""What all tables share: column types for both databases, and names of keys and indexes."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    DateTime,
    Dialect,
    Integer,
    MetaData,
    Numeric,
    Text,
    TypeDecorator,
    Uuid,
)
from sqlalchemy.orm import DeclarativeBase
from sqlalchemy.types import TypeEngine

from arena.amounts import Amount

Decimal = Numeric(20, 6, asdecimal=False)


class AnyJson(TypeDecorator[Any]):
    """JSON, on PostgreSQL as JSONB; None is NULL."""

    impl = JSON
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """The type of the database in use."""
        if dialect.name != "postgresql":
            return JSON(none_as_null=True)
        # Imported here: loading the PostgreSQL dialect would slow every start on SQLite.
        from sqlalchemy.dialects.postgresql import JSONB

        return JSONB(none_as_null=True)

    def coerce_compared_value(self, op: Any, value: Any) -> Any:
        """Compare as JSON itself does; a TypeDecorator would not pass this on."""
        return self.impl_instance.coerce_compared_value(op, value)


class UtcDateTime(TypeDecorator[datetime]):
    """A time in UTC; SQLite stores no zone, so it is added again when read."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Only aware times may be stored."""
        if value is not None and value.tzinfo is None:
            raise ValueError("cannot store a time without a time zone")
        return value.astimezone(UTC) if value is not None else None

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Every time that comes back is aware."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Money(TypeDecorator[Amount]):
    """An amount of money, in minor units."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: int | None, dialect: Dialect) -> int | None:
        """A plain int: not every driver accepts a subclass."""
        return None if value is None else int(value)

    def process_result_value(self, value: int | None, dialect: Dialect) -> Amount | None:
        """As an `Amount`, which prints in major units."""
        return None if value is None else Amount(value)


class Table(DeclarativeBase):
    """What every table shares."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    # So that `Mapped[datetime]` and the like need no column type of their own.
    type_annotation_map = {  # noqa: RUF012 - SQLAlchemy reads it from the class
        UUID: Uuid(),
        datetime: UtcDateTime(),
        float: Decimal,
        str: Text(),
        bool: Boolean(),
        int: Integer(),
        Amount: Money(),
        dict[str, Any]: AnyJson(),
        list[Any]: AnyJson(),
    }
