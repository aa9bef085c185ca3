import { DefaultChatTransport, isToolUIPart, readUIMessageStream, type UIMessage } from 'ai';
import type { Test } from 'tap';
import type { InferenceRequest, Provider } from '../../src/models/model.ts';
import { createLog } from '../../src/observability/log.ts';
import { textOf } from '../../src/schema/message.ts';
import type { SettingsInput } from '../../src/settings/index.ts';
import { asks, type Inference } from '../service/models.ts';
import { ADMIN_TOKEN, startTroupe } from '../service/troupe.ts';

/** A service whose admin assistant answers as the test scripts it, and the official chat client for it. */

export const CONFIG = '/v1/admin/assistant/config';
export const RUNS = '/v1/admin/assistant/runs';
export const SECRET = 'sk-very-secret';

export const says =
  (text: string): Inference =>
  (sink) => {
    sink.text(text);
    return { stop: 'EndTurn' };
  };

/** The model of the assistant: the first id among those that are not scripted. */
export const MODEL = 'echo';

export const startAssistant = async (t: Test, { settings = {} }: { settings?: SettingsInput } = {}) => {
  const steps: Inference[] = [];
  const requests: InferenceRequest[] = [];
  const lines: string[] = [];
  const provider: Provider = {
    id: 'test',
    model: (spec) => ({
      id: spec.id,
      provider: 'test',
      upstream: 'm',
      async stream(request, sink, signal) {
        requests.push(request);
        return (steps.shift() ?? says('nothing more'))(sink, request, signal);
      },
    }),
  };
  const other = { id: 'other', adapter: 'openai', api_key: SECRET };
  const { url } = await startTroupe(t, {
    settings: { mailbox: { max_attempts: 1 }, ...settings },
    app: {
      providers: [provider],
      records: { providers: [other], models: [], model_pools: [], agents: [] },
      log: createLog({ level: 'info', destination: { write: (line) => lines.push(line) } }),
    },
  });
  const authorization = `Bearer ${ADMIN_TOKEN}`;
  const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    fetch(url + path, {
      method,
      headers: { authorization, 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  const answer = async (method: string, path: string, body?: unknown, headers?: Record<string, string>) => {
    const response = await send(method, path, body, headers);
    const text = await response.text();
    const json: unknown = text === '' ? undefined : JSON.parse(text);
    return { status: response.status, body: json };
  };
  const transport = new DefaultChatTransport<UIMessage>({ api: url + RUNS, headers: { authorization } });
  /** The conversation after the answer of the assistant. */
  const chat = async (messages: UIMessage[]): Promise<UIMessage[]> => {
    const last = messages.at(-1);
    const goesOn = last?.role === 'assistant' ? last : undefined;
    const stream = await transport.sendMessages({
      chatId: 'chat',
      messages,
      trigger: 'submit-message',
      messageId: goesOn?.id,
      abortSignal: undefined,
    });
    let message: UIMessage | undefined;
    const onError = (error: unknown): never => {
      throw error;
    };
    for await (const state of readUIMessageStream({ stream, onError, ...(goesOn && { message: goesOn }) }))
      message = state;
    if (!message) throw new Error('there was no answer');
    return [...messages.filter(({ id }) => id !== message.id), message];
  };
  return {
    steps,
    requests,
    send,
    answer,
    chat,
    /** The history that the model received in its last inference. */
    heard: (): string[] =>
      (requests.at(-1)?.messages ?? []).map(({ role, content }) => `${role}: ${textOf(content)}`),
    exists: async (agent: string) => (await answer('GET', `/v1/config/agents/${agent}`)).status === 200,
    audited: async (resource: string) => (await answer('GET', `/v1/audit-log?resource=${resource}`)).body,
    /** Log lines about calls of the assistant. */
    logged: (): Record<string, unknown>[] =>
      lines.map((line) => JSON.parse(line)).filter(({ agent_id }) => agent_id === '__admin_assistant'),
  };
};

export const user = (text: string): UIMessage => ({
  id: `u-${text}`,
  role: 'user',
  parts: [{ type: 'text', text }],
});

/** The model asks to create this agent. */
export const wants = asks(['c1', 'admin_create_agent', { intent: 'count things', id: 'counter' }]);

export const toolPart = (messages: UIMessage[]) => {
  const part = messages.at(-1)?.parts.find(isToolUIPart);
  if (!part) throw new Error('there is no call');
  return part;
};

/** The response that the client sends after the user has pressed a button. */
export const respond = (messages: UIMessage[], approved: boolean): UIMessage[] =>
  messages.map((message) => ({
    ...message,
    parts: message.parts.map((part) =>
      isToolUIPart(part) && part.state === 'approval-requested'
        ? { ...part, state: 'approval-responded', approval: { id: part.approval.id, approved } }
        : part,
    ),
  }));
