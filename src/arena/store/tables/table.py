"""What all tables share: column types for both databases, and names of keys and indexes."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from types import NoneType, UnionType
from typing import Any, ClassVar, TypeVar, cast, get_args
from uuid import UUID

import sqlalchemy
from sqlalchemy import (
    CHAR,
    JSON,
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Dialect,
    Integer,
    MetaData,
    Numeric,
    String,
    Text,
    TypeDecorator,
    Uuid,
)
from sqlalchemy.orm import Mapped
from sqlalchemy.schema import SchemaItem
from sqlalchemy.types import TypeEngine

from arena.amounts import Amount

Value = TypeVar("Value")
Decimal = Numeric(20, 6, asdecimal=False)
DIGITS = 30
"""Of an amount in minor units: more than 2**96, the most that the contract takes."""


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


class Id(TypeDecorator[UUID]):
    """An id: a UUID on PostgreSQL; on SQLite its text, with dashes, as the API shows it."""

    impl = Uuid
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """The type of the database in use."""
        return Uuid() if dialect.name == "postgresql" else CHAR(36)

    def process_bind_param(self, value: UUID | None, dialect: Dialect) -> UUID | str | None:
        """As the column of the database holds it."""
        return value if value is None or dialect.name == "postgresql" else str(value)

    def process_result_value(self, value: UUID | str | None, dialect: Dialect) -> UUID | None:
        """As a UUID on both databases."""
        return UUID(value) if isinstance(value, str) else value


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


class LongMoney(TypeDecorator[int]):
    """An amount of any currency, in minor units: wei do not fit into 64 bits.

    Stored as digits, all of one length, so that both databases compare and sort them as numbers.
    """

    impl = String(DIGITS)
    cache_ok = True

    def process_bind_param(self, value: int | None, dialect: Dialect) -> str | None:
        """Padded with zeros."""
        return None if value is None else f"{int(value):0{DIGITS}d}"

    def process_result_value(self, value: str | None, dialect: Dialect) -> int | None:
        """As a number; the row's currency says what it is worth."""
        return None if value is None else int(value)


TYPES: dict[object, TypeEngine[Any]] = {
    UUID: Id(),
    datetime: UtcDateTime(),
    float: Decimal,
    str: Text(),
    bool: Boolean(),
    int: Integer(),
    Amount: Money(),
    dict[str, Any]: AnyJson(),
    list[Any]: AnyJson(),
}
"""The types of columns that name none of their own."""


class Table:
    """A table; its columns are the annotations: `name: Mapped[str]`, with `column(...)` for more.

    SQLAlchemy's declarative classes look the same and also map rows to objects. Nothing here needs
    that, and every short command would wait for it.
    """

    metadata: ClassVar = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    __tablename__: ClassVar[str]
    __table_args__: ClassVar[tuple[SchemaItem, ...]] = ()
    __table__: ClassVar[sqlalchemy.Table]

    def __init_subclass__(cls) -> None:
        columns = [
            _made_column(name, annotation, *cls.__dict__.get(name, column()))
            for name, annotation in cls.__annotations__.items()
        ]
        items = *columns, *cls.__table_args__
        cls.__table__ = sqlalchemy.Table(cls.__tablename__, cls.metadata, *items)
        for made in columns:
            setattr(cls, made.name, made)

    @classmethod
    def __clause_element__(cls) -> sqlalchemy.Table:
        """What `select`, `insert` and the like take the class for."""
        return cls.__table__


def column(
    *items: SchemaItem | TypeEngine[Any] | type[TypeEngine[Any]], **options: Any
) -> Mapped[Value]:
    """What a column has besides its name and Python type: what SQLAlchemy's `Column` takes."""
    return cast("Mapped[Value]", (items, options))


def _made_column(
    name: str, annotation: object, items: Sequence[Any], options: Mapping[str, Any]
) -> Column[Any]:
    """The column of `name: Mapped[...]`; it may be null if None is one of the types."""
    (kind,) = get_args(annotation)
    is_optional = isinstance(kind, UnionType)
    if is_optional:
        (kind,) = (one for one in get_args(kind) if one is not NoneType)
    # A foreign key has the type of the column that it refers to.
    if not items:
        items = [TYPES[kind]]
    return Column(name, *items, nullable=is_optional, **options)
