import { z } from 'zod';

const idOf = (what: string) => z.string().meta({ description: `id of ${what}` });

export const ThreadId = idOf('a thread');
export const RunId = idOf('a run');
export const EntryId = idOf('an entry');
export const DatasetId = idOf('a dataset');
export const EvalRunId = idOf('an eval run');
export const AgentId = idOf('an agent');

/** RFC 3339 with an offset, as seconds since the epoch. */
export const Instant = z.iso
  .datetime({ offset: true })
  .transform((text) => Math.ceil(Date.parse(text) / 1000));
