import { ActionIcon, useComputedColorScheme, useMantineColorScheme } from "@mantine/core";
import { Moon, Sun } from "../ui/icons";

/** Light or dark; without a choice the system decides. */
export function SchemeSwitch() {
  const { setColorScheme } = useMantineColorScheme();
  const other = useComputedColorScheme("light") === "light" ? "dark" : "light";
  return (
    <ActionIcon
      variant="default"
      size="lg"
      aria-label={`Switch to ${other} colours`}
      onClick={() => setColorScheme(other)}
    >
      {other === "dark" ? <Moon /> : <Sun />}
    </ActionIcon>
  );
}
