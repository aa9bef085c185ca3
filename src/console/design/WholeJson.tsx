import { useEffect, useRef } from 'react';
import { visibleText } from '../data/visible-text.ts';
import css from './Data.module.css';

/** Values up to this length are shown on one line. */
const ONE_LINE = 140;

export const wholeJson = (value: unknown): string => {
  const line = JSON.stringify(value) ?? '';
  return visibleText(line.length <= ONE_LINE ? line : JSON.stringify(value, null, 2));
};

/**
 * A value that a person decides on, in full: nothing is masked, and no character is invisible. `onSeen` is called once
 * the end of the value has been visible.
 */
export const WholeJson = ({ value, onSeen }: { value: unknown; onSeen?: (() => void) | undefined }) => {
  const end = useRef<HTMLSpanElement>(null);
  const seen = useRef(onSeen);
  seen.current = onSeen;
  useEffect(() => {
    const mark = end.current;
    if (!mark) return undefined;
    const observer = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) seen.current?.();
    });
    observer.observe(mark);
    return () => observer.disconnect();
  }, []);
  return (
    <pre className={css.whole}>
      <code>{wholeJson(value)}</code>
      <span ref={end} data-end />
    </pre>
  );
};
