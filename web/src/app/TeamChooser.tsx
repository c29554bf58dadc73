import { Button, Menu, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { useLocation } from "wouter";
import { asked } from "../api/client";
import { keys } from "../api/keys";
import { Check, ChevronDown, People } from "../ui/icons";
import { baseOf, useTeam } from "./team";

const LONGEST = 100;

/** Whose agents, runs and scores are shown; the choice is part of the address. */
export function TeamChooser() {
  const { team, api } = useTeam();
  const [, navigate] = useLocation();
  const [typed, setTyped] = useState("");
  const [opened, setOpened] = useState(false);
  const { data } = useQuery({ queryKey: keys.teams, queryFn: () => asked(api.GET("/api/teams")) });
  const teams = [...new Set([...(data?.teams ?? []), team])].sort();

  const choose = (chosen: string) => {
    setOpened(false);
    setTyped("");
    if (chosen) navigate(`~${baseOf(chosen)}`);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    choose(typed.trim());
  };
  return (
    <Menu opened={opened} onChange={setOpened} position="bottom-end" width={240} trapFocus>
      <Menu.Target>
        <Button
          variant="default"
          size="sm"
          px="sm"
          leftSection={<People />}
          rightSection={<ChevronDown />}
          aria-label={`Team: ${team}`}
          maw={180}
        >
          {team}
        </Button>
      </Menu.Target>
      <Menu.Dropdown aria-label="Choose a team">
        <Menu.Label>Team</Menu.Label>
        {teams.map((name) => (
          <Menu.Item
            key={name}
            leftSection={name === team ? <Check /> : <span style={{ width: 16 }} />}
            aria-current={name === team ? "true" : undefined}
            onClick={() => choose(name)}
          >
            {name}
          </Menu.Item>
        ))}
        {data?.is_local && (
          <form onSubmit={submit}>
            <TextInput
              m="xs"
              size="sm"
              label="Another team"
              placeholder="Name, then Enter"
              value={typed}
              maxLength={LONGEST}
              onChange={(event) => setTyped(event.currentTarget.value)}
            />
          </form>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
