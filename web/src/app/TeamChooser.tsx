import { Button, Popover, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { Link, useLocation } from "wouter";
import { Check, ChevronDown, People } from "../ui/icons";
import { useAccess } from "./access";
import classes from "./TeamChooser.module.css";
import { baseOf, useTeam } from "./team";

const LONGEST = 100;

/** Whose agents, runs and scores are shown; the choice is part of the address. */
export function TeamChooser() {
  const { team } = useTeam();
  const { isOpen: isAllowed, teams: known } = useAccess();
  const [, navigate] = useLocation();
  const [typed, setTyped] = useState("");
  const [isOpen, setOpen] = useState(false);
  const teams = [...new Set([...(known?.teams ?? []), team])].sort();

  const submit = (event: FormEvent) => {
    event.preventDefault();
    setOpen(false);
    setTyped("");
    if (typed.trim()) navigate(`~${baseOf(typed.trim())}`);
  };
  if (!isAllowed) return null;
  return (
    <Popover
      opened={isOpen}
      onChange={setOpen}
      position="bottom-end"
      width={240}
      trapFocus
      returnFocus
    >
      <Popover.Target>
        <Button
          variant="default"
          size="sm"
          px="sm"
          leftSection={<People />}
          rightSection={<ChevronDown />}
          aria-label={`Team: ${team}`}
          maw={{ base: 140, sm: 180 }}
          onClick={() => setOpen(!isOpen)}
        >
          {team}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label="Choose a team">
        <ul className={classes.teams}>
          {teams.map((name) => (
            <li key={name}>
              <Link
                href={`~${baseOf(name)}`}
                className={classes.team}
                aria-current={name === team ? "true" : undefined}
                onClick={() => setOpen(false)}
              >
                <span className={classes.mark}>{name === team && <Check />}</span>
                {name}
              </Link>
            </li>
          ))}
        </ul>
        {known?.is_local && (
          <form onSubmit={submit}>
            <TextInput
              mt="xs"
              size="sm"
              label="Another team"
              placeholder="Name, then press Enter"
              value={typed}
              maxLength={LONGEST}
              onChange={(event) => setTyped(event.currentTarget.value)}
            />
          </form>
        )}
      </Popover.Dropdown>
    </Popover>
  );
}
