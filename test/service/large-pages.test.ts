import t from 'tap';
import { PAGE_BYTES } from '../../src/schema/page-rows.ts';
import { startDemo, type Troupe } from './troupe.ts';

/**
 * Pages of large rows are limited by bytes: every row is listed once, and no page exceeds the limit by more than a row.
 */

const MIB = 1024 * 1024;
const TEXT = 'x'.repeat(1.5 * MIB);
const RUNS = 4;

type Row = { id?: string; seq?: number; run_id?: string; event_id?: string; dispatch_id?: string };
type Page = { bytes: number; rows: Row[]; next: string | null; prev: string | null };

const pageOf = async ({ call }: Troupe, name: string, path: string): Promise<Page> => {
  const { status, body } = await call('GET', path);
  if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body).slice(0, 200)}`);
  const next = (body.next_cursor ?? body.nextPageToken ?? null) as string | null;
  return {
    bytes: JSON.stringify(body).length,
    rows: body[name] as Row[],
    next: next || null,
    prev: (body.prev_cursor ?? null) as string | null,
  };
};

const keyOf = ({ event_id, dispatch_id, run_id, id }: Row): string =>
  event_id ?? dispatch_id ?? run_id ?? id ?? '';

/** The tests only read. */
const troupe = await startDemo(t);
for (let run = 0; run < RUNS; run += 1) {
  const messages = [{ role: 'user', content: TEXT + run }];
  await troupe.runToEnd({ agentId: 'echo', threadId: 'T', messages });
  await troupe.post('/v1/threads', { title: TEXT + run });
}

const LISTS = [
  ['/v1/threads/T/messages?', 'messages', 'cursor', 2 * RUNS],
  ['/v1/threads/T/messages?order=desc&', 'messages', 'cursor', 2 * RUNS],
  ['/v1/ai-sdk/threads/T/messages?', 'messages', 'cursor', 2 * RUNS],
  ['/v1/ag-ui/threads/T/messages?', 'messages', 'cursor', 2 * RUNS],
  ['/v1/threads/T/runs?', 'items', 'cursor', RUNS],
  ['/v1/runs?status=done&', 'items', 'cursor', RUNS],
  ['/v1/threads/summaries?', 'items', 'cursor', RUNS + 1],
  ['/v1/threads/T/events?', 'items', 'cursor', undefined],
  ['/v1/a2a/tasks?includeArtifacts=true&', 'tasks', 'pageToken', RUNS],
] as const;

t.test('limits pages of large rows by bytes and lists every row once', async (t) => {
  for (const [path, name, parameter, expected] of LISTS) {
    const walked: string[] = [];
    const pages: Page[] = [];
    for (let next: string | null = ''; next !== null; ) {
      const page: Page = await pageOf(
        troupe,
        name,
        `${path}${parameter === 'cursor' ? 'limit' : 'pageSize'}=100&${next && `${parameter}=${next}`}`,
      );
      pages.push(page);
      walked.push(...page.rows.map(keyOf));
      next = page.next;
    }
    t.ok(pages.length > 1, `${path} has ${pages.length} pages`);
    t.ok(Math.max(...pages.map(({ bytes }) => bytes)) <= 2 * PAGE_BYTES, `${path} has short pages`);
    t.equal(new Set(walked).size, walked.length, `${path} repeats nothing`);
    if (expected !== undefined) t.equal(walked.length, expected, path);
    if (pages.at(-1)?.prev === null || parameter !== 'cursor') continue;
    const back: string[] = [];
    for (let prev = pages.at(-1)?.prev ?? null; prev !== null; ) {
      const page: Page = await pageOf(troupe, name, `${path}limit=100&cursor=${prev}`);
      t.ok(page.bytes <= 2 * PAGE_BYTES, `${path} has short pages backwards`);
      back.unshift(...page.rows.map(keyOf));
      prev = page.prev;
    }
    t.strictSame(back, walked.slice(0, back.length), `${path} backwards`);
  }
});

t.test('limits pages of large dispatches by bytes and continues on the next page', async (t) => {
  const walked: string[] = [];
  for (;;) {
    const path = `/v1/threads/T/mailbox?limit=100&offset=${walked.length}`;
    const { bytes, rows } = await pageOf(troupe, 'items', path);
    t.ok(bytes <= 2 * PAGE_BYTES);
    if (rows.length === 0) break;
    walked.push(...rows.map(keyOf));
  }
  t.equal(new Set(walked).size, RUNS);
});

t.test('limits replay pages of large frames by bytes and continues from the last id', async (t) => {
  for (const protocol of ['ai-sdk', 'ag-ui']) {
    let cursor = '';
    const ids: string[] = [];
    let finishes = 0;
    for (;;) {
      const path = `/v1/${protocol}/threads/T/replay?limit=500${cursor && `&cursor=${cursor}`}`;
      const { body } = await troupe.call('GET', path);
      const text = String(body.text);
      t.ok(text.length <= 2 * PAGE_BYTES, `${protocol} has short pages`);
      const page = [...text.matchAll(/^id: (.*)$/gm)].map(([, id]) => id ?? '');
      if (page.length === 0) break;
      finishes += text.match(/"type":"(?:finish|RUN_FINISHED)"/g)?.length ?? 0;
      ids.push(...page);
      cursor = page.at(-1) ?? '';
    }
    t.equal(new Set(ids).size, ids.length);
    t.equal(finishes, RUNS, protocol);
  }
});

t.test('limits the history of a task to the latest messages that fit a page', async (t) => {
  const troupe = await startDemo(t, { settings: { body_limit_bytes: 8 * MIB } });
  const sent = await troupe.post('/v1/a2a/echo/message:send', {
    message: { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text: TEXT }, { text: TEXT }] },
  });
  const { id } = sent.body.task as { id: string };
  const { body } = await troupe.call('GET', `/v1/a2a/tasks/${id}`);
  t.match(body.history, [{ role: 'ROLE_AGENT' }]);
  t.equal((body.history as unknown[]).length, 1);
});
