import type { Test } from 'tap';
import { createIds } from '../../src/ids.ts';
import type { Provider } from '../../src/models/model.ts';
import { nativeProtocol } from '../../src/protocols/native/encoder.ts';
import { createRegistry } from '../../src/registry/registry.ts';
import { createRuntime } from '../../src/runtime/index.ts';
import { AgentSpec } from '../../src/schema/agent.ts';
import { Unavailable } from '../../src/schema/outcome.ts';
import { type SettingsInput, settingsFrom } from '../../src/settings.ts';
import { openStore } from '../../src/store/index.ts';
import { createLog } from '../../src/telemetry/log.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { createCatalogue } from '../../src/tools/catalogue.ts';

/** The runtime on a real store, without HTTP. Commits fail when the test says so, as they do on a full disk. */

export const FULL = 'the disk is full';

type Options = { provider?: Provider; settings?: SettingsInput };

export const startRuntime = async (t: Test, { provider, settings = {} }: Options = {}) => {
  const real = await openStore({ dir: t.testdir(), durability: 'process' });
  t.teardown(() => real.close());
  let left = Number.POSITIVE_INFINITY;
  const store = {
    ...real,
    commit: (...args: Parameters<typeof real.commit>) => {
      left -= 1;
      return left < 0 ? Promise.reject(new Unavailable(FULL)) : real.commit(...args);
    },
  };
  const { resolve } = createRegistry({
    records: {
      providers: [{ id: 'scripted', adapter: 'scripted' }],
      models: [{ id: 'm', provider_id: provider?.id ?? 'scripted', upstream_model: 'm' }],
      agents: [AgentSpec.parse({ id: 'a', model_id: 'm' })],
    },
    providers: provider ? [provider] : [],
    catalogue: createCatalogue([]),
    env: {},
    resolution_id: '1',
  });
  const runtime = createRuntime({
    store,
    events: { appended() {} },
    actors: { began: () => () => {} },
    clock: { now: Date.now },
    ids: createIds(),
    settings: settingsFrom(settings),
    observe: createMetrics(),
    log: createLog({ level: 'silent' }),
    resolve,
    worker: 'test',
  });
  const submit = (text: string) => {
    let frames = '';
    let ended = () => {};
    const end = new Promise<void>((resolve) => {
      ended = resolve;
    });
    const accepted = runtime.submit('default', 'T', {
      mode: 'foreground',
      named: true,
      agent: resolve('a'),
      messages: [{ role: 'user', content: [{ type: 'text', text }] }],
      origin: 'user',
      adapter: 'internal',
      attach: (channel) => {
        channel.attach(nativeProtocol, {
          write: (text) => {
            frames += text;
          },
          end: ended,
        });
      },
    });
    return { accepted, end, frames: () => frames };
  };
  return {
    store: real,
    submit,
    /** So many commits succeed from now on, then they fail. */
    allow: (commits: number) => {
      left = commits;
    },
  };
};
