import { createInterface } from 'node:readline';
import { createServing } from './serving.ts';

/**
 * A member with a small service in a separate process. Commands are lines of stdin: `say <text>`, `block <ms>`, `leave`.
 * Each change of its state, and each outcome, is a line of JSON on stdout.
 */

const options: { name: string; url: string; ttlMs: number } = JSON.parse(process.argv[2] ?? '');
const serving = createServing(options);
const { member } = serving;

const print = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

let shown = '';
const watch = setInterval(() => {
  const state = member.state();
  if (state === shown) return;
  shown = state;
  print({ type: 'state', state, id: member.self()?.id, texts: serving.services.at(-1)?.texts.length });
}, 10);

const block = (ms: number): void => {
  const endsAt = performance.now() + ms;
  while (performance.now() < endsAt);
  // The first thing behind the pause, before any timer.
  print({ type: 'unblocked', state: member.state(), calls: serving.service().calls });
};

const commands: Record<string, (argument: string) => void | Promise<void>> = {
  say: async (text) => print({ type: 'said', text, result: await serving.service().say(text) }),
  block: (ms) => block(Number(ms)),
  leave: () => member.leave(),
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const [, name = '', argument = ''] = /^(\w+) ?(.*)$/.exec(line) ?? [];
  void commands[name]?.(argument);
});

await member.start();
await member.ended;
clearInterval(watch);
print({ type: 'events', events: serving.events() });
process.stdin.destroy();
