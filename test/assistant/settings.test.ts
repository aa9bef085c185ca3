import t, { type Test } from 'tap';
import { AssistantConfigInput, createAssistantSettings } from '../../src/assistant/settings.ts';
import { Conflict, Invalid } from '../../src/schema/outcome.ts';
import { storeFor } from '../store/open.ts';
import { CALLER, memoryConfig } from './config.ts';

const start = async (t: Test) => {
  const { config, audited } = memoryConfig();
  const store = await storeFor(t);
  const settings = createAssistantSettings({ store, audit: config.audit, isUsable: (id) => id === 'm' });
  const save = (body: object) =>
    settings.save(AssistantConfigInput.parse({ id: 'default', ...body }), CALLER);
  return { settings, save, audited, store };
};

t.test('before the first save there is an empty policy of revision 0', async (t) => {
  const { settings } = await start(t);
  t.strictSame(settings.get(), { id: 'default', policy_prompt: '', revision: 0 });
});

t.test('a save increments the revision, and can be read back', async (t) => {
  const { settings, save } = await start(t);
  const saved = { id: 'default', policy_prompt: 'Be kind.', model_id: 'm', revision: 1 };
  t.strictSame(await save({ policy_prompt: '  Be kind.\n', model_id: ' m ' }), saved);
  t.strictSame(settings.get(), saved);
  t.strictSame(await save({ model_id: ' ', revision: 1 }), { id: 'default', policy_prompt: '', revision: 2 });
});

t.test('rejects a save from an older revision', async (t) => {
  const { save } = await start(t);
  await save({ revision: null });
  await t.rejects(
    save({}),
    new Conflict(
      'admin-assistant/default was modified by another writer (expected revision 0, found 1); retry the mutation',
    ),
  );
});

t.test('of two concurrent saves from one revision, one is rejected', async (t) => {
  const { settings, save } = await start(t);
  const results = await Promise.allSettled([save({ policy_prompt: 'a' }), save({ policy_prompt: 'b' })]);
  t.strictSame(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected'],
  );
  t.match(settings.get(), { policy_prompt: 'a', revision: 1 });
});

t.test('accepts a policy of 8192 bytes, and rejects one more byte', async (t) => {
  const { save } = await start(t);
  await save({ policy_prompt: ` ${'é'.repeat(4096)} ` });
  await t.rejects(
    save({ policy_prompt: `${'é'.repeat(4096)}x`, revision: 1 }),
    new Invalid('policy_prompt exceeds 8192 bytes'),
  );
});

t.test('rejects a model that cannot be used', async (t) => {
  const { save } = await start(t);
  await t.rejects(
    save({ model_id: 'x' }),
    new Invalid("model_id 'x' is not a provider-backed admin assistant model"),
  );
});

t.test('audits each save, the first one as a creation, and no rejected one', async (t) => {
  const { save, audited } = await start(t);
  const first = await save({ policy_prompt: 'a' });
  const second = await save({ policy_prompt: 'b', revision: 1 });
  await t.rejects(save({ policy_prompt: 'c' }));
  t.strictSame(audited, [
    { ...CALLER, action: 'create', resource: 'admin-assistant/default', after: first },
    { ...CALLER, action: 'update', resource: 'admin-assistant/default', before: first, after: second },
  ]);
});
