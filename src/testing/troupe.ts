import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type App, startApp } from '../app.ts';
import { appInput, type TroupeConfig } from '../config.ts';
import type { RunEvent } from '../schema/run-event.ts';
import { settingsFrom } from '../settings.ts';
import { framesOf, type OpenRun, openRun, type TestRun } from './run.ts';
import { type ScriptedModel, scriptedModel } from './scripted-model.ts';

/** A service for one test: real in everything but its models, on a free port, with a folder that goes with it. */

export type TestTroupeOptions = TroupeConfig & {
  /**
   * Default: one that has nothing to say. Of several, agents have the first that name none. Without `agents` there is
   * one called `test`, with all tools, which does not repeat failed inferences.
   */
  model?: ScriptedModel | readonly ScriptedModel[];
};

export type RunInput = {
  /** What the user says. */
  message: string;
  /** Default: the first agent. */
  agent?: string;
  /** Goes on with this thread; default: a new one. */
  thread?: string;
};

export type Decision = {
  action?: 'resume' | 'cancel';
  /** What the call gets; `{ approved: true }` where a permission is asked for, which is the default. */
  payload?: unknown;
};

export type TestTroupe = AsyncDisposable & {
  /** As of `createTroupe`; after a restart it is another. */
  readonly url: string;
  /** As of `createTroupe`. */
  readonly pending: App['pending'];
  /** For routes that take the admin token. */
  readonly admin: { readonly authorization: string };
  /** Runs an agent to its end, or until it waits for somebody. */
  run(input: string | RunInput): Promise<TestRun>;
  /** The same, with its events as they come. */
  start(input: string | RunInput): Promise<OpenRun>;
  /** Decides a call that a run waits with; resolves with all of the run up to its next wait or its end. */
  decide(run: TestRun, callId: string, decision?: Decision): Promise<TestRun>;
  /** Stops the service and starts it again with what it has stored. */
  restart(): Promise<void>;
  /** Stops it and removes what it has stored; so does the end of an `await using`. */
  stop(): Promise<void>;
};

const TOKEN = 'test';

const SETTINGS = {
  http_addr: '127.0.0.1:0',
  durability: 'process',
  shutdown_timeout_ms: 0,
  // A failure of a model is that of the run: what the script says next is not taken for another attempt.
  mailbox: { max_attempts: 1 },
  // So that a run that goes on after a decision tells as much as one that begins.
  event_capture_mode: 'full_fidelity',
  AdminApiConfig: { bearer_token: TOKEN },
} as const;

/**
 * Starts a service for a test.
 *
 * @throws as `createTroupe` does
 * @example
 * const model = scriptedModel([{ calls: [{ tool: 'add', args: { a: 2, b: 3 } }] }, 'It is 5.']);
 * await using troupe = await startTestTroupe({ tools: [add], model });
 * const run = await troupe.run('What is 2 + 3?');
 * assert.deepEqual(run.calls[0]?.result, 5);
 * assert.equal(run.text, 'It is 5.');
 */
export const startTestTroupe = async (options: TestTroupeOptions = {}): Promise<TestTroupe> => {
  const config = configOf(options);
  const folder = await mkdtemp(join(tmpdir(), 'troupe-test-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  const start = (): Promise<App> =>
    startApp(appInput(config, settingsFrom({ storage_dir: folder, ...config.settings })));
  let app = await start().catch(async (error) => {
    await remove();
    throw error;
  });
  let stopping: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    await app.stop();
    await remove();
  };
  const [first] = config.agents ?? [];
  const open = (input: string | RunInput) => startRun(app.url, first?.id, input);

  const troupe: TestTroupe = {
    get url() {
      return app.url;
    },
    get pending() {
      return app.pending;
    },
    admin: { authorization: `Bearer ${config.settings?.AdminApiConfig?.bearer_token ?? TOKEN}` },
    start: open,
    run: async (input) => (await open(input)).end(),
    decide: (run, callId, decision) => decide(app.url, run, callId, decision),
    async restart() {
      await app.stop();
      app = await start();
    },
    stop() {
      stopping ??= stop();
      return stopping;
    },
    [Symbol.asyncDispose]: () => troupe.stop(),
  };
  return troupe;
};

const NO_RETRY = { max_retries: 0, max_stream_retries: 0 };

const DEFAULT_AGENTS: NonNullable<TroupeConfig['agents']> = [{ id: 'test', sections: { retry: NO_RETRY } }];

const configOf = ({ model = scriptedModel([]), agents = DEFAULT_AGENTS, ...rest }: TestTroupeOptions) => {
  const models = 'provider' in model ? [model] : model;
  const [first = scriptedModel([])] = models;
  return {
    // What the service has to tell is for whoever asks for it.
    log: { write: () => {} },
    ...rest,
    settings: { ...SETTINGS, ...rest.settings },
    providers: [...models.map(({ provider }) => provider), ...(rest.providers ?? [])],
    models: [...models.map(({ entry }) => entry), ...(rest.models ?? [])],
    agents: agents.map((agent) =>
      // One that runs elsewhere has the model of that place.
      agent.endpoint === undefined ? { ...agent, model_id: agent.model_id ?? first.id } : agent,
    ),
  } satisfies TroupeConfig;
};

const post = (url: string, body: object): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

const startRun = async (
  url: string,
  agentId: string | undefined,
  input: string | RunInput,
): Promise<OpenRun> => {
  const { message, agent = agentId, thread } = typeof input === 'string' ? { message: input } : input;
  const body = { agentId: agent, threadId: thread, messages: [{ role: 'user', content: message }] };
  return openRun(runEvents(await post(`${url}/v1/runs`, body)));
};

async function* runEvents(response: Response): AsyncGenerator<RunEvent, void> {
  // The service says of this stream in its API description that these are its frames.
  for await (const frame of framesOf(response)) yield frame as RunEvent;
}

const decide = async (
  url: string,
  { id, events }: TestRun,
  callId: string,
  decision: Decision = {},
): Promise<TestRun> => {
  const { action = 'resume', payload = { approved: action === 'resume' } } = decision;
  const run = `${url}/v1/runs/${encodeURIComponent(id)}`;
  const log = await fetch(`${run}/events/stream`);
  const answer = await post(`${run}/decision`, { toolCallId: callId, action, payload });
  if (!answer.ok) {
    await log.body?.cancel();
    throw new Error(`the decision on '${callId}' is refused: ${await answer.text()}`);
  }
  await answer.arrayBuffer();
  return openRun(loggedEvents(log), events).end();
};

/** The events of a run as they stand in its log, up to its next end or wait. */
async function* loggedEvents(response: Response): AsyncGenerator<RunEvent, void> {
  for await (const frame of framesOf(response)) {
    // The same for the log; the payload of an event of a run is what its stream has.
    const { event_kind, payload } = frame as { event_kind: string; payload: RunEvent };
    if (event_kind === 'ToolPermissionRequested' || !('event_type' in payload)) continue;
    yield payload;
    if (payload.event_type === 'run_finish') return;
  }
}
