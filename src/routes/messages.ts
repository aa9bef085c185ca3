import { z } from 'zod';
import { listReply } from '../http/list-reply.ts';
import { reply, route } from '../http/route.ts';
import { listMessages, type MessageFilter, type MessageStart } from '../runtime/index.ts';
import { withAliases } from '../schema/aliases.ts';
import { ErrorBody } from '../schema/error-body.ts';
import { MessageList } from '../schema/message.ts';
import { Invalid, NotFound } from '../schema/outcome.ts';
import { Cursor, Limit, Offset, SeqBound } from '../schema/paging.ts';
import { choice } from './choice.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { ThreadId } from './parameters.ts';
import type { RouteDeps } from './route-deps.ts';

/** The message list of a thread (runtime.md 4.1). */

const lowered = (given: string | undefined): string | undefined => given?.toLowerCase();

const Order = z
  .preprocess(lowered, choice(['asc', 'desc'], () => new Invalid('order must be asc or desc')).optional())
  .meta({ description: 'case-insensitive; default asc' });

const Visible = z
  .preprocess(lowered, z.enum(['external', 'internal', 'all']).optional().catch('external'))
  .meta({ description: 'case-insensitive; any other value means external, the default' });

export const MessageQuery = withAliases(
  { run_id: 'runId' },
  {
    offset: Offset,
    limit: Limit,
    cursor: Cursor,
    after: SeqBound.meta({ description: 'only messages after this `seq`' }),
    before: SeqBound.meta({ description: 'only messages before this `seq`' }),
    order: Order,
    visibility: Visible,
    run_id: z.string().optional().meta({ description: 'only messages of this run' }),
  },
);
type MessageQuery = z.output<typeof MessageQuery>;

export const messageRoutes = ({ store, access, runtime }: RouteDeps) => [
  route.get('/v1/threads/:id/messages', {
    id: 'listMessages',
    summary: 'Messages of a thread',
    description: 'Oldest first unless `order` is set. Internal messages are only included with `visibility`.',
    tag: 'messages',
    needs: 'read',
    params: z.object({ id: ThreadId }),
    query: MessageQuery,
    responses: { 200: MessageList, 404: ErrorBody },
    handle({ principal, params, query }) {
      const { scope, id } = access.thread(principal, params.id, 'read');
      if (!store.threads.get(scope, id)) throw new NotFound(`thread not found: ${params.id}`);
      const filter = messageFilter(query);
      const start = messageStart(query, filter);
      const page = listMessages({ store, scope, thread_id: id }, filter, start, query.limit);
      return listReply('messages', page.texts, pagePlace(page, page.rows, filter));
    },
  }),
  route.delete('/v1/threads/:id/messages/:message_id', {
    id: 'deleteMessage',
    summary: 'Remove a message from the history',
    description:
      'Readers and the model no longer receive it; sequence numbers of other messages stay. A call is removed with its results, and a result with its call and the other results of the step.',
    tag: 'messages',
    needs: 'invoke',
    params: z.object({
      id: ThreadId,
      message_id: z.string().meta({ description: 'id of a visible message' }),
    }),
    responses: { 204: 'deleted', 404: ErrorBody, 409: ErrorBody },
    async handle({ principal, params }) {
      const { scope, id } = access.thread(principal, params.id, 'write');
      if (!store.threads.get(scope, id)) throw new NotFound(`thread not found: ${params.id}`);
      await runtime.threads.retract(scope, id, params.message_id);
      return reply(204);
    },
  }),
];

/** Returns the position of a page of messages in its list. `rows` are in the order of the page. */
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
  const run_id = query.run_id?.trim();
  return {
    order: query.order ?? 'asc',
    visibility: query.visibility ?? 'external',
    ...(query.after !== undefined && { after: query.after }),
    ...(query.before !== undefined && { before: query.before }),
    ...(run_id && { run_id }),
  };
};

/** A stopped completion is positioned half a step after a message. */
const Place = z.number().positive().multipleOf(0.5);

const Start = z.union([z.strictObject({ behind: Place }), z.strictObject({ inFrontOf: Place })]);

export const messageStart = (query: MessageQuery, filters: MessageFilter): MessageStart => {
  if (query.cursor === undefined) return { offset: query.offset };
  const { after, before, order, visibility, run_id } = query;
  const filtered = [after, before, order, visibility, run_id].some((value) => value !== undefined);
  const start = decodeCursor(query.cursor, {
    prefix: 'msg_',
    kind: 'message',
    filters,
    filtered,
    position: Start,
  });
  return 'offset' in start ? start : start.position;
};
