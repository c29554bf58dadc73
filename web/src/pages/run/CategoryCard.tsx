import { Text } from "@mantine/core";
import { Link, useSearch } from "wouter";
import type { Schemas } from "../../api/queries";
import { Bar } from "../../ui/Bar";
import { count } from "../../ui/numbers";
import { Untrusted } from "../../ui/Untrusted";
import classes from "./CategoryCard.module.css";

/** The run by category; a click filters the results. */
export function CategoryCard({ categories }: { categories: Schemas["CategoryCount"][] }) {
  const chosen = new URLSearchParams(useSearch()).get("category");
  return (
    <nav aria-label="Categories">
      <ul className={classes.categories}>
        {categories.map(({ category, results, passed, awaiting }) => (
          <li key={category}>
            <Link
              href={category === chosen ? "?" : `?category=${encodeURIComponent(category)}`}
              className={classes.category}
              aria-current={category === chosen ? "true" : undefined}
            >
              <Text span fw={600}>
                <Untrusted text={category} />
              </Text>
              <Text span size="sm">
                {count(passed)} of {count(results)} passed
              </Text>
              <Bar passed={passed} failed={results - passed - awaiting} total={results} />
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
