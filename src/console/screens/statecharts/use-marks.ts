import { useMemo } from 'react';
import { useResource } from '../../data/queries.ts';
import { NamedRecord, recordsOf } from '../../data/records.ts';
import { type Mark, marksFor, plainMark } from '../../live-charts/marks.ts';
import type { RunWords } from './use-run-words.ts';

const AGENTS = recordsOf('agents', NamedRecord);

/** The mark of runs whose agent is unknown to this page. */
export const OTHER_AGENTS = plainMark('--text-3');

export type Marks = { of: (id: string) => Mark; byAgent: ReadonlyMap<string, Mark> };

/** Marks are given to all configured agents, so that they do not depend on the runs that are live. */
export const useMarks = (words: ReadonlyMap<string, RunWords>, isWanted: boolean): Marks => {
  const configured = useResource(AGENTS, isWanted).data;
  return useMemo(() => {
    const seen = Array.from(words.values(), ({ agent }) => agent);
    const byAgent = marksFor([...(configured ?? []).map(({ id }) => id), ...seen]);
    return { byAgent, of: (id) => byAgent.get(words.get(id)?.agent ?? '') ?? OTHER_AGENTS };
  }, [configured, words]);
};
