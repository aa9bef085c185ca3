import { startApp, type App as Troupe } from '../app.ts';
import { appInput, type TroupeConfig } from '../embedding/config.ts';
import { createScratchFolder } from '../processes/scratch-folder.ts';
import { settingsFrom } from '../settings/index.ts';
import { type Decision, decide, type RunInput, type Send, startRun } from './requests.ts';
import type { OpenRun, TestRun } from './run.ts';
import { type ScriptedModel, scriptedModel } from './scripted-model.ts';

/** A service for one test: real except for its models, on a free port, with a temporary folder. */

/**
 * Options of `startTestTroupe`: those of `createTroupe`, with the scripted models of the test.
 *
 * @example
 * ```ts
 * const options: TestTroupeOptions = {
 *   model: scriptedModel(['Hello, Ada.']),
 *   agents: [{ id: 'greeter', system_prompt: 'Greet the user.' }],
 * };
 * ```
 */
export type TestTroupeOptions = TroupeConfig & {
  /**
   * Default: a model with an empty script. Agents without a `model_id` use the first of several models. Without
   * `agents`, there is one called `test`, with all tools, which does not repeat failed inferences.
   */
  model?: ScriptedModel | readonly ScriptedModel[];
  /** Headers of all requests of `run`, `start` and `decide`, for scope providers that read them. */
  headers?: Record<string, string>;
};

/**
 * A running service of a test.
 *
 * @example
 * ```ts
 * await using troupe = await startTestTroupe({ model: scriptedModel(['Hello']) });
 * const health = await fetch(`${troupe.url}/health`);
 * const info = await fetch(`${troupe.url}/v1/system/info`, { headers: troupe.admin });
 * ```
 */
export type TestTroupe = AsyncDisposable & {
  /** The result of `createTroupe`; a restart replaces it. */
  readonly app: Troupe;
  /** Address of the service. */
  readonly url: string;
  /** Headers for routes that require the admin token. */
  readonly admin: { readonly authorization: string };
  /** Runs an agent until it ends or waits. */
  run(input: string | RunInput): Promise<TestRun>;
  /** Starts an agent and returns its live events. */
  start(input: string | RunInput): Promise<OpenRun>;
  /** Decides a pending call; resolves with the whole run up to its next wait or its end. */
  decide(run: TestRun, callId: string, decision?: Decision): Promise<TestRun>;
  /** Restarts the service with its stored data. */
  restart(): Promise<void>;
  /** Stops the service and deletes its data; the end of an `await using` does the same. */
  stop(): Promise<void>;
};

const TOKEN = 'test';

const SETTINGS = {
  http_addr: '127.0.0.1:0',
  durability: 'process',
  shutdown_timeout_ms: 0,
  // A model failure must fail the run: the next scripted turn is not meant for another attempt.
  mailbox: { max_attempts: 1 },
  // A run that continues after a decision reports the same events as a new one.
  event_capture_mode: 'full_fidelity',
  AdminApiConfig: { bearer_token: TOKEN },
} as const;

/**
 * Starts a service for a test: real except for its models, on a free port, with a temporary folder.
 *
 * @throws as `createTroupe` does
 * @example
 * ```ts
 * import assert from 'node:assert/strict';
 * import { defineTool } from 'troupe';
 * import { z } from 'zod';
 *
 * const add = defineTool({
 *   id: 'add',
 *   description: 'Adds two numbers.',
 *   input: z.object({ a: z.number(), b: z.number() }),
 *   execute: ({ a, b }) => a + b,
 * });
 * const model = scriptedModel([{ calls: [{ tool: 'add', args: { a: 2, b: 3 } }] }, 'It is 5.']);
 * await using troupe = await startTestTroupe({ tools: [add], model });
 * const run = await troupe.run('What is 2 + 3?');
 * assert.deepEqual(run.calls[0]?.result, 5);
 * assert.equal(run.text, 'It is 5.');
 * ```
 */
export const startTestTroupe = async (options: TestTroupeOptions = {}): Promise<TestTroupe> => {
  const { headers = {}, ...config } = configOf(options);
  const { dir: folder, remove } = await createScratchFolder('test');
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
    // The log is discarded unless the test provides one.
    log: { write: () => {} },
    ...rest,
    settings: { ...SETTINGS, ...rest.settings },
    providers: [...models.map(({ provider }) => provider), ...(rest.providers ?? [])],
    models: [...models.map(({ entry }) => entry), ...(rest.models ?? [])],
    agents: agents.map((agent) =>
      // A remote agent uses the model of its service.
      agent.endpoint === undefined ? { ...agent, model_id: agent.model_id ?? first.id } : agent,
    ),
  } satisfies TestTroupeOptions;
};
