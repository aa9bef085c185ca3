import type { ReactNode } from 'react';
import css from './Chip.module.css';
import { Icon, type IconName } from './Icon.tsx';

export type Tone = 'success' | 'warn' | 'error' | 'info' | 'agent' | 'none';

/** A state or a kind, in a word. The colour only repeats what the word says. */
export const Chip = (props: {
  tone?: Tone | undefined;
  icon?: IconName;
  title?: string;
  children: ReactNode;
}) => (
  <span className={css.chip} data-tone={props.tone} title={props.title}>
    {props.icon && <Icon name={props.icon} size={12} />}
    {props.children}
  </span>
);

/** Beside the text that says the same. */
export const Dot = ({ tone }: { tone: Tone }) => (
  <span className={css.dot} data-tone={tone} aria-hidden="true" />
);
