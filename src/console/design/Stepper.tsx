import type { ReactNode } from 'react';
import { IconButton } from './Button.tsx';

/** Moves between the moments of a recording: a slider between two buttons. */
export const Stepper = (props: {
  label: string;
  back: string;
  forth: string;
  /** The moment, for screen readers. */
  text: string;
  at: number;
  first: number;
  last: number;
  onGo: (at: number) => void;
  /** Content after the slider. */
  children?: ReactNode;
}) => {
  const { at, first, last, onGo } = props;
  const step = (icon: 'chevronLeft' | 'chevronRight', label: string, to: number) => (
    <IconButton small icon={icon} label={label} disabled={to < first || to > last} onClick={() => onGo(to)} />
  );
  return (
    <>
      {step('chevronLeft', props.back, at - 1)}
      <input
        type="range"
        className="grow"
        data-testid="time-travel-slider"
        aria-label={props.label}
        aria-valuetext={props.text}
        min={first}
        max={Math.max(first, last)}
        value={Math.max(first, at)}
        disabled={last === 0}
        onChange={({ target }) => onGo(Number(target.value))}
      />
      {step('chevronRight', props.forth, at + 1)}
      {props.children}
    </>
  );
};
