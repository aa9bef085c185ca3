import { useDeferredValue, useMemo, useState } from 'react';
import { invalidate, type Loaded, useResource } from '../../data/queries.ts';
import { runsSummary } from '../../data/resources.ts';
import { refreshed } from '../../runs/live-runs.ts';
import { type NewestRuns, newestRuns } from '../../runs/pages.ts';
import { useMoved } from '../../runs/use-moved.ts';

/** What is read again when something has moved. */
const HEAD = 200;

/** Where nobody tells that something has moved. */
const LOOK_MS = 3000;

export const STEP = 1000;

/** The newest runs, kept right as they move. */
export const useRuns = (
  status: string | undefined,
): { query: Loaded<NewestRuns>; runs: NewestRuns | undefined; loadMore: () => void; isTold: boolean } => {
  const [most, setMost] = useState(HEAD);
  const [isTold, setTold] = useState(true);
  const head = newestRuns({ status }, HEAD, isTold ? undefined : LOOK_MS);
  const query = useResource(head);
  const whole = useResource(newestRuns({ status }, most), most > HEAD).data;
  const told = useMoved({ machine: 'run' }, () => {
    invalidate(runsSummary.path);
    void query.refetch();
  });
  if (told !== isTold) setTold(told);
  const runs = useMemo(
    () => (query.data && whole ? refreshed(whole, query.data) : query.data),
    [query.data, whole],
  );
  return {
    query,
    runs: useDeferredValue(runs),
    loadMore: () => setMost(most === HEAD ? STEP : most + STEP),
    isTold,
  };
};
