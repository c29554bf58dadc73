/** Where each view was left, so that going back leads to the same place. */
const places = new Map<string, number>();
let wentBack = false;

window.history.scrollRestoration = "manual";
window.addEventListener("popstate", () => {
  wentBack = true;
});
window.addEventListener("scroll", () => places.set(window.location.href, window.scrollY), {
  passive: true,
});

/** To the top of a page that was asked for; to where it was left, for one gone back to. */
export function scrollToPlace(): void {
  const place = wentBack ? (places.get(window.location.href) ?? 0) : 0;
  wentBack = false;
  window.scrollTo(0, place);
  // Once more when what the page holds has been laid out.
  if (place) window.requestAnimationFrame(() => window.scrollTo(0, place));
}
