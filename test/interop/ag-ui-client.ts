import {
  type Interrupt,
  type Message,
  HttpAgent as NewAgent,
  type ResumeEntry,
  type Tool,
} from '@ag-ui/client';
import { HttpAgent as OldAgent } from 'ag-ui-client-0';
import { quietly } from '../protocols/ag-ui/client.ts';

/** The official clients, used against a service like in an application. */

export const VERSIONS = [
  ['@ag-ui/client 1', NewAgent],
  ['@ag-ui/client 0.0.58', OldAgent],
] as const;

export type Version = (typeof VERSIONS)[number][1];

export type Ran = {
  result: unknown;
  /** Messages that the run has added to the conversation. */
  added: Message[];
  /** The error of the run or of the client, if any. */
  error: string | undefined;
};

type Ask = { tools?: Tool[]; context?: { description: string; value: string }[]; resume?: ResumeEntry[] };

export type Conversation = {
  messages(): Message[];
  state(): unknown;
  interrupts(): Interrupt[];
  add(message: Message): void;
  run(ask?: Ask): Promise<Ran>;
  /** Adds a user message and runs. */
  say(id: string, content: string, ask?: Ask): Promise<Ran>;
  /** Resolves when the client has received text of the completion. */
  text(): Promise<void>;
  abort(): void;
};

export const converse = (
  Agent: Version,
  url: string,
  threadId = 'T',
  messages: Message[] = [],
): Conversation => {
  // The messages of both versions are identical in these tests.
  const agent = new Agent({ url, threadId, initialMessages: messages as never[] });
  const held = (): Message[] => structuredClone(agent.messages) as Message[];
  let sawText = (): void => {};
  const conversation: Conversation = {
    messages: held,
    state: () => agent.state,
    interrupts: () => agent.pendingInterrupts,
    add: (message) => agent.addMessage(message as never),
    async run(ask = {}) {
      let failure: string | undefined;
      const { result, error = failure } = await quietly(async () => ({
        result: await agent.runAgent(ask, {
          onTextMessageContentEvent: () => sawText(),
          onRunErrorEvent: ({ event }) => {
            failure = event.message;
          },
        }),
      }));
      // The result of `runAgent`.
      const ran = result as { result: unknown; newMessages: Message[] } | undefined;
      return { result: ran?.result, added: ran?.newMessages ?? [], error };
    },
    say(id, content, ask) {
      conversation.add({ id, role: 'user', content });
      return conversation.run(ask);
    },
    text: () =>
      new Promise((resolve) => {
        sawText = resolve;
      }),
    abort: () => agent.abortRun(),
  };
  return conversation;
};

/** The items of the message list, as messages of the client. */
export const messagesFrom = (
  items: readonly {
    id: string;
    role: string;
    content: readonly { [key: string]: unknown }[];
    toolCalls?: unknown;
    toolCallId?: string;
  }[],
): Message[] =>
  // Each item has the keys of the message of its role.
  items.map(({ content, ...item }) => ({
    ...item,
    content: content.map(({ text = '' }) => text).join(''),
  })) as Message[];
