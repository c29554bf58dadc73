import { Link } from "wouter";
import classes from "./BackLink.module.css";
import { ChevronLeft } from "./icons";

/** A link to the parent page. */
export function BackLink({ href, children }: { href: string; children: string }) {
  return (
    <Link href={href} className={classes.back}>
      <ChevronLeft />
      {children}
    </Link>
  );
}
