import type { ReactNode } from "react";

/** Small drawings in the colour of the text; always beside words or a label, so hidden from readers. */
function Icon({ children, filled = false }: { children: ReactNode; filled?: boolean }) {
  return (
    <svg
      viewBox="0 0 24 24"
      width={16}
      height={16}
      fill={filled ? "currentColor" : "none"}
      stroke="currentColor"
      strokeWidth={2}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden
    >
      {children}
    </svg>
  );
}

export const Bolt = () => (
  <Icon filled>
    <path d="M13 2 4 14h7l-1 8 9-12h-7z" strokeWidth={1} />
  </Icon>
);
export const Star = () => (
  <Icon filled>
    <path
      d="m12 2.5 2.9 6 6.6.9-4.8 4.6 1.2 6.5-5.9-3.2-5.9 3.2 1.2-6.5L2.5 9.4l6.6-.9z"
      strokeWidth={1}
    />
  </Icon>
);
export const Moon = () => (
  <Icon>
    <path d="M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5z" />
  </Icon>
);
export const Sun = () => (
  <Icon>
    <circle cx="12" cy="12" r="4" />
    <path d="M12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6 19 19M19 5l-1.4 1.4M6.4 17.6 5 19" />
  </Icon>
);
export const People = () => (
  <Icon>
    <circle cx="9" cy="8" r="3.5" />
    <path d="M2.5 20c.5-4 3-6 6.5-6s6 2 6.5 6M16 5a3.5 3.5 0 0 1 0 6.5M18 14.5c2 .8 3.2 2.6 3.5 5.5" />
  </Icon>
);
export const Check = () => (
  <Icon>
    <path d="m4 12.5 5 5L20 6.5" />
  </Icon>
);
export const Cross = () => (
  <Icon>
    <path d="M6 6l12 12M18 6 6 18" />
  </Icon>
);
export const Warning = () => (
  <Icon>
    <path d="M12 3 2 20h20zM12 10v4M12 17v.01" />
  </Icon>
);
export const ChevronDown = () => (
  <Icon>
    <path d="m6 9 6 6 6-6" />
  </Icon>
);
export const ChevronLeft = () => (
  <Icon>
    <path d="m15 6-6 6 6 6" />
  </Icon>
);
export const ChevronRight = () => (
  <Icon>
    <path d="m9 6 6 6-6 6" />
  </Icon>
);
export const Chart = () => (
  <Icon>
    <path d="M4 4v16h16M8 16v-4M13 16V8M18 16v-6" />
  </Icon>
);
export const Rows = () => (
  <Icon>
    <path d="M4 5h16M4 12h16M4 19h16M9 5v14" />
  </Icon>
);
export const Clock = () => (
  <Icon>
    <circle cx="12" cy="12" r="9" />
    <path d="M12 7v5l3 2" />
  </Icon>
);
