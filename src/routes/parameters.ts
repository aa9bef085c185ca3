import { z } from 'zod';

/** Ids in paths. */

const idOf = (what: string) => z.string().meta({ description: `id of ${what}` });

export const ThreadId = idOf('a thread');
export const RunId = idOf('a run');
export const EntryId = idOf('an entry');
export const DatasetId = idOf('a dataset');
export const EvalRunId = idOf('an eval run');
export const AgentId = idOf('an agent');
