/** The scroll position of each view, restored when going back. */
const places = new Map<string, number>();
let wentBack = false;

window.history.scrollRestoration = "manual";
window.addEventListener("popstate", () => {
  wentBack = true;
});
window.addEventListener("scroll", () => places.set(window.location.href, window.scrollY), {
  passive: true,
});

/** Scrolls to the top of a new page, or to the last position of one gone back to. */
export function scrollToPlace(): void {
  const place = wentBack ? (places.get(window.location.href) ?? 0) : 0;
  wentBack = false;
  window.scrollTo(0, place);
  // Again once the content has been laid out.
  if (place) window.requestAnimationFrame(() => window.scrollTo(0, place));
}
