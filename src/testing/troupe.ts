import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApp, type App as Troupe } from '../app.ts';
import { appInput, type TroupeConfig } from '../config.ts';
import { settingsFrom } from '../settings.ts';
import { type Decision, decide, type RunInput, type Send, startRun } from './requests.ts';
import type { OpenRun, TestRun } from './run.ts';
import { type ScriptedModel, scriptedModel } from './scripted-model.ts';

/** A service for one test: real in everything but its models, on a free port, with a folder that goes with it. */

export type TestTroupeOptions = TroupeConfig & {
  /**
   * Default: one that has nothing to say. Of several, agents have the first that name none. Without `agents` there is
   * one called `test`, with all tools, which does not repeat failed inferences.
   */
  model?: ScriptedModel | readonly ScriptedModel[];
  /** Of all requests of `run`, `start` and `decide`, for who resolves scopes by them. */
  headers?: Record<string, string>;
};

export type TestTroupe = AsyncDisposable & {
  /** What `createTroupe` gives. After a restart it is another. */
  readonly app: Troupe;
  readonly url: string;
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
  const { headers = {}, ...config } = configOf(options);
  const folder = await mkdtemp(join(tmpdir(), 'troupe-test-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  const start = () => startApp(appInput(config, settingsFrom({ storage_dir: folder, ...config.settings })));
  let app = await start().catch(async (error) => {
    await remove();
    throw error;
  });
  let stopping: Promise<void> | undefined;
  const agent = config.agents[0]?.id;
  const send: Send = (path, init) =>
    app.fetch(new Request(`http://troupe.test${path}`, withHeaders(init, headers)));

  const troupe: TestTroupe = {
    get app() {
      return app;
    },
    get url() {
      return app.url;
    },
    admin: { authorization: `Bearer ${config.settings.AdminApiConfig.bearer_token ?? TOKEN}` },
    start: (input) => startRun(send, agent, input),
    run: async (input) => (await troupe.start(input)).end(),
    decide: (run, callId, decision) => decide(send, run, callId, decision),
    async restart() {
      await app.stop();
      app = await start();
    },
    stop() {
      stopping ??= app.stop().then(remove);
      return stopping;
    },
    [Symbol.asyncDispose]: () => troupe.stop(),
  };
  return troupe;
};

const withHeaders = (init: RequestInit = {}, headers: Record<string, string>): RequestInit => ({
  ...init,
  headers: { 'content-type': 'application/json', ...headers },
});

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
  } satisfies TestTroupeOptions;
};
