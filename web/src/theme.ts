import {
  Alert,
  type CSSVariablesResolver,
  createTheme,
  Modal,
  Select,
  Table,
  Tooltip,
} from "@mantine/core";

/** Shades that keep text readable on every background (WCAG AA, checked by the browser tests). */
export const theme = createTheme({
  primaryColor: "indigo",
  primaryShade: { light: 8, dark: 7 },
  autoContrast: true,
  defaultRadius: "md",
  cursorType: "pointer",
  respectReducedMotion: true,
  fontFamily: "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif",
  fontFamilyMonospace: "ui-monospace, 'Cascadia Mono', Menlo, 'DejaVu Sans Mono', monospace",
  headings: { fontWeight: "650" },
  components: {
    Alert: Alert.extend({ styles: { title: { color: "var(--mantine-color-text)" } } }),
    Modal: Modal.extend({
      defaultProps: { centered: true, closeButtonProps: { "aria-label": "Close" } },
    }),
    Select: Select.extend({
      // The list itself scrolls: an inner scroll area could not be reached by keyboard.
      defaultProps: { withScrollArea: false },
      styles: { dropdown: { maxHeight: 320, overflowY: "auto" } },
    }),
    Table: Table.extend({ defaultProps: { verticalSpacing: 6, horizontalSpacing: "md" } }),
    Tooltip: Tooltip.extend({ defaultProps: { withArrow: true, openDelay: 300 } }),
  },
});

/** Dimmed text that is still readable on every background here. */
export const variables: CSSVariablesResolver = (made) => ({
  variables: {},
  light: {
    "--mantine-color-dimmed": made.colors.gray[7],
    "--mantine-color-placeholder": made.colors.gray[7],
  },
  dark: {
    "--mantine-color-dimmed": made.colors.dark[1],
    "--mantine-color-placeholder": made.colors.dark[1],
  },
});
