import t from 'tap';
import { storeFor } from './open.ts';

t.test('removes the answers of a thread from its chat, and no others', async (t) => {
  const store = await storeFor(t);
  const place = { scope: 's', chat: 'c', agent_id: 'a', digest: 'd' };
  const answer = (thread_id: string) => ({ thread_id, seq: 2, asked: '', at: 1 });
  const batch = store.batch('commons');
  store.transcripts.put(batch, place, answer('one'));
  store.transcripts.put(batch, place, answer('two'));
  store.transcripts.put(batch, { ...place, digest: 'e' }, answer('one'));
  store.transcripts.put(batch, { ...place, chat: 'other' }, answer('one'));
  await store.commit(batch);
  const removal = store.batch('commons');
  store.transcripts.removeAll(removal, 's', { id: 'one', resource_id: 'c' });
  store.transcripts.removeAll(removal, 's', { id: 'two' });
  await store.commit(removal);
  const threads = (changes: object) =>
    store.transcripts.find({ ...place, ...changes }, 10).map(({ thread_id }) => thread_id);
  t.strictSame(threads({}), ['two']);
  t.strictSame(threads({ digest: 'e' }), []);
  t.strictSame(threads({ chat: 'other' }), ['one']);
});
