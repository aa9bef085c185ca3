import { useRef, useState } from 'react';
import { connectModel, type Ids, type Part, type Plan } from './connect.ts';
import type { Candidate } from './use-preview.ts';

export type Attempt = {
  isBusy: boolean;
  created: ReadonlySet<Part>;
  ids: Partial<Ids>;
  failure?: { candidate: Candidate; reason: string };
};

const FIRST: Attempt = { isBusy: false, created: new Set(), ids: {} };

/** Creates the parts; after a failure, the next attempt continues with those that are missing. */
export const useConnecting = () => {
  const [attempt, setAttempt] = useState(FIRST);
  // A second click arrives before the button is disabled.
  const isBusy = useRef(false);
  const start = async (plan: Plan): Promise<boolean> => {
    if (isBusy.current) return false;
    isBusy.current = true;
    const { created } = attempt;
    // The names of created entries are kept.
    const made = new Set(created);
    setAttempt({ isBusy: true, created, ids: plan.ids });
    try {
      await connectModel(plan, created, (part) => made.add(part));
      return true;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      setAttempt({
        isBusy: false,
        created: made,
        ids: plan.ids,
        failure: { candidate: plan.candidate, reason },
      });
      return false;
    } finally {
      isBusy.current = false;
    }
  };
  return { attempt, start };
};

export type Connecting = ReturnType<typeof useConnecting>;
