import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { nodeCommand } from '../child.ts';
import { compileOnBuilt } from '../e2e/on-built.ts';
import { runProgram } from '../e2e/service.ts';
import { startDemo } from '../service/troupe.ts';

/** Every example is a program, and runs here as one. */

const program = (name: string): string => fileURLToPath(new URL(`${name}.ts`, import.meta.url));

/** Output of an example with a separate data directory. */
const outputOf = async (t: Test, name: string): Promise<string> => {
  const dir = t.testdir();
  const file = join(dir, `${name}.mjs`);
  await compileOnBuilt(program(name), file);
  return (await promisify(execFile)(...nodeCommand([file, join(dir, 'data')]))).stdout;
};

t.test('suspends a tool that needs approval until the decision, and then executes it', async (t) => {
  t.equal(
    await outputOf(t, 'approval'),
    "suspended transfer { to: 'Ada', amount: 500 }\nDone: 500 went to Ada\n",
  );
});

t.test('applies a plugin as the section of the agent configures it', async (t) => {
  t.equal(
    await outputOf(t, 'plugin'),
    'You explain. | epoch: the number that fences a thread\nYou explain.\n',
  );
});

t.test('uses a provider of the program, and classifies its failures', async (t) => {
  t.equal(
    await outputOf(t, 'provider'),
    'HEAR YE (loud-1)\ninference failed: invalid request: there is nothing to shout\n',
  );
});

t.test('deletes old threads periodically, except those in use', async (t) => {
  const { url, runToEnd, run, call } = await startDemo(t);
  const start = (agentId: string, threadId: string) => ({
    agentId,
    threadId,
    messages: [{ role: 'user', content: 'Hello' }],
  });
  const threads = async () => (await call('GET', '/v1/threads')).body.items;
  await runToEnd(start('echo', 'first'));
  const busy = await run(start('slow', 'busy'));
  await busy.until('text_delta');

  const careful = runProgram(t, program('clean-up'), [url]);
  await careful.says(/^0 deleted\n/);
  t.strictSame(await threads(), ['busy', 'first']);

  const eager = runProgram(t, program('clean-up'), [
    url,
    '--older-than-days',
    '0',
    '--every-minutes',
    '0.001',
  ]);
  await eager.says(/^1 deleted\n/);
  t.strictSame(await threads(), ['busy']);
  await runToEnd(start('echo', 'second'));
  await eager.says(/1 deleted\n(0 deleted\n)*1 deleted\n/);
  t.strictSame(await threads(), ['busy']);
});
