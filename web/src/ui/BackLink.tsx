import { Link } from "wouter";
import classes from "./BackLink.module.css";
import { ChevronLeft } from "./icons";

/** The way up to where this page belongs. */
export function BackLink({ href, children }: { href: string; children: string }) {
  return (
    <Link href={href} className={classes.back}>
      <ChevronLeft />
      {children}
    </Link>
  );
}
