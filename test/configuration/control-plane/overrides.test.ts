import t from 'tap';
import { CALLER, startPlane } from './plane.ts';

/** Overrides: config.md 5 and checks 32 to 41. */

const SEEDED = {
  providers: [{ id: 'p', adapter: 'scripted' }],
  models: [{ id: 'm', provider_id: 'p', upstream_model: 'up' }],
  agents: [{ id: 'a', model_id: 'm', system_prompt: 'base', sections: { x: { n: 1 } } }],
};

const start = async (...[t, options]: Parameters<typeof startPlane>) => {
  const plane = await startPlane(t, { entries: SEEDED, ...options });
  const at = (id = 'a', namespace = 'agents') => ({
    patch: (body: unknown) => plane.service.overrides.patch(namespace, id, body, CALLER),
    preview: (body: unknown) => plane.service.overrides.preview(namespace, id, body),
    clear: () => plane.service.overrides.clear(namespace, id, CALLER),
    clearField: (field: string) => plane.service.overrides.clearField(namespace, id, field, CALLER),
    meta: () => plane.service.meta(namespace, id),
  });
  return { plane, at };
};

t.test('applies an override to the base for readers and runs', async (t) => {
  const { plane, at } = await start(t);
  t.match(await at().patch({ max_rounds: 3 }), { system_prompt: 'base', max_rounds: 3 });
  t.match(await at().patch({ system_prompt: 'mine' }), { system_prompt: 'mine', max_rounds: 3 });
  t.match(plane.service.get('agents', 'a'), { system_prompt: 'mine', max_rounds: 3 });
  t.match(plane.live.resolve('a').spec, { system_prompt: 'mine', max_rounds: 3 });
  t.match(at().meta(), {
    source: { kind: 'builtin', binary_version: '1.0.0' },
    user_overrides: { max_rounds: 3, system_prompt: 'mine' },
    base: { system_prompt: 'base' },
    revision: 3,
    actor: 'tester',
  });
  t.match(plane.events('agents/a').at(-1), {
    action: 'update',
    before: { system_prompt: 'base', max_rounds: 3 },
    after: { system_prompt: 'mine', max_rounds: 3 },
    overrides: { max_rounds: 3, system_prompt: 'mine' },
  });
});

t.test('does not store, publish or log a change without effect', async (t) => {
  const { plane, at } = await start(t);
  await at().patch({ max_rounds: 3 });
  const before = [at().meta(), plane.events().length, plane.live.models().resolution_id];
  t.match(await at().patch({ max_rounds: 3 }), { max_rounds: 3 });
  t.match(await at().patch({}), { max_rounds: 3 });
  t.match(await at().clearField('system_prompt'), { max_rounds: 3 });
  t.strictSame([at().meta(), plane.events().length, plane.live.models().resolution_id], before);
  await at().clear();
  t.match(await at().clear(), { max_rounds: 16 });
  t.equal(at().meta().revision, 3);
  t.equal(at().meta().user_overrides, undefined);
  t.strictSame(plane.events('agents/a').at(-1)?.overrides, {});
});

t.test('previews the result without storing it', async (t) => {
  const { plane, at } = await start(t);
  await at().patch({ max_rounds: 3 });
  const meta = at().meta();
  t.strictSame(await at().preview({ system_prompt: 'x', sections: { x: null } }), {
    max_rounds: 3,
    system_prompt: 'x',
    sections: { x: null },
  });
  await t.rejects(at().preview({ model_id: 'gone' }), { message: /missing model 'gone'/ });
  await t.rejects(at().preview({ nope: 1 }), { message: /^invalid payload: .*unknown field 'nope'/ });
  t.strictSame(at().meta(), meta);
  t.equal(plane.events('agents/a').length, 1);
});

t.test('logs a semantically invalid override in the audit log without `after`', async (t) => {
  const { plane, at } = await start(t);
  await t.rejects(at().patch({ model_id: 'gone' }), { message: /missing model 'gone'/ });
  const [event, ...more] = plane.events('agents/a');
  t.match(event, { action: 'apply_failed', error: /missing model 'gone'/, before: { model_id: 'm' } });
  t.notOk(event && 'after' in event);
  t.strictSame(more, []);
  await t.rejects(at().patch({ max_rounds: 'x' }), { name: 'Invalid' });
  t.equal(plane.events('agents/a').length, 1, 'an override with a wrong shape is not logged');
});

t.test('leaves no tools when both allow fields are cleared', async (t) => {
  const { plane, at } = await start(t);
  t.match(await at().patch({ allowed_tools: null, allowed_tool_patterns: null }), {
    allowed_tools: [],
    allowed_tool_patterns: [],
  });
  t.match(plane.service.permissionPreview('a'), { candidate_tools: [] });
  t.equal(plane.live.resolve('a').tools.size, 0);
});

t.test('turns an entry into a user entry on PUT, and drops the overrides', async (t) => {
  const { plane, at } = await start(t);
  await at().patch({ max_rounds: 3 });
  const { created_at } = at().meta();
  t.match(await plane.put('agents', plane.agent('a')), { max_rounds: 16 });
  t.match(at().meta(), { source: { kind: 'user' }, created_at, revision: 3, user_overrides: undefined });
  await at().patch({ max_rounds: 5 });
  t.match(at().meta(), { source: { kind: 'user' }, user_overrides: { max_rounds: 5 } });
});

t.test('shows an overridden tool description to models and consoles', async (t) => {
  const { plane, at } = await start(t);
  const tool = at('look', 'tools');
  const toldOf = () => JSON.stringify(plane.service.capabilities().tools);
  t.match(await tool.patch({ description: 'Mine.' }), { id: 'look', description: 'Mine.' });
  t.match(toldOf(), 'Mine.');
  t.equal(plane.live.resolve('a').tools.get('look')?.descriptor.description, 'Mine.');
  t.match(plane.events('tools/look'), [{ action: 'update', overrides: { description: 'Mine.' } }]);
  await plane.restart();
  t.equal(plane.live.resolve('a').tools.get('look')?.descriptor.description, 'Mine.');
  t.match(await at('look', 'tools').patch({ description: null }), { description: 'Does look.' });
  t.equal(plane.live.resolve('a').tools.get('look')?.descriptor.description, 'Does look.');
});

t.test('returns not found for missing entries and those without overrides', async (t) => {
  const { at } = await start(t);
  await t.rejects(at('nope').patch({}), { name: 'NotFound', message: 'not found: agents/nope' });
  await t.rejects(at('nope', 'tools').preview({}), { message: 'not found: tools/nope' });
  await t.rejects(at('m', 'models').patch({}), { name: 'NotFound' });
});
