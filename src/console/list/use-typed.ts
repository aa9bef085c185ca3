import { useEffect, useRef, useState } from 'react';

/**
 * A text that is told once its typing pauses.
 *
 * Guarantees: what was told and comes back as `value`, however late, does not change what is typed meanwhile; a value
 * that comes from elsewhere, such as by going back, does.
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
