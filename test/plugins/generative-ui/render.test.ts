import t from 'tap';
import { generativeUiPlugin } from '../../../src/plugins/generative-ui/plugin.ts';
import { renderA2ui } from '../../../src/plugins/generative-ui/render.ts';
import type { Json } from '../../../src/tools/tool.ts';
import { callTool } from '../../tools/call.ts';
import { aboutAgent, hookContext } from '../context.ts';

const surfaceId = 'demo';
const text = { id: 'text1', component: { Text: { text: { literalString: 'Hello A2UI' } } } };
const update = { surfaceUpdate: { surfaceId, components: [text] } };
const data = {
  dataModelUpdate: { surfaceId, path: '/', contents: [{ key: 'greeting', valueString: 'Hi' }] },
};
const begin = { beginRendering: { surfaceId, root: 'text1' } };

const surfaceWith = (component: Json): Json => ({
  surfaceUpdate: { surfaceId, components: [{ id: 'c', component }] },
});
const dataWith = (entry: Json): Json => ({ dataModelUpdate: { surfaceId, contents: [entry] } });

const rendered: [what: string, args: Json, count: number][] = [
  ['a surface', update, 1],
  ['data', data, 1],
  ['the start of rendering', begin, 1],
  [
    'the start of rendering with styles',
    { beginRendering: { surfaceId, root: 'a', styles: { font: 'x' } } },
    1,
  ],
  ['the end of a surface', { deleteSurface: { surfaceId } }, 1],
  ['three messages', { messages: [update, data, begin] }, 3],
  ['a surface without its wrapper key', update.surfaceUpdate, 1],
  ['data without its wrapper key', data.dataModelUpdate, 1],
  ['the start of rendering without its wrapper key', begin.beginRendering, 1],
  ['the end of a surface without its wrapper key', { surfaceId }, 1],
  ['messages without their wrapper keys', { messages: [update.surfaceUpdate, begin.beginRendering] }, 2],
  ['a component of a type that only the client knows', surfaceWith({ Chart: { bars: [1, 2] } }), 1],
  ['a component with the name of an object method', surfaceWith({ toString: {} }), 1],
  ['a weight', { surfaceUpdate: { surfaceId, components: [{ ...text, weight: 2 }] } }, 1],
  ['a button', surfaceWith({ Button: { child: 't', action: { name: 'go' } } }), 1],
  [
    'a button with context',
    surfaceWith({ Button: { action: { name: 'go', context: [{ key: 'k', value: { path: '/x' } }] } } }),
    1,
  ],
  ['a choice', surfaceWith({ MultipleChoice: { options: [], selections: { path: '/s' } } }), 1],
  ['a map', dataWith({ key: 'k', valueMap: [{ key: 'a', valueNumber: 1 }] }), 1],
  ['a value that is false', dataWith({ key: 'k', valueBoolean: false }), 1],
];
for (const [what, args, count] of rendered) {
  t.test(`${what} can be rendered`, async (t) => {
    t.same(await callTool(renderA2ui, args), {
      tool_name: 'render_a2ui',
      status: 'success',
      data: { rendered: true, count },
      message: null,
    });
  });
}

const NO_KEY =
  'expected at least one A2UI message key (surfaceUpdate, dataModelUpdate, beginRendering, or deleteSurface)';
for (const args of [null, {}, [], 'surfaceUpdate', { surface: 1 }, { surfaceId, colour: 'red' }] as Json[]) {
  t.test(`rejects arguments without a message key: ${JSON.stringify(args)}`, async (t) => {
    t.match(await callTool(renderA2ui, args), {
      status: 'error',
      message: `Invalid arguments: ${NO_KEY}`,
    });
  });
}

