import t from 'tap';
import { applied, variablesOf } from '../../src/console/sandbox/presets.ts';

/** Presets for trying a draft. */

const DRAFT = {
  id: 'guide',
  model_id: 'm',
  system_prompt: 'Show {city} in {{ season }}, {city} at {hour}. {',
};

t.test('finds prompt variables and fills those with a value', async (t) => {
  t.strictSame(variablesOf(DRAFT), ['city', 'season', 'hour']);
  t.strictSame(variablesOf({ id: 'x' }), []);
  const variables = { city: 'Oslo $1', season: 'May', hour: '', other: 'x' };
  t.strictSame(applied(DRAFT, { name: 'a', persona: ' ', variables }), {
    ...DRAFT,
    system_prompt: 'Show Oslo $1 in May, Oslo $1 at {hour}. {',
  });
  t.match(applied({ id: 'x', system_prompt: '{constructor}' }, { name: 'a', persona: '', variables: {} }), {
    system_prompt: '{constructor}',
  });
  t.equal(applied(DRAFT, undefined), DRAFT);
});

t.test('appends the persona to the prompt', async (t) => {
  const persona = { name: 'a', persona: 'In a hurry', variables: {} };
  t.match(applied(DRAFT, persona), { system_prompt: /\{$/m });
  t.match(applied(DRAFT, persona), { system_prompt: /\n\nThe user you talk with: In a hurry$/ });
  t.match(applied({ id: 'x' }, persona), { system_prompt: 'The user you talk with: In a hurry' });
});
