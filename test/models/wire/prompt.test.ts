import t from 'tap';
import { writePrompt } from '../../../src/models/wire/prompt.ts';
import { createUniqueIds, idForModel } from '../../../src/models/wire/prompt-ids.ts';
import type { AssistantPart } from '../../../src/models/wire/prompt-parts.ts';
import { blockOfPart } from '../../../src/schema/answer-part.ts';
import type { Message } from '../../../src/schema/message.ts';
import { userMessage } from '../infer.ts';

/** The history of a thread in the form that all wire formats share. */

const origin = { provider: 'p', model: 'm', format: 'f' };

const partsOf = (answer: Omit<Message, 'id' | 'role'>): AssistantPart[] => {
  const written: AssistantPart[] = [];
  const ignore = (): void => {};
  writePrompt(
    { system: [], messages: [userMessage('Hi'), { id: 'a', role: 'assistant', ...answer }] },
    { modalities: undefined, systemFirst: false, ownPictures: false, origin },
    { system: ignore, user: ignore, results: ignore, assistant: (parts) => written.push(...parts) },
  );
  return written;
};

t.test('names long data of a completion, and keeps the position of the reasoning after it', async (t) => {
  const item = { ...origin, after: { text: 3, calls: 0 }, item: { signature: 's' } };
  const content = [
    blockOfPart({ data: 'x'.repeat(5000) }),
    { type: 'text' as const, text: 'one' },
    { type: 'text' as const, text: 'two' },
  ];
  t.strictSame(partsOf({ content, metadata: { reasoning_items: [item] } }), [
    { type: 'text', text: '[data application/json, 5002 characters]\n' },
    { type: 'text', text: 'one' },
    { type: 'item', item: { signature: 's' } },
    { type: 'text', text: 'two' },
  ]);
});

t.test('maps an id of any length in linear time', async (t) => {
  for (const mark of ['_', 'é', `a${' '.repeat(999)}`]) {
    // Quadratic steps would take hours.
    const id = idForModel(mark.repeat(50_000_000 / mark.length));
    t.match(id, /^[A-Za-z0-9_-]{1,64}$/, JSON.stringify(mark));
  }
});

t.test('numbers repeated ids in linear time, and skips numbers that are ids themselves', async (t) => {
  const ids = createUniqueIds();
  t.strictSame(['a', 'a_3', 'a', 'a', 'a_3', 'a'].map(ids.add), ['a', 'a_3', 'a_2', 'a_4', 'a_3_2', 'a_5']);
  const long = 'x'.repeat(64);
  t.strictSame([long, long].map(ids.add), [long, `${'x'.repeat(56)}_2`]);
  // Quadratic steps would take hours.
  for (let count = 0; count < 200_000; count += 1) ids.add('call_0');
  t.equal(ids.add('call_0'), 'call_0_200001');
});
