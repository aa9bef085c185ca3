import t from 'tap';
import type { InferenceRequest, Model, SentSettings } from '../../../src/models/model.ts';
import { layered, withEntrySettings } from '../../../src/models/settings/layers.ts';
import type { ModelSpec } from '../../../src/schema/model.ts';
import { recordingSink, requestOf, userMessage } from '../infer.ts';

/** Settings of the run override those of the agent, which override those of the model. */

t.test('a later layer overrides field by field, and null means unset', async (t) => {
  t.strictSame(
    layered(
      { temperature: 0, seed: 1, stop: ['a'] },
      { temperature: 1, top_p: null, stop: ['b', 'c'] },
      { temperature: null, upstream_model: 'u' },
    ),
    { temperature: 1, seed: 1, stop: ['b', 'c'], upstream_model: 'u' },
  );
});

t.test('merges provider options by key and field', async (t) => {
  t.strictSame(
    layered(
      { provider_options: { openai: { user: 'a', metadata: { x: 1 } }, groq: { a: 1 } } },
      { provider_options: { openai: { metadata: { y: 2 } }, xai: { b: 2 } } },
    ).provider_options,
    { openai: { user: 'a', metadata: { y: 2 } }, groq: { a: 1 }, xai: { b: 2 } },
  );
});

const asked = async (
  spec: Partial<ModelSpec>,
  request: Partial<InferenceRequest>,
): Promise<{ request: InferenceRequest; sent: SentSettings[] }> => {
  const requests: InferenceRequest[] = [];
  const sent: SentSettings[] = [];
  const bare: Model = {
    id: 'm',
    provider: 'p',
    upstream: 'u',
    async stream(given) {
      requests.push(given);
      return { stop: 'EndTurn' };
    },
  };
  const model = withEntrySettings(bare, { id: 'm', provider_id: 'p', upstream_model: 'u', ...spec });
  const sink = { ...recordingSink([]), sent: (settings: SentSettings) => sent.push(settings) };
  await model.stream(requestOf('x', request), sink, new AbortController().signal);
  const [first] = requests;
  if (!first) throw new Error('the model was not called');
  return { request: first, sent };
};

t.test('settings of a request override those of the entry', async (t) => {
  const { request, sent } = await asked(
    { temperature: 0, seed: 4 },
    { overrides: { temperature: 1, verbosity: 'low' } },
  );
  t.strictSame(request.overrides, { temperature: 1, seed: 4, verbosity: 'low' });
  t.strictSame(sent, [{ settings: { temperature: 1, seed: 4, verbosity: 'low' }, adjusted: [] }]);
});

const call = {
  id: 'c',
  role: 'assistant' as const,
  content: [],
  tool_calls: [{ id: 'c1', name: 'search', arguments: {} }],
};
const result = {
  id: 'r',
  role: 'tool' as const,
  tool_call_id: 'c1',
  content: [{ type: 'text' as const, text: 'found' }],
};

t.test('applies a forced call until the model has called a tool', async (t) => {
  for (const tool_choice of ['required' as const, { tool: 'search' }]) {
    const overrides = { tool_choice };
    const before = await asked({}, { overrides });
    t.strictSame(before.request.toolChoice, tool_choice);
    const after = await asked({}, { overrides, messages: [userMessage('q'), call, result] });
    t.equal(after.request.toolChoice, 'auto');
    const noted = { ...userMessage('note'), visibility: 'internal' as const };
    const withNote = await asked({}, { overrides, messages: [userMessage('q'), call, result, noted] });
    t.equal(withNote.request.toolChoice, 'auto');
    const next = await asked(
      {},
      { overrides, messages: [userMessage('q'), call, result, userMessage('again')] },
    );
    t.strictSame(next.request.toolChoice, tool_choice, 'new input applies the forced call again');
  }
});

t.test('applies an unforced choice to the whole run, and the request overrides it', async (t) => {
  const messages = [userMessage('q'), call, result];
  const none = await asked({ tool_choice: 'none' }, { messages });
  t.equal(none.request.toolChoice, 'none');
  const restricted = await asked({ tool_choice: 'none' }, { messages, toolChoice: 'required' });
  t.equal(restricted.request.toolChoice, 'required');
});
