import {
  anyObject,
  fields,
  flag,
  list,
  nullable,
  number,
  object,
  optional,
  text,
  withDefault,
} from '../../data/guard.ts';
import type { Resource } from '../../data/queries.ts';
import { type Outgoing, pathOf, send } from '../../data/request.ts';
import { Message, textIn } from '../../thread-messages/messages.ts';

/** Threads as the service reports them. Times are milliseconds. */

const ForkedFrom = object({ seq: number });

export const Summary = object({
  id: text,
  forked_from: optional(ForkedFrom),
  ...fields(optional(text), 'title', 'preview', 'agent_id', 'resource_id', 'parent_thread_id'),
  updated_at: withDefault(number, 0),
});
export type Summary = ReturnType<typeof Summary>;

export const SummaryPage = object({
  items: list(Summary),
  total: number,
  has_more: withDefault(flag, false),
  next_cursor: optional(text),
});

const Metadata = object({
  title: optional(text),
  created_at: optional(number),
  updated_at: optional(number),
  custom: withDefault(anyObject, {}),
});

export const Thread = object({
  id: text,
  ...fields(optional(text), 'resource_id', 'parent_thread_id', 'active_run_id', 'open_run_id'),
  forked_from: optional(ForkedFrom),
  metadata: withDefault(Metadata, {
    title: undefined,
    created_at: undefined,
    updated_at: undefined,
    custom: {},
  }),
  latest_run_id: optional(text),
});
export type Thread = ReturnType<typeof Thread>;

export const threadOf = (id: string): Resource<Thread> => ({
  path: pathOf`/v1/threads/${id}`,
  guard: Thread,
});

/** Letters of the first message that stand for a missing title, as in lists. */
const TITLE = 60;

const cut = (text: string): string => (text.length > TITLE ? `${text.slice(0, TITLE).trimEnd()}…` : text);

const First = object({ messages: list(Message) });

/** The first words of a thread; empty if it has none. */
export const firstWordsOf = (id: string): Resource<string> => ({
  path: pathOf`/v1/threads/${id}/messages`,
  query: { limit: 1 },
  guard: (value, at) => cut(First(value, at).messages.map(textIn).join('').trim()),
});

export const SUMMARIES = '/v1/threads/summaries';

export const MOST_CHILDREN = 100;

export const childrenOf = (id: string): Resource<ReturnType<typeof SummaryPage>> => ({
  path: SUMMARIES,
  query: { parent_thread_id: id, limit: MOST_CHILDREN },
  guard: SummaryPage,
});

/** Limit of the chain of ancestors, which also ends a cycle. */
const HIGHEST = 20;

const ancestorsOf = async ({ parent_thread_id }: Thread, signal: AbortSignal): Promise<Thread[]> => {
  const found: Thread[] = [];
  let next = parent_thread_id;
  while (next !== undefined && found.length < HIGHEST) {
    const above: Thread = await send({ path: pathOf`/v1/threads/${next}`, signal }, Thread);
    found.unshift(above);
    next = above.parent_thread_id;
  }
  return found;
};

const summaryOf = ({ metadata, ...thread }: Thread): Summary => ({
  ...thread,
  title: metadata.title,
  preview: undefined,
  agent_id: undefined,
  updated_at: metadata.updated_at ?? metadata.created_at ?? 0,
});

/** Its ancestors and children, and the threads of its resource: a front end gives all forks of a chat the same one. */
export const forksOf = (thread: Thread): Resource<Summary[]> => ({
  path: pathOf`/v1/threads/${thread.id}/forks`,
  query: { parent: thread.parent_thread_id, resource: thread.resource_id },
  guard: list(Summary),
  read: async (signal) => {
    const listed = async (query: Outgoing['query']): Promise<Summary[]> => {
      const all = { ...query, limit: MOST_CHILDREN, preview: true };
      return (await send({ path: SUMMARIES, query: all, signal }, SummaryPage)).items;
    };
    const { id, resource_id } = thread;
    const [above, below, beside] = await Promise.all([
      ancestorsOf(thread, signal),
      listed({ parent_thread_id: id }),
      resource_id === undefined ? [] : listed({ resource_id }),
    ]);
    // The lists have more of a thread than its record.
    const all = [...above.map(summaryOf), summaryOf(thread), ...below, ...beside];
    return [...new Map(all.map((each) => [each.id, each])).values()];
  },
});

const Dispatch = object({
  ...fields(text, 'dispatch_id', 'run_id', 'status'),
  ...fields(number, 'priority', 'dispatch_epoch', 'attempt_count', 'max_attempts', 'available_at'),
  lease_until: withDefault(nullable(number), null),
  ...fields(withDefault(nullable(text), null), 'claimed_by', 'last_error', 'dedupe_key'),
  ...fields(number, 'created_at', 'updated_at'),
});
export type Dispatch = ReturnType<typeof Dispatch>;

const PAGE = 200;
const MOST_DISPATCHES = 1000;

export const mailboxOf = (id: string): Resource<Dispatch[]> => ({
  path: pathOf`/v1/threads/${id}/mailbox`,
  guard: list(Dispatch),
  read: async (signal) => {
    const found: Dispatch[] = [];
    for (;;) {
      const query = { offset: found.length, limit: PAGE };
      const path = pathOf`/v1/threads/${id}/mailbox`;
      const page = await send({ path, query, signal }, object({ items: list(Dispatch) }));
      found.push(...page.items);
      if (page.items.length < PAGE || found.length >= MOST_DISPATCHES) return found;
    }
  },
});

/** The run that is executing, otherwise a waiting one, otherwise the newest. Expects the newest run first. */
export const currentOf = <R extends { status: string }>(runs: readonly R[]): R | undefined =>
  runs.find(({ status }) => status === 'running') ??
  runs.find(({ status }) => status === 'waiting') ??
  runs[0];

export const LANES = ['queue', 'claimed', 'dead', 'over'] as const;
export type Lane = (typeof LANES)[number];

const LANE: Readonly<Record<string, Lane>> = { Queued: 'queue', Claimed: 'claimed', DeadLetter: 'dead' };

/** The lane of a dispatch; an unknown status counts as ended. */
export const laneOf = ({ status }: Pick<Dispatch, 'status'>): Lane => LANE[status] ?? 'over';

/** Dispatches by lane: ended ones newest first, queued ones in the order in which they will be claimed. */
export const lanesOf = (dispatches: readonly Dispatch[]): Readonly<Record<Lane, Dispatch[]>> => {
  const lanes: Record<Lane, Dispatch[]> = { queue: [], claimed: [], dead: [], over: [] };
  for (const dispatch of dispatches) lanes[laneOf(dispatch)].push(dispatch);
  const newestFirst = (a: Dispatch, b: Dispatch): number => b.updated_at - a.updated_at;
  lanes.dead.sort(newestFirst);
  lanes.over.sort(newestFirst);
  return lanes;
};
