import unittest

from shop.prices import reduced, total


class PricesTest(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total([1, 2, 3]), 6)

    def test_discount(self):
        self.assertEqual(reduced(200, 25), 150)
