import { z } from 'zod';
import { definePlugin, textOf } from '../../src/index.ts';
import { scriptedModel, startTestTroupe } from '../../src/testing/index.ts';

/**
 * A plugin with a section: each agent that lists the plugin configures it in its `sections`. In your own program,
 * import from 'troupe' and 'troupe/testing'.
 */

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

const guide = {
  id: 'guide',
  system_prompt: 'You explain.',
  plugin_ids: ['glossary'],
  sections: { glossary: { terms: { epoch: 'the number that fences a thread', lease: 'a claim' } } },
};

// The requests to the model show the effect of a plugin: a test service records them, and needs no real model.
const model = scriptedModel(['It is a number.', 'Hello.']);
await using troupe = await startTestTroupe({ model, plugins: [glossary], agents: [guide] });
await troupe.run('What is an epoch?');
await troupe.run('Hello');
for (const { system } of model.requests) console.log(system.join(' | '));
