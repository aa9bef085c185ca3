import t from 'tap';
import { idleLimitSeconds } from '../../src/models/idle.ts';
import { requestOf } from './infer.ts';

const windowOf = (upstream: string, overrides = {}): number | undefined =>
  idleLimitSeconds(requestOf('x', { stream_idle_timeout_secs: 60, overrides }), upstream);

for (const name of ['o1', 'o3-mini', 'o4-mini', 'claude-thinking', 'grok-Reasoning-1']) {
  t.test(`${name} may be silent for twice the window`, async (t) => {
    t.equal(windowOf(name), 120);
  });
}

for (const name of ['gpt-4o', 'foo1', 'o2', 'claude-sonnet-4-5']) {
  t.test(`${name} may be silent for the configured window`, async (t) => {
    t.equal(windowOf(name), 60);
  });
}

t.test('a reasoning effort doubles the window', async (t) => {
  t.equal(windowOf('gpt-4o', { reasoning_effort: 'low' }), 120);
  t.equal(windowOf('gpt-4o', { reasoning_effort: null }), 60);
});

t.test('returns no limit without a window', async (t) => {
  t.equal(idleLimitSeconds(requestOf('x'), 'o1'), undefined);
  t.equal(idleLimitSeconds(requestOf('x', { stream_idle_timeout_secs: 0 }), 'o1'), undefined);
});
