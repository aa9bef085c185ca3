import { z } from 'zod';
import { eventStream } from '../../http/described.ts';
import { listReply } from '../../http/list-reply.ts';
import { reply, route } from '../../http/route.ts';
import { createEventStream } from '../../http/sse.ts';
import { UiMessageChunk } from '../../protocols/ai-sdk/chunks.ts';
import { chatReplay } from '../../protocols/ai-sdk/replay.ts';
import { resumePoint } from '../../protocols/replay-cursor.ts';
import { ErrorBody } from '../../schema/error-body.ts';
import { MessageQuery, messageFilter, messageStart, pagePlace } from '../messages.ts';
import { ThreadId } from '../parameters.ts';
import { createDurableReplay, replayRoute } from '../replay.ts';
import type { RouteDeps } from '../route-deps.ts';
import { cancelRoute, interruptRoute } from '../thread-control.ts';
import { CHAT_HEADERS } from './answer.ts';
import { chatPage } from './history.ts';

/** Live stream, replay and messages of a thread in the chat protocol (chat-and-agui.md 6 to 9). */

const TAG = 'chat v6';

const Params = z.object({ thread_id: ThreadId });

const ChatMessages = z
  .object({
    messages: z.array(
      z.object({
        id: z.string(),
        role: z.enum(['system', 'user', 'assistant']),
        parts: z.array(z.looseObject({ type: z.string() })),
      }),
    ),
    total: z.int(),
    has_more: z.boolean(),
    next_cursor: z.string().nullable(),
    prev_cursor: z.string().optional(),
  })
  .meta({ id: 'ChatMessageList', description: 'One page of messages.' });

export const chatThreadRoutes = (deps: RouteDeps) => {
  const { chatStreams, access } = deps;
  const replay = createDurableReplay(deps, chatReplay, CHAT_HEADERS);
  const replayed = { tag: TAG, frame: UiMessageChunk };

  const streamRoute = (id: string, path: string) =>
    route.get(path, {
      id,
      headers: ['Last-Event-ID'],
      summary: 'Resume the stream of a thread, from its start or after Last-Event-ID',
      description: 'Used by `useChat` with `resume` after a reload. 204 when no stream is active.',
      tag: TAG,
      needs: 'read',
      params: Params,
      responses: {
        200: eventStream(UiMessageChunk, 'UI message chunks of the AI SDK, version 6, until `finish`'),
        204: 'the thread has no stream',

        410: ErrorBody,
      },
      checkReading: ({ principal, params: { thread_id = '' } }) =>
        access.thread(principal, thread_id, 'read'),
      handle({ principal, params: { thread_id }, header }) {
        const thread = access.thread(principal, thread_id, 'read');
        const point = resumePoint(header('last-event-id'));
        if ('cursor' in point) return replay.page({ principal, thread }, point.cursor);
        const stream = createEventStream({
          headers: CHAT_HEADERS,
          reading: access.reading('thread', thread, 'read'),
        });
        const leave = chatStreams.attach(thread.scope, thread.id, point.after, stream);
        if (!leave) return reply(204);
        stream.onClose(leave);
        return stream;
      },
    });

  return [
    streamRoute('streamChat', '/v1/ai-sdk/chat/:thread_id/stream'),
    streamRoute('streamChatThread', '/v1/ai-sdk/threads/:thread_id/stream'),
    replayRoute(deps, replay, {
      ...replayed,
      id: 'replayChatThread',
      path: '/v1/ai-sdk/threads/:thread_id/replay',
    }),
    replayRoute(deps, replay, { ...replayed, id: 'replayChat', path: '/v1/ai-sdk/chat/:thread_id/replay' }),
    cancelRoute(deps, { id: 'cancelChatThread', path: '/v1/ai-sdk/threads/:thread_id/cancel', tag: TAG }),
    interruptRoute(deps, {
      id: 'interruptChatThread',
      path: '/v1/ai-sdk/threads/:thread_id/interrupt',
      tag: TAG,
    }),
    messagesRoute(deps),
  ];
};

const messagesRoute = ({ store, access }: Pick<RouteDeps, 'store' | 'access'>) =>
  route.get('/v1/ai-sdk/threads/:thread_id/messages', {
    id: 'listChatMessages',
    summary: 'Messages of a thread in the chat format',
    description: 'As `UIMessage` of the AI SDK, for the first messages of `useChat`.',
    tag: TAG,
    needs: 'read',
    params: Params,
    query: MessageQuery,
    responses: { 200: ChatMessages },
    async handle({ principal, params, query, onGone }) {
      const { scope, id: thread_id } = access.thread(principal, params.thread_id, 'read');
      const filter = messageFilter(query);
      const start = messageStart(query, filter);
      const gone = new AbortController();
      onGone(() => gone.abort());
      const request = { filter, start, limit: query.limit, signal: gone.signal };
      const page = await chatPage({ store, scope, thread_id }, request);
      return page && listReply('messages', page.texts, pagePlace(page, page.items, filter));
    },
  });
