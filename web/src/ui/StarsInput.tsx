import { useState } from "react";
import { Star } from "./icons";
import classes from "./StarsInput.module.css";

const STARS = [1, 2, 3, 4, 5] as const;
const WORDS = ["", "poor", "weak", "fair", "good", "excellent"];

interface StarsInputProps {
  label: string;
  /** 0 while nothing is chosen. */
  value: number;
  onChange: (stars: number) => void;
}

/** One to five stars: a group of radio buttons, so that arrow keys and screen readers know it. */
export function StarsInput({ label, value, onChange }: StarsInputProps) {
  const [pointed, setPointed] = useState(0);
  const lit = pointed || value;
  return (
    <fieldset className={classes.group}>
      <legend className={classes.legend}>{label}</legend>
      <div className={classes.stars}>
        {STARS.map((stars) => (
          <label
            key={stars}
            className={classes.star}
            data-lit={stars <= lit}
            onMouseEnter={() => setPointed(stars)}
            onMouseLeave={() => setPointed(0)}
          >
            <input
              type="radio"
              name="stars"
              value={stars}
              checked={stars === value}
              aria-label={`${stars} ${stars === 1 ? "star" : "stars"}, ${WORDS[stars]}`}
              onChange={() => onChange(stars)}
            />
            <Star />
          </label>
        ))}
        <span className={classes.word} aria-hidden>
          {WORDS[lit]}
        </span>
      </div>
    </fieldset>
  );
}
