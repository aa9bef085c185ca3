import t from 'tap';
import { idleSecondsOf } from '../../src/models/idle.ts';
import { requestOf } from './infer.ts';

const windowOf = (upstream: string, overrides = {}): number | undefined =>
  idleSecondsOf(requestOf('x', { stream_idle_timeout_secs: 60, overrides }), upstream);

for (const name of ['o1', 'o3-mini', 'o4-mini', 'claude-thinking', 'grok-Reasoning-1']) {
  t.test(`${name} may be silent twice as long`, async (t) => {
    t.equal(windowOf(name), 120);
  });
}

for (const name of ['gpt-4o', 'foo1', 'o2', 'claude-sonnet-4-5']) {
  t.test(`${name} may be silent for the window of the settings`, async (t) => {
    t.equal(windowOf(name), 60);
  });
}

t.test('a model that is asked for an effort may be silent twice as long', async (t) => {
  t.equal(windowOf('gpt-4o', { reasoning_effort: 'low' }), 120);
  t.equal(windowOf('gpt-4o', { reasoning_effort: null }), 60);
});

t.test('without a window there is none', async (t) => {
  t.equal(idleSecondsOf(requestOf('x'), 'o1'), undefined);
  t.equal(idleSecondsOf(requestOf('x', { stream_idle_timeout_secs: 0 }), 'o1'), undefined);
});
