import { startApp } from '../../../src/app.ts';
import { settingsFrom } from '../../../src/settings.ts';
import { createLog } from '../../../src/telemetry/log.ts';
import { ADMIN_TOKEN } from '../troupe.ts';
import { lastInput } from './evals.ts';

/**
 * A service in a process of its own, so that a test can kill it in the middle of an eval run: it says what its model
 * is asked. With `stops` the model answers inputs below `stopsAt` and no other.
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
