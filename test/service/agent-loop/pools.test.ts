import t from 'tap';
import { ModelError } from '../../../src/models/errors.ts';
import type { EntriesInput } from '../../../src/settings/index.ts';
import { endOf, modelsIn, requestsOf, say, startWith } from './agents.ts';

/** Pools of models: agent-loop.md 11 and 20, check 36. */

const retry = { max_retries: 1, backoff_base_ms: 1, overloaded_backoff_base_ms: 1, max_stream_retries: 2 };

const pool = (more: object = {}) => ({
  id: 'pool',
  members: [{ model_id: 'm1' }, { model_id: 'm2' }],
  ...more,
});

const members = (provider_id: string): NonNullable<EntriesInput['models']> =>
  ['m1', 'm2'].map((id) => ({ id, provider_id, upstream_model: `${id}-upstream` }));

t.test('36: keeps a thread on its pool member, and distributes threads over all members', async (t) => {
  const troupe = await startWith(t, {
    models: members('default'),
    model_pools: [pool()],
    agents: [{ id: 'pooled', model_id: 'pool' }],
  });
  const used = new Map<string, unknown>();
  for (let n = 0; n < 12; n += 1) {
    const thread = `T${n}`;
    const [first] = modelsIn(await troupe.runToEnd(say('pooled', 'x', thread)));
    used.set(thread, first);
    t.strictSame(modelsIn(await troupe.runToEnd(say('pooled', 'RUN_STOCK_TOOL', thread))).slice(0, 2), [
      first,
      first,
    ]);
  }
  t.strictSame(new Set(used.values()), new Set(['m1-upstream', 'm2-upstream']));
  await troupe.restart();
  for (const [thread, model] of used) {
    t.strictSame(
      modelsIn(await troupe.runToEnd(say('pooled', 'x', thread))),
      [model],
      'the member is kept after a restart',
    );
  }
});

t.test('fails over to another member, and reports which member completed', async (t) => {
  const troupe = await startWith(t, {
    models: members('test'),
    model_pools: [
      pool({
        members: [{ model_id: 'steps' }, { model_id: 'm1', role: 'failover_only' }],
        routing: { home: 'first_healthy' },
      }),
    ],
    agents: [{ id: 'pooled', model_id: 'pool', sections: { retry } }],
  });
  t.strictSame(modelsIn(await troupe.runToEnd(say('pooled', 'x', 'T'))), ['steps-upstream']);
  for (const kind of ['rate_limited', 'unauthorized'] as const) {
    troupe.models.steps.push(() => {
      throw new ModelError(kind, 'no');
    });
    const events = await troupe.runToEnd(say('pooled', 'x', kind));
    t.strictSame(modelsIn(events), ['m1-upstream']);
    t.match(endOf(events), { termination: { type: 'natural_end' }, result: { response: 'echo: x' } });
  }
  const asked = requestsOf(troupe).length;
  await troupe.runToEnd(say('pooled', 'x', 'U'));
  t.equal(requestsOf(troupe).length, asked + 1, 'an unauthorized member is not retried');
  t.equal(troupe.models.requests.at(-1)?.model, 'm1');
});

t.test('reports a pool whose members all fail, and stops retrying', async (t) => {
  const troupe = await startWith(t, {
    models: members('test'),
    model_pools: [pool({ members: [{ model_id: 'steps' }] })],
    agents: [{ id: 'pooled', model_id: 'pool', sections: { retry } }],
    settings: { mailbox: { retry_base_ms: 1, retry_cap_ms: 1, max_attempts: 2 } },
  });
  troupe.models.steps.push(() => {
    throw new ModelError('unauthorized', 'no');
  });
  t.match(endOf(await troupe.runToEnd(say('pooled'))), {
    termination: { type: 'error', value: 'inference failed: all models unavailable' },
  });
});
