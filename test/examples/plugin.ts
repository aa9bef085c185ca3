import { z } from 'zod';
import { createTroupe, definePlugin, defineProvider, textOf } from '../../src/index.ts';
import { ask } from './ask.ts';

/** A plugin with a section: each agent that lists it says in its own `sections` what the plugin shall do there. */

const glossary = definePlugin({
  id: 'glossary',
  section: {
    key: 'glossary',
    schema: z.strictObject({ terms: z.record(z.string(), z.string()).default({}) }),
    display_name: 'Glossary',
    description: 'Explains the terms that the user has just used.',
  },
  create: ({ terms }) => ({
    hooks: {
      before_inference: ({ messages }) => {
        const said = messages().findLast(({ role }) => role === 'user');
        const used = Object.entries(terms).filter(([term]) => textOf(said?.content ?? []).includes(term));
        const content = used.map(([term, meaning]) => `${term}: ${meaning}`).join('\n');
        if (content === '') return undefined;
        return {
          actions: [
            { key: 'runtime.add_context_message', payload: { key: 'glossary', target: 'system', content } },
          ],
        };
      },
    },
  }),
});

/** Stands for a real model: it tells what it was told. */
const mirror = defineProvider({
  id: 'mirror',
  stream: async ({ system }, sink) => {
    sink.text(system.join(' | '));
    return { stop: 'EndTurn' };
  },
});

const troupe = await createTroupe({
  settings: {
    http_addr: '127.0.0.1:0',
    storage_dir: process.argv[2] ?? './data',
    AdminApiConfig: { bearer_token: 'choose-one' },
  },
  plugins: [glossary],
  providers: [mirror],
  models: [{ id: 'mirror', provider_id: 'mirror', upstream_model: 'mirror' }],
  agents: [
    {
      id: 'guide',
      model_id: 'mirror',
      system_prompt: 'You explain.',
      plugin_ids: ['glossary'],
      sections: { glossary: { terms: { epoch: 'the number that fences a thread', lease: 'a claim' } } },
    },
  ],
});

console.log((await ask(troupe.url, 'guide', 'What is an epoch?')).text);
console.log((await ask(troupe.url, 'guide', 'Hello')).text);
await troupe.stop();
