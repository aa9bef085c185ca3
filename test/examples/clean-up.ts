import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';

/**
 * Periodically deletes unused threads over the public API:
 *
 *     npx tsx clean-up.ts http://127.0.0.1:38080 --older-than-days 30 --every-minutes 60
 */

const [url = 'http://127.0.0.1:38080'] = process.argv.slice(2);

const option = (name: string, otherwise: number): number => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? otherwise : Number(process.argv[at + 1]);
};

const maxAgeMs = option('older-than-days', 30) * 24 * 3600 * 1000;
const everyMs = option('every-minutes', 60) * 60 * 1000;

/** The fields that this program reads; times are milliseconds. */
const Page = z.object({
  items: z.array(z.object({ id: z.string(), updated_at: z.number() })),
  next_cursor: z.string().nullable(),
});
const Thread = z.object({ open_run_id: z.string().optional() });

/** Reads all pages before anything is deleted, because deletions shift pages. */
const oldThreads = async (before: number): Promise<string[]> => {
  const found: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const query = cursor === '' ? 'limit=100' : `limit=100&cursor=${cursor}`;
    const page = Page.parse(await (await fetch(`${url}/v1/threads/summaries?${query}`)).json());
    found.push(...page.items.filter(({ updated_at }) => updated_at < before).map(({ id }) => id));
    cursor = page.next_cursor;
  }
  return found;
};

/** A thread that waits for a decision is in use, however long it has waited. */
const isIdle = async (id: string): Promise<boolean> => {
  const thread = await fetch(`${url}/v1/threads/${id}`);
  return thread.ok && Thread.parse(await thread.json()).open_run_id === undefined;
};

for (;;) {
  let deleted = 0;
  for (const id of await oldThreads(Date.now() - maxAgeMs)) {
    if (!(await isIdle(id))) continue;
    const { ok } = await fetch(`${url}/v1/threads/${id}`, { method: 'DELETE' });
    if (ok) deleted += 1;
  }
  console.log(`${deleted} deleted`);
  await pause(everyMs);
}
