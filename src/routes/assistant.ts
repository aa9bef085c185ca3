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
import { identifyCaller } from './caller.ts';
import type { RouteDeps } from './route-deps.ts';

/** Settings and runs of the admin assistant, in the chat protocol (config.md 11). */

const admin = { tag: 'admin assistant', needs: 'admin' } as const;

const HEADERS = { 'x-vercel-ai-ui-message-stream': 'v1' };

export const assistantRoutes = (deps: Pick<RouteDeps, 'assistant' | 'ids'>) => [
  route.get('/v1/admin/assistant/config', {
    ...admin,
    id: 'getAssistantConfig',
    summary: 'Settings of the admin assistant',
    description: 'With the revision that an update must name.',
    responses: { 200: AssistantConfig },
    handle: () => assistantOf(deps).settings.get(),
  }),
  route.put('/v1/admin/assistant/config', {
    ...admin,
    id: 'saveAssistantConfig',
    summary: 'Update the settings of the admin assistant',
    description: '409 when the revision is not the current one.',
    headers: ['X-Service-Actor'],
    body: AssistantConfigInput,
    responses: { 200: AssistantConfig, 409: ErrorBody },
    handle: ({ body, ...request }) => assistantOf(deps).settings.save(body, identifyCaller(request)),
  }),
  route.post('/v1/admin/assistant/runs', {
    ...admin,
    id: 'runAssistant',
    summary: 'Send a conversation to the admin assistant',
    description:
      'The request contains the whole conversation, which is not stored. The run ends when the client disconnects. A call that changes the configuration waits for an approval in the conversation.',
    body: ChatBody,
    bodyLimit: 'attachments',
    responses: {
      200: eventStream(UiMessageChunk, 'UI message chunks of the AI SDK, version 6, until `finish`'),
      409: ErrorBody,
    },
    handle({ scope, body, ...request }) {
      const session = assistantOf(deps).open(identifyCaller(request));
      const { messages, waiting, options } = readTranscript(body, deps.ids.uuid);
      const thread_id =
        body.thread_id === undefined ? deps.ids.uuid() : checkNewId('thread', 'thread_id', body.thread_id);
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
const assistantOf = ({ assistant }: Pick<RouteDeps, 'assistant'>): NonNullable<RouteDeps['assistant']> => {
  if (!assistant) throw new Invalid('config management API not enabled');
  return assistant;
};
