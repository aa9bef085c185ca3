import { useEffect, useState } from 'react';
import { paceFor } from './pace.ts';

/**
 * Follows a growing number so that each step can be seen, although a run may take many steps within a millisecond. The
 * follower catches up with a long backlog.
 */

/** @param from the number to begin at */
export const usePaced = (count: number, from: number): number => {
  const [at, setAt] = useState(from);
  const shown = Math.min(at, count);
  useEffect(() => {
    if (shown >= count) return undefined;
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) {
      setAt(count);
      return undefined;
    }
    const timer = setTimeout(() => setAt(shown + 1), paceFor(count - shown));
    return () => clearTimeout(timer);
  }, [shown, count]);
  return shown;
};
