import { useEffect, useRef, useState } from 'react';

/**
 * A text input that reports its value once typing pauses.
 *
 * Guarantees: a reported value that comes back as `value`, however late, does not overwrite text that was typed since;
 * a value from elsewhere, for example after navigating back, does.
 */
export const useTyped = (
  value: string,
  pauseMs: number,
  onChange: (value: string) => void,
): [typed: string, type: (text: string) => void] => {
  const [typed, setTyped] = useState(value);
  const [told, setTold] = useState(value);
  const [seen, setSeen] = useState(value);
  if (value !== seen) {
    setSeen(value);
    if (value !== told) {
      setTold(value);
      setTyped(value);
    }
  }
  const tell = useRef(onChange);
  tell.current = onChange;
  useEffect(() => {
    if (typed === told) return undefined;
    const timer = setTimeout(() => {
      setTold(typed);
      tell.current(typed);
    }, pauseMs);
    return () => clearTimeout(timer);
  }, [typed, told, pauseMs]);
  return [typed, setTyped];
};
