import { startApp } from '../../../src/app.ts';
import { createLog } from '../../../src/observability/log.ts';
import { settingsFrom } from '../../../src/settings/index.ts';
import { ADMIN_TOKEN } from '../troupe.ts';
import { lastInput } from './evals.ts';

/**
 * A service in its own process that reports each model input, so that a test can kill it in the middle of an eval run.
 * With `stops` the model completes only inputs below `stopsAt`.
 */

const [dir = '', stopsAt = ''] = process.argv.slice(2);

const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

const app = await startApp({
  settings: settingsFrom({
    http_addr: '127.0.0.1:0',
    storage_dir: dir,
    AdminApiConfig: { bearer_token: ADMIN_TOKEN },
    seed: { profile: 'minimal' },
    entries: { models: [{ id: 'm', provider_id: 'p', upstream_model: 'm' }] },
  }),
  log: createLog({ level: 'silent' }),
  providers: [
    {
      id: 'p',
      model: ({ id }) => ({
        id,
        provider: 'p',
        upstream: id,
        async stream(request, sink) {
          const input = lastInput(request);
          say(`asked ${input}`);
          if (stopsAt !== '' && Number(input) >= Number(stopsAt)) await new Promise(() => {});
          sink.text(`answer to ${input}`);
          return { stop: 'EndTurn' };
        },
      }),
    },
  ],
});
say(`listens on ${app.url}`);
