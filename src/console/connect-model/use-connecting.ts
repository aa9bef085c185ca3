import { useRef, useState } from 'react';
import { connect, type Outcome, type Plan } from './connect.ts';

export type Attempt = Outcome & { isBusy: boolean; plan?: Plan };

/** Connects models; another attempt creates the entries that are missing. */
export const useConnecting = () => {
  const [attempt, setAttempt] = useState<Attempt>({ isBusy: false, created: [], failed: [] });
  // A second click arrives before the button is disabled.
  const isBusy = useRef(false);
  const start = async (plan: Plan): Promise<Outcome | undefined> => {
    if (isBusy.current) return undefined;
    isBusy.current = true;
    setAttempt({ created: attempt.created, failed: [], isBusy: true, plan });
    const outcome = await connect(plan, attempt.created);
    setAttempt({ ...outcome, isBusy: false, plan });
    isBusy.current = false;
    return outcome;
  };
  return { attempt, start };
};

export type Connecting = ReturnType<typeof useConnecting>;
