import css from './Bar.module.css';
import type { Tone } from './Chip.tsx';

/** A share from 0 to 1 as a bar; it needs a text next to it. */
export const Bar = ({ share, tone }: { share: number; tone: Tone }) => (
  <span className={`${css.bar} tone`} data-tone={tone} aria-hidden="true">
    <span style={{ width: `${Math.min(1, Math.max(0, share)) * 100}%` }} />
  </span>
);
