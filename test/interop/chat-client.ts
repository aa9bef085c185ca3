import {
  AbstractChat,
  type ChatInit,
  type ChatState,
  type ChatStatus,
  DefaultChatTransport,
  type UIMessage,
} from 'ai';
import type { Troupe } from '../service/troupe.ts';

/** The official chat client with its stock transport, and what it keeps of a conversation. */

const createState = (messages: UIMessage[]): ChatState<UIMessage> => {
  const state: ChatState<UIMessage> = {
    messages,
    status: 'ready' as ChatStatus,
    error: undefined,
    pushMessage(message) {
      state.messages = [...state.messages, message];
    },
    popMessage() {
      state.messages = state.messages.slice(0, -1);
    },
    replaceMessage(index, message) {
      state.messages = state.messages.with(index, state.snapshot(message));
    },
    snapshot: (value) => structuredClone(value),
  };
  return state;
};

class Client extends AbstractChat<UIMessage> {}

export type ClientOptions = Pick<
  ChatInit<UIMessage>,
  'sendAutomaticallyWhen' | 'onToolCall' | 'onFinish' | 'messages'
> & {
  /** Stands between the client and the network. */
  fetch?: typeof fetch;
};

export type Session = {
  chat: Client;
  /** How many requests of each method the client has sent. */
  requests: string[];
};

/** A tab of the browser: `id` is that of its chat, and so of its thread. */
export const openTab = (
  troupe: Pick<Troupe, 'url'>,
  id: string,
  agentId: string,
  options: ClientOptions = {},
): Session => {
  const { fetch: send = fetch, messages = [], ...init } = options;
  const requests: string[] = [];
  const chat = new Client({
    ...init,
    id,
    state: createState(messages),
    transport: new DefaultChatTransport({
      api: `${troupe.url}/v1/ai-sdk/chat`,
      body: { agentId },
      fetch: (input, request) => {
        requests.push(request?.method ?? 'GET');
        return send(input, request);
      },
    }),
  });
  return { chat, requests };
};

type Part = UIMessage['parts'][number];

/** The parts of a message that are no data of the service, without what the client notes for itself. */
export const partsOf = (message: UIMessage | undefined): Part[] =>
  (message?.parts ?? []).filter(({ type }) => type !== 'step-start' && !type.startsWith('data-'));

export const textOf = (message: UIMessage | undefined): string =>
  partsOf(message)
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('');

/** A connection that breaks when the test says so, as when a network goes. */
export const breakable = (): { fetch: typeof fetch; break(): void } => {
  let fail = (): void => {};
  return {
    async fetch(input, request) {
      const response = await fetch(input, request);
      const reader = response.body?.getReader();
      if (!reader) return response;
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          fail = () => {
            controller.error(new TypeError('network error'));
            reader.cancel().catch(() => {});
          };
          const pump = async (): Promise<void> => {
            for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read())
              controller.enqueue(chunk.value);
            controller.close();
          };
          // Once it is broken nothing can be handed on any more.
          pump().catch(() => {});
        },
      });
      return new Response(body, { status: response.status, headers: response.headers });
    },
    break: () => fail(),
  };
};
