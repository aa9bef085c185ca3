import t from 'tap';
import { type OutputItem, outputText } from '../../../src/protocols/openai/output.ts';
import { encodeResource, ResponseInEvent, resourceOf } from '../../../src/protocols/openai/response.ts';
import { encodeItem } from '../../../src/protocols/openai/shared-text.ts';
import type { StoredResponse } from '../../../src/schema/stored-response.ts';
import { storedRow } from './leg.ts';

/** The resource of a response, and its JSON. */

const OUTPUT: readonly OutputItem[] = [
  {
    id: 'm',
    type: 'message',
    role: 'assistant',
    content: [outputText('"output":[] $& \\ "model"'.repeat(50))],
    status: 'completed',
  },
  { id: 'r', type: 'reasoning', summary: [], status: 'completed' },
];

const usage = { input: 1, output: 2, cached: 3, written: 4, reasoning: 5 };

const ROWS: Record<string, Partial<StoredResponse>> = {
  'the model alone': { echo: { model: '"output":[] "model":""' } },
  parameters: {
    echo: {
      model: 'm',
      instructions: '"output":[]',
      tools: [{ type: 'function', name: 'f', description: null, parameters: null, strict: null }],
      tool_choice: 'required',
      parallel_tool_calls: false,
      max_output_tokens: 0,
      temperature: 0,
      store: false,
      metadata: { output: '[]' },
    },
  },
  'an end': { status: 'completed', ended_at: 1_765_000_500_000, usage },
  'a failure': { status: 'failed', error: { code: 'server_error', message: 'broken' }, usage },
  'a limit': { status: 'incomplete', reason: 'max_rounds', usage },
};

for (const [name, changes] of Object.entries(ROWS)) {
  t.test(`encodes the resource of a row with ${name} like JSON.stringify`, (t) => {
    const row = storedRow(changes);
    for (const status of ['in_progress', row.status] as const) {
      for (const output of [[], OUTPUT]) {
        const json = encodeResource(row, output.map(encodeItem), status);
        t.equal(json, JSON.stringify(resourceOf(row, output, status)));
        t.ok(ResponseInEvent.strict().safeParse(JSON.parse(json)).success);
      }
    }
    t.match(resourceOf(row, []), changes.echo ?? {});
    t.end();
  });
}
