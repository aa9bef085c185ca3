import { useMemo } from 'react';
import { useResource } from '../../data/queries.ts';
import { newestRuns } from '../../run-records/pages.ts';

/** Whose run an actor is: its agent, and the first words of its input. */
export type RunWords = { agent: string; words: string | undefined };

const POLL_MS = 3000;

/** Maximum number of runs with words; the others are known by their id. */
const MOST = 200;

const RUNS = newestRuns({ preview: true }, MOST, POLL_MS);

export const useRunWords = (isWanted: boolean): ReadonlyMap<string, RunWords> => {
  const { data } = useResource(RUNS, isWanted);
  return useMemo(
    () =>
      new Map(
        (data?.items ?? []).map(({ run_id, agent_id, preview }) => [
          `run:${run_id}`,
          { agent: agent_id, words: preview },
        ]),
      ),
    [data],
  );
};
