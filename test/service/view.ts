import type { Test } from 'tap';
import { z } from 'zod';
import { CanonicalEvent } from '../../src/schema/canonical-event.ts';
import { Dispatch } from '../../src/schema/dispatch.ts';
import { type ListedMessage, MessageList, textOf } from '../../src/schema/message.ts';
import { ActiveRun, Run, RunList } from '../../src/schema/run.ts';
import { Thread } from '../../src/schema/thread.ts';
import { type Client, eventually } from './troupe.ts';

/** The data that a client can read of one thread, with the types of the wire, and the invariants of an idle thread. */

export type View = {
  post(path: string, body?: unknown): ReturnType<Client['post']>;
  /** Posts one user message to the thread. */
  say(content: string, more?: object): ReturnType<Client['post']>;
  messages(query?: string): Promise<ListedMessage[]>;
  /** Lines `role: text`, as a reader of the history sees them. */
  texts(): Promise<string[]>;
  thread(): Promise<Thread>;
  run(run_id: unknown): Promise<Run>;
  runs(): Promise<Run[]>;
  active(): Promise<z.output<typeof ActiveRun>['active_run']>;
  dispatches(query?: string): Promise<Dispatch[]>;
  events(run_id?: unknown): Promise<CanonicalEvent[]>;
  kinds(run_id?: unknown): Promise<string[]>;
  /** Waits for the run to have this status. */
  until(run_id: unknown, status: Run['status']): Promise<Run>;
  /** Waits until no work of the thread is queued or executing. */
  rest(): Promise<void>;
  /** Waits until the thread is idle, and checks the invariants of every idle thread. */
  check(t: Test): Promise<void>;
};

const EventList = z.object({ items: z.array(CanonicalEvent), next_cursor: z.string().nullable() });

const Mailbox = z.object({ items: z.array(Dispatch) });

export const TERMINAL = ['RunFinished', 'RunCancelled', 'RunErrored', 'RunTerminated'];

export const viewOf = (client: Client, id: string): View => {
  const get = async (path: string): Promise<unknown> => {
    const { status, body } = await client.call('GET', path);
    if (status !== 200) throw new Error(`GET ${path}: ${status} ${JSON.stringify(body)}`);
    return body;
  };

  const view: View = {
    post: (path, body) => client.post(`/v1/threads/${id}${path}`, body),
    say: (content, more = {}) => view.post('/messages', { messages: [{ role: 'user', content }], ...more }),
    async messages(query = '') {
      return MessageList.parse(await get(`/v1/threads/${id}/messages?limit=200${query}`)).messages;
    },
    async texts() {
      return (await view.messages()).map(({ role, content }) => `${role}: ${textOf(content)}`);
    },
    thread: async () => Thread.parse(await get(`/v1/threads/${id}`)),
    run: async (run_id) => Run.parse(await get(`/v1/runs/${run_id}`)),
    runs: async () => RunList.parse(await get(`/v1/threads/${id}/runs?limit=200`)).items,
    active: async () => ActiveRun.parse(await get(`/v1/threads/${id}/runs/active`)).active_run,
    dispatches: async (query = '') =>
      Mailbox.parse(await get(`/v1/threads/${id}/mailbox?limit=200${query}`)).items,
    async events(run_id) {
      const log = run_id === undefined ? `/v1/threads/${id}/events` : `/v1/runs/${run_id}/events`;
      const items: CanonicalEvent[] = [];
      for (let cursor = ''; ; ) {
        const page = EventList.parse(await get(`${log}?limit=200${cursor}`));
        items.push(...page.items);
        if (page.next_cursor === null) return items;
        cursor = `&cursor=${page.next_cursor}`;
      }
    },
    kinds: async (run_id) => (await view.events(run_id)).map(({ event_kind }) => event_kind),
    until: (run_id, status) =>
      eventually(
        () => view.run(run_id),
        (run) => run.status === status,
      ),
    async rest() {
      // Work is read first, so that work claimed later shows up in the runs.
      const rows = async () => ({ work: await view.dispatches(), runs: await view.runs() });
      await eventually(
        rows,
        ({ runs, work }) =>
          runs.every(({ status }) => status === 'done' || status === 'waiting') &&
          // Queued work may resume a suspended run.
          work.every(({ status }) => status !== 'Queued'),
      );
    },
    async check(t) {
      await view.rest();
      const runs = await view.runs();
      await checkEvents(t, view, runs);
      await checkRecords(t, view, runs);
    },
  };
  return view;
};

/** runtime.md 13.5 rule 2, 18.18: one terminal event for each run that is done, and one event for each message. */
const checkEvents = async (t: Test, view: View, runs: readonly Run[]): Promise<void> => {
  const events = await view.events();
  for (const { run_id, status } of runs) {
    const kinds = events.filter((event) => event.run_id === run_id).map(({ event_kind }) => event_kind);
    const ends = kinds.filter((kind) => TERMINAL.includes(kind));
    t.equal(ends.length, status === 'done' ? 1 : 0, `terminal events of a run that is ${status}: ${kinds}`);
    if (status === 'done') t.equal(kinds.at(-1), ends[0], 'the terminal event is the last of its run');
  }
  const seqs = events
    .filter(({ event_kind }) => event_kind === 'MessageCommitted')
    .map(({ payload }) => payload.message_seq);
  t.strictSame(
    seqs,
    seqs.map((_, index) => index + 1),
    'each message is committed once, in order',
  );
};

/** runtime.md 2.1, 2.4, 10: records of runs, dispatches and the thread agree. */
const checkRecords = async (t: Test, view: View, runs: readonly Run[]): Promise<void> => {
  const [dispatches, thread] = await Promise.all([view.dispatches(), view.thread()]);
  const waiting = runs.filter(({ status }) => status === 'waiting');
  for (const run of runs) {
    const { run_id, status } = run;
    t.equal('waiting' in run, status === 'waiting', `waiting of a run that is ${status}`);
    t.equal('outcome' in run, status === 'done', `outcome of a run that is ${status}`);
    t.equal('finished_at' in run, status === 'done', `finished_at of a run that is ${status}`);
    const open = dispatches.filter(
      (dispatch) => dispatch.run_id === run_id && ['Queued', 'Claimed'].includes(dispatch.status),
    );
    t.ok(open.length <= (status === 'waiting' ? 1 : 0), `no work is open for a run that is ${status}`);
  }
  t.ok(
    dispatches.every(({ claim_token }) => claim_token === null),
    'no claim token is shown',
  );
  t.notOk('active_run_id' in thread, 'no run is active');
  if (waiting.length === 0) t.notOk('open_run_id' in thread, 'no run is open');
  const active = await view.active();
  t.equal(active?.run_id, waiting.at(-1)?.run_id, 'at most one run is active, and it waits');
};
