import { startApp } from '../../src/app.ts';
import { createLog } from '../../src/observability/log.ts';
import { settingsFrom } from '../../src/settings/index.ts';
import { HTTP_SERVER } from '../http/listener.ts';
import { createTestModels, type TestModels } from '../service/models.ts';
import { createTestTools, type TestTools } from '../service/tools.ts';
import { ADMIN_TOKEN, type Answer, type Client, clientOf } from '../service/troupe.ts';
import { waitingTools } from './waiting-tools.ts';

/** A service on a folder that another version may have written, at the time when it was written. */

export type Place = {
  client: Client;
  models: TestModels;
  tools: TestTools;
  admin(method: string, path: string, body?: unknown): Promise<Answer>;
  stop(): Promise<void>;
};

type Options = {
  dir: string;
  /** milliseconds since the epoch, at the start */
  now: number;
  /** `manual` resumes no work, so that reading returns what was written. */
  lifecycle: 'auto' | 'manual';
};

/** An agent with background tasks. */
const WORKER = { id: 'worker', model_id: 'steps', plugin_ids: ['background_tasks'] };

export const startPlace = async ({ dir, now, lifecycle }: Options): Promise<Place> => {
  const models = createTestModels();
  const tools = createTestTools();
  const settings = settingsFrom({
    http_addr: '127.0.0.1:0',
    http_server: HTTP_SERVER,
    storage_dir: dir,
    durability: 'process',
    shutdown_timeout_ms: 0,
    secrets_key: 'key-of-the-fixture',
    mailbox: { lifecycle },
    observe_all_agents: true,
    trace: { sampling_disable: true, capture_content: true },
    AdminApiConfig: { bearer_token: ADMIN_TOKEN, expose_trace_routes: true },
    entries: { ...models.entries, agents: [...(models.entries.agents ?? []), WORKER] },
  });
  // Nothing expires, regardless of the age of the fixture.
  const since = performance.now();
  const app = await startApp({
    settings,
    log: createLog({ level: 'silent' }),
    providers: [models.provider],
    tools: [...tools.tools, ...waitingTools],
    clock: {
      now: () => now + Math.floor(performance.now() - since),
      monotonic: () => performance.now(),
    },
  });
  const client = clientOf(() => app.url);
  return {
    client,
    models,
    tools,
    admin: (method, path, body) =>
      client.call(method, path, body, { authorization: `Bearer ${ADMIN_TOKEN}` }),
    async stop() {
      await app.stop();
      models.releaseAll();
    },
  };
};
