import type { Test } from 'tap';
import type { App } from '../../src/app.ts';
import type { AppInput } from '../../src/composition/input.ts';
import { createLog } from '../../src/observability/log.ts';
import { type Settings, type SettingsInput, settingsFrom } from '../../src/settings/index.ts';
import { starterOf } from '../cluster/pair.ts';
import { HTTP_SERVER } from '../http/listener.ts';
import { ask, type Got } from './http.ts';
import { createTestModels, type TestModels } from './models.ts';
import { readBlocks } from './stream.ts';

/** A real service on a free port with its own data directory, and a client for tests. */

export const ADMIN_TOKEN = 'admin-token-of-the-tests';

export type Answer<Body = Record<string, unknown>> = { status: number; headers: Headers; body: Body };

export type RunEventLike = { event_type: string; [key: string]: unknown };

/** A client of a service in any process. */
export type Client = {
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  admin(method: string, path: string): Promise<Answer>;
  post(path: string, body?: unknown): Promise<Answer>;
  /** Starts a run; events are received as they are read. */
  run(body: object): Promise<RunStream>;
  /** Starts a run and reads it to the end. */
  runToEnd(body: object): Promise<RunEventLike[]>;
};

export type Troupe = Client & {
  url: string;
  app: App;
  models: TestModels;
  /** Stops the service and starts another one on the same data directory, with these entries changed. */
  restart(entries?: Partial<Settings['entries']>): Promise<void>;
};

export type RunStream = {
  status: number;
  headers: Headers;
  /** Undefined once the stream has ended. */
  next(): Promise<RunEventLike | undefined>;
  /** Reads up to and including the first event of this type. */
  until(type: string): Promise<RunEventLike>;
  rest(): Promise<RunEventLike[]>;
  raw(): string;
  close(): Promise<void>;
};

export type TroupeOptions = {
  settings?: SettingsInput;
  app?: Partial<AppInput>;
};

export const startTroupe = async (t: Test, options: TroupeOptions = {}): Promise<Troupe> => {
  const dir = t.testdir();
  const models = createTestModels();
  const settings = settingsFrom({
    http_addr: '127.0.0.1:0',
    http_server: HTTP_SERVER,
    storage_dir: dir,
    durability: 'process',
    shutdown_timeout_ms: 0,
    AdminApiConfig: { bearer_token: ADMIN_TOKEN },
    ...options.settings,
    entries: models.entries,
  });
  const log = createLog({ level: 'silent' });
  const startService = starterOf(t);
  const start = (entries: Partial<Settings['entries']> = {}) =>
    startService({
      settings: { ...settings, entries: { ...settings.entries, ...entries } },
      log,
      providers: [models.provider],
      ...options.app,
    });
  let service = await start();
  t.teardown(async () => {
    models.releaseAll();
    await service.stop();
  });

  return {
    ...clientOf(() => service.url),
    get url() {
      return service.url;
    },
    get app() {
      return service.app;
    },
    models,
    async restart(entries) {
      await service.stop();
      service = await start(entries);
    },
  };
};

/** Like `startTroupe`, with the agents and tools of the demo, which take half of the startup time. */
export const startDemo = (t: Test, { settings, ...options }: TroupeOptions = {}): Promise<Troupe> =>
  startTroupe(t, { ...options, settings: { seed: { profile: 'demo' }, ...settings } });

export const clientOf = (url: () => string): Client => {
  const client: Client = {
    async call(method, path, body, headers = {}) {
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      const response = await ask(url() + path, {
        method,
        headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
        ...(text !== undefined && { body: text }),
      });
      const answer = await response.text();
      const isJson = response.headers.get('content-type')?.startsWith('application/json');
      return {
        status: response.status,
        headers: response.headers,
        body: isJson ? JSON.parse(answer) : { text: answer },
      };
    },
    admin: (method, path) => client.call(method, path, undefined, { authorization: `Bearer ${ADMIN_TOKEN}` }),
    post: (path, body) => client.call('POST', path, body),
    async run(body) {
      const response = await ask(`${url()}/v1/runs`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return readRun(response);
    },
    async runToEnd(body) {
      return (await client.run(body)).rest();
    },
  };
  return client;
};

const readRun = (response: Got): RunStream => {
  const blocks = readBlocks(response);
  const stream: RunStream = {
    ...blocks,
    async next() {
      for (let block = await blocks.next(); block !== undefined; block = await blocks.next()) {
        if (block.startsWith('data: ')) return JSON.parse(block.slice(6));
      }
      return undefined;
    },
    async until(type) {
      for (;;) {
        const event = await stream.next();
        if (!event) throw new Error(`the stream ended before '${type}': ${blocks.raw()}`);
        if (event.event_type === type) return event;
      }
    },
    async rest() {
      const events: RunEventLike[] = [];
      for (let event = await stream.next(); event; event = await stream.next()) events.push(event);
      return events;
    },
  };
  return stream;
};

const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 50;

/**
 * Polls until the condition holds, for effects that a 202 or a closed stream does not wait for. The interval grows with
 * the waiting time, because most of the cost of a wait is the responses.
 */
export const eventually = async <Value>(
  ask: () => Promise<Value>,
  holds: (value: Value) => boolean,
): Promise<Value> => {
  for (let attempt = 0, pause = FIRST_PAUSE_MS; ; attempt += 1) {
    const value = await ask();
    if (holds(value)) return value;
    if (attempt > 1000) throw new Error(`it never held: ${JSON.stringify(value)}`);
    await new Promise((resolve) => setTimeout(resolve, pause));
    pause = Math.min(pause * 1.2, LONGEST_PAUSE_MS);
  }
};
