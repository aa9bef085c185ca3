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
import type { Rooms } from '../rooms.ts';
import { cancelRoute, interruptRoute } from '../thread-control.ts';
import { CHAT_HEADERS } from './answer.ts';
import { chatPage } from './history.ts';

/** A thread in the chat protocol: its live stream, its replay, its messages (chat-and-agui.md 6 to 9). */

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

export const chatThreadRoutes = (rooms: Rooms) => {
  const { chatStreams } = rooms;
  const replay = createDurableReplay(rooms, chatReplay, CHAT_HEADERS);
  const replayed = { tag: TAG, frame: UiMessageChunk };

  const streamRoute = (id: string, path: string) =>
    route.get(path, {
      id,
      headers: ['Last-Event-ID'],
      summary: 'Follow the stream of a thread, from its beginning or behind Last-Event-ID',
      description: 'What `useChat` asks with `resume` after a reload. 204 when nothing is streamed.',
      tag: TAG,
      scope: 'agent-invocation',
      params: Params,
      responses: {
        200: eventStream(UiMessageChunk, 'UI message chunks of the AI SDK, version 6, until `finish`'),
        204: 'nothing is streamed on the thread',

        410: ErrorBody,
      },
      handle({ scope, params: { thread_id }, header }) {
        const point = resumePoint(header('last-event-id'));
        if ('cursor' in point) return replay.page(scope, thread_id, point.cursor);
        const stream = createEventStream({ headers: CHAT_HEADERS });
        const leave = chatStreams.attach(scope, thread_id, point.after, stream);
        if (!leave) return reply(204);
        stream.onClose(leave);
        return stream;
      },
    });

  return [
    streamRoute('streamChat', '/v1/ai-sdk/chat/:thread_id/stream'),
    streamRoute('streamChatThread', '/v1/ai-sdk/threads/:thread_id/stream'),
    replayRoute(replay, {
      ...replayed,
      id: 'replayChatThread',
      path: '/v1/ai-sdk/threads/:thread_id/replay',
    }),
    replayRoute(replay, { ...replayed, id: 'replayChat', path: '/v1/ai-sdk/chat/:thread_id/replay' }),
    cancelRoute(rooms, { id: 'cancelChatThread', path: '/v1/ai-sdk/threads/:thread_id/cancel', tag: TAG }),
    interruptRoute(rooms, {
      id: 'interruptChatThread',
      path: '/v1/ai-sdk/threads/:thread_id/interrupt',
      tag: TAG,
    }),
    messagesRoute(rooms),
  ];
};

const messagesRoute = ({ store }: Pick<Rooms, 'store'>) =>
  route.get('/v1/ai-sdk/threads/:thread_id/messages', {
    id: 'listChatMessages',
    summary: 'Messages of a thread, as the chat client has them',
    description: 'As `UIMessage` of the AI SDK, for the first messages of `useChat`.',
    tag: TAG,
    scope: 'agent-invocation',
    params: Params,
    query: MessageQuery,
    responses: { 200: ChatMessages },
    async handle({ scope, params: { thread_id }, query, onGone }) {
      const filter = messageFilter(query);
      const start = messageStart(query, filter);
      const gone = new AbortController();
      onGone(() => gone.abort());
      const request = { filter, start, limit: query.limit, signal: gone.signal };
      const page = await chatPage({ store, scope, thread_id }, request);
      return page && listReply('messages', page.texts, pagePlace(page, page.items, filter));
    },
  });
