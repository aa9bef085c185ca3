import type { Test } from 'tap';
import type { AppInput } from '../../../src/composition/input.ts';
import { createTroupe } from '../../../src/index.ts';
import type { InferenceRequest } from '../../../src/models/model.ts';
import { definePlugin } from '../../../src/plugins/define.ts';
import type { Plugin, PluginParts } from '../../../src/plugins/plugin.ts';
import { textOf } from '../../../src/schema/message.ts';
import { type EntriesInput, entriesFrom, type SettingsInput } from '../../../src/settings/index.ts';
import { asks, type Call, type Inference } from '../models.ts';
import { ADMIN_TOKEN, type RunEventLike, startDemo, type Troupe } from '../troupe.ts';

/** Services with agents defined by a test, and readers of their runs and requests. */

type Own = EntriesInput &
  Pick<AppInput, 'tools' | 'plugins' | 'clock'> & { settings?: Omit<SettingsInput, 'entries'> };

/** Starts the test service with these entries over its seeded ones. Model `steps` executes `models.steps`. */
export const startWith = (
  t: Test,
  { tools, plugins, clock, settings, ...entries }: Own = {},
): Promise<Troupe> =>
  startDemo(t, {
    ...(settings && { settings }),
    app: {
      records: entriesFrom(entries),
      ...(tools && { tools }),
      ...(plugins && { plugins }),
      ...(clock && { clock }),
    },
  });

/** The error of a service that fails to start with these entries. */
export const refusalOf = async (
  t: Test,
  { settings, ...config }: Parameters<typeof createTroupe>[0] = {},
): Promise<string> => {
  try {
    const troupe = await createTroupe({
      settings: {
        http_addr: '127.0.0.1:0',
        storage_dir: t.testdir(),
        seed: { profile: 'demo' },
        AdminApiConfig: { bearer_token: ADMIN_TOKEN },
        ...settings,
      },
      ...config,
    });
    await troupe.stop();
    return 'it started';
  } catch (error) {
    return String(error);
  }
};

export const say = (agentId: string, content = 'Hello', threadId?: string) => ({
  agentId,
  ...(threadId !== undefined && { threadId }),
  messages: [{ role: 'user', content }],
});

export const says =
  (text: string): Inference =>
  (sink) => {
    sink.text(text);
    return { stop: 'EndTurn', usage: { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 } };
  };

export const types = (events: readonly RunEventLike[]): string[] =>
  events.map(({ event_type }) => event_type);

export const only = (events: readonly RunEventLike[], type: string): RunEventLike[] =>
  events.filter(({ event_type }) => event_type === type);

/** The streamed text of the run. */
export const textIn = (events: readonly RunEventLike[]): string =>
  only(events, 'text_delta')
    .map(({ delta }) => delta)
    .join('');

export const endOf = (events: readonly RunEventLike[]): RunEventLike => {
  const last = events.at(-1);
  if (last?.event_type !== 'run_finish') throw new Error(`no run_finish at the end: ${types(events)}`);
  return last;
};

/** The results of the calls, as they were streamed. */
export const resultsIn = (events: readonly RunEventLike[]): unknown[] =>
  only(events, 'tool_call_done').map(({ result }) => result);

/** Requests that the models received, oldest first. */
export const requestsOf = ({ models }: Troupe): InferenceRequest[] =>
  models.requests.map(({ request }) => request);

/** Lines `role: text` of the messages in a request. */
export const seenIn = (request: InferenceRequest | undefined): string[] =>
  (request?.messages ?? []).map(({ role, content }) => `${role}: ${textOf(content)}`);

export const toolsIn = (request: InferenceRequest | undefined): string[] =>
  (request?.tools ?? []).map(({ id }) => id);

/** The extensions of the last state snapshot in the stream. */
export const stateIn = (events: readonly RunEventLike[]): Record<string, unknown> => {
  const shown = only(events, 'state_snapshot').at(-1)?.snapshot;
  // A state_snapshot has this shape (agent-loop.md 13).
  return (shown as { extensions: Record<string, unknown> }).extensions;
};

/** A run that makes the calls, one per step, and then completes with `done`. */
export const runCalls = async (troupe: Troupe, ...calls: Call[]) => {
  troupe.models.requests.length = 0;
  troupe.models.steps.push(...calls.map((call) => asks(call)), says('done'));
  const events = await troupe.runToEnd(say('own', 'x', 'T'));
  return { events, results: resultsIn(events), requests: requestsOf(troupe) };
};

/** Upstream names of the models that completed inferences. */
export const modelsIn = (events: readonly RunEventLike[]): unknown[] =>
  only(events, 'inference_complete').map(({ model }) => model);

export const pluginOf = (id: string, parts: PluginParts): Plugin => definePlugin({ id, create: () => parts });

/** The agent `own` with these plugins. */
export const ownAgent = (...plugin_ids: string[]): EntriesInput['agents'] => [
  { id: 'own', model_id: 'steps', plugin_ids },
];
