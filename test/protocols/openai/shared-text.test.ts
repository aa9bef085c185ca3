import t from 'tap';
import { type MessageItem, type OutputItem, outputText } from '../../../src/protocols/openai/output.ts';
import { encodeItem, encodeWithText } from '../../../src/protocols/openai/shared-text.ts';

/** JSON of items whose long text is encoded once. */

const TRICKY = '"text":"" "output":[] \\ \u2028 \ud83d $& "';

const message = (id: string, text: string): MessageItem => ({
  id,
  type: 'message',
  role: 'assistant',
  content: [
    outputText(text, [
      { type: 'url_citation', url: TRICKY, title: '"text":""', start_index: 1, end_index: 1 },
    ]),
  ],
  status: 'completed',
  phase: 'final_answer',
});

const [one, other] = ['a', 'b'].map((letter) => TRICKY + letter.repeat(300));

const ITEMS: readonly OutputItem[] = [
  message('m', ''),
  message('m', TRICKY),
  message('m', one ?? ''),
  message('m', one ?? ''),
  message('m', other ?? ''),
  message('m', TRICKY.repeat(10_000)),
  { ...message('m', ''), content: [] },
  { ...message('m', ''), content: [{ type: 'refusal', refusal: TRICKY.repeat(100) }] },
  { ...message('m', ''), content: [outputText(one ?? ''), outputText(other ?? '')] },
  { id: 'r', type: 'reasoning', summary: [{ type: 'summary_text', text: one ?? '' }], status: 'completed' },
];

t.test('encodes an item like JSON.stringify, whatever was encoded before', (t) => {
  for (const item of [...ITEMS, ...ITEMS].reverse()) t.equal(encodeItem(item), JSON.stringify(item));
  t.end();
});

t.test('encodes the text of an item within an event', (t) => {
  for (const item of ITEMS) {
    const event = (of: OutputItem) => JSON.stringify({ type: 'x', item: of, more: TRICKY });
    t.equal(encodeWithText(item, event), event(item));
  }
  t.end();
});
