import { z } from 'zod';
import { route } from '../http/route.ts';
import { listMessages, type MessageFilter, type MessageStart, type Visibility } from '../runtime/index.ts';
import { ErrorBody } from '../schema/error-body.ts';
import { MessageList } from '../schema/message.ts';
import { Invalid, NotFound } from '../schema/outcome.ts';
import { Cursor, Limit, notBoth, Offset, SeqBound } from '../schema/paging.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import type { Rooms } from './rooms.ts';

/** The message list of a thread (runtime.md 4.1). */

const visibilityOf = (text: string | undefined): Visibility => {
  const wanted = text?.toLowerCase();
  return wanted === 'all' || wanted === 'internal' ? wanted : 'external';
};

const orderOf = (text: string | undefined): 'asc' | 'desc' => {
  const wanted = (text ?? 'asc').toLowerCase();
  if (wanted === 'asc' || wanted === 'desc') return wanted;
  throw new Invalid('order must be asc or desc');
};

export const MessageQuery = z
  .object({
    offset: Offset,
    limit: Limit,
    cursor: Cursor,
    after: SeqBound,
    before: SeqBound,
    order: z.string().optional(),
    visibility: z.string().optional(),
    run_id: z.string().optional(),
    runId: z.string().optional(),
  })
  .check(notBoth('run_id', 'runId'));
type MessageQuery = z.output<typeof MessageQuery>;

export const messageRoutes = ({ store }: Rooms) => [
  route.get('/v1/threads/:id/messages', {
    summary: 'Messages of a thread',
    tag: 'messages',
    scope: 'agent-invocation',
    params: z.object({ id: z.string() }),
    query: MessageQuery,
    responses: { 200: MessageList, 400: ErrorBody, 404: ErrorBody },
    handle({ scope, params, query }) {
      if (!store.threads.get(scope, params.id)) throw new NotFound(`thread not found: ${params.id}`);
      const filter = messageFilter(query);
      const start = messageStart(query, filter);
      const page = listMessages({ store, scope, thread_id: params.id }, filter, start, query.limit);
      return { messages: page.rows, ...pagePlace(page, page.rows, filter) };
    },
  }),
];

/** Where a page of messages is in its list. `rows`: in the order of the page. */
export const pagePlace = (
  { total, has_more, has_previous }: { total: number; has_more: boolean; has_previous: boolean },
  rows: readonly { seq: number }[],
  filter: MessageFilter,
) => {
  const first = rows[0];
  const last = rows.at(-1);
  return {
    total,
    has_more,
    next_cursor: has_more && last ? encodeCursor('msg_', { behind: last.seq }, filter) : null,
    ...(has_previous && first && { prev_cursor: encodeCursor('msg_', { inFrontOf: first.seq }, filter) }),
  };
};

export const messageFilter = (query: MessageQuery): MessageFilter => {
  const run_id = (query.run_id ?? query.runId)?.trim();
  return {
    order: orderOf(query.order),
    visibility: visibilityOf(query.visibility),
    ...(query.after !== undefined && { after: query.after }),
    ...(query.before !== undefined && { before: query.before }),
    ...(run_id && { run_id }),
  };
};

const Start = z.union([
  z.strictObject({ behind: z.int().positive() }),
  z.strictObject({ inFrontOf: z.int().positive() }),
]);

export const messageStart = (query: MessageQuery, filters: MessageFilter): MessageStart => {
  if (query.cursor === undefined) return { offset: query.offset };
  const { after, before, order, visibility, run_id, runId } = query;
  const filtered = [after, before, order, visibility, run_id, runId].some((value) => value !== undefined);
  const start = decodeCursor(query.cursor, {
    prefix: 'msg_',
    kind: 'message',
    filters,
    filtered,
    position: Start,
  });
  return 'offset' in start ? start : start.position;
};
