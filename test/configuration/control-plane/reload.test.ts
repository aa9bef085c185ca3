import t from 'tap';
import type { ConfigRecord } from '../../../src/schema/config-record.ts';
import { startPlane } from './plane.ts';

/** Writes of other processes to the store (config.md 7, rule 6). */

t.test('publishes an external change of the store once, and soon', async (t) => {
  const plane = await startPlane(t, { more: { refreshMs: 5 } });
  await plane.create('agents', plane.agent('a', { system_prompt: 'before' }));
  const { resolution_id } = plane.live.resolve('a');
  const record = plane.store.config.get('agents', 'a');
  if (!record) throw new Error('it was stored');
  const put = async (changed: ConfigRecord): Promise<void> => {
    const batch = plane.store.batch('commons');
    plane.store.config.put(batch, changed);
    await plane.store.commit(batch);
  };
  await put({ ...record, spec: { ...record.spec, system_prompt: 'after' }, revision: record.revision + 1 });
  while (plane.live.resolve('a').spec.system_prompt !== 'after') {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  t.match(plane.service.get('agents', 'a'), { system_prompt: 'after' });
  t.equal(plane.live.resolve('a').resolution_id, String(Number(resolution_id) + 1));
  t.strictSame(plane.events('agents/a').length, 1, 'an external change adds no entry to the audit log');
  await plane.put('agents', plane.agent('a', { system_prompt: 'later' }));
  t.equal(plane.store.config.get('agents', 'a')?.revision, record.revision + 2);
  t.equal(
    plane.live.resolve('a').resolution_id,
    String(Number(resolution_id) + 2),
    'exactly one publication was made',
  );
});
