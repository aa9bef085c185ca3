import { AssistantConfig, AssistantConfigInput } from '../assistant/settings.ts';
import { eventStream } from '../http/described.ts';
import { route } from '../http/route.ts';
import { createEventStream } from '../http/sse.ts';
import { UiMessageChunk } from '../protocols/ai-sdk/chunks.ts';
import { chatProtocol } from '../protocols/ai-sdk/encoder.ts';
import { ChatBody } from '../protocols/ai-sdk/request.ts';
import { readTranscript } from '../protocols/ai-sdk/transcript.ts';
import { ErrorBody } from '../schema/error-body.ts';
import { checkNewId } from '../schema/id.ts';
import { Invalid } from '../schema/outcome.ts';
import { callerOf } from './caller.ts';
import type { Rooms } from './rooms.ts';

/** The admin assistant: its settings, and its runs in the chat protocol (config.md 11). */

const admin = { tag: 'admin assistant', scope: 'admin' } as const;

const HEADERS = { 'x-vercel-ai-ui-message-stream': 'v1' };

export const assistantRoutes = (rooms: Pick<Rooms, 'assistant' | 'ids'>) => [
  route.get('/v1/admin/assistant/config', {
    ...admin,
    id: 'getAssistantConfig',
    summary: 'Settings of the admin assistant',
    description: 'With the revision that a save has to name.',
    responses: { 200: AssistantConfig },
    handle: () => assistantOf(rooms).settings.get(),
  }),
  route.put('/v1/admin/assistant/config', {
    ...admin,
    id: 'saveAssistantConfig',
    summary: 'Save the settings of the admin assistant, from the revision that they have',
    description: '409 when somebody has saved since that revision was read.',
    headers: ['X-Service-Actor'],
    body: AssistantConfigInput,
    responses: { 200: AssistantConfig, 409: ErrorBody },
    handle: ({ body, ...request }) => assistantOf(rooms).settings.save(body, callerOf(request)),
  }),
  route.post('/v1/admin/assistant/runs', {
    ...admin,
    id: 'runAssistant',
    summary:
      'Talk to the admin assistant; the request brings the whole conversation, nothing of it is stored',
    description:
      'The run ends when the client goes away. A call that stores something waits for an approval in the conversation.',
    body: ChatBody,
    bodyLimit: 'attachments',
    responses: {
      200: eventStream(UiMessageChunk, 'UI message chunks of the AI SDK, version 6, until `finish`'),
      409: ErrorBody,
    },
    handle({ scope, body, ...request }) {
      const session = assistantOf(rooms).open(callerOf(request));
      const { messages, waiting, options } = readTranscript(body, rooms.ids.uuid);
      const thread_id =
        body.thread_id === undefined ? rooms.ids.uuid() : checkNewId('thread', 'thread_id', body.thread_id);
      const stream = createEventStream({ headers: HEADERS });
      const gone = new AbortController();
      stream.onClose(() => gone.abort());
      session.run({
        scope,
        thread_id,
        messages,
        waiting,
        signal: gone.signal,
        attach: (channel) => stream.onClose(channel.attach(chatProtocol(options), stream)),
      });
      return stream;
    },
  }),
];

/** @throws Invalid when the service runs without a configuration store */
const assistantOf = ({ assistant }: Pick<Rooms, 'assistant'>): NonNullable<Rooms['assistant']> => {
  if (!assistant) throw new Invalid('config management API not enabled');
  return assistant;
};
