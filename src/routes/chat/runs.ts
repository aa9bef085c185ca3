import { eventStream } from '../../http/described.ts';
import type { Route } from '../../http/route.ts';
import type { EventStream } from '../../http/sse.ts';
import type { ResolvedAgent } from '../../loop/agent.ts';
import { UiMessageChunk } from '../../protocols/ai-sdk/chunks.ts';
import { decodeChat } from '../../protocols/ai-sdk/decode.ts';
import { chatReplay } from '../../protocols/ai-sdk/replay.ts';
import { ChatBody } from '../../protocols/ai-sdk/request.ts';
import { toDescriptor } from '../../protocols/frontend-tool.ts';
import { newMessages } from '../../protocols/new-messages.ts';
import { checkedOutputSchema } from '../../schema/output.ts';
import { createAddressing } from '../addressing.ts';
import { type Client, runRoutes, startsRun, submitRequest } from '../protocol-runs.ts';
import type { RouteDeps } from '../route-deps.ts';
import { createRunAgain } from '../run-again.ts';
import { CHAT_HEADERS, createAnswer } from './answer.ts';
import { createRepeat, type Repeated } from './repeat.ts';

/** The routes that start or continue a run in the chat protocol (chat-and-agui.md 3). */

export const chatStart = startsRun(
  'chat v6',
  ChatBody,
  eventStream(UiMessageChunk, 'UI message chunks of the AI SDK, version 6, until `finish`'),
);

export const chatRunRoutes = (deps: RouteDeps): Route[] =>
  runRoutes({ root: '/v1/ai-sdk/chat', under: '/v1/ai-sdk', name: 'Chat' }, chatStart, {
    run: createChatRun(deps),
    again: createRunAgain(deps, chatReplay, CHAT_HEADERS),
  });

/** `draft` replaces the named agent. */
export type ChatRun = (client: Client, body: ChatBody, draft?: ResolvedAgent) => Promise<EventStream>;

export const createChatRun = (deps: RouteDeps): ChatRun => {
  const { threadOf, agentFor, readingOf } = createAddressing(deps);
  const repeatAnswer = createRepeat(deps);
  return async (client, body, draft) => {
    const thread = threadOf(client.principal, body.thread_id);
    const { scope, id: thread_id } = thread;
    const output_schema = checkedOutputSchema(body.output_schema);
    const agent = draft ?? (await agentFor(client.principal, thread, body.agent_id));
    const named = body.agent_id === undefined ? undefined : agent.spec.id;
    const reading = readingOf(client.principal, thread, named);
    const answer = createAnswer(deps, { scope, thread_id, continues: body.continues, reading });
    let repeated: Repeated | undefined;
    try {
      const isSubmitted = await submitRequest(deps, {
        ...client,
        thread,
        agent,
        named: body.agent_id !== undefined,
        adapter: 'ai_sdk',
        read(view) {
          const request = decodeChat(body, view);
          if (request.kind === 'repeated')
            repeated = { ...request, executes: view.executes === request.run.run_id };
          if (request.kind !== 'input') return undefined;
          const { messages, decisions, rewind } = request;
          // A rewind removes the open run together with its pending tickets.
          const seen = rewind ? { ...view, run_id: undefined, tickets: [], going: [] } : view;
          return {
            messages,
            decisions,
            roles: newMessages(body.messages, view.has).map(({ role }) => role),
            attach: answer.attachTo(seen, decisions),
            ...(rewind && { rewind }),
            output_schema,
            ...(body.tools && { frontend_tools: body.tools.map(toDescriptor) }),
          };
        },
      });
      if (repeated) await repeatAnswer(answer.stream, scope, body, repeated);
      else if (!isSubmitted) answer.stream.end();
    } catch (error) {
      answer.giveUp();
      throw error;
    }
    return answer.stream;
  };
};
