"""What an operation consists of, and the errors for invalid arguments."""

import asyncio
from typing import Annotated, Any
from uuid import UUID, uuid4

import pytest
from pydantic import Field

from arena.errors import InvalidInput
from arena.operations.operation import (
    InProcess,
    Operation,
    OperationGroup,
    get,
    operations_of,
    post,
)
from arena.operations.operations import Operations
from arena.operations.request import Request


class Order(Request):
    """A body with fields of its own."""

    count: Annotated[int, Field(ge=1)]


class Shop(OperationGroup):
    """Operations to look at."""

    @get("/api/shop/{item_id}", id="get_item", tag="shop", headers=("last_event_id",))
    async def item(
        self,
        item_id: UUID,
        *,
        limit: Annotated[int, Field(ge=1, le=10)] = 5,
        last_event_id: str | None = None,
    ) -> dict[str, Any]:
        """An item."""
        return {"id": item_id, "limit": limit, "team": self.team, "after": last_event_id}

    @post("/api/shop", tag="shop", query=("wait",))
    async def create(self, name: str, *, wait: bool = True) -> str:
        """A new item."""
        return f"{name} {wait}"

    @post("/api/shop/{item_id}/order", tag="shop")
    async def order(self, item_id: UUID, order: Order) -> int:
        """So many of an item."""
        return order.count

    @post("/api/shop/picture", tag="shop")
    async def upload(self, data: bytes) -> int:
        """Its size."""
        return len(data)


def named(name: str) -> Operation:
    return next(one for one in operations_of(Shop) if one.name == name)


@pytest.fixture
def shop() -> Shop:
    return Shop(InProcess(arena=None, team_id="mine"))  # type: ignore[arg-type]


def test_the_path_the_method_and_the_types_say_where_a_parameter_goes():
    places = {
        (one.name, parameter.name): parameter.place
        for one in operations_of(Shop)
        for parameter in one.parameters
    }
    assert places == {
        ("item", "item_id"): "path",
        ("item", "limit"): "query",
        ("item", "last_event_id"): "header",
        ("create", "name"): "field",
        ("create", "wait"): "query",
        ("order", "item_id"): "path",
        ("order", "order"): "body",
        ("upload", "data"): "bytes",
    }


def test_an_operation_is_called_like_the_method_it_is(shop: Shop):
    item_id = uuid4()
    found = asyncio.run(shop.item(item_id, limit=3))
    assert found == {"id": item_id, "limit": 3, "team": "mine", "after": None}
    assert asyncio.run(shop.create("pen", wait=False)) == "pen False"
    assert asyncio.run(shop.order(item_id, Order(count=2))) == 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        # Named as the server would name it: by its place in the request.
        (lambda shop: shop.item(uuid4(), limit=11), "query.limit: Input should be less than"),
        (lambda shop: shop.item("7"), "path.item_id: Input should be a valid UUID"),
        (lambda shop: shop.create("a\0b"), "body.name: must not contain NUL"),
        (lambda shop: shop.create("\ud800"), "body.name: is not valid Unicode text"),
        (lambda shop: shop.order(uuid4(), {"count": 0}), "body.count: Input should be greater"),
        (lambda shop: shop.order(uuid4(), {"count": 1, "x": 2}), "body.x: unknown field"),
    ],
)
def test_an_argument_that_does_not_fit_is_an_error_of_the_caller(
    shop: Shop, call: Any, message: str
):
    with pytest.raises(InvalidInput, match=message):
        asyncio.run(call(shop))


def test_an_argument_that_does_not_exist_is_an_error_of_the_program(shop: Shop):
    with pytest.raises(TypeError, match="colour"):
        asyncio.run(shop.create("pen", colour="red"))  # type: ignore[call-arg]


def test_every_operation_has_one_place_of_its_own_on_the_wire():
    operations = operations_of(Operations)
    assert len({one.id for one in operations}) == len(operations)
    assert len({(one.wire.method, one.wire.path) for one in operations}) == len(operations)
    for one in operations:
        assert one.function.__doc__, one.id
        assert one.wire.tag, one.id
