import type { ReactNode } from 'react';
import css from './Chip.module.css';
import { Icon, type IconName } from './Icon.tsx';

export type Tone = 'success' | 'warn' | 'error' | 'info' | 'agent' | 'none';

/** A short state or kind. The color only repeats what the text says. */
export const Chip = (props: {
  tone?: Tone | undefined;
  icon?: IconName;
  title?: string;
  children: ReactNode;
}) => (
  <span className={`${css.chip} tint`} data-tone={props.tone} title={props.title}>
    {props.icon && <Icon name={props.icon} size={12} />}
    {props.children}
  </span>
);

/** A colored dot next to a text with the same meaning. */
export const Dot = ({ tone }: { tone: Tone }) => (
  <span className={`${css.dot} tone`} data-tone={tone} aria-hidden="true" />
);
