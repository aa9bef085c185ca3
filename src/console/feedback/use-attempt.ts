import { useEffect, useRef, useState } from 'react';

type Outcome<T> = { isBusy: boolean; result?: T; error?: unknown };

/** Does one piece of work at a time and keeps its outcome. Stopping it, and leaving the screen, abort its signal. */
export const useAttempt = <T = void>() => {
  const [outcome, setOutcome] = useState<Outcome<T>>({ isBusy: false });
  const current = useRef<AbortController>(undefined);
  useEffect(() => () => current.current?.abort(), []);
  const run = async (work: (signal: AbortSignal) => Promise<T>): Promise<void> => {
    const attempt = new AbortController();
    current.current = attempt;
    setOutcome({ isBusy: true });
    const ended = await work(attempt.signal).then(
      (result): Outcome<T> => ({ isBusy: false, result }),
      (error: unknown): Outcome<T> => ({ isBusy: false, error }),
    );
    if (!attempt.signal.aborted) setOutcome(ended);
  };
  const stop = (): void => {
    current.current?.abort();
    setOutcome({ isBusy: false });
  };
  return { ...outcome, run, stop };
};
