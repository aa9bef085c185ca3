import { setTimeout as pause } from 'node:timers/promises';
import { createTroupe, defineProvider, ModelError, textOf } from '../../src/index.ts';
import { ask } from './ask.ts';

/** A custom provider: any function that turns messages into streamed text. */

const shouter = defineProvider({
  id: 'shouter',
  stream: async ({ messages }, sink, { model, signal }) => {
    const asked = textOf(messages.findLast(({ role }) => role === 'user')?.content ?? []);
    if (asked === '') throw new ModelError('invalid_request', 'there is nothing to shout');
    for (const word of asked.split(' ')) {
      // Rejects when the run is cancelled, which ends the stream.
      await pause(1, undefined, { signal });
      sink.text(`${word.toUpperCase()} `);
    }
    sink.text(`(${model.upstream_model})`);
    return { stop: 'EndTurn', usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } };
  },
});

const troupe = await createTroupe({
  settings: {
    http_addr: '127.0.0.1:0',
    storage_dir: process.argv[2] ?? './data',
    AdminApiConfig: { bearer_token: 'choose-one' },
  },
  providers: [shouter],
  models: [{ id: 'loud', provider_id: 'shouter', upstream_model: 'loud-1' }],
  agents: [{ id: 'crier', model_id: 'loud' }],
});

console.log((await ask(troupe.url, 'crier', 'hear ye')).text);
console.log((await ask(troupe.url, 'crier', '')).events.at(-1).termination.value);
await troupe.stop();
