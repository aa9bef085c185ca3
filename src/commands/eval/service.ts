import { EventSourceParserStream } from 'eventsource-parser/stream';
import { z } from 'zod';
import { EvalDiff, EvalItem, EvalRun } from '../../schema/eval-run.ts';
import { NotFound, Unavailable } from '../../schema/outcome.ts';
import { type AdminClient, type Connection, connectAdmin } from '../admin-client.ts';

/** The eval runs of a running service, over its public routes. */

const Progress = z.object({ planned: z.int(), finished: z.int(), passed: z.int(), failed: z.int() });
export type Progress = z.infer<typeof Progress>;

const Started = z.object({ run: z.object({ id: z.string() }) });
const Compared = z.object({ run: EvalRun, diff: EvalDiff.optional() });
export type Compared = z.infer<typeof Compared>;
const Runs = z.object({ runs: z.array(z.object({ id: z.string(), execution_mode: z.string() })) });

const ReceivedEvents = {
  snapshot: z.object({ progress: Progress }),
  item: z.object({ item: EvalItem, progress: Progress }),
  end: z.object({ progress: Progress }),
};

export type Watcher = {
  item(item: EvalItem, progress: Progress): void;
  progress(progress: Progress): void;
};

export type EvalService = {
  /** Starts a run that continues without a client. @returns its id */
  start(request: object): Promise<string>;
  /** Resolves when the run has ended. */
  follow(id: string, watcher: Watcher): Promise<void>;
  cancel(id: string): Promise<void>;
  get(id: string, baseline: string | undefined): Promise<Compared>;
  /** The newest finished run of the dataset in this mode. @throws NotFound */
  latest(dataset: string, mode: 'scripted' | 'live'): Promise<string>;
};

/** Delays between attempts to reopen an interrupted stream; any received event resets the count. */
const PAUSES_MS = [0, 500, 1000, 2000, 4000, 8000];

export const connectEvals = (connection: Connection): EvalService => {
  const client = connectAdmin(connection);
  const runs = ['v1', 'eval', 'runs'] as const;
  return {
    async start(request) {
      const options = { body: { ...request, async: true }, schema: Started };
      return (await client.ask('POST', runs, options)).run.id;
    },
    async follow(id, watcher) {
      let broken = 0;
      while (
        !(await readOnce(client, [...runs, id, 'stream'], watcher, () => {
          broken = 0;
        }))
      ) {
        const pause = PAUSES_MS[broken];
        if (pause === undefined)
          throw new Unavailable(`the stream of eval run ${id} was interrupted repeatedly`);
        broken += 1;
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
    },
    async cancel(id) {
      await client.ask('POST', [...runs, id, 'cancel'], { schema: z.unknown() });
    },
    get: (id, baseline) =>
      client.ask('GET', [...runs, id], {
        schema: Compared,
        ...(baseline !== undefined && { query: `?baseline=${encodeURIComponent(baseline)}` }),
      }),
    async latest(dataset, mode) {
      const query = `?dataset_id=${encodeURIComponent(dataset)}&limit=200`;
      const found = await client.ask('GET', runs, { schema: Runs, query });
      const newest = found.runs.find(({ execution_mode }) => execution_mode === mode);
      if (newest) return newest.id;
      throw new NotFound(`dataset '${dataset}' has no finished ${mode} run to compare with`);
    },
  };
};

/** Returns true if the run has ended. */
const readOnce = async (
  client: AdminClient,
  path: readonly string[],
  watcher: Watcher,
  onFrame: () => void,
): Promise<boolean> => {
  const body = await client.open(path).catch((error: unknown) => {
    if (error instanceof Unavailable) return undefined;
    throw error;
  });
  if (!body) return false;
  const events = body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  try {
    for await (const { event, data } of events) {
      onFrame();
      if (event === 'item') {
        const { item, progress } = ReceivedEvents.item.parse(JSON.parse(data));
        watcher.item(item, progress);
      } else if (event === 'snapshot' || event === 'end') {
        watcher.progress(ReceivedEvents[event].parse(JSON.parse(data)).progress);
        if (event === 'end') return true;
      }
    }
  } catch (error) {
    if (error instanceof z.ZodError) throw error;
    // The connection was interrupted.
  }
  return false;
};
