import { type RefObject, useEffect, useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import classes from "./Navigation.module.css";

const TABS: readonly { href: string; label: string; also?: string }[] = [
  { href: "/", label: "Agents", also: "/agents" },
  { href: "/benchmarks", label: "Benchmarks", also: "/runs" },
  { href: "/leaderboard", label: "Leaderboard" },
  { href: "/suites", label: "Suites" },
  { href: "/compare", label: "Compare" },
  { href: "/catalog", label: "Catalog" },
  { href: "/reviews", label: "Reviews" },
  { href: "/market", label: "Market" },
  { href: "/judges", label: "Judges" },
  { href: "/workers", label: "Workers" },
];

/** The tabs. They are links, because each has its own address. */
export function Navigation() {
  const [location] = useLocation();
  const isAt = (href: string) =>
    href === "/" ? location === "/" : location === href || location.startsWith(`${href}/`);
  const nav = useRef<HTMLElement>(null);
  const more = useMore(nav);
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs whenever the page changes
  useEffect(() => {
    // On a narrow screen the current tab may be out of sight. Not scrollIntoView: it also makes the
    // tab the starting point of keyboard focus (seen in Chromium 150), so that the first Tab key
    // would miss the skip link.
    const tab = nav.current?.querySelector<HTMLElement>("[aria-current]");
    if (!nav.current || !tab) return;
    const box = tab.getBoundingClientRect();
    const view = nav.current.getBoundingClientRect();
    nav.current.scrollLeft += box.left + box.width / 2 - (view.left + view.width / 2);
  }, [location]);
  return (
    <nav ref={nav} aria-label="Main" className={classes.nav} data-more={more}>
      <ul className={classes.tabs}>
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

type More = "" | "left" | "right" | "both";

/** Behind which edges of a scroll area there is more. */
function useMore(area: RefObject<HTMLElement | null>): More {
  const [more, setMore] = useState<More>("");
  useEffect(() => {
    const element = area.current;
    if (!element) return;
    const look = () => {
      const { scrollLeft, scrollWidth, clientWidth } = element;
      const isLeft = scrollLeft > 1;
      const isRight = scrollLeft + clientWidth < scrollWidth - 1;
      setMore(isLeft && isRight ? "both" : isLeft ? "left" : isRight ? "right" : "");
    };
    const sizes = new ResizeObserver(look);
    sizes.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    return () => {
      sizes.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, [area]);
  return more;
}
