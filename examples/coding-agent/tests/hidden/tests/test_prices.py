import unittest

from shop.prices import reduced, total


class HiddenPricesTest(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total([1, 2, 3]), 6)

    def test_quarter_off(self):
        self.assertEqual(reduced(200, 25), 150)

    def test_nothing_off(self):
        self.assertEqual(reduced(80, 0), 80)

    def test_everything_off(self):
        self.assertEqual(reduced(80, 100), 0)
