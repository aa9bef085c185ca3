import {
  AbstractChat,
  type ChatInit,
  type ChatState,
  type ChatStatus,
  DefaultChatTransport,
  type UIMessage,
} from 'ai';
import type { Troupe } from '../service/troupe.ts';

/** The official chat client with its stock transport and its conversation state. */

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
  /** Replaces the network access of the client. */
  fetch?: typeof fetch;
};

export type Session = {
  chat: Client;
  /** The methods of the requests that the client has sent. */
  requests: string[];
};

/** A browser tab: `id` is that of its chat, and so of its thread. */
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

/** The parts of a message without data of the service and markers of the client. */
export const partsOf = (message: UIMessage | undefined): Part[] =>
  (message?.parts ?? []).filter(({ type }) => type !== 'step-start' && !type.startsWith('data-'));

export const textOf = (message: UIMessage | undefined): string =>
  partsOf(message)
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('');

/** A connection that the test can break, like a failing network. */
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
          // Nothing can be forwarded after the break.
          pump().catch(() => {});
        },
      });
      return new Response(body, { status: response.status, headers: response.headers });
    },
    break: () => fail(),
  };
};
