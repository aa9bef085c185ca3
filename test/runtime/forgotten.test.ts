import t from 'tap';
import { startRuntime } from './runtime.ts';

/**
 * The memory of finished runs is released. A machine keeps a list of candidates for every event type that it has
 * received, so no event type may contain a run id; `bench/soak.ts` measures other leaks.
 */

t.test('receives a constant number of event types for any number of runs', async (t) => {
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