const at = 'message[0]: surfaceUpdate.components.0.component';
const ONE_VALUE = 'expected exactly one of valueString, valueNumber, valueBoolean, valueMap';
const refused: [args: Json, faults: string][] = [
  [{ messages: [] }, 'messages must be a non-empty array'],
  [{ messages: 'all' }, 'messages must be a non-empty array'],
  [{ messages: [update], ...begin }, 'no other key is allowed with messages, got beginRendering'],
  [{ messages: [update, {}] }, `message[1]: ${NO_KEY}`],
  [{ messages: [7] }, 'message[0]: must be an object'],
  [
    { ...update, ...begin },
    'message[0]: expected exactly one message key, got surfaceUpdate, beginRendering',
  ],
  [{ ...begin, colour: 'red' }, 'message[0]: unknown key colour'],
  [{ beginRendering: { surfaceId, root: 'a', x: 1 } }, 'message[0]: beginRendering: Unrecognized key: "x"'],
  [{ beginRendering: { surfaceId, root: '' } }, 'message[0]: beginRendering.root: must not be empty'],
  [{ deleteSurface: { surfaceId: '' } }, 'message[0]: deleteSurface.surfaceId: must not be empty'],
  [
    { surfaceUpdate: { surfaceId, components: [] } },
    'message[0]: surfaceUpdate.components: must not be empty',
  ],
  [
    { dataModelUpdate: { surfaceId, contents: [] } },
    'message[0]: dataModelUpdate.contents: must not be empty',
  ],
  [surfaceWith({}), `${at}: expected exactly one component type, got 0`],
  [surfaceWith({ Text: {}, Card: {} }), `${at}: expected exactly one component type, got 2`],
  [surfaceWith({ Card: 'x' }), `${at}.Card: Invalid input: expected object, received string`],
  [
    surfaceWith({ Text: { text: 'Hello' } }),
    `${at}.Text.text: Invalid input: expected object, received string`,
  ],
  [surfaceWith({ Button: {} }), `${at}.Button.action: Invalid input: expected object, received undefined`],
  [surfaceWith({ Button: { action: { name: '' } } }), `${at}.Button.action.name: must not be empty`],
  [
    surfaceWith({ Button: { action: { name: 'go', context: [{ key: 'k', value: 1 }] } } }),
    `${at}.Button.action.context.0.value: Invalid input: expected object, received number`,
  ],
  [
    surfaceWith({ MultipleChoice: { options: [], selections: {}, choices: [], label: 'x', value: 1 } }),
    `${at}.MultipleChoice.choices: is not allowed; use options; ${at}.MultipleChoice.label: is not allowed; use a Text component; ${at}.MultipleChoice.value: is not allowed; use selections`,
  ],
  [dataWith({ key: 'k' }), `message[0]: dataModelUpdate.contents.0: ${ONE_VALUE}`],
  [
    dataWith({ key: 'k', valueString: 'a', valueNumber: 1 }),
    `message[0]: dataModelUpdate.contents.0: ${ONE_VALUE}`,
  ],
  [
    { messages: [{ beginRendering: { surfaceId, root: '' } }, {}] },
    `message[0]: beginRendering.root: must not be empty; message[1]: ${NO_KEY}`,
  ],
];
for (const [args, faults] of refused) {
  t.test(`rejects ${JSON.stringify(args)}`, async (t) => {
    const result = await callTool(renderA2ui, args);
    t.equal(result.message, `Invalid arguments: A2UI validation failed: ${faults}`);
    t.equal(result.status, 'error');
  });
}

t.test('shows the model an object without alternatives at its top, as providers require', async (t) => {
  const { parameters } = renderA2ui.descriptor;
  t.equal(parameters.type, 'object');
  t.equal(parameters.additionalProperties, false);
  t.same(Object.keys(parameters.properties ?? {}).sort(), [
    'beginRendering',
    'dataModelUpdate',
    'deleteSurface',
    'messages',
    'surfaceUpdate',
  ]);
  t.notOk('anyOf' in parameters || 'oneOf' in parameters || 'required' in parameters);
  t.notMatch(JSON.stringify(parameters), '$ref');
});

/** The instructions to the model under this section. */
const instructions = async (section: Json): Promise<string> => {
  const { hooks, tools } = generativeUiPlugin.parts(aboutAgent({ 'generative-ui': section }));
  const outcome = await hooks?.before_inference?.(hookContext());
  const [action, ...more] = outcome?.actions ?? [];
  t.same(more, []);
  t.same(tools, [renderA2ui]);
  if (action?.key !== 'runtime.add_context_message') throw new Error('no context message');
  const { content, ...placed } = action.payload as { content: string };
  t.same(placed, { key: 'generative_ui.instructions', target: 'system' });
  return content;
};

t.test('instructs the model in each step how to render, with the default catalog', async (t) => {
  const told = await instructions({ catalog_id: ' ', examples: '', instructions: '' });
  t.match(told, /render_a2ui/);
  t.match(told, 'https://a2ui.org/specification/v0_8/standard_catalog_definition.json');
  t.notMatch(told, 'Examples');
  t.equal(told, await instructions({}));
});

t.test('replaces instructions and catalog, and adds examples from a section', async (t) => {
  t.equal(
    await instructions({ catalog_id: 'https://c', examples: '{"a":1}', instructions: 'Draw.' }),
    'Draw.\n\nComponents come from the catalog https://c.\n\nExamples:\n{"a":1}',
  );
});

t.test('rejects an unknown field of the section', async (t) => {
  t.throws(() => generativeUiPlugin.parts(aboutAgent({ 'generative-ui': { catalog: 'x' } })), {
    name: 'Invalid',
    message: 'invalid config for plugin generative-ui: section "generative-ui" — unknown field \'catalog\'',
  });
});
