import t from 'tap';
import { createStreamingUiTools } from '../../../src/plugins/generative-ui/streaming.ts';
import type { SubAgents } from '../../../src/tools/sub-agent.ts';
import type { Json, Tool } from '../../../src/tools/tool.ts';
import { callTool } from '../../tools/call.ts';

/** A sub-agent that writes these lines, one delta each. */
const writes =
  (...lines: string[]): SubAgents['start'] =>
  async ({ onEvent }) => {
    for (const line of lines) onEvent({ event_type: 'text_delta', delta: `${line}\n` });
    return { ...CHILD_RUN, response: lines.join('\n'), status: 'completed' };
  };

const CHILD_RUN = { child_run_id: 'child', response: '', steps: 1 };

const uiTool = (id: string, start: SubAgents['start'], end: SubAgents['end'] = () => {}): Tool => {
  const tool = createStreamingUiTools({ subAgents: { start, end } }).find(
    ({ descriptor }) => descriptor.id === id,
  );
  if (!tool) throw new Error(`no tool ${id}`);
  return tool;
};

const ROOT = '{"op":"add","path":"/root","value":"main"}';
const MAIN = '{"op":"add","path":"/elements/main","value":{"type":"Card","props":{},"children":[]}}';
const TITLE = '{"op":"add","path":"/elements/title","value":{"type":"Text","props":{"text":"Hi"}}}';
const CHILD = '{"op":"add","path":"/elements/main/children/-","value":"title"}';

t.test('streams the deltas of render_json_ui, and returns the tree at the end', async (t) => {
  const deltas: string[] = [];
  const tool = uiTool('render_json_ui', writes('```json', ROOT, MAIN, '', TITLE, CHILD, '```'));
  const result = await callTool(tool, { prompt: 'a card' }, { stream: (delta) => deltas.push(delta) });
  t.same(result, {
    tool_name: 'render_json_ui',
    status: 'success',
    data: {
      content: {
        root: 'main',
        elements: {
          main: { type: 'Card', props: {}, children: ['title'] },
          title: { type: 'Text', props: { text: 'Hi' } },
        },
      },
      steps: 1,
    },
    message: null,
  });
  t.same(deltas[1], `${ROOT}\n`);
  t.equal(deltas.length, 7);
});

t.test('lets a stream replace the whole document', async (t) => {
  const whole = { root: 'a', elements: { a: { type: 'Text' } } };
  const tool = uiTool('render_json_ui', writes(JSON.stringify({ op: 'replace', path: '', value: whole })));
  t.same((await callTool(tool, { prompt: 'x' })).data, { content: whole, steps: 1 });
});

const invalid: [lines: string[], reason: string][] = [
  [['Scripted response to: x'], 'line 1 is not an operation that applies: Scripted response to: x'],
  [[ROOT, '{"op":"add"}'], 'line 2 is not an operation that applies: {"op":"add"}'],
  [
    [ROOT, CHILD],
    'line 2 is not an operation that applies: {"op":"add","path":"/elements/main/children/-","value":"title"}',
  ],
  [
    ['{"op":"add","path":"/elements/__proto__","value":{"type":"x"}}'],
    'line 1 is not an operation that applies: {"op":"add","path":"/elements/__proto__","value":{"type":"x"}}',
  ],
  [
    ['{"op":"copy","from":"/constructor/prototype","path":"/elements/x"}'],
    'line 1 is not an operation that applies: {"op":"copy","from":"/constructor/prototype","path":"/elements/x"}',
  ],
  [
    ['{"op":"add","path":"elements","value":{}}'],
    'line 1 is not an operation that applies: {"op":"add","path":"elements","value":{}}',
  ],
  [[MAIN], 'root: Invalid input: expected string, received undefined'],
  [[ROOT], 'root "main" is not among the elements'],
  [[ROOT, '{"op":"add","path":"/elements/main","value":{}}'], 'elements.main.type: Invalid input'],
];
for (const [lines, reason] of invalid) {
  t.test(`render_json_ui fails on ${JSON.stringify(lines)}`, async (t) => {
    const result = await callTool(uiTool('render_json_ui', writes(...lines)), { prompt: 'x' });
    t.equal(result.status, 'error');
    const start = `Execution failed: json-render sub-agent returned invalid SpecStream output: ${reason}`;
    t.equal(result.message?.slice(0, start.length), start);
  });
}

t.test('returns the output of the sub-agent from render_openui_ui', async (t) => {
  const asked: string[] = [];
  const tool = uiTool('render_openui_ui', async ({ agent, prompt }) => {
    asked.push(agent, prompt);
    return { ...CHILD_RUN, response: 'root = Card([])', steps: 2, status: 'completed' };
  });
  t.same((await callTool(tool, { prompt: 'a card' })).data, { content: 'root = Card([])', steps: 2 });
  t.same(asked, ['openui-ui', 'a card']);
});

for (const args of [null, {}, { prompt: '' }, { prompt: ' \n' }] as Json[]) {
  t.test(`requires a prompt: ${JSON.stringify(args)}`, async (t) => {
    t.match(await callTool(uiTool('render_openui_ui', writes('x')), args), {
      status: 'error',
      message: 'Invalid arguments: missing required non-empty field "prompt"',
    });
  });
}

t.test('describes the prompt as required and excludes other properties', async (t) => {
  const { descriptor } = uiTool('render_json_ui', writes());
  t.match(descriptor.parameters, { type: 'object', required: ['prompt'], additionalProperties: false });
  t.match(await callTool(uiTool('render_json_ui', writes()), { prompt: 'x', y: 1 }), {
    message: 'Invalid arguments: Unrecognized key: "y"',
  });
});

t.test('fails the call of an incomplete sub-agent with its reason', async (t) => {
  const tool = uiTool('render_json_ui', async () => ({
    ...CHILD_RUN,
    status: 'failed',
    reason: 'stopped: max_rounds',
  }));
  t.match(await callTool(tool, { prompt: 'x' }), {
    status: 'error',
    message: 'Execution failed: sub-agent did not complete: stopped: max_rounds',
  });
});

t.test('ends a suspended sub-agent, which could not be resumed', async (t) => {
  const ended: string[] = [];
  const waits: SubAgents['start'] = async () => ({
    ...CHILD_RUN,
    status: 'waiting',
    needs: 'suspended',
    tickets: [],
  });
  const tool = uiTool('render_json_ui', waits, (_scope, child) => ended.push(child));
  t.match(await callTool(tool, { prompt: 'x' }), {
    message: 'Execution failed: sub-agent did not complete: waiting',
  });
  t.strictSame(ended, ['child']);
});

t.test('reports a cancelled call', async (t) => {
  const cancel = new AbortController();
  const tool = uiTool('render_json_ui', async () => {
    cancel.abort();
    return { ...CHILD_RUN, status: 'cancelled' };
  });
  const result = await callTool(tool, { prompt: 'x' }, { signal: cancel.signal });
  t.equal(result.message, 'Cancelled: render_json_ui was stopped');
});
