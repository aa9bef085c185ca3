import t from 'tap';
import { MOST_READ, readInference } from '../../src/runtime/ledger/recorded-inference.ts';
import { MOST_INPUT_MESSAGES } from '../../src/schema/recorded-inference.ts';

t.test('reads a bounded part of a long thread', async (t) => {
  const last = MOST_READ * 3;
  const read: unknown[] = [];
  const messageAt = (seq: number) => ({
    id: `m${seq}`,
    role: 'user',
    content: [{ type: 'text', text: `${seq}` }],
  });
  const messages = {
    ofRun: () => [],
    lastOfRun: () => ({ seq: last }),
    range(_scope: string, _thread: string, { from, to }: { from: number; to: number }) {
      read.push({ from, to });
      return Array.from({ length: to - from + 1 }, (_, at) => ({ message: messageAt(from + at) }));
    },
  };
  const agent = { spec: { system_prompt: 'Be brief.' }, tools: new Map() };
  const deps = { store: { messages }, resolve: () => agent };
  const run = { run_id: 'r', thread_id: 't', agent_id: 'a', status: 'running', steps: 0 };
  const found = readInference(deps as never, 'default', run as never, 0);
  t.strictSame(read, [{ from: last - MOST_READ + 1, to: last }]);
  t.match(found, { response: null, omitted_messages: last - MOST_INPUT_MESSAGES });
  t.equal(found?.messages.length, MOST_INPUT_MESSAGES);
  t.equal(found?.messages.at(-1)?.id, `m${last}`);
});
