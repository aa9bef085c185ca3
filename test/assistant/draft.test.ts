import t from 'tap';
import { DraftInput, draftAgent } from '../../src/assistant/draft.ts';

const draft = (input: object) => draftAgent(DraftInput.parse(input), 'the-model');

t.test('the id consists of the first words of the intent and a hash of it', async (t) => {
  t.match(
    draft({ intent: 'Answer Questions about OUR invoices, kindly' }).id,
    /^agent-answer-questions-about-our-[0-9a-f]{8}$/,
  );
  t.match(draft({ intent: 'Summarise' }).id, /^agent-summarise-[0-9a-f]{8}$/);
  t.match(draft({ intent: '请总结' }).id, /^agent-draft-[0-9a-f]{8}$/);
});

t.test('the same intent makes the same draft, and a different intent a different id', async (t) => {
  t.strictSame(draft({ intent: 'count things' }), draft({ intent: 'count things' }));
  t.not(draft({ intent: 'count things' }).id, draft({ intent: 'count things!' }).id);
});

t.test('omitted fields have defaults, and tools, plugins and delegates are left out', async (t) => {
  const { id: _, system_prompt, ...rest } = draft({ intent: 'count things' });
  t.strictSame(rest, { model_id: 'the-model', max_rounds: 8 });
  t.match(system_prompt, /count things/);
});

t.test('given fields stay unchanged', async (t) => {
  const given = {
    id: 'counter',
    model_id: 'other',
    system_prompt: 'Count.',
    plugin_ids: ['reminder'],
    allowed_tools: [],
    delegates: ['helper'],
  };
  t.strictSame(draft({ intent: 'count things', ...given }), { ...given, max_rounds: 8 });
});

t.test('an intent is required, and unknown fields are rejected', async (t) => {
  t.equal(DraftInput.safeParse({}).success, false);
  t.equal(DraftInput.safeParse({ intent: '  ' }).success, false);
  t.equal(DraftInput.safeParse({ intent: 'x', sections: {} }).success, false);
});
