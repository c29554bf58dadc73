import { createTheme, Modal, Table, Tooltip } from "@mantine/core";

/** Shades that keep text readable on every background (WCAG AA, checked by the browser tests). */
export const theme = createTheme({
  primaryColor: "indigo",
  primaryShade: { light: 8, dark: 6 },
  autoContrast: true,
  defaultRadius: "md",
  cursorType: "pointer",
  respectReducedMotion: true,
  fontFamily: "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif",
  fontFamilyMonospace: "ui-monospace, 'Cascadia Mono', Menlo, 'DejaVu Sans Mono', monospace",
  headings: { fontWeight: "650" },
  components: {
    Modal: Modal.extend({
      defaultProps: { centered: true, closeButtonProps: { "aria-label": "Close" } },
    }),
    Table: Table.extend({ defaultProps: { verticalSpacing: "sm", horizontalSpacing: "md" } }),
    Tooltip: Tooltip.extend({ defaultProps: { withArrow: true, openDelay: 300 } }),
  },
});
