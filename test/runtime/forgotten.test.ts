import t from 'tap';
import { startRuntime } from './runtime.ts';

/**
 * What a run costs is given back. A machine keeps a list of candidates for every type of event that it has ever met, so
 * no type may name a run: `bench/soak.ts` sees what else stays.
 */

t.test('a machine meets no more types of events however many runs there are', async (t) => {
  const { submit, met, machines } = await startRuntime(t);
  const play = async (text: string): Promise<void> => {
    for (const thread of ['T', `t${text}`]) {
      const { accepted, end } = submit(text, thread);
      await accepted;
      await end;
    }
  };
  for (const text of ['1', '2']) await play(text);
  const types = met();
  for (const type of ['CLAIM', 'RUN_ENDED']) t.ok(types.includes(type), type);
  for (let each = 3; each < 20; each += 1) await play(String(each));
  t.strictSame(met(), types);
  t.strictSame(machines('run'), []);
});
