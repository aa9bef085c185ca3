import { z } from 'zod';
import { listReply } from '../../http/list-reply.ts';
import { route } from '../../http/route.ts';
import { AgUiEvent } from '../../protocols/ag-ui/events.ts';
import { agUiReplay } from '../../protocols/ag-ui/replay.ts';
import { MessageQuery, messageFilter, messageStart, pagePlace } from '../messages.ts';
import { ThreadId } from '../parameters.ts';
import { createDurableReplay, replayRoute } from '../replay.ts';
import type { RouteDeps } from '../route-deps.ts';
import { interruptRoute } from '../thread-control.ts';
import { historyPage } from './history.ts';

/** Replay, messages and cancellation of a thread in AG-UI (chat-and-agui.md 7, 9, 14). */

const TAG = 'AG-UI';

const AgUiMessages = z
  .object({
    messages: z.array(
      z.object({
        id: z.string(),
        role: z.enum(['system', 'user', 'assistant', 'tool']),
        content: z.array(z.looseObject({ type: z.string() })),
        toolCalls: z
          .array(
            z.object({
              id: z.string(),
              type: z.literal('function'),
              function: z.object({ name: z.string(), arguments: z.string() }),
            }),
          )
          .optional(),
        toolCallId: z.string().optional(),
      }),
    ),
    total: z.int(),
    has_more: z.boolean(),
    next_cursor: z.string().nullable(),
    prev_cursor: z.string().optional(),
  })
  .meta({ id: 'AgUiMessageList', description: 'One page of messages.' });

export const agUiThreadRoutes = (deps: RouteDeps) => [
  interruptRoute(deps, {
    id: 'interruptAgUiThread',
    path: '/v1/ag-ui/threads/:thread_id/interrupt',
    tag: TAG,
  }),
  replayRoute(deps, createDurableReplay(deps, agUiReplay), {
    id: 'replayAgUiThread',
    path: '/v1/ag-ui/threads/:thread_id/replay',
    tag: TAG,
    frame: AgUiEvent,
  }),
  messagesRoute(deps),
];

const messagesRoute = ({ store, access }: Pick<RouteDeps, 'store' | 'access'>) =>
  route.get('/v1/ag-ui/threads/:thread_id/messages', {
    id: 'listAgUiMessages',
    summary: 'Messages of a thread in the AG-UI format',
    description: 'In the form that an AG-UI client sends back, with tool calls and results.',
    tag: TAG,
    needs: 'read',
    params: z.object({ thread_id: ThreadId }),
    query: MessageQuery,
    responses: { 200: AgUiMessages },
    handle({ principal, params, query }) {
      const { scope, id: thread_id } = access.thread(principal, params.thread_id, 'read');
      const filter = messageFilter(query);
      const start = messageStart(query, filter);
      const page = historyPage({ store, scope, thread_id }, filter, start, query.limit);
      const texts = page.items.map((item) => JSON.stringify(item));
      return listReply('messages', texts, pagePlace(page, page.rows, filter));
    },
  });
