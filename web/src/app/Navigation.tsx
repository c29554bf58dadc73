import { useEffect, useRef } from "react";
import { Link, useLocation } from "wouter";
import classes from "./Navigation.module.css";

const TABS: readonly { href: string; label: string; also?: string }[] = [
  { href: "/", label: "Agents", also: "/agents" },
  { href: "/benchmarks", label: "Benchmarks", also: "/runs" },
  { href: "/leaderboard", label: "Leaderboard" },
  { href: "/compare", label: "Compare" },
  { href: "/catalog", label: "Catalog" },
  { href: "/reviews", label: "Reviews" },
  { href: "/market", label: "Market" },
  { href: "/judges", label: "Judges" },
];

/** The tabs. Links, because each is a place with an address. */
export function Navigation() {
  const [location] = useLocation();
  const isAt = (href: string) =>
    href === "/" ? location === "/" : location === href || location.startsWith(`${href}/`);
  const tabs = useRef<HTMLUListElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: at every change of the place
  useEffect(() => {
    // On a narrow screen the tab of this page may be out of sight.
    const current = tabs.current?.querySelector("[aria-current]");
    current?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [location]);
  return (
    <nav aria-label="Main" className={classes.nav}>
      <ul ref={tabs} className={classes.tabs}>
        {TABS.map(({ href, label, also }) => (
          <li key={href}>
            <Link
              href={href}
              className={classes.tab}
              aria-current={isAt(href) ? "page" : also && isAt(also) ? "true" : undefined}
            >
              {label}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
